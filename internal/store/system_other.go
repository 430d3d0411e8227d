//go:build !unix

package store

import "io/fs"

// modesMatter reports whether permission bits say who can write.
const modesMatter = false

// noFollow makes opening a link fail, noWait keeps opening a pipe from waiting;
// here they cannot.
const (
	noFollow = 0
	noWait   = 0
)

// belongsToAnother cannot tell: access is a matter of access lists here, and
// the user cache directory is private by default.
func belongsToAnother(fs.FileInfo) bool { return false }
