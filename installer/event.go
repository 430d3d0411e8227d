package installer

import "github.com/pluginlock/plugins/addr"

// EventKind tells events apart.
type EventKind int

// The events of a run, roughly in the order in which a plugin meets them.
const (
	EventResolving   EventKind = iota // its repository is being asked; Text says why
	EventNote                         // Text tells how something was chosen
	EventSkipped                      // a candidate was passed over; Text says why
	EventDownloading                  // Done of Total bytes of a blob have come
	EventWaiting                      // the run waits; Text says for what
)

// Event is one step of a run.
type Event struct {
	Kind     EventKind
	Plugin   string
	Source   addr.Source
	Version  string
	Platform addr.Platform
	Text     string
	Done     int64 // bytes
	Total    int64 // bytes
}

func (in *Installer) emit(e Event) {
	if in.OnEvent != nil {
		in.OnEvent(e)
	}
}

// waiting tells that another process is at work.
func (in *Installer) waiting(what string) {
	in.emit(Event{Kind: EventWaiting, Text: "waiting for " + what})
}
