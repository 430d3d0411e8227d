package store

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/store/durable"
	"github.com/pluginlock/plugins/internal/store/filelock"
	"github.com/pluginlock/plugins/internal/store/plain"
)

// PruneOptions says what [Store.Prune] keeps.
type PruneOptions struct {
	// Keep is asked once, when nobody can take entries into use any more: only
	// then are the lock files final. Prune removes nothing where it fails. It
	// must not be nil.
	Keep func(context.Context) (Kept, error)

	OlderThan time.Duration // what is younger is kept too
	Now       time.Time     // the zero value means now
	DryRun    bool          // only say what would be removed
}

// Kept is what lock files need.
type Kept struct {
	Entries   []Key
	Documents []DocumentKey
}

// DocumentKey names a document of [Store.Document].
type DocumentKey struct {
	Source addr.Source
	Digest addr.Digest
}

// Removed is one thing that prune removed, or would remove.
type Removed struct {
	Path string // from the cache directory, with slashes
	Size int64  // bytes of its files
}

// Prune removes entries, documents and unfinished downloads that nobody needs
// and what killed runs have left, and returns what it removed, ordered by path.
// An entry that another process is just storing is passed over. On an error
// the list says how far it got.
//
// Errors: that of Keep; [*ReadOnlyError]; the context's, also while waiting
// for runs that use the store.
func (s *Store) Prune(ctx context.Context, o PruneOptions) ([]Removed, error) {
	root, err := s.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !o.DryRun {
		lock, err := s.acquire(ctx, useLock, "other processes to finish using the store", false)
		if err != nil {
			return nil, err
		}
		defer lock.Release()
	}
	kept, err := o.Keep(ctx)
	if err != nil {
		return nil, err
	}
	p := &pruning{store: s, root: root, dry: o.DryRun, limit: cmp.Or(o.Now, time.Now()).Add(-o.OlderThan)}
	err = errors.Join(p.entries(ctx, kept.Entries), p.documents(ctx, kept.Documents), p.partial(ctx), p.leftovers(ctx), p.locks(ctx))
	p.fingerprints(ctx)
	slices.SortFunc(p.removed, func(a, b Removed) int { return strings.Compare(a.Path, b.Path) })
	return p.removed, err
}

// pruning is one run of [Store.Prune].
type pruning struct {
	store   *Store
	root    *os.Root
	dry     bool
	limit   time.Time // what is younger stays
	removed []Removed
}

func (p *pruning) entries(ctx context.Context, keep []Key) error {
	needed := map[string]bool{}
	for _, k := range keep {
		needed[k.name()] = true
	}
	names, err := p.list(entriesDir)
	for _, name := range names {
		if !needed[name] {
			err = errors.Join(err, p.entry(ctx, name))
		}
	}
	return err
}

// entry removes an entry unless somebody is at work on it.
func (p *pruning) entry(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !p.dry {
		lock, err := filelock.Try(below(p.root, locksDir, name+lockSuffix))
		if lock == nil || err != nil {
			return p.store.refusal(err)
		}
		defer lock.Release()
	}
	path := entriesDir + "/" + name
	// The receipt is as old as the last change of any kind; without one the
	// entry is garbage, and as old as its directory.
	stored, err := p.root.Lstat(path + "/" + receiptFile)
	if err != nil {
		stored, err = p.root.Lstat(path)
	}
	if err != nil || !stored.ModTime().Before(p.limit) {
		return gone(err)
	}
	return p.remove(path)
}

func (p *pruning) documents(ctx context.Context, keep []DocumentKey) error {
	needed := map[string]bool{}
	for _, k := range keep {
		needed[documentName(k.Source, k.Digest)] = true
	}
	var errs []error
	err := fs.WalkDir(p.root.FS(), indexDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return gone(err)
		}
		if d.IsDir() || needed[path] || ctx.Err() != nil {
			return ctx.Err()
		}
		info, err := d.Info()
		if err == nil && info.ModTime().Before(p.limit) {
			errs = append(errs, p.remove(path))
		}
		return nil
	})
	return errors.Join(append(errs, err)...)
}

func (p *pruning) partial(ctx context.Context) error {
	names, err := p.list(partialDir)
	for _, name := range names {
		path := partialDir + "/" + name
		info, statErr := p.root.Lstat(path)
		if statErr == nil && ctx.Err() == nil && info.ModTime().Before(p.limit) {
			err = errors.Join(err, p.remove(path))
		}
	}
	return errors.Join(err, ctx.Err())
}

// leftovers are staging directories whose maker is dead.
func (p *pruning) leftovers(ctx context.Context) error {
	names, err := p.list(stagingDir)
	seen := map[string]bool{}
	for _, name := range names {
		name = strings.TrimSuffix(name, lockSuffix) // which may be there alone
		path := stagingDir + "/" + name
		if p.dry || ctx.Err() != nil || seen[name] {
			continue
		}
		seen[name] = true
		lock := abandoned(p.root, path)
		if lock == nil {
			continue
		}
		if _, statErr := p.root.Lstat(path); statErr != nil {
			lock.Release() // which removes it
			continue
		}
		size := sizeOf(p.root, path)
		if removeErr := durable.RemoveAll(p.root, path); removeErr != nil {
			err = errors.Join(err, p.store.refusal(removeErr))
		} else {
			p.removed = append(p.removed, Removed{path, size})
		}
		lock.Release()
	}
	return err
}

// locks removes the files of locks whose holders were killed: taking and
// releasing a lock does. They are empty and not reported.
func (p *pruning) locks(ctx context.Context) error {
	if p.dry {
		return nil
	}
	names, err := p.list(locksDir)
	for _, name := range names {
		if ctx.Err() != nil {
			break
		}
		lock, tryErr := filelock.Try(below(p.root, locksDir, name))
		if tryErr == nil && lock != nil {
			lock.Release()
		}
	}
	return err
}

// fingerprints removes those of projects that are gone. They only save work: they
// are not reported, and neither is what keeps them from being removed.
func (p *pruning) fingerprints(ctx context.Context) {
	info, err := p.root.Lstat(fingerprintsDir)
	if p.dry || err != nil || !info.IsDir() {
		return
	}
	projects, err := p.store.Roots()
	if err != nil {
		return
	}
	needed := map[string]bool{}
	for _, lockPath := range projects {
		_, err := os.Lstat(lockPath)
		needed[fingerprintName(lockPath)] = !errors.Is(err, fs.ErrNotExist)
	}
	names, _ := p.list(fingerprintsDir)
	for _, name := range names {
		if path := fingerprintsDir + "/" + name; !needed[path] && ctx.Err() == nil {
			_ = p.root.Remove(path)
		}
	}
}

// remove notes and, unless it is a dry run, removes what is at path.
func (p *pruning) remove(path string) error {
	size := sizeOf(p.root, path)
	if !p.dry {
		if err := p.store.remove(path); err != nil {
			return err
		}
	}
	p.removed = append(p.removed, Removed{path, size})
	return nil
}

// list returns the names in a directory that may not exist.
func (p *pruning) list(dir string) ([]string, error) {
	names, err := plain.Names(p.root, dir, -1)
	slices.Sort(names)
	return names, gone(err)
}

// sizeOf adds up the files below path as far as they can be seen.
func sizeOf(root *os.Root, path string) (size int64) {
	_ = fs.WalkDir(root.FS(), path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			size += info.Size()
		}
		return nil
	})
	return size
}

// gone passes over what vanished while it was looked at.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
