package installer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/getter"
	"github.com/pluginlock/plugins/internal/chain"
	"github.com/pluginlock/plugins/internal/extract"
	"github.com/pluginlock/plugins/internal/image"
	"github.com/pluginlock/plugins/internal/store"
	"github.com/pluginlock/plugins/lock"
)

// fetch is one plugin for one platform on its way into the store.
type fetch struct {
	plugin   string
	source   addr.Source
	version  addr.Version
	platform addr.Platform
	key      store.Key
	entry    *lock.Entry   // nil while a foreign image is being locked
	locked   lock.Platform // of entry
	pinned   chain.Pinned  // once the chain was checked
	manifest *image.Document
	stored   *store.Entry // once it is in the store
}

func newFetch(entry *lock.Entry, locked lock.Platform) fetch {
	return fetch{
		plugin: entry.Name, source: entry.Source, version: entry.Version, platform: locked.Platform,
		key:   store.Key{Manifest: locked.Manifest, Executable: entry.Executable.For(locked.Platform)},
		entry: entry, locked: locked,
	}
}

// want is what the files have to be.
func (f *fetch) want() store.Want {
	return store.Want{
		Executable:       f.pinned.Executable,
		ExecutableDigest: f.pinned.ExecutableDigest,
		Content:          f.pinned.Declaration.Content,
	}
}

// locate finds out which targets are in the store. It reads the documents of
// each chain and the state of the files, and asks nobody. As many are looked at
// at once as there are processors: nothing here waits for anything else.
func (in *Installer) locate(ctx context.Context, plan *Plan) error {
	return eachTarget(plan.missing(), runtime.GOMAXPROCS(0), func(t *Target) error {
		return damagedIsNil(in.locateOne(ctx, plan.documents, t, false))
	})
}

// eachTarget calls do for every target, several at a time, and joins what
// failed in their order.
func eachTarget(targets []*Target, limit int, do func(*Target) error) error {
	problems := make([]*Problem, len(targets))
	var group errgroup.Group
	group.SetLimit(limit)
	for i, target := range targets {
		group.Go(func() error {
			if err := do(target); err != nil {
				problems[i] = target.fetch.problem(err)
			}
			return nil
		})
	}
	_ = group.Wait()
	return joinProblems(problems)
}

// locateOne finds one target in the store and compares its files with the
// chain: by stat, or with all by reading them.
func (in *Installer) locateOne(ctx context.Context, documents *documents, t *Target, all bool) error {
	f := &t.fetch
	entry, err := in.Store.Lookup(f.key)
	if err != nil {
		return missingIsNil(err)
	}
	top, err := documents.localTop(f.source, f.entry.Digest)
	if top == nil || err != nil {
		return err
	}
	f.manifest, err = image.Parse("", entry.Manifest())
	if err != nil {
		return err
	}
	if f.pinned, err = chain.Verify(f.entry, f.locked, top, f.manifest); err != nil {
		return err
	}
	check := entry.Check
	if all {
		check = entry.Verify
	}
	if err := check(ctx, f.want()); err != nil {
		return err
	}
	f.stored, t.ready = entry, true
	return nil
}

// damagedIsNil makes a damaged entry a missing one: it is replaced unasked.
func damagedIsNil(err error) error {
	var damaged *store.DamagedError
	if errors.As(err, &damaged) {
		return nil
	}
	return err
}

// fetchAll brings what is missing into the store: first all documents, so that
// a broken chain costs no download, then the layers, the largest first.
func (in *Installer) fetchAll(ctx context.Context, plan *Plan) error {
	missing := plan.missing()
	err := eachTarget(missing, transfers, func(t *Target) error { return in.fetchDocuments(ctx, plan.documents, &t.fetch) })
	if err != nil {
		return err
	}
	sortLargestFirst(missing)
	return eachTarget(missing, transfers, func(t *Target) error { return in.fetchFiles(ctx, plan.documents, &t.fetch) })
}

// sortLargestFirst starts the longest downloads first, so that none is left
// alone at the end.
func sortLargestFirst(targets []*Target) {
	slices.SortStableFunc(targets, func(a, b *Target) int { return cmp.Compare(b.fetch.size(), a.fetch.size()) })
}

// size is the number of bytes of the layers, of which a foreign image may need
// only some.
func (f *fetch) size() (total int64) {
	for _, layer := range f.manifest.Manifest.Layers {
		total += layer.Size
	}
	return total
}

// fetchDocuments gets index and manifest side by side and checks the chain.
func (in *Installer) fetchDocuments(ctx context.Context, documents *documents, f *fetch) error {
	r := &resolver{in, documents}
	var top *image.Document
	var topErr, manifestErr error
	var both sync.WaitGroup
	both.Go(func() { top, topErr = r.lockedDocument(ctx, f.entry) })
	if f.key.Manifest != f.entry.Digest {
		both.Go(func() { f.manifest, manifestErr = documents.child(ctx, f.source, f.key) })
	}
	both.Wait()
	switch {
	case topErr != nil:
		return topErr // where the index is gone its manifests may be too
	case errors.Is(manifestErr, getter.ErrNotFound):
		if err := chain.Listed(f.entry, f.locked, top); err != nil {
			return err // it is not the registry that lost it
		}
		return fmt.Errorf("the manifest for %s is missing: %w", f.platform, manifestErr)
	case manifestErr != nil:
		return manifestErr
	}
	if f.manifest == nil {
		f.manifest = top
	}
	var err error
	f.pinned, err = chain.Verify(f.entry, f.locked, top, f.manifest)
	return err
}

// fetchFiles fills the store's entry.
func (in *Installer) fetchFiles(ctx context.Context, documents *documents, f *fetch) (err error) {
	f.stored, err = in.storeEntry(ctx, documents, *f)
	return err
}

// storeEntry returns the store's entry of f, filling it where it is missing or
// damaged.
func (in *Installer) storeEntry(ctx context.Context, documents *documents, f fetch) (*store.Entry, error) {
	repo, err := documents.repository(f.source)
	if err != nil {
		return nil, err
	}
	return in.Store.Put(ctx, f.key, f.want(), f.manifest.Raw, func(ctx context.Context, root *os.Root) ([]extract.Record, error) {
		records, err := in.fill(ctx, repo, f, root)
		if err != nil {
			return nil, err
		}
		return records, checkExecutable(root, f)
	})
}

// fill extracts f's files below root.
func (in *Installer) fill(ctx context.Context, repo Repository, f fetch, root *os.Root) ([]extract.Record, error) {
	if !f.pinned.Plugin {
		return in.fillForeign(ctx, in.observed(repo, f, f.size()), f, root)
	}
	layer, err := f.manifest.Payload()
	if err != nil {
		return nil, err
	}
	blob, err := in.observed(repo, f, layer.Size).Blob(ctx, layer)
	if err != nil {
		return nil, err
	}
	defer func() { _ = blob.Close() }()
	result, err := extract.Payload(ctx, blob, layer, root, in.Limits)
	return result.Records, err
}

// checkExecutable compares the header of the extracted program with the
// platform it was declared for.
func checkExecutable(root *os.Root, f fetch) error {
	file, err := root.Open(f.pinned.Executable)
	if err != nil {
		return imageErrorf("the image holds no file %q, which it declares as its executable", f.pinned.Executable)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return extract.CheckExecutable(file, info.Size(), f.platform)
}

func (f *fetch) problem(err error) *Problem {
	return &Problem{Plugin: f.plugin, Source: f.source, Version: f.version.String(), Err: because(err, "it is not in the cache")}
}
