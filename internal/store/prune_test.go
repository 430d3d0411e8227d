package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/extract"
	"github.com/pluginlock/plugins/internal/store"
)

func source(s string) addr.Source {
	parsed, err := addr.ParseSource(s)
	if err != nil {
		panic(err)
	}
	return parsed
}

func TestDocuments(t *testing.T) {
	cache := t.TempDir()
	s := open(t, cache)
	raw := []byte(`{"schemaVersion":2}`)
	digest := addr.DigestOf(raw)
	long := source("registry.example.com/a/b/c")
	if _, err := s.Document(long, digest); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("before: %v", err)
	}
	if err := s.PutDocument(long, raw); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Document(long, digest); err != nil || string(got) != string(raw) {
		t.Errorf("got %q, %v", got, err)
	}
	// There for one source is no hit for another, not even for one that it continues.
	for _, other := range []string{"registry.example.com/a/b", "registry.example.com/a/b/c/d", "registry.example.com:5000/a/b/c"} {
		if _, err := s.Document(source(other), digest); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", other, err)
		}
	}
	before := snapshot(t, cache)
	if err := s.PutDocument(long, raw); err != nil {
		t.Error(err)
	}
	if after := snapshot(t, cache); after != before {
		t.Error("written again")
	}
	name := filepath.Join(cache, "v1", "index", "registry.example.com", "a", "b", "c", "@", digest.Hex()+".json")
	for _, bad := range []string{"", `{"schemaVersion":3}`} {
		if err := os.WriteFile(name, []byte(bad), 0o644); err != nil {
			t.Fatal(err)
		}
		var damaged *store.DamagedError
		if _, err := s.Document(long, digest); !errors.As(err, &damaged) || damaged.Path != name {
			t.Errorf("damaged: %v", err)
		}
		if err := s.PutDocument(long, raw); err != nil {
			t.Error(err)
		}
		if got, err := s.Document(long, digest); err != nil || string(got) != string(raw) {
			t.Errorf("replaced: %q, %v", got, err)
		}
	}
	if _, err := s.Document(long, "sha256:../../x"); err == nil {
		t.Error("a digest that is a path was read")
	}
	if err := s.PutDocument(long, make([]byte, 5<<20)); err == nil {
		t.Error("a document of 5 MiB was stored")
	}
	requireTidy(t, cache)
}

// Sources become names that Windows takes too, and never meet.
func TestDocumentNames(t *testing.T) {
	raw := []byte("{}")
	for src, want := range map[string]string{
		"localhost:5000/x":         "localhost%3A5000/x",
		"[::1]:5000/x":             "%5B%3A%3A1%5D%3A5000/x",
		"example.com/con/x":        "example.com/%63on/x",
		"example.com/com1/lpt9":    "example.com/%63om1/%6Cpt9",
		"example.com/aux.plugin/x": "example.com/%61ux.plugin/x",
		"example.com/console/com":  "example.com/console/com",
	} {
		cache := t.TempDir()
		if err := open(t, cache).PutDocument(source(src), raw); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(cache, "v1", "index", filepath.FromSlash(want), "@", addr.DigestOf(raw).Hex()+".json")
		if _, err := os.Lstat(name); err != nil {
			t.Errorf("%s: %v", src, err)
		}
	}
}

func TestRoots(t *testing.T) {
	cache := t.TempDir()
	s := open(t, cache)
	var want []string
	for _, project := range []string{"b", "a", "b"} {
		lock := filepath.Join(t.TempDir(), project, ".plugins.lock.hcl")
		want = append(want, lock)
		if err := s.AddRoot(lock); err != nil {
			t.Fatal(err)
		}
	}
	before := snapshot(t, cache)
	for _, lock := range want {
		if err := s.AddRoot(lock); err != nil {
			t.Error(err)
		}
	}
	if after := snapshot(t, cache); after != before {
		t.Error("written again")
	}
	slices.Sort(want)
	got, err := s.Roots()
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if err := os.WriteFile(filepath.Join(cache, "v1", "roots", "cut.json"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var damaged *store.DamagedError
	if _, err := s.Roots(); !errors.As(err, &damaged) {
		t.Errorf("a root that cannot be read: %v", err)
	}
}

// fill a store with things to keep and things to remove.
func pruneStore(t *testing.T) (cache string, s *store.Store, kept, lost plugin) {
	cache = t.TempDir()
	s, kept, lost = open(t, cache), makePlugin("kept"), makePlugin("lost")
	kept.mustPut(t, s)
	lost.mustPut(t, s)
	for _, raw := range []string{"kept", "lost"} {
		if err := s.PutDocument(source("example.com/x"), []byte(raw)); err != nil {
			t.Fatal(err)
		}
	}
	garbage := filepath.Join(cache, "v1", "sha256", "garbage")
	leftover := filepath.Join(cache, "v1", "staging", "dead")
	partial := filepath.Join(s.PartialDir(), "old")
	for _, path := range []string{garbage, leftover, s.PartialDir()} {
		if err := os.MkdirAll(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.WriteFile(partial, []byte("12345"), 0o644), os.WriteFile(filepath.Join(leftover, "x"), []byte("123"), 0o644)); err != nil {
		t.Fatal(err)
	}
	return cache, s, kept, lost
}

func keep(p plugin) func(context.Context) (store.Kept, error) {
	return func(context.Context) (store.Kept, error) {
		return store.Kept{
			Entries:   []store.Key{p.key},
			Documents: []store.DocumentKey{{Source: source("example.com/x"), Digest: addr.DigestOf([]byte("kept"))}},
		}, nil
	}
}

func TestPrune(t *testing.T) {
	cache, s, kept, lost := pruneStore(t)
	later := time.Now().Add(2 * time.Hour)
	before := snapshot(t, cache)
	planned, err := s.Prune(context.Background(), store.PruneOptions{Keep: keep(kept), OlderThan: time.Hour, Now: later, DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	if after := snapshot(t, cache); after != before {
		t.Error("the dry run removed something")
	}
	young, err := s.Prune(context.Background(), store.PruneOptions{Keep: keep(kept), OlderThan: 3 * time.Hour, Now: later, DryRun: true})
	if err != nil || len(young) != 0 {
		t.Errorf("younger than demanded: %v, %v", young, err)
	}
	removed, err := s.Prune(context.Background(), store.PruneOptions{Keep: keep(kept), OlderThan: time.Hour, Now: later})
	if err != nil {
		t.Fatal(err)
	}
	lostIndex := path.Join("v1/index/example.com/x/@", addr.DigestOf([]byte("lost")).Hex()+".json")
	var want []string
	for _, r := range append([]store.Removed{{Path: "v1/staging/dead"}}, planned...) {
		want = append(want, r.Path)
	}
	got := map[string]int64{}
	for _, r := range removed {
		got[r.Path] = r.Size
	}
	for _, path := range append(want, lostIndex, "v1/partial/old", "v1/sha256/garbage", "v1/sha256/"+lost.key.Manifest.Hex()) {
		if _, ok := got[path]; !ok {
			t.Errorf("%s was not removed", path)
		}
		if _, err := os.Lstat(filepath.Join(cache, filepath.FromSlash(path))); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", path, err)
		}
	}
	if len(removed) != 5 || len(planned) != 4 || got["v1/partial/old"] != 5 || got["v1/staging/dead"] != 3 || got["v1/sha256/"+lost.key.Manifest.Hex()] < 100 {
		t.Errorf("removed %v, planned %v", removed, planned)
	}
	requireSound(t, s, kept)
	if _, err := s.Document(source("example.com/x"), addr.DigestOf([]byte("kept"))); err != nil {
		t.Error(err)
	}
	requireTidy(t, cache)
	again, err := s.Prune(context.Background(), store.PruneOptions{Keep: keep(kept), Now: later})
	if err != nil || len(again) != 0 {
		t.Errorf("again: %v, %v", again, err)
	}
}

func TestPruneKeepFails(t *testing.T) {
	cache, s, _, _ := pruneStore(t)
	before := snapshot(t, filepath.Join(cache, "v1", "sha256"))
	boom := errors.New("a lock file cannot be read")
	removed, err := s.Prune(context.Background(), store.PruneOptions{Keep: func(context.Context) (store.Kept, error) { return store.Kept{}, boom }})
	if !errors.Is(err, boom) || removed != nil {
		t.Errorf("got %v, %v", removed, err)
	}
	if after := snapshot(t, filepath.Join(cache, "v1", "sha256")); after != before {
		t.Error("something was removed")
	}
}

// Prune waits for runs that use the store, and they for it.
func TestPruneAndUse(t *testing.T) {
	cache, s, kept, _ := pruneStore(t)
	other := open(t, cache)
	first, err := s.Use(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	second, err := other.Use(context.Background()) // shared
	if err != nil {
		t.Fatal(err)
	}
	first()
	ctx, cancel := context.WithCancel(context.Background())
	pruner, err := store.Open(cache, store.Options{OnWait: func(string) { cancel() }})
	if err != nil {
		t.Fatal(err)
	}
	pruner.AnnounceAfter(time.Nanosecond)
	if removed, err := pruner.Prune(ctx, store.PruneOptions{Keep: keep(kept)}); !errors.Is(err, context.Canceled) || removed != nil {
		t.Errorf("while in use: %v, %v", removed, err)
	}
	second()
	_, err = other.Prune(context.Background(), store.PruneOptions{Now: time.Now().Add(time.Hour), Keep: func(context.Context) (store.Kept, error) {
		ctx, cancel := context.WithCancel(context.Background())
		user, err := store.Open(cache, store.Options{OnWait: func(string) { cancel() }})
		if err != nil {
			return store.Kept{}, err
		}
		user.AnnounceAfter(time.Nanosecond)
		if _, err := user.Use(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("use while prune runs: %v", err)
		}
		return keep(kept)(ctx)
	}})
	if err != nil {
		t.Error(err)
	}
}

// An entry that is just being stored again is passed over.
func TestPrunePassesOverBusyEntries(t *testing.T) {
	cache, s, kept, lost := pruneStore(t)
	if err := os.Truncate(filepath.Join(entryDir(cache, lost), filepath.FromSlash("root/"+program)), 0); err != nil {
		t.Fatal(err)
	}
	busy := lost
	busy.fill = func(ctx context.Context, root *os.Root) ([]extract.Record, error) {
		removed, err := open(t, cache).Prune(ctx, store.PruneOptions{Keep: keep(kept), Now: time.Now().Add(time.Hour)})
		if err != nil || strings.Contains(fmt.Sprint(removed), lost.key.Manifest.Hex()) {
			t.Errorf("removed %v, %v", removed, err)
		}
		return lost.fill(ctx, root)
	}
	busy.mustPut(t, s)
	requireSound(t, s, lost)
}

func TestLockProject(t *testing.T) {
	cache := t.TempDir()
	s := open(t, cache)
	release, err := s.LockProject(context.Background(), "/project/lock")
	if err != nil {
		t.Fatal(err)
	}
	elsewhere, err := s.LockProject(context.Background(), "/other/lock")
	if err != nil {
		t.Fatal(err)
	}
	elsewhere()
	ctx, cancel := context.WithCancel(context.Background())
	var said string
	other, err := store.Open(cache, store.Options{OnWait: func(what string) { said = what; cancel() }})
	if err != nil {
		t.Fatal(err)
	}
	other.AnnounceAfter(time.Nanosecond)
	if _, err := other.LockProject(ctx, "/project/lock"); !errors.Is(err, context.Canceled) || !strings.Contains(said, "/project/lock") {
		t.Errorf("got %v, said %q", err, said)
	}
	release()
	again, err := other.LockProject(context.Background(), "/project/lock")
	if err != nil {
		t.Fatal(err)
	}
	again()
	requireTidy(t, cache)
}

func TestDefaultDir(t *testing.T) {
	type env = store.Environment
	for want, e := range map[string]env{
		"/explicit":                  {GOOS: "linux", CacheDir: "/explicit", XDGCacheHome: "/xdg", Home: "/home/me"},
		"/xdg/plugins":               {GOOS: "linux", XDGCacheHome: "/xdg", Home: "/home/me"},
		"/home/me/.cache/plugins":    {GOOS: "linux", XDGCacheHome: "relative", Home: "/home/me"},
		"/me/Library/Caches/plugins": {GOOS: "darwin", XDGCacheHome: "/xdg", Home: "/me"},
		"/local/plugins":             {GOOS: "windows", LocalAppData: "/local", Home: "/home/me"},
	} {
		if got, err := store.DefaultDir(e); err != nil || filepath.ToSlash(got) != want {
			t.Errorf("%+v: %s, %v, want %s", e, got, err, want)
		}
	}
	for _, e := range []env{{GOOS: "linux"}, {GOOS: "linux", Home: "relative"}, {GOOS: "darwin", XDGCacheHome: "/xdg"}, {GOOS: "windows", Home: "/home/me"}} {
		if got, err := store.DefaultDir(e); !errors.Is(err, store.ErrNoDirectory) || got != "" {
			t.Errorf("%+v: %q, %v", e, got, err)
		}
	}
}

func TestKeyNames(t *testing.T) {
	// Names that others may rely on, such as CI caches: they never change.
	manifest := addr.DigestOf([]byte("m"))
	cache := t.TempDir()
	s := open(t, cache)
	p := pluginOf("foreign", map[string]string{program: "#!/bin/sh\n"}, nil)
	p.want.Content, p.key.Executable = "", "/plugins/velero"
	entry := p.mustPut(t, s)
	want := p.key.Manifest.Hex() + "-" + addr.DigestOf([]byte("/plugins/velero")).Hex()[:16]
	if got := filepath.Base(filepath.Dir(entry.Root())); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if !reflect.DeepEqual(entry.Key(), p.key) || manifest == p.key.Manifest {
		t.Errorf("key %v", entry.Key())
	}
}
