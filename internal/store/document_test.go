package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/store"
)

// Whatever stands in the place of a document, or on the way to it, and is none
// is damage that the next one replaces.
func TestDamagedDocumentsAreReplaced(t *testing.T) {
	raw := []byte("{}")
	from := source("registry.example.com/a/b")
	file := filepath.FromSlash(store.DocumentPath(from, addr.DigestOf(raw)))
	link := func(path string) error { return os.Symlink(t.TempDir(), path) }
	junk := func(path string) error { return os.WriteFile(path, []byte("junk"), 0o644) }
	empty := func(path string) error { return os.WriteFile(path, nil, 0o644) }
	tree := func(path string) error { return os.MkdirAll(filepath.Join(path, "x"), 0o500) }
	for name, damage := range map[string]struct {
		at  string
		put func(path string) error
	}{
		"empty": {file, empty}, "junk": {file, junk}, "a directory": {file, tree}, "a link": {file, link},
		"a file on the way": {filepath.Dir(file), junk}, "a link on the way": {filepath.Dir(filepath.Dir(file)), link},
	} {
		t.Run(name, func(t *testing.T) {
			cache := t.TempDir()
			s := open(t, cache)
			if err := s.PutDocument(from, raw); err != nil {
				t.Fatal(err)
			}
			at := filepath.Join(cache, damage.at)
			if err := errors.Join(os.RemoveAll(at), damage.put(at)); err != nil {
				t.Fatal(err)
			}
			var damaged *store.DamagedError
			if _, err := s.Document(from, addr.DigestOf(raw)); !errors.As(err, &damaged) && !errors.Is(err, store.ErrNotFound) {
				t.Errorf("%v", err)
			}
			if err := s.PutDocument(from, raw); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Document(from, addr.DigestOf(raw)); string(got) != "{}" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}
