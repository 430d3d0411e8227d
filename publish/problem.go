package publish

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/text"
)

// InputError means that the input cannot become a plugin image. It holds every
// problem that was found, in the order of platforms and files.
type InputError struct {
	Problems []Problem // never empty
}

// Problem is one reason for which an input is refused.
type Problem struct {
	Platform addr.Platform // the zero value where it is not about one
	File     string        // as the input has it; "" where it is not about one
	Err      error         // errors of package extract among them
}

func (e *InputError) Error() string {
	lines := make([]string, len(e.Problems))
	for i := range e.Problems {
		lines[i] = e.Problems[i].Error()
	}
	if len(lines) == 1 {
		return lines[0]
	}
	return fmt.Sprintf("%d problems:\n  %s", len(lines), strings.Join(lines, "\n  "))
}

// Unwrap returns each [*Problem].
func (e *InputError) Unwrap() []error {
	causes := make([]error, len(e.Problems))
	for i := range e.Problems {
		causes[i] = &e.Problems[i]
	}
	return causes
}

// Error is one line: platform, file, reason.
func (p *Problem) Error() string {
	where := "the input"
	if !p.Platform.IsZero() {
		where = "the files for " + p.Platform.String()
	}
	if p.File != "" {
		where += ": " + text.Clip(strings.TrimPrefix(p.File, p.Platform.String()+"/"))
	}
	return where + ": " + p.Err.Error()
}

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Err }

// problems collects what is wrong; the zero value is ready for use.
type problems struct{ list []Problem }

func (ps *problems) add(platform addr.Platform, file string, err error) {
	ps.list = append(ps.list, Problem{platform, file, err})
}

func (ps *problems) addf(platform addr.Platform, file, format string, args ...any) {
	ps.add(platform, file, fmt.Errorf(format, args...))
}

// err returns all as one error, nil where there is none. A problem that every
// platform has, of a file they share, is listed once.
func (ps *problems) err() error {
	if len(ps.list) == 0 {
		return nil
	}
	slices.SortStableFunc(ps.list, func(a, b Problem) int {
		return cmp.Or(a.Platform.Compare(b.Platform), cmp.Compare(a.File, b.File))
	})
	return &InputError{ps.list}
}

// WarningKind says what a [Warning] is about.
type WarningKind string

// The kinds of warnings.
const (
	WarnIgnored     WarningKind = "ignored"     // files beside the platforms' directories
	WarnDynamic     WarningKind = "dynamic"     // an executable that needs a loader the image lacks
	WarnInterpreter WarningKind = "interpreter" // a script whose interpreter the image lacks
	WarnMode        WarningKind = "mode"        // the executable had no executable bit and got it
	WarnGit         WarningKind = "git"         // git could not tell the commit's time
	WarnVersion     WarningKind = "version"     // the image declares no version
)

// Warning is something that an author should know though the image was made.
type Warning struct {
	Kind     WarningKind
	Platform addr.Platform // the zero value where it is not about one
	File     string        // "" where it is not about one
	Text     string        // one sentence
}

// String is one line: platform, file, text.
func (w Warning) String() string {
	var parts []string
	if !w.Platform.IsZero() {
		parts = append(parts, w.Platform.String())
	}
	if w.File != "" {
		parts = append(parts, text.Clip(strings.TrimPrefix(w.File, w.Platform.String()+"/")))
	}
	return strings.Join(append(parts, w.Text), ": ")
}
