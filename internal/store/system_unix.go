//go:build unix

package store

import (
	"io/fs"
	"os"
	"syscall"
)

// modesMatter reports whether permission bits say who can write.
const modesMatter = true

// noFollow makes opening a link fail, noWait keeps opening a pipe from waiting
// for who writes it.
const (
	noFollow = syscall.O_NOFOLLOW
	noWait   = syscall.O_NONBLOCK
)

// belongsToAnother reports whether the owner is neither this user nor root,
// who could change everything anyway.
func belongsToAnother(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Uid != 0 && int(st.Uid) != os.Geteuid()
}
