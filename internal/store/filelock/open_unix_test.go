//go:build linux || darwin

package filelock_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/pluginlock/plugins/internal/store/filelock"
)

// A pipe in the place of a lock's file holds nobody up, and through a link
// nothing is made.
func TestWhatIsNoLockFile(t *testing.T) {
	dir := t.TempDir()
	pipe, link, elsewhere := filepath.Join(dir, "pipe"), filepath.Join(dir, "link"), filepath.Join(dir, "elsewhere")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, link); err != nil {
		t.Fatal(err)
	}
	lock, err := filelock.Try(pipe) // would wait for a writer
	if err != nil || lock == nil {
		t.Fatalf("%v, %v", lock, err)
	}
	lock.Release()
	if lock, err := filelock.Try(link); err == nil {
		t.Errorf("over a link: %v", lock)
	}
	if _, err := os.Lstat(elsewhere); err == nil {
		t.Error("the link's target was made")
	}
}
