package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pluginlock/plugins/internal/extract"
	"github.com/pluginlock/plugins/internal/store"
)

// 32 goroutines on one cold store, half of them through a Store of their own.
func TestGoroutinesShare(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	shared := open(t, cache)
	var fills atomic.Int32
	p := makePlugin("a")
	fill := p.fill
	p.fill = func(ctx context.Context, root *os.Root) ([]extract.Record, error) {
		fills.Add(1)
		return fill(ctx, root)
	}
	var group sync.WaitGroup
	for n := range 32 {
		group.Go(func() {
			s := shared
			if n%2 == 0 {
				s = open(t, cache)
			}
			entry, err := p.put(s)
			if err == nil {
				err = entry.Verify(context.Background(), p.want)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := fills.Load(); n != 1 {
		t.Errorf("filled %d times", n)
	}
	requireTidy(t, cache)
}

// Waiting is announced, ends with the context and does not disturb the holder.
func TestWait(t *testing.T) {
	cache := t.TempDir()
	p := makePlugin("a")
	filling, finish := make(chan struct{}), make(chan struct{})
	holder := p
	holder.fill = func(ctx context.Context, root *os.Root) ([]extract.Record, error) {
		close(filling)
		<-finish
		return p.fill(ctx, root)
	}
	first := open(t, cache)
	done := make(chan error, 1)
	go func() {
		_, err := holder.put(first)
		done <- err
	}()
	<-filling
	announced := make(chan string, 1)
	other, err := store.Open(cache, store.Options{OnWait: func(what string) { announced <- what }})
	if err != nil {
		t.Fatal(err)
	}
	other.AnnounceAfter(time.Nanosecond)
	ctx, cancel := context.WithCancel(context.Background())
	waited := make(chan error, 2)
	for _, s := range []*store.Store{other, first} { // by file lock, by mutex
		go func() {
			_, err := s.Put(ctx, p.key, p.want, p.manifest, p.mustNotFill(t).fill)
			waited <- err
		}()
	}
	if what := <-announced; !strings.Contains(what, p.key.Manifest.String()) {
		t.Errorf("announced %q", what)
	}
	cancel()
	for range 2 {
		if err := <-waited; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
	// Another entry is not waited for.
	makePlugin("b").mustPut(t, other)
	close(finish)
	if err := <-done; err != nil {
		t.Error(err)
	}
	p.mustNotFill(t).mustPut(t, other)
	requireTidy(t, cache)
}

// Where locks do nothing the rename decides: the loser adopts what is sound,
// and moves what is not out of the way.
func TestRenameDecides(t *testing.T) {
	for _, sound := range []bool{true, false} {
		cache := t.TempDir()
		p := makePlugin("a")
		loser := p
		loser.fill = func(ctx context.Context, root *os.Root) ([]extract.Record, error) {
			if err := os.RemoveAll(filepath.Join(cache, "v1", "locks")); err != nil {
				return nil, err
			}
			if _, err := p.put(open(t, cache)); err != nil {
				return nil, err
			}
			if !sound {
				if err := os.Truncate(filepath.Join(entryDir(cache, p), filepath.FromSlash("root/"+program)), 0); err != nil {
					return nil, err
				}
			}
			return p.fill(ctx, root)
		}
		s := open(t, cache)
		var winner os.FileInfo
		loserFill := loser.fill
		loser.fill = func(ctx context.Context, root *os.Root) ([]extract.Record, error) {
			records, err := loserFill(ctx, root)
			var statErr error
			winner, statErr = os.Stat(entryDir(cache, p))
			return records, errors.Join(err, statErr)
		}
		loser.mustPut(t, s)
		final, err := os.Stat(entryDir(cache, p))
		if err != nil {
			t.Fatal(err)
		}
		if adopted := os.SameFile(winner, final); adopted != sound {
			t.Errorf("sound %t, adopted %t", sound, adopted)
		}
		requireSound(t, s, p)
		if left := names(t, filepath.Join(cache, "v1", "staging")); left != nil {
			t.Errorf("left in staging: %v", left)
		}
	}
}

// What a killed run left is removed by the next that writes, once; what a
// living one is at work on is not.
func TestLeftovers(t *testing.T) {
	cache := t.TempDir()
	v1 := filepath.Join(cache, "v1")
	makePlugin("a").mustPut(t, open(t, cache))
	plant := func(path string) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("x"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	plant(filepath.Join(v1, "staging", "dead", "entry", "root", "plugin", "aws"))
	plant(filepath.Join(v1, "staging", "dead.lock"))
	plant(filepath.Join(v1, "staging", "lonely.lock"))
	plant(filepath.Join(v1, "staging", "unlocked", "file"))
	plant(filepath.Join(v1, "partial", "old"))
	plant(filepath.Join(v1, "partial", "new"))
	if err := os.Chtimes(filepath.Join(v1, "partial", "old"), someTime, someTime); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(v1, "staging", "dead", "entry", "root"), 0); err != nil {
		t.Fatal(err)
	}
	alive := makePlugin("alive")
	during := alive
	during.fill = func(ctx context.Context, root *os.Root) ([]extract.Record, error) {
		makePlugin("b").mustPut(t, open(t, cache)) // tidies
		return alive.fill(ctx, root)
	}
	during.mustPut(t, open(t, cache))
	if left := names(t, filepath.Join(v1, "staging")); left != nil {
		t.Errorf("left in staging: %v", left)
	}
	if got := fmt.Sprint(names(t, filepath.Join(v1, "partial"))); got != "[new]" {
		t.Errorf("partial holds %s", got)
	}
}

var someTime = time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)

// A store that cannot be made: Open says nothing of it, Put names the path.
func TestNoPlaceForAStore(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "cache")} {
		_, err := store.Open(dir, store.Options{})
		if err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("Open(%s): %v", dir, err)
		}
	}
	if _, err := store.Open("", store.Options{}); err == nil {
		t.Error("Open without a directory: no error")
	}
	cache := t.TempDir()
	if err := os.WriteFile(filepath.Join(cache, "v1"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := makePlugin("a").put(open(t, cache)); err == nil || !strings.Contains(err.Error(), filepath.Join(cache, "v1")) {
		t.Errorf("a file in the place of v1: %v", err)
	}
}

// The store may be reached through a link, which is followed once.
func TestLinkedStore(t *testing.T) {
	cache := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(cache, link); err != nil {
		t.Skipf("no links: %v", err)
	}
	s := open(t, link)
	entry := makePlugin("a").mustPut(t, s)
	resolved, err := filepath.EvalSymlinks(cache)
	if err != nil || s.Dir() != resolved || !strings.HasPrefix(entry.Root(), resolved) {
		t.Errorf("dir %s, root %s, want below %s (%v)", s.Dir(), entry.Root(), resolved, err)
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	makePlugin("b").mustPut(t, s)
	requireSound(t, s, makePlugin("a"))
}
