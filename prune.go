package plugins

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/pluginlock/plugins/internal/store"
	"github.com/pluginlock/plugins/lock"
)

// PruneOptions say what [Prune] keeps.
type PruneOptions struct {
	CacheDir  string
	LockFiles []string      // besides those of the projects that were installed from this store
	OlderThan time.Duration // what is younger is kept too
	DryRun    bool
	OnEvent   func(Event) // nil is silent
}

// Pruned is one thing that was removed from the store, or would be.
type Pruned = store.Removed

// Prune removes from the store what neither the given lock files nor those of
// the projects that were installed from it need. Lock files of projects that
// are gone need nothing; one that cannot be read stops it, and nothing is
// removed.
func Prune(ctx context.Context, o PruneOptions) ([]Pruned, error) {
	r := &run{options: Options{CacheDir: o.CacheDir, OnEvent: o.OnEvent, Offline: true}}
	defer r.close()
	if err := r.openStore(); err != nil {
		return nil, r.fail(err)
	}
	given := make([]string, len(o.LockFiles))
	for i, path := range o.LockFiles {
		absolute, err := filepath.Abs(path)
		if err != nil {
			return nil, r.fail(err)
		}
		given[i] = absolute
	}
	removed, err := r.store.Prune(ctx, store.PruneOptions{
		Keep:      func(context.Context) (store.Kept, error) { return r.needed(given) },
		OlderThan: o.OlderThan,
		DryRun:    o.DryRun,
	})
	return removed, r.fail(err)
}

// needed lists what the given lock files and the recorded ones need. A given
// one has to be there; a recorded one may be gone with its project.
func (r *run) needed(given []string) (store.Kept, error) {
	var kept store.Kept
	roots, err := r.store.Roots()
	if err != nil {
		return kept, err
	}
	for _, path := range slices.Concat(given, roots) {
		file, src, err := lock.Load(path)
		if errors.Is(err, fs.ErrNotExist) && !slices.Contains(given, path) {
			continue
		}
		if err != nil {
			return kept, r.excerpt(path, src, err)
		}
		for _, entry := range file.Entries {
			kept.Documents = append(kept.Documents, store.DocumentKey{Source: entry.Source, Digest: entry.Digest})
			for _, p := range entry.Platforms {
				kept.Entries = append(kept.Entries, store.Key{Manifest: p.Manifest, Executable: entry.Executable.For(p.Platform)})
			}
		}
	}
	return kept, nil
}
