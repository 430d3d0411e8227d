package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/extract"
	"github.com/pluginlock/plugins/internal/store/durable"
	"github.com/pluginlock/plugins/internal/store/filelock"
	"github.com/pluginlock/plugins/internal/store/tree"
)

// Fill writes an entry's files below root, synced, and returns a record for
// each. It is called at most once by each [Store.Put].
type Fill func(ctx context.Context, root *os.Root) ([]extract.Record, error)

// Put makes sure that the entry of key is there and is what want promises. If
// it is not, fill makes it in a staging directory; it becomes visible by one
// rename after everything was verified and synced. Of several that put one
// entry at once, in this process or others, one fills and the rest wait for it.
// Call [Store.Sync] when the last entry was put.
//
// Errors: fill's, as it is; [*MismatchError] where manifest or files are not
// what was promised; [*ReadOnlyError]; [*UnsafeError]; the context's. After an
// error the store is as before.
func (s *Store) Put(ctx context.Context, key Key, want Want, manifest []byte, fill Fill) (*Entry, error) {
	if err := key.check(); err != nil {
		return nil, err
	}
	if got := addr.DigestOf(manifest); got != key.Manifest {
		return nil, &MismatchError{key, "the manifest", key.Manifest, got}
	}
	release, err := s.lockEntry(ctx, key)
	if err != nil {
		return nil, err
	}
	defer release()
	entry, err := s.sound(ctx, key, want)
	if err == nil || ctx.Err() != nil {
		return entry, err
	}
	g, err := s.stage()
	if err != nil {
		return nil, err
	}
	defer g.discard()
	s.tidy(ctx, g.root)
	if err := s.build(ctx, g, key, want, manifest, fill); err != nil {
		return nil, err
	}
	return s.publish(ctx, g, key, want)
}

// sound is Lookup and Check in one.
func (s *Store) sound(ctx context.Context, key Key, want Want) (*Entry, error) {
	entry, err := s.Lookup(key)
	if err != nil {
		return nil, err
	}
	if err := entry.Check(ctx, want); err != nil {
		return nil, err
	}
	return entry, nil
}

// lockEntry waits until nobody else is at work on an entry.
func (s *Store) lockEntry(ctx context.Context, key Key) (release func(), err error) {
	return s.exclude(ctx, key.name(), "another process to store "+key.Manifest.String())
}

// exclude waits until this process and goroutine are the only ones to hold the
// lock called name; what is what they wait for.
func (s *Store) exclude(ctx context.Context, name, what string) (release func(), err error) {
	unlock, err := s.names.lock(ctx, name)
	if err != nil {
		return nil, err
	}
	lock, err := s.acquire(ctx, name, what, false)
	if err != nil {
		unlock()
		return nil, err
	}
	return func() { lock.Release(); unlock() }, nil
}

// acquire takes the file lock called name.
func (s *Store) acquire(ctx context.Context, name, what string, shared bool) (*filelock.Lock, error) {
	root, err := s.create(locksDir)
	if err != nil {
		return nil, err
	}
	wait := filelock.Wait{After: s.announce, Shared: shared}
	if s.options.OnWait != nil {
		wait.Announce = func() { s.options.OnWait(what) }
	}
	lock, err := filelock.Acquire(ctx, below(root, locksDir, name+lockSuffix), wait)
	if err != nil {
		return nil, s.refusal(err)
	}
	return lock, nil
}

// build makes the entry in g, complete and synced.
func (s *Store) build(ctx context.Context, g *staging, key Key, want Want, manifest []byte, fill Fill) error {
	entry := g.name + "/entry"
	if err := g.root.MkdirAll(entry+"/"+rootDir, dirMode); err != nil {
		return s.refusal(err)
	}
	root, err := g.root.OpenRoot(entry + "/" + rootDir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // a directory; nothing can be lost
	written, err := fill(ctx, root)
	if err != nil {
		return err
	}
	if err := want.accept(key, written); err != nil {
		return err
	}
	receipt, err := tree.Survey(ctx, root, tree.Executables(written))
	if err != nil {
		return fmt.Errorf("storing %s: %w", key.Manifest, err)
	}
	if err := receipt.Adopt(written); err != nil {
		return fmt.Errorf("storing %s: the files are not those that were written: %w", key.Manifest, err)
	}
	encoded, err := receipt.Encode()
	if err != nil {
		return err
	}
	if err := durable.Create(g.root, entry+"/"+manifestFile, manifest, fileMode); err != nil {
		return err
	}
	if err := durable.Create(g.root, entry+"/"+receiptFile, encoded, fileMode); err != nil {
		return err
	}
	return syncTree(below(g.root, entry), receipt)
}

// accept is [Want.contradicts] with typed errors, for files that were fetched.
func (w Want) accept(key Key, written []extract.Record) error {
	if got := extract.Content(written); !w.Content.IsZero() && got != w.Content {
		return &MismatchError{key, "the content", w.Content, got}
	}
	program, _ := w.program(written)
	if !w.ExecutableDigest.IsZero() && program.Digest != w.ExecutableDigest {
		return &MismatchError{key, "the executable " + w.Executable, w.ExecutableDigest, program.Digest}
	}
	if reason := w.contradicts(written); reason != "" {
		return fmt.Errorf("storing %s: %s", key.Manifest, reason)
	}
	return nil
}

// syncTree syncs the directories of an entry; its files are synced already.
func syncTree(entry string, receipt *tree.Receipt) error {
	for _, d := range receipt.Directories {
		if err := durable.SyncDir(filepath.Join(entry, rootDir, filepath.FromSlash(d.Path))); err != nil {
			return err
		}
	}
	return durable.SyncDir(entry)
}

// publishTries bounds how often a rename is tried against others that put the
// same entry where locks do not work.
const publishTries = 10

// publish renames the entry into place. Where something is there already, it
// is adopted if it is sound and moved out of the way if it is not.
func (s *Store) publish(ctx context.Context, g *staging, key Key, want Want) (*Entry, error) {
	if _, err := s.create(entriesDir); err != nil {
		return nil, err
	}
	final := entriesDir + "/" + key.name()
	var err error
	for try := range publishTries {
		if err = g.root.Rename(g.name+"/entry", final); err == nil {
			s.touched(below(g.root, entriesDir))
			return s.sound(ctx, key, want)
		}
		if _, missing := g.root.Lstat(final); missing != nil {
			return nil, s.refusal(err)
		}
		if entry, soundErr := s.sound(ctx, key, want); soundErr == nil || ctx.Err() != nil {
			return entry, soundErr
		}
		aside := fmt.Sprintf("%s/garbage-%d", g.name, try)
		if moveErr := moveAside(g.root, final, aside); moveErr != nil {
			return nil, s.refusal(moveErr)
		}
	}
	return nil, err
}

// Discard removes an entry, whatever it is worth. That there is none is no
// error.
//
// Errors: [*ReadOnlyError]; the context's.
func (s *Store) Discard(ctx context.Context, key Key) error {
	if err := key.check(); err != nil {
		return err
	}
	entries, err := s.openEntries()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := entries.Lstat(key.name()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	release, err := s.lockEntry(ctx, key)
	if err != nil {
		return err
	}
	defer release()
	return s.remove(entriesDir + "/" + key.name())
}

// remove makes a name vanish at once and then deletes what was there.
func (s *Store) remove(name string) error {
	g, err := s.stage()
	if err != nil {
		return err
	}
	defer g.discard()
	if err := moveAside(g.root, name, g.name+"/garbage"); err != nil {
		return s.refusal(err)
	}
	s.touched(below(g.root, name, ".."))
	return nil
}

// moveAside makes a name free by one rename. A directory that came with a
// container's image cannot be renamed there (overlayfs says that it is on
// another device), but it can be deleted, name by name: who finds it half
// deleted finds it damaged.
func moveAside(root *os.Root, name, aside string) error {
	err := root.Rename(name, aside)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, syscall.EXDEV):
		return durable.RemoveAll(root, name)
	}
	return err
}
