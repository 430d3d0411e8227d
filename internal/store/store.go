// Package store keeps installed plugins on disk, shared by all projects of a
// user: one immutable directory for each platform manifest, and the indexes
// that lead to them. Any number of processes may use one store at once.
//
// What becomes visible was verified and synced before, and is never opened for
// writing again. Nothing that is found is trusted: manifests and indexes are
// compared with their digests on every read, files with a receipt by stat, and
// with the digests of the manifest where a stat differs. What does not match
// is garbage and is replaced by the next [Store.Put].
//
// The package does not know registries, and of projects only the paths of their
// lock files. Start at [Open], [Store.Lookup] and [Store.Put]; docs/store.md has the layout.
package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"

	"github.com/pluginlock/plugins/internal/store/durable"
)

// The directories of a store, from its root.
const (
	layout     = "v1"
	entriesDir = layout + "/sha256"
	indexDir   = layout + "/index"
	partialDir = layout + "/partial"
	stagingDir = layout + "/staging"
	locksDir   = layout + "/locks"
	rootsDir   = layout + "/roots"

	fingerprintsDir = layout + "/fingerprints"
)

// dirMode and fileMode are less the umask: others may read a store, which is
// no secret, and never write it.
const (
	dirMode  fs.FileMode = 0o755
	fileMode fs.FileMode = 0o644

	othersWrite fs.FileMode = 0o022
)

// Options changes how a store is used. The zero value is fine.
type Options struct {
	// OnWait is told once, after a second, that something waits for another
	// process, and for what; may be nil. It may be called concurrently.
	OnWait func(what string)
}

// Store is a cache directory. Its methods may be used by many goroutines.
type Store struct {
	dir      string // absolute; resolved where it exists
	options  Options
	announce time.Duration // 0 means the default; tests shorten it

	mu      sync.Mutex
	root    *os.Root // nil while the directory does not exist
	entries *os.Root // nil while v1/sha256 does not exist
	foreign bool     // part of it belongs to another user
	dirty   map[string]bool

	names   keyedMutex
	tidying sync.Once
}

// Open opens the store in dir, the cache directory. It creates nothing: a
// directory that does not exist is an empty store, and one that cannot be
// written serves what it has.
//
// Errors: [*UnsafeError] where others can write the directory; what the file
// system said.
func Open(dir string, o Options) (*Store, error) {
	if dir == "" {
		return nil, errors.New("the store needs a directory")
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	s := &Store{dir: absolute, options: o, dirty: map[string]bool{}}
	if _, err := s.open(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return s, nil
}

// Close releases what the store holds open. Entries stay usable.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, root := range []*os.Root{s.root, s.entries} {
		if root != nil {
			errs = append(errs, root.Close())
		}
	}
	s.root, s.entries = nil, nil
	return errors.Join(errs...)
}

// Dir returns the cache directory.
func (s *Store) Dir() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dir
}

// PartialDir is where unfinished downloads lie. It need not exist.
func (s *Store) PartialDir() string { return filepath.Join(s.Dir(), filepath.FromSlash(partialDir)) }

// needsRehash reports that the store belongs to another user, other than root,
// so that a stat proves nothing: every [Entry.Check] reads all files.
func (s *Store) needsRehash() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.foreign
}

// open resolves the directory once and checks who can write it. It fails with
// fs.ErrNotExist while there is none.
func (s *Store) open() (*os.Root, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.root != nil {
		return s.root, nil
	}
	resolved, err := filepath.EvalSymlinks(s.dir)
	if err != nil {
		return nil, fmt.Errorf("cache directory %s: %w", s.dir, err)
	}
	root, err := os.OpenRoot(resolved)
	if err != nil {
		return nil, err
	}
	if err := s.inspect(root, resolved, "."); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	s.root, s.dir = root, resolved
	return root, nil
}

// inspect refuses directories that others can write, and remembers that one
// belongs to somebody else. s.mu is held.
func (s *Store) inspect(root *os.Root, base string, names ...string) error {
	for _, name := range names {
		info, err := root.Lstat(name)
		if err != nil {
			return err
		}
		full := filepath.Join(base, filepath.FromSlash(name))
		if !info.IsDir() {
			return &fs.PathError{Op: "open", Path: full, Err: errors.New("not a directory")}
		}
		if modesMatter && info.Mode()&othersWrite != 0 {
			return &UnsafeError{Path: full, Mode: info.Mode()}
		}
		if belongsToAnother(info) {
			s.foreign = true
		}
	}
	return nil
}

// openEntries opens v1/sha256, and is asked on every look-up.
func (s *Store) openEntries() (*os.Root, error) {
	root, err := s.open()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.entries != nil {
		return s.entries, nil
	}
	if err := s.inspect(root, s.dir, layout, entriesDir); err != nil {
		return nil, err
	}
	s.entries, err = root.OpenRoot(entriesDir)
	return s.entries, err
}

// create makes the store's directory and the named ones inside of it.
func (s *Store) create(names ...string) (*os.Root, error) {
	root, err := s.open()
	if errors.Is(err, fs.ErrNotExist) {
		if err := s.createRoot(); err != nil {
			return nil, err
		}
		root, err = s.open()
	}
	if err != nil {
		return nil, err
	}
	for _, name := range append([]string{layout}, names...) {
		if err := s.mkdir(root, name); err != nil {
			return nil, s.refusal(err)
		}
	}
	return root, nil
}

func (s *Store) createRoot() error {
	dir := s.Dir()
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return s.refusal(err)
	}
	s.touched(filepath.Dir(dir))
	return nil
}

// mkdir makes name and its parents, and makes sure of each that it is safe.
func (s *Store) mkdir(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		if err = root.MkdirAll(name, dirMode); err != nil {
			return err
		}
		for parent := path.Dir(name); ; parent = path.Dir(parent) {
			s.touched(below(root, parent))
			if parent == "." {
				break
			}
		}
		info, err = root.Lstat(name)
	}
	if err != nil {
		return err
	}
	full := below(root, name)
	switch {
	case !info.IsDir():
		return &fs.PathError{Op: "mkdir", Path: full, Err: errors.New("something that is not a directory is in the way")}
	case modesMatter && info.Mode()&othersWrite != 0:
		return &UnsafeError{Path: full, Mode: info.Mode()}
	}
	return nil
}

// below returns the path of a name inside of root, for what does not go through it.
func below(root *os.Root, names ...string) string {
	return filepath.Join(root.Name(), filepath.FromSlash(path.Join(names...)))
}

// refusal tells a store that cannot be written from other failures.
func (s *Store) refusal(err error) error {
	if isReadOnly(err) {
		return &ReadOnlyError{Path: s.Dir(), Err: err}
	}
	return err
}

// touched notes a directory whose names changed, for [Store.Sync].
func (s *Store) touched(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dirty[filepath.Clean(dir)] = true
}

// Written reports whether something was written since the last [Store.Sync],
// such as a new receipt for what had to be read.
func (s *Store) Written() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.dirty) > 0
}

// Sync makes durable that what was put is visible. The content itself was
// synced before; call this once after several [Store.Put].
func (s *Store) Sync() error {
	s.mu.Lock()
	dirty := s.dirty
	s.dirty = map[string]bool{}
	s.mu.Unlock()
	var errs []error
	for dir := range dirty {
		if err := durable.SyncDir(dir); err != nil {
			errs = append(errs, fmt.Errorf("syncing the store: %w", err))
		}
	}
	return errors.Join(errs...)
}
