//go:build linux || darwin

package filelock

import (
	"os"
	"syscall"

	"github.com/gofrs/flock"
)

// options keep opening from waiting at a pipe and from following a link that
// somebody has put in the place of the file.
var options = []flock.Option{flock.SetFlag(os.O_CREATE | os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOFOLLOW)}
