// Package filelock makes processes wait for one another, for as long as a
// context allows. Locks only save work here: nothing becomes wrong where a
// file system has none, so one that does not support them is passed over.
//
// A lock belongs to a process and ends with it; the file that carries it is
// removed by the last holder. Start at [Acquire].
package filelock

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// AnnounceAfter is how long a wait lasts before somebody is told.
const AnnounceAfter = time.Second

// Polling begins at shortest and slows down to longest: a file lock cannot be
// waited for and given up at the same time.
const (
	shortest = 5 * time.Millisecond
	longest  = 100 * time.Millisecond
)

// mode lets others open the file of a lock that root left behind: to hold a
// lock takes no more.
const mode fs.FileMode = 0o644

// Wait says how to wait. The zero value waits in silence.
type Wait struct {
	Announce func()        // called once, after the delay; may be nil
	After    time.Duration // 0 means [AnnounceAfter]
	Shared   bool          // hold the lock together with others that share it
}

// Lock is a held lock.
type Lock struct {
	file *flock.Flock // nil where the file system has no locks
}

// Acquire waits until the lock is held or ctx ends. The directory of path must
// exist. Release must be called.
//
// Errors: the context's; what opening the file returned.
func Acquire(ctx context.Context, path string, w Wait) (*Lock, error) {
	after := w.After
	if after == 0 {
		after = AnnounceAfter
	}
	announce := time.NewTimer(after)
	defer announce.Stop()
	for pause := shortest; ; pause = min(2*pause, longest) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		lock, err := try(path, w.Shared)
		if lock != nil || err != nil {
			return lock, err
		}
		next := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-next.C:
		case <-announce.C:
			if w.Announce != nil {
				w.Announce()
			}
		}
		next.Stop()
	}
}

// Try takes the lock if it is free and returns nil, nil if somebody holds it.
func Try(path string) (*Lock, error) { return try(path, false) }

// Supported reports whether the lock is a real one.
func (l *Lock) Supported() bool { return l.file != nil }

// Release ends the lock and removes its file. Others that wait for it notice
// that the file is another one now, see try.
func (l *Lock) Release() {
	if l.file == nil {
		return
	}
	// Removed while held: nobody can have taken it in between. A shared one
	// may have other holders and stays, and so does any on Windows, where an
	// open file cannot be removed; it is empty.
	if !l.file.RLocked() {
		_ = os.Remove(l.file.Path())
	}
	_ = l.file.Close()
}

// try also makes sure that the file that was locked is the one that path still
// names: its previous holder may have removed it in between.
func try(path string, shared bool) (*Lock, error) {
	for range 100 {
		file := flock.New(path, slices.Concat(options, []flock.Option{flock.SetPermissions(mode)})...)
		take := file.TryLock
		if shared {
			take = file.TryRLock
		}
		held, err := take()
		switch {
		case errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.ENOLCK):
			return &Lock{}, nil
		case err != nil:
			return nil, err
		case !held:
			return nil, nil
		}
		current, err := os.Lstat(path)
		locked, lockedErr := file.Stat()
		if err == nil && lockedErr == nil && os.SameFile(current, locked) {
			return &Lock{file: file}, nil
		}
		_ = file.Close()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return nil, nil
}
