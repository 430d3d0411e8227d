//go:build unix

package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/pluginlock/plugins/internal/store"
)

// A pipe in the place of a file or directory of the store holds nobody up: the
// test would not end.
func TestNobodyWaitsAtPipes(t *testing.T) {
	pipe := func(path string) {
		t.Helper()
		if err := errors.Join(os.RemoveAll(path), syscall.Mkfifo(path, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"manifest.json", "receipt.json", "root"} {
		cache := t.TempDir()
		s, p := open(t, cache), makePlugin("a")
		p.mustPut(t, s)
		pipe(filepath.Join(entryDir(cache, p), name))
		entry, err := s.Lookup(p.key)
		if err == nil {
			err = entry.Check(context.Background(), p.want)
		}
		var damaged *store.DamagedError
		if !errors.As(err, &damaged) {
			t.Errorf("%s: %v", name, err)
		}
		p.mustPut(t, s)
	}
	keep := func(context.Context) (store.Kept, error) { return store.Kept{}, nil }
	for _, name := range []string{"sha256", "staging", "partial", "fingerprints"} {
		cache := t.TempDir()
		s, p := open(t, cache), makePlugin("a")
		p.mustPut(t, s)
		pipe(filepath.Join(cache, "v1", name))
		_, err := s.Prune(context.Background(), store.PruneOptions{Keep: keep})
		if (err == nil) != (name == "fingerprints") { // which only save work
			t.Errorf("prune with a pipe for %s: %v", name, err)
		}
	}
}

// The lock of a staging directory may outlive it.
func TestPruneRemovesLonelyLocks(t *testing.T) {
	cache := t.TempDir()
	s := open(t, cache)
	makePlugin("a").mustPut(t, s)
	lock := filepath.Join(cache, "v1", "staging", "dead.lock")
	if err := os.WriteFile(lock, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	keep := func(context.Context) (store.Kept, error) { return store.Kept{}, nil }
	removed, err := s.Prune(context.Background(), store.PruneOptions{Keep: keep, DryRun: true})
	if _, statErr := os.Lstat(lock); err != nil || statErr != nil {
		t.Errorf("dry run: %v, %v, %v", removed, err, statErr)
	}
	if _, err := s.Prune(context.Background(), store.PruneOptions{Keep: keep}); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(lock); err == nil {
		t.Error("it is still there")
	}
}
