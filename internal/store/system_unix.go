//go:build unix

package store

import (
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
