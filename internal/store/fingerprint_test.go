package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/store"
)

func TestPaths(t *testing.T) {
	cache := t.TempDir()
	s, p := open(t, cache), makePlugin("a")
	entry := p.mustPut(t, s)
	dir := "v1/sha256/" + p.key.Manifest.Hex()
	want := []string{dir + "/manifest.json", dir + "/receipt.json", dir + "/root", dir + "/root/plugin", dir + "/root/plugin/docs",
		dir + "/root/plugin/aws", dir + "/root/plugin/docs/LICENSE", dir + "/root/plugin/latest"}
	if got, ok := entry.Paths(); !ok || !reflect.DeepEqual(got, want) {
		t.Errorf("paths %q, %t, want %q", got, ok, want)
	}
	raw := []byte("{}")
	if err := s.PutDocument(source("registry.example.com:5000/x"), raw); err != nil {
		t.Fatal(err)
	}
	path := store.DocumentPath(source("registry.example.com:5000/x"), addr.DigestOf(raw))
	if got, err := os.ReadFile(filepath.Join(s.Dir(), filepath.FromSlash(path))); string(got) != "{}" {
		t.Errorf("%s is %q, %v", path, got, err)
	}
}

// A fingerprint stays as long as its project.
func TestFingerprints(t *testing.T) {
	cache, projects := t.TempDir(), t.TempDir()
	s := open(t, cache)
	makePlugin("a").mustPut(t, s)
	if err := s.PutDocument(source("example.com/x"), []byte("{}")); err != nil {
		t.Fatal(err)
	}
	here, gone := filepath.Join(projects, "here.lock.hcl"), filepath.Join(projects, "gone.lock.hcl")
	for _, lockPath := range []string{here, gone} {
		if got := s.Fingerprint(lockPath); got != nil {
			t.Errorf("before: %q", got)
		}
		if err := errors.Join(s.AddRoot(lockPath), s.PutFingerprint(lockPath, []byte(lockPath))); err != nil {
			t.Fatal(err)
		}
		if got := s.Fingerprint(lockPath); string(got) != lockPath {
			t.Errorf("kept %q, got %q", lockPath, got)
		}
	}
	if err := os.WriteFile(here, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	keep := func(context.Context) (store.Kept, error) { return store.Kept{}, nil }
	for _, dry := range []bool{true, false} {
		if _, err := s.Prune(context.Background(), store.PruneOptions{Keep: keep, DryRun: dry, OlderThan: time.Hour}); err != nil {
			t.Fatal(err)
		}
		if s.Fingerprint(here) == nil || (s.Fingerprint(gone) == nil) == dry {
			t.Errorf("dry run %t: of the project that is there %q, of the other %q", dry, s.Fingerprint(here), s.Fingerprint(gone))
		}
	}
}

// One that others could have written, or that belongs to another, is none.
func TestFingerprintsOfOthers(t *testing.T) {
	const lockPath = "/project/.plugins.lock.hcl"
	tests := map[string]func(t *testing.T, dir, file string) error{
		"the directory open to all": func(_ *testing.T, dir, _ string) error { return os.Chmod(dir, 0o777) },
		"the file open to all":      func(_ *testing.T, _, file string) error { return os.Chmod(file, 0o666) },
		"a link": func(_ *testing.T, _, file string) error {
			return errors.Join(os.Rename(file, file+".moved"), os.Symlink(file+".moved", file))
		},
		"a directory": func(_ *testing.T, _, file string) error { return errors.Join(os.Remove(file), os.Mkdir(file, 0o755)) },
		"the indexes are elsewhere": func(_ *testing.T, dir, _ string) error {
			index := filepath.Join(dir, "..", "index")
			return errors.Join(os.Rename(index, index+".moved"), os.Symlink(index+".moved", index))
		},
		"the directory of another": func(t *testing.T, dir, _ string) error { return give(t, dir) },
		"the file of another":      func(t *testing.T, _, file string) error { return give(t, file) },
		"the entries of another":   func(t *testing.T, dir, _ string) error { return give(t, filepath.Join(dir, "..", "sha256")) },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			cache := t.TempDir()
			s := open(t, cache)
			makePlugin("a").mustPut(t, s)
			if err := errors.Join(s.PutDocument(source("example.com/x"), []byte("{}")), s.PutFingerprint(lockPath, []byte("x"))); err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(cache, "v1", "fingerprints")
			files := names(t, dir)
			if len(files) != 1 || s.Fingerprint(lockPath) == nil {
				t.Fatalf("files %q", files)
			}
			if err := change(t, dir, filepath.Join(dir, files[0])); err != nil {
				t.Fatal(err)
			}
			if got := open(t, cache).Fingerprint(lockPath); got != nil {
				t.Errorf("got %q", got)
			}
		})
	}
}

// give makes path another user's.
func give(t *testing.T, path string) error {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can give a file away")
	}
	return os.Chown(path, 4321, 4321)
}
