//go:build unix

package lock

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestANewFileObeysTheUmask: the mask belongs to the process, so this test must
// not run beside others.
func TestANewFileObeysTheUmask(t *testing.T) {
	for mask, want := range map[int]os.FileMode{0o022: 0o644, 0o077: 0o600, 0: 0o644} {
		path := filepath.Join(t.TempDir(), FileName)
		before := syscall.Umask(mask)
		_, err := Save(path, &File{})
		syscall.Umask(before)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("umask %o makes %v, want %v: %v", mask, info.Mode(), want, err)
		}
	}
}

// TestLoadDoesNotWaitForAPipe: opening one blocks until somebody writes.
func TestLoadDoesNotWaitForAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("this file system has no pipes: %v", err)
	}
	if _, _, err := Load(path); err == nil {
		t.Error("a pipe is taken for a lock file")
	}
	if _, err := Save(path, &File{}); err == nil {
		t.Error("a pipe is replaced")
	}
}
