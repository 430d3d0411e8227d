package lock

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestRestore(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "lock"), filepath.Join(dir, "link")
	if err := os.Symlink("lock", link); err != nil {
		t.Skipf("this system makes no symbolic links: %v", err)
	}
	const odd = "lock_format = 1\r\n" // not what Save would write
	if err := os.WriteFile(path, []byte(odd), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Save(link, &File{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("else"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Restore(link, []byte(odd)); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v (%v)", info.Mode(), err)
	}
	if got, _ := os.ReadFile(path); string(got) != odd {
		t.Errorf("it holds %q", got)
	}
	if to, err := os.Readlink(link); to != "lock" {
		t.Errorf("the link became %q (%v)", to, err)
	}
}

func TestRestoreAbsence(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	for range 2 { // also where there is nothing
		if err := Restore(path, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("it is there (%v)", err)
		}
		if _, err := Save(path, &File{}); err != nil {
			t.Fatal(err)
		}
	}
}
