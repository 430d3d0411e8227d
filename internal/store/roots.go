package store

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/filename"
	"github.com/pluginlock/plugins/internal/store/plain"
)

// maxRoot bounds a recorded root, in bytes: a path.
const maxRoot = 64 << 10

// root is what one file below v1/roots holds.
type root struct {
	LockFile filename.Path `json:"lock_file"`
}

// AddRoot records that the lock file at lockPath needs entries of this store,
// so that [Store.Prune] asks for it. What is recorded already is not written
// again.
//
// Errors: [*ReadOnlyError]; [*UnsafeError]; what the file system said.
func (s *Store) AddRoot(lockPath string) error {
	absolute, err := filepath.Abs(lockPath)
	if err != nil {
		return err
	}
	opened, err := s.create(rootsDir)
	if err != nil {
		return err
	}
	encoded, err := json.Marshal(root{filename.Path(absolute)})
	if err != nil {
		return err
	}
	encoded = append(encoded, '\n')
	name := rootName(absolute)
	if there, err := plain.ReadBelow(opened, name, maxRoot); err == nil && slices.Equal(there, encoded) {
		return nil
	}
	return s.replace(name, encoded)
}

// Roots lists the lock files that were recorded, in order. They may be gone.
func (s *Store) Roots() ([]string, error) {
	opened, err := s.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	names, err := plain.Names(opened, rootsDir, -1)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var paths []string
	for _, name := range names {
		var r root
		encoded, err := plain.ReadBelow(opened, rootsDir+"/"+name, maxRoot)
		if err == nil {
			err = json.Unmarshal(encoded, &r)
		}
		if err != nil {
			path := filepath.Join(s.Dir(), filepath.FromSlash(rootsDir), name)
			return nil, &DamagedError{Path: path, Reason: "it does not name a lock file", Err: err}
		}
		paths = append(paths, string(r.LockFile))
	}
	slices.Sort(paths)
	return paths, nil
}

func rootName(absolute string) string {
	return rootsDir + "/" + projectName(absolute) + ".json"
}

// projectName names a project by the absolute path of its lock file.
func projectName(lockPath string) string { return addr.DigestOf([]byte(lockPath)).Hex()[:32] }

// useLock is held by all that take entries into use, shared, and by prune,
// alone.
const useLock = "use"

// Use keeps [Store.Prune] of other processes away until release is called. A
// run that changes what a project needs holds it from its first look-up until
// its lock file and its root are written; without, prune could remove an old
// entry that the run has just found. A store that cannot be written cannot be
// pruned by way of this path either, and is used without.
//
// Errors: the context's, while prune runs; [*UnsafeError].
func (s *Store) Use(ctx context.Context) (release func(), err error) {
	lock, err := s.acquire(ctx, useLock, "another process to finish prune", true)
	var readOnly *ReadOnlyError
	if errors.As(err, &readOnly) {
		return func() {}, nil
	}
	if err != nil {
		return nil, err
	}
	return lock.Release, nil
}

// LockProject waits until no other run of this user changes the project whose
// lock file is at lockPath.
//
// Errors: [*ReadOnlyError]; [*UnsafeError]; the context's.
func (s *Store) LockProject(ctx context.Context, lockPath string) (release func(), err error) {
	absolute, err := filepath.Abs(lockPath)
	if err != nil {
		return nil, err
	}
	name := "project-" + projectName(absolute)
	return s.exclude(ctx, name, "another run to change "+absolute)
}
