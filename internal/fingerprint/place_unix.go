//go:build linux || darwin

package fingerprint

import (
	"os"

	"golang.org/x/sys/unix"
)

// place is an open directory, never one that a link leads to.
type place struct{ fd int }

func openPlace(path string) (place, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return place{}, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return place{fd}, nil
}

func (p place) close() { _ = unix.Close(p.fd) } // only looked at

// stamp is [os.Lstat] of a name in the directory, for a third of what that
// costs.
func (p place) stamp(name string) (stamp, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(p.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return stamp{}, &os.PathError{Op: "lstat", Path: name, Err: err}
	}
	return stamp{uint32(st.Mode), uint64(st.Dev), st.Size, st.Ino, st.Mtim.Nano(), st.Ctim.Nano()}, nil //nolint:unconvert // some systems have other types
}
