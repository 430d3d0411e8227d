package store

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"time"

	"github.com/pluginlock/plugins/internal/store/durable"
	"github.com/pluginlock/plugins/internal/store/filelock"
	"github.com/pluginlock/plugins/internal/store/plain"
)

// lockSuffix ends the names of lock files, also of those beside a staging
// directory that say its maker lives.
const lockSuffix = ".lock"

// tidyAtMost bounds how many leftovers one run clears away.
const tidyAtMost = 256

// partialAge is how old an unfinished download may grow before a run of this
// version clears it away; whoever resumes it does so in the next hours.
const partialAge = 7 * 24 * time.Hour

// staging is a directory of this process in the store's own file system. What
// is in it when the process dies is cleared away by the next one that writes.
type staging struct {
	root *os.Root
	name string // from the store's root
	lock *filelock.Lock
}

// stage makes a staging directory. Its lock is taken before it exists, so that
// nobody finds it without.
func (s *Store) stage() (*staging, error) {
	root, err := s.create(stagingDir)
	if err != nil {
		return nil, err
	}
	for {
		name := stagingDir + "/" + strings.ToLower(rand.Text())
		lock, err := filelock.Try(below(root, name+lockSuffix))
		if err != nil {
			return nil, s.refusal(err)
		}
		if lock == nil {
			continue // somebody is clearing it away
		}
		if err := root.Mkdir(name, dirMode); err != nil {
			lock.Release()
			return nil, s.refusal(err)
		}
		return &staging{root, name, lock}, nil
	}
}

// discard removes the directory with all that is still in it.
func (g *staging) discard() {
	_ = durable.RemoveAll(g.root, g.name) // left for the next run where it fails
	g.lock.Release()
}

// replace writes a small file and renames it onto name.
func (s *Store) replace(name string, content []byte) error {
	g, err := s.stage()
	if err != nil {
		return err
	}
	defer g.discard()
	temporary := g.name + "/file"
	if err := durable.Create(g.root, temporary, content, fileMode); err != nil {
		return s.refusal(err)
	}
	if err := g.root.Rename(temporary, name); err != nil {
		return s.refusal(err)
	}
	s.touched(below(g.root, name, ".."))
	return nil
}

// tidy clears away, once for each Store, what killed runs have left. It never
// fails: what cannot be removed now is found again.
func (s *Store) tidy(ctx context.Context, root *os.Root) {
	s.tidying.Do(func() {
		s.tidyStaging(ctx, root)
		tidyPartial(ctx, root, time.Now().Add(-partialAge))
	})
}

func (s *Store) tidyStaging(ctx context.Context, root *os.Root) {
	seen := map[string]bool{}
	for _, name := range someNames(root, stagingDir) {
		name = strings.TrimSuffix(name, lockSuffix)
		if seen[name] || ctx.Err() != nil {
			continue
		}
		seen[name] = true
		path := stagingDir + "/" + name
		if lock := abandoned(root, path); lock != nil {
			_ = durable.RemoveAll(root, path)
			lock.Release()
		}
	}
}

// abandoned takes the lock of a staging directory whose maker is dead; it returns
// nil where the maker lives, and where the file system has no locks to tell.
func abandoned(root *os.Root, path string) *filelock.Lock {
	lock, err := filelock.Try(below(root, path+lockSuffix))
	if err != nil || lock == nil || !lock.Supported() {
		return nil
	}
	return lock
}

// tidyPartial removes unfinished downloads that were last written before limit.
func tidyPartial(ctx context.Context, root *os.Root, limit time.Time) {
	for _, name := range someNames(root, partialDir) {
		path := partialDir + "/" + name
		info, err := root.Lstat(path)
		if err == nil && info.ModTime().Before(limit) && ctx.Err() == nil {
			_ = durable.RemoveAll(root, path)
		}
	}
}

// someNames lists at most tidyAtMost names of a directory.
func someNames(root *os.Root, dir string) []string {
	names, _ := plain.Names(root, dir, tidyAtMost)
	return names
}
