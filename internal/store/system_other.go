//go:build !unix

package store

import "io/fs"

// modesMatter reports whether permission bits say who can write.
const modesMatter = false

// belongsToAnother cannot tell: access is a matter of access lists here, and
// the user cache directory is private by default.
func belongsToAnother(fs.FileInfo) bool { return false }
