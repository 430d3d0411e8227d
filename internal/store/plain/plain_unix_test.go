//go:build unix

package plain

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Nothing here waits: the test would.
func TestWhatIsNotPlainIsRefused(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.WriteFile(at("file"), []byte("text"), 0o644), os.Mkdir(at("dir"), 0o755), os.WriteFile(at("dir/x"), nil, 0o644),
		syscall.Mkfifo(at("pipe"), 0o644), os.Symlink("file", at("link")), os.Symlink("dir", at("dirlink")),
		os.Symlink("/dev/null", at("outside")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"dir", "pipe", "link", "missing"} {
		if got, err := ReadFile(at(name), 10); err == nil {
			t.Errorf("ReadFile %s: %q", name, got)
		}
	}
	for _, name := range []string{"dir", "pipe", "outside", "missing"} {
		if got, err := ReadBelow(root, name, 10); err == nil {
			t.Errorf("ReadBelow %s: %q", name, got)
		}
	}
	for _, name := range []string{"file", "pipe", "dirlink", "missing"} {
		if _, err := OpenDir(at(name)); err == nil {
			t.Errorf("OpenDir %s", name)
		}
		if got, err := Names(root, name, -1); err == nil {
			t.Errorf("Names %s: %q", name, got)
		}
	}
	if got, err := ReadFile(at("file"), 4); err != nil || string(got) != "text" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := ReadBelow(root, "file", 3); err == nil {
		t.Errorf("above the limit: %q", got)
	}
	for _, limit := range []int{-1, 5} {
		if got, err := Names(root, "dir", limit); err != nil || len(got) != 1 || got[0] != "x" {
			t.Errorf("%q, %v", got, err)
		}
	}
	opened, err := OpenDir(at("dir"))
	if err != nil {
		t.Fatal(err)
	}
	_ = opened.Close()
}
