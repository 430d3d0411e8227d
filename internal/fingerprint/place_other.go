//go:build !linux && !darwin

package fingerprint

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/pluginlock/plugins/internal/store/tree"
)

// place is a directory, never one that a link leads to.
type place struct{ dir string }

func openPlace(path string) (place, error) {
	info, err := os.Lstat(path)
	if err == nil && !info.IsDir() {
		err = &os.PathError{Op: "open", Path: path, Err: errors.New("not a directory")}
	}
	return place{path}, err
}

func (place) close() {}

// stamp is what [os.Lstat] says of a name in the directory.
func (p place) stamp(name string) (stamp, error) {
	info, err := os.Lstat(filepath.Join(p.dir, filepath.FromSlash(name)))
	if err != nil {
		return stamp{}, err
	}
	s := tree.StampOf(info)
	return stamp{uint32(info.Mode()), 0, info.Size(), s.Inode, s.Mtime, s.Ctime}, nil
}
