package store_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/store"
	"github.com/pluginlock/plugins/internal/store/tree"
)

// entryDir is where an entry lies; the layout is part of the contract.
func entryDir(cache string, p plugin) string {
	return filepath.Join(cache, "v1", "sha256", p.key.Manifest.Hex())
}

const evil = "#!/bin/sh\necho evil\n"

// forge gives an entry a receipt that fits its files; digests are those of
// want where given.
func forge(entry string, digests map[string]addr.Digest) error {
	root, err := os.OpenRoot(filepath.Join(entry, "root"))
	if err != nil {
		return err
	}
	receipt, err := tree.Hash(context.Background(), root, func(string) bool { return false })
	if err != nil {
		return err
	}
	for i := range receipt.Files {
		if d, ok := digests[receipt.Files[i].Path]; ok {
			receipt.Files[i].Digest = d
		}
	}
	encoded, err := receipt.Encode()
	return errors.Join(err, root.Close(), os.WriteFile(filepath.Join(entry, "receipt.json"), encoded, 0o644))
}

// C51, C53: what does not match is found, replaced without being asked, and
// leaves nothing behind.
func TestDamage(t *testing.T) {
	file := filepath.FromSlash("root/" + program)
	remake := func(entry string) error { return errors.Join(os.RemoveAll(entry), os.Mkdir(entry, 0o755)) }
	rewrite := func(name, content string) func(string) error {
		return func(entry string) error { return os.WriteFile(filepath.Join(entry, name), []byte(content), 0o755) }
	}
	tests := map[string]struct {
		damage func(entry string) error
		reason string
	}{
		"empty directory": {remake, "manifest cannot be read"},
		"plain file": {func(entry string) error {
			return errors.Join(os.RemoveAll(entry), os.WriteFile(entry, nil, 0o644))
		}, "not a directory"},
		"link to a directory": {func(entry string) error {
			return errors.Join(os.Rename(entry, entry+"-moved"), os.Symlink(filepath.Base(entry)+"-moved", entry))
		}, "not a directory"},
		"only the receipt": {func(entry string) error {
			return errors.Join(os.Remove(filepath.Join(entry, "manifest.json")), os.RemoveAll(filepath.Join(entry, "root")))
		}, "manifest cannot be read"},
		"only the manifest": {func(entry string) error {
			return errors.Join(os.Remove(filepath.Join(entry, "receipt.json")), os.RemoveAll(filepath.Join(entry, "root")))
		}, "receipt cannot be read"},
		"no files": {func(entry string) error { return os.RemoveAll(filepath.Join(entry, "root")) }, "files cannot be read"},
		"made by hand": {func(entry string) error {
			if err := remake(entry); err != nil {
				return err
			}
			return errors.Join(os.MkdirAll(filepath.Join(entry, "root", "plugin"), 0o755), rewrite(file, evil)(entry))
		}, "manifest cannot be read"},
		"made by hand with a receipt": {func(entry string) error {
			return errors.Join(rewrite(file, evil)(entry), forge(entry, nil))
		}, "content"},
		"another manifest": {rewrite("manifest.json", "{}"), "manifest has the digest"},
		"endless manifest": {func(entry string) error { return os.Truncate(filepath.Join(entry, "manifest.json"), 5<<20) }, "manifest cannot be read"},
		"cut receipt":      {func(entry string) error { return os.Truncate(filepath.Join(entry, "receipt.json"), 100) }, "receipt"},
		"empty receipt":    {rewrite("receipt.json", ""), "receipt"},
		"newer receipt":    {rewrite("receipt.json", `{"format":2}`), "format 2"},
		"receipt that escapes": {rewrite("receipt.json",
			`{"format":1,"directories":["0755|1|2|3|."],"files":["0755|1|2|3|l|x|../../x"]}`), "out of place"},
		"edited":        {rewrite(file, evil), program + " is changed"},
		"emptied":       {func(entry string) error { return os.Truncate(filepath.Join(entry, file), 0) }, program + " is changed"},
		"file missing":  {func(entry string) error { return os.Remove(filepath.Join(entry, file)) }, program + " is missing"},
		"file too many": {rewrite(filepath.FromSlash("root/plugin/more"), ""), "plugin/more is unexpected"},
		"link leads elsewhere": {func(entry string) error {
			link := filepath.Join(entry, filepath.FromSlash("root/plugin/latest"))
			return errors.Join(os.Remove(link), os.Symlink("docs", link))
		}, "plugin/latest is changed"},
		"directory swapped for a link": {func(entry string) error {
			dir := filepath.Join(entry, filepath.FromSlash("root/plugin"))
			return errors.Join(os.Rename(dir, filepath.Join(entry, "moved")), os.Symlink("../moved", dir))
		}, "is unexpected"},
		"edited behind its time": {func(entry string) error {
			path := filepath.Join(entry, file)
			old, err := os.ReadFile(path)
			info, statErr := os.Stat(path)
			if err := errors.Join(err, statErr); err != nil {
				return err
			}
			same := strings.Repeat("x", len(old))
			return errors.Join(os.WriteFile(path, []byte(same), 0o755), os.Chtimes(path, time.Time{}, info.ModTime()))
		}, program + " is changed"},
	}
	if runtime.GOOS != "windows" {
		chmod := func(name string, mode fs.FileMode) func(string) error {
			return func(entry string) error { return os.Chmod(filepath.Join(entry, name), mode) }
		}
		type test = struct {
			damage func(entry string) error
			reason string
		}
		tests["set-uid"] = test{chmod(file, 0o755|fs.ModeSetuid), "set-uid"}
		tests["set-gid"] = test{chmod(file, 0o755|fs.ModeSetgid), "set-uid, set-gid"}
		tests["writable file"] = test{chmod(file, 0o757), "others can write"}
		tests["writable directory"] = test{chmod(filepath.FromSlash("root/plugin"), 0o775), "others can write"}
		tests["writable entry"] = test{chmod(".", 0o777), "others can write"}
		tests["not executable"] = test{chmod(file, 0o644), program + " is changed"}
		tests["too executable"] = test{chmod(filepath.FromSlash("root/plugin/docs/LICENSE"), 0o755), "LICENSE is changed"}
		tests["directory without rights"] = test{func(entry string) error {
			return errors.Join(rewrite(file, evil)(entry), os.Chmod(filepath.Join(entry, "root", "plugin", "docs"), 0o500))
		}, program + " is changed"}
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			cache := t.TempDir()
			s, p, neighbour := open(t, cache), makePlugin("a"), makePlugin("b")
			neighbour.mustPut(t, s)
			p.mustPut(t, s)
			if err := test.damage(entryDir(cache, p)); err != nil {
				t.Fatal(err)
			}
			requireDamaged(t, s, p, test.reason)
			p.mustPut(t, s)
			requireSound(t, s, p)
			requireSound(t, s, neighbour)
			requireTidy(t, cache)
		})
	}
}

func requireDamaged(t *testing.T, s *store.Store, p plugin, reason string) {
	t.Helper()
	entry, err := s.Lookup(p.key)
	var damaged *store.DamagedError
	if err == nil {
		if err := entry.Verify(context.Background(), p.want); !errors.As(err, &damaged) {
			t.Errorf("Verify: %v, want a DamagedError", err)
		}
		err = entry.Check(context.Background(), p.want)
	}
	if !errors.As(err, &damaged) || !strings.Contains(err.Error(), reason) || !strings.Contains(err.Error(), p.key.Manifest.Hex()) {
		t.Errorf("got %v, want a DamagedError with %q", err, reason)
	}
}

func requireSound(t *testing.T, s *store.Store, p plugin) {
	t.Helper()
	entry, err := s.Lookup(p.key)
	if err != nil {
		t.Error(err)
		return
	}
	if err := errors.Join(entry.Check(context.Background(), p.want), entry.Verify(context.Background(), p.want)); err != nil {
		t.Error(err)
	}
}

func requireTidy(t *testing.T, cache string) {
	t.Helper()
	for _, dir := range []string{"staging", "locks"} {
		if left := names(t, filepath.Join(cache, "v1", dir)); left != nil {
			t.Errorf("left in %s: %v", dir, left)
		}
	}
}

// Only Verify finds an edit that somebody hid by writing a receipt for it: who
// can write the store can write the receipt.
func TestVerifyTrustsNoReceipt(t *testing.T) {
	cache := t.TempDir()
	s, p := open(t, cache), makePlugin("a")
	p.mustPut(t, s)
	entry := entryDir(cache, p)
	if err := os.WriteFile(filepath.Join(entry, filepath.FromSlash("root/"+program)), []byte(evil), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := forge(entry, map[string]addr.Digest{program: p.want.ExecutableDigest}); err != nil {
		t.Fatal(err)
	}
	found, err := s.Lookup(p.key)
	if err != nil {
		t.Fatal(err)
	}
	if err := found.Check(context.Background(), p.want); err != nil {
		t.Errorf("the forged receipt is no good: %v", err)
	}
	var damaged *store.DamagedError
	if err := found.Verify(context.Background(), p.want); !errors.As(err, &damaged) {
		t.Errorf("Verify: %v", err)
	}
	if err := s.Discard(context.Background(), p.key); err != nil {
		t.Fatal(err)
	}
	p.mustPut(t, s)
	requireSound(t, s, p)
}

// A foreign image has no digest of its content: the program is all there is.
func TestForeignEntry(t *testing.T) {
	cache := t.TempDir()
	s := open(t, cache)
	p := pluginOf("foreign", map[string]string{program: "#!/bin/sh\n"}, nil)
	p.want.Content = ""
	p.mustPut(t, s)
	requireSound(t, s, p)
	other := p
	other.want.ExecutableDigest = addr.DigestOf([]byte("other"))
	requireDamaged(t, s, other, "as locked")
	more := filepath.Join(entryDir(cache, p), "root", "plugin", "more")
	if err := os.WriteFile(more, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	requireDamaged(t, s, p, "plugin/more")
	if err := forge(entryDir(cache, p), nil); err != nil {
		t.Fatal(err)
	}
	requireDamaged(t, s, p, "plugin/more does not belong there")
}

// A cache that CI restored has other inodes and times: it is read once.
func TestRestoredCache(t *testing.T) {
	cache, restored := t.TempDir(), filepath.Join(t.TempDir(), "restored")
	p := makePlugin("a")
	p.mustPut(t, open(t, cache))
	if out, err := exec.Command("cp", "-R", cache, restored).CombinedOutput(); err != nil {
		t.Skipf("cp -R: %v: %s", err, out)
	}
	s := open(t, restored)
	receipt := filepath.Join(entryDir(restored, p), "receipt.json")
	stale, err := os.ReadFile(receipt)
	if err != nil {
		t.Fatal(err)
	}
	requireSound(t, s, p)
	renewed, err := os.ReadFile(receipt)
	if err != nil || string(renewed) == string(stale) {
		t.Errorf("the receipt was not renewed: %v", err)
	}
	before := snapshot(t, restored)
	requireSound(t, open(t, restored), p)
	if after := snapshot(t, restored); after != before {
		t.Error("the second check wrote something")
	}
	requireTidy(t, restored)
}

func TestWarmCheckWritesNothing(t *testing.T) {
	cache := t.TempDir()
	p := makePlugin("a")
	s := open(t, cache)
	p.mustPut(t, s)
	if err := errors.Join(s.AddRoot("/project/.plugins.lock.hcl"), s.Sync()); err != nil {
		t.Fatal(err)
	}
	before := stamps(t, cache)
	warm := open(t, cache)
	requireSound(t, warm, p)
	if err := errors.Join(warm.AddRoot("/project/.plugins.lock.hcl"), warm.Sync()); err != nil {
		t.Error(err)
	}
	if after := stamps(t, cache); after != before {
		t.Errorf("written:\n%s\n%s", before, after)
	}
}

// stamps also has change times, which nobody can set.
func stamps(t *testing.T, dir string) string {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	receipt, err := tree.Hash(context.Background(), root, func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := receipt.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

func TestCheckEndsWithContext(t *testing.T) {
	cache := t.TempDir()
	s, p := open(t, cache), makePlugin("a")
	entry := p.mustPut(t, s)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := entry.Verify(ctx, p.want); !errors.Is(err, context.Canceled) {
		t.Errorf("Verify: %v", err)
	}
	if _, err := s.Put(ctx, p.key, p.want, p.manifest, p.fill); !errors.Is(err, context.Canceled) {
		t.Errorf("Put: %v", err)
	}
}
