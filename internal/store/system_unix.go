//go:build unix

package store

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// modesMatter reports whether permission bits say who can write.
const modesMatter = true

// belongsToAnother reports whether the owner is neither this user nor root,
// who could change everything anyway.
func belongsToAnother(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Uid != 0 && int(st.Uid) != os.Geteuid()
}

// syncDir makes the names in a directory durable. File systems that cannot
// sync a directory keep their names by other means.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, f.Close())
}
