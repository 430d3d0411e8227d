package getter

import "sync"

// NoticeKind says what a [Notice] is about.
type NoticeKind string

// The kinds of notices.
const (
	NoticeCredentials NoticeKind = "credentials" // a place of credentials could not be read, or its credentials were refused
	NoticeWaiting     NoticeKind = "waiting"     // a registry asks to wait
	NoticeFallback    NoticeKind = "fallback"    // a mirror failed and the source's own registry was asked
)

// Notice is something that a user should see although the work goes on. Text
// is one sentence without secrets.
type Notice struct {
	Kind NoticeKind
	Host string // the registry it is about
	Text string
}

// notifier passes notices on, one at a time and each only once.
type notifier struct {
	mu     sync.Mutex
	notify func(Notice)
	said   map[Notice]bool
}

// maxNotices bounds what is remembered as said.
const maxNotices = 1000

func (n *notifier) say(notice Notice) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.notify == nil || n.said[notice] || len(n.said) >= maxNotices {
		return
	}
	n.said[notice] = true
	n.notify(notice)
}
