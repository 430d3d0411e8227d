package installer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/pluginlock/plugins/lock"
)

// What follows the lock file may fail; then the lock file is as it was.
func TestLockIsTakenBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), lock.FileName)
	w := &lockWriter{path: path, file: &lock.File{}}
	if err := w.write(); err != nil || !w.changed {
		t.Fatalf("written: %v, %v", w.changed, err)
	}
	if err := errors.Join(w.write(), w.takeBack(), w.takeBack()); err != nil || w.changed {
		t.Fatalf("written: %v, %v", w.changed, err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock file is there (%v)", err)
	}

	const conflict = "<<<<<<< HEAD\n"
	if err := os.WriteFile(path, []byte(conflict), 0o644); err != nil {
		t.Fatal(err)
	}
	w = &lockWriter{path: path, file: &lock.File{}}
	if err := errors.Join(w.write(), w.takeBack()); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != conflict {
		t.Errorf("the lock file became %q", got)
	}
}
