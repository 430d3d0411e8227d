// Package fingerprint recognises a project in which nothing has changed since a
// run found everything in place, so that the next run can say so without doing
// that run's work again.
//
// A [Fingerprint] has the digest of all that the earlier run decided by, the
// state of every file that its result rests on, and that result. State is what
// the file system says of a file, as in a receipt. Like receipts it is a memory
// aid, never evidence: whoever can write the store can write it too. Where
// anything differs, or the fingerprint cannot be read, nothing is recognised,
// and a run does all of its work.
//
// Start at [Fingerprint.Take] and [Recognize].
package fingerprint

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/pluginlock/plugins/addr"
)

// Fingerprint is what a run that found everything in place leaves to the next.
type Fingerprint struct {
	Inputs  addr.Digest // of what decided: options, configuration, lock file
	Shared  State       // of what does not belong to one plugin
	Plugins []Plugin    // by name
}

// Plugin is the result of the run for one plugin, and what it rests on.
type Plugin struct {
	Name, Version, Source string
	Digest                addr.Digest
	Protocols             []int

	// These are empty where the plugin is not for this platform.
	Platform   string
	Manifest   addr.Digest
	Executable string // path from the plugin's root, with slashes

	State State
}

// Recognize returns the inputs and the plugins of an encoded fingerprint if no
// file that it rests on has changed in these directories. Whether the inputs are
// still the same is for the caller to see.
func Recognize(encoded []byte, d Dirs) (inputs addr.Digest, plugins []Plugin, ok bool) {
	f, lines, err := decodeHeader(string(encoded))
	if err != nil {
		return "", nil, false
	}
	at, err := openPlaces(d)
	if err != nil {
		return "", nil, false
	}
	defer at.close()
	if !at.hold(&f.Shared) {
		return "", nil, false
	}
	plugins = make([]Plugin, len(lines))
	return f.Inputs, plugins, inParallel(len(lines), func(i int) bool {
		return plugins[i].decode(lines[i]) == nil && at.hold(&plugins[i].State)
	})
}

// worthwhile is how many plugins justify one more processor: to look at one
// takes about 10 µs, to start a thread several times that.
const worthwhile = 32

// inParallel reports whether ok holds for all i below n.
func inParallel(n int, ok func(i int) bool) bool {
	var next atomic.Int64
	var failed atomic.Bool
	work := func() {
		for i := int(next.Add(1)) - 1; i < n && !failed.Load(); i = int(next.Add(1)) - 1 {
			if !ok(i) {
				failed.Store(true)
			}
		}
	}
	var others sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), 1+n/worthwhile) - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	return !failed.Load()
}
