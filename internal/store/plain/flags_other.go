//go:build !unix

package plain

// There are neither links nor pipes in the file system here that a program
// without special rights could make.
const (
	noFollow = 0
	noWait   = 0
)
