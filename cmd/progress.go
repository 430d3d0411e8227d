package cmd

import (
	"fmt"
	"sync"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/pluginlock/plugins"
	"github.com/pluginlock/plugins/installer"
)

// progress shows the events of a run on standard error: bars on a terminal,
// plain lines elsewhere, nothing with --quiet.
type progress struct {
	printer *printer
	mu      sync.Mutex
	bars    *mpb.Progress
	byName  map[string]*mpb.Bar
	started map[string]bool
}

func newProgress(p *printer) *progress {
	return &progress{printer: p, byName: map[string]*mpb.Bar{}, started: map[string]bool{}}
}

// event shows one event.
func (p *progress) event(e plugins.Event) {
	if p.printer.quiet {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e.Kind {
	case installer.EventResolving:
		p.note("%s: asking %s, as %s", e.Plugin, e.Source, e.Text)
	case installer.EventNote:
		p.note("%s: %s", e.Plugin, e.Text)
	case installer.EventSkipped:
		p.note("%s: %s passed over: %s", e.Plugin, e.Version, e.Text)
	case installer.EventWaiting:
		p.note("%s", e.Text)
	case installer.EventDownloading:
		p.download(e)
	}
}

// note prints a line above the bars, if there are any.
func (p *progress) note(format string, args ...any) {
	if p.bars == nil {
		p.printer.note(format, args...)
		return
	}
	_, _ = fmt.Fprintf(p.bars, format+"\n", args...)
}

func (p *progress) download(e plugins.Event) {
	key := e.Plugin + " " + e.Platform.String()
	if !p.printer.draws() {
		if !p.started[key] {
			p.printer.note("%s: downloading %s for %s (%s)", e.Plugin, e.Version, e.Platform, size(e.Total))
		}
		p.started[key] = true
		return
	}
	if p.bars == nil {
		p.bars = mpb.New(mpb.WithOutput(p.printer.errOut), mpb.WithWidth(40))
	}
	bar := p.byName[key]
	if bar == nil {
		bar = p.bars.AddBar(e.Total,
			mpb.PrependDecorators(decor.Name(fmt.Sprintf("%s %s %s", e.Plugin, e.Version, e.Platform), decor.WCSyncSpaceR)),
			mpb.AppendDecorators(decor.Any(func(s decor.Statistics) string {
				return size(s.Current) + " of " + size(s.Total)
			})))
		p.byName[key] = bar
	}
	bar.SetCurrent(e.Done)
}

// close ends the display; what is unfinished stays as it is.
func (p *progress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bars == nil {
		return
	}
	for _, bar := range p.byName {
		bar.Abort(false)
	}
	p.bars.Wait()
}

// size prints a number of bytes for people.
func size(bytes int64) string {
	const unit = 1000
	switch {
	case bytes < unit:
		return fmt.Sprintf("%d B", bytes)
	case bytes < unit*unit:
		return fmt.Sprintf("%.1f kB", float64(bytes)/unit)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/(unit*unit))
}
