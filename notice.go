package plugins

import (
	"errors"
	"slices"

	"github.com/pluginlock/plugins/getter"
	"github.com/pluginlock/plugins/installer"
)

// event passes an event on, one at a time.
func (r *run) event(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.options.OnEvent != nil {
		r.options.OnEvent(e)
	}
}

// waiting tells that the run waits for another process.
func (r *run) waiting(what string) {
	r.event(Event{Kind: installer.EventWaiting, Text: "waiting for " + what})
}

// notice turns what the getter has to tell into an event or a warning.
func (r *run) notice(n getter.Notice) {
	if n.Kind == getter.NoticeWaiting {
		r.event(Event{Kind: installer.EventWaiting, Text: n.Text})
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	again := func(p Problem) bool {
		var said *NoticeError
		return errors.As(p.Err, &said) && said.Notice.Kind == n.Kind && said.Notice.Host == n.Host
	}
	if n.Kind == getter.NoticeFallback && slices.ContainsFunc(r.warnings, again) {
		return // a mirror without a plugin is passed over for each of its parts
	}
	r.warnings = append(r.warnings, Problem{Err: &NoticeError{n}})
}

// setWarnings starts the list of warnings over with those of the configuration.
func (r *run) setWarnings(problems []Problem) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.configWarnings = problems
}

func (r *run) allWarnings() []Problem {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Concat(r.configWarnings, r.warnings)
}

// NoticeError is what a registry's client has to tell though the work went on.
type NoticeError struct {
	Notice getter.Notice
}

func (e *NoticeError) Error() string { return e.Notice.Text }
