//go:build unix

package plain

import "syscall"

// noFollow makes opening a link fail, noWait keeps opening a pipe from waiting
// for who writes it.
const (
	noFollow = syscall.O_NOFOLLOW
	noWait   = syscall.O_NONBLOCK
)
