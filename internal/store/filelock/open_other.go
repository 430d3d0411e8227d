//go:build !linux && !darwin

package filelock

import "github.com/gofrs/flock"

// options are the library's own: some of these systems lock no file that is only
// read.
var options []flock.Option
