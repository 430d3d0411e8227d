package store_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pluginlock/plugins/internal/store"
)

const page = "../../docs/store.md"

func readPage(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// The table of default directories is true.
func TestDocumentedDirectories(t *testing.T) {
	systems := map[string][]string{"any": {"linux", "darwin", "windows"}, "Linux and others": {"linux", "freebsd"}, "macOS": {"darwin"}, "Windows": {"windows"}}
	row := regexp.MustCompile("(?m)^\\| (.*) \\| `(.*)=(.*)` \\| `(.*)` \\|$")
	rows := row.FindAllStringSubmatch(readPage(t), -1)
	if len(rows) != 5 {
		t.Fatalf("%d rows, want 5", len(rows))
	}
	for _, r := range rows {
		if len(systems[r[1]]) == 0 {
			t.Errorf("system %q is not known", r[1])
		}
		for _, goos := range systems[r[1]] {
			e := store.Environment{GOOS: goos}
			switch r[2] {
			case "PLUGINS_CACHE_DIR":
				e.CacheDir = r[3]
			case "XDG_CACHE_HOME":
				e.XDGCacheHome = r[3]
			case "HOME":
				e.Home = r[3]
			case "LocalAppData":
				e.LocalAppData = r[3]
			}
			if got, err := store.DefaultDir(e); err != nil || filepath.ToSlash(got) != r[4] {
				t.Errorf("%s: %s, %v", r[0], got, err)
			}
		}
	}
}

// The documented layout is what a store consists of, and all of it.
func TestDocumentedLayout(t *testing.T) {
	cache := t.TempDir()
	s, p := open(t, cache), makePlugin("a")
	p.mustPut(t, s)
	if err := s.AddRoot("/project/.plugins.lock.hcl"); err != nil {
		t.Fatal(err)
	}
	if err := s.PutFingerprint("/project/.plugins.lock.hcl", nil); err != nil {
		t.Fatal(err)
	}
	if err := s.PutDocument(source("example.com/x"), []byte("{}")); err != nil {
		t.Fatal(err)
	}
	documented := regexp.MustCompile(`(?m)^(v1/\S+)`).FindAllString(readPage(t), -1)
	known := map[string]bool{}
	for _, line := range documented {
		first := strings.Split(line, "/")
		known[first[1]] = true
	}
	for _, name := range names(t, filepath.Join(cache, "v1")) {
		if !known[name] {
			t.Errorf("v1/%s is not documented", name)
		}
	}
	for _, name := range names(t, entryDir(cache, p)) {
		found := false
		for _, line := range documented {
			found = found || strings.TrimSuffix(line, "/") == "v1/sha256/<hex>/"+name
		}
		if !found {
			t.Errorf("v1/sha256/<hex>/%s is not documented", name)
		}
	}
	if s.PartialDir() != filepath.Join(s.Dir(), "v1", "partial") || !known["partial"] {
		t.Errorf("partial downloads lie in %s", s.PartialDir())
	}
}
