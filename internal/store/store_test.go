package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/extract"
	"github.com/pluginlock/plugins/internal/store"
)

// plugin is something to store.
type plugin struct {
	key      store.Key
	want     store.Want
	manifest []byte
	fill     store.Fill
}

const program = "plugin/aws"

// makePlugin returns a plugin image with a program, a text and a link; other
// seeds give other digests.
func makePlugin(seed string) plugin {
	files := map[string]string{
		program:               "#!/bin/sh\necho " + seed + "\n",
		"plugin/docs/LICENSE": "licence of " + seed,
	}
	return pluginOf(seed, files, map[string]string{"plugin/latest": "aws"})
}

func pluginOf(seed string, files, links map[string]string) plugin {
	var records []extract.Record
	for path, content := range files {
		records = append(records, extract.Record{
			Path: path, Digest: addr.DigestOf([]byte(content)), Size: int64(len(content)), Executable: path == program,
		})
	}
	for path, target := range links {
		records = append(records, extract.Record{Path: path, Link: target})
	}
	manifest := fmt.Appendf(nil, `{"schemaVersion":2,"seed":%q}`, seed)
	return plugin{
		key:      store.Key{Manifest: addr.DigestOf(manifest)},
		want:     store.Want{Executable: program, ExecutableDigest: addr.DigestOf([]byte(files[program])), Content: extract.Content(records)},
		manifest: manifest,
		fill: func(_ context.Context, root *os.Root) ([]extract.Record, error) {
			return records, writeTree(root, files, links)
		},
	}
}

func writeTree(root *os.Root, files, links map[string]string) error {
	for path, content := range files {
		if err := root.MkdirAll(filepath.ToSlash(filepath.Dir(path)), 0o755); err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if path == program {
			mode = 0o755
		}
		if err := root.WriteFile(path, []byte(content), mode); err != nil {
			return err
		}
		if err := root.Chmod(path, mode); err != nil {
			return err
		}
	}
	for path, target := range links {
		if err := root.Symlink(target, path); err != nil {
			return err
		}
	}
	return nil
}

func openFor(tb testing.TB, dir string) *store.Store {
	tb.Helper()
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func open(t *testing.T, dir string) *store.Store {
	t.Helper()
	s := openFor(t, dir)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func (p plugin) put(s *store.Store) (*store.Entry, error) {
	return s.Put(context.Background(), p.key, p.want, p.manifest, p.fill)
}

func (p plugin) mustPut(t *testing.T, s *store.Store) *store.Entry {
	t.Helper()
	entry, err := p.put(s)
	if err != nil {
		t.Fatal(err)
	}
	return entry
}

// mustNotFill fails the test when the store asks for files it should have.
func (p plugin) mustNotFill(t *testing.T) plugin {
	p.fill = func(context.Context, *os.Root) ([]extract.Record, error) {
		t.Error("the files were fetched again")
		return nil, errors.New("not expected")
	}
	return p
}

// snapshot describes everything below dir: kinds, modes, sizes, times, content.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var content []byte
		if info.Mode().IsRegular() {
			if content, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		link, _ := os.Readlink(path)
		fmt.Fprintf(&b, "%s %v %d %s %s %x\n", path, info.Mode(), info.Size(), info.ModTime(), link, content)
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return b.String()
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestOpenCreatesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	s := open(t, dir)
	p := makePlugin("a")
	if _, err := s.Lookup(p.key); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Lookup: %v, want ErrNotFound", err)
	}
	if roots, err := s.Roots(); err != nil || roots != nil {
		t.Errorf("Roots: %v, %v", roots, err)
	}
	if err := s.Discard(context.Background(), p.key); err != nil {
		t.Errorf("Discard: %v", err)
	}
	if removed, err := s.Prune(context.Background(), store.PruneOptions{Keep: keepNothing}); err != nil || removed != nil {
		t.Errorf("Prune: %v, %v", removed, err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory was created: %v", err)
	}
}

func keepNothing(context.Context) (store.Kept, error) { return store.Kept{}, nil }

func TestPut(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "cache")
	s, p := open(t, dir), makePlugin("a")
	entry := p.mustPut(t, s)
	if !bytes.Equal(entry.Manifest(), p.manifest) {
		t.Errorf("manifest: %s", entry.Manifest())
	}
	if got := extract.Content(entry.Records()); got != p.want.Content {
		t.Errorf("content: %s, want %s", got, p.want.Content)
	}
	got, err := os.ReadFile(filepath.Join(entry.Root(), filepath.FromSlash(program)))
	if err != nil || addr.DigestOf(got) != p.want.ExecutableDigest {
		t.Errorf("executable: %q, %v", got, err)
	}
	if err := s.Sync(); err != nil {
		t.Error(err)
	}
	if got := names(t, filepath.Join(dir, "v1", "staging")); got != nil {
		t.Errorf("left in staging: %v", got)
	}
	if got := names(t, filepath.Join(dir, "v1", "locks")); got != nil {
		t.Errorf("left in locks: %v", got)
	}
	p.mustNotFill(t).mustPut(t, s)
	// Another store on the same directory, as another process has.
	again, err := open(t, dir).Lookup(p.key)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Check(context.Background(), p.want); err != nil {
		t.Error(err)
	}
	if err := again.Verify(context.Background(), p.want); err != nil {
		t.Error(err)
	}
}

// C53: one version with two digests, and one manifest with two executables.
func TestEntriesSideBySide(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	first, second := makePlugin("1.2.0 of monday"), makePlugin("1.2.0 of tuesday")
	foreign := pluginOf("foreign", map[string]string{program: "#!/bin/sh\n"}, nil)
	foreign.want.Content = ""
	a, b := foreign, foreign
	a.key.Executable, b.key.Executable = "/plugins/a", "/plugins/b"
	all := []plugin{first, second, a, b}
	seen := map[string]bool{}
	for _, p := range all {
		seen[p.mustPut(t, s).Root()] = true
	}
	if len(seen) != len(all) {
		t.Errorf("%d directories for %d entries", len(seen), len(all))
	}
	for _, p := range all {
		entry, err := s.Lookup(p.key)
		if err != nil {
			t.Fatal(err)
		}
		if err := entry.Verify(context.Background(), p.want); err != nil {
			t.Error(err)
		}
	}
	if err := s.Discard(context.Background(), first.key); err != nil {
		t.Error(err)
	}
	if _, err := s.Lookup(first.key); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("after Discard: %v", err)
	}
	second.mustNotFill(t).mustPut(t, s)
}

func TestPutRefuses(t *testing.T) {
	p := makePlugin("a")
	boom := errors.New("boom")
	other := makePlugin("b")
	tests := map[string]struct {
		change func(*plugin)
		want   string
	}{
		"manifest":   {func(p *plugin) { p.manifest = []byte("{}") }, "the manifest of"},
		"content":    {func(p *plugin) { p.fill = other.fill }, "the content of"},
		"executable": {func(p *plugin) { p.want.ExecutableDigest = other.want.ExecutableDigest }, "the executable plugin/aws of"},
		"no program": {func(p *plugin) { p.want.Executable = "plugin/gcp"; p.want.ExecutableDigest = "" }, "plugin/gcp is not there"},
		"not executable": {func(p *plugin) {
			p.want.Executable, p.want.ExecutableDigest = "plugin/docs/LICENSE", ""
		}, "is not executable"},
		"fill fails": {func(p *plugin) {
			fill := p.fill
			p.fill = func(ctx context.Context, root *os.Root) ([]extract.Record, error) {
				_, err := fill(ctx, root)
				return nil, errors.Join(boom, err)
			}
		}, "boom"},
		"more than recorded": {func(p *plugin) {
			fill := p.fill
			p.fill = func(ctx context.Context, root *os.Root) ([]extract.Record, error) {
				records, err := fill(ctx, root)
				return records, errors.Join(err, root.WriteFile("plugin/more", nil, 0o644))
			}
		}, "plugin/more is unexpected"},
		"set-uid": {func(p *plugin) {
			fill := p.fill
			p.fill = func(ctx context.Context, root *os.Root) ([]extract.Record, error) {
				records, err := fill(ctx, root)
				return records, errors.Join(err, root.Chmod(program, 0o755|fs.ModeSetuid))
			}
		}, "set-uid"},
		"zero digest": {func(p *plugin) { p.key = store.Key{} }, "not a digest"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir)
			other := makePlugin("there before")
			other.mustPut(t, s)
			before := snapshot(t, filepath.Join(dir, "v1", "sha256"))
			bad := p
			test.change(&bad)
			entry, err := bad.put(s)
			if entry != nil || err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, %v; want an error with %q", entry, err, test.want)
			}
			if after := snapshot(t, filepath.Join(dir, "v1", "sha256")); after != before {
				t.Errorf("the store changed:\n%s\n%s", before, after)
			}
			if left := slices.Concat(names(t, filepath.Join(dir, "v1", "staging")), names(t, filepath.Join(dir, "v1", "locks"))); left != nil {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}
