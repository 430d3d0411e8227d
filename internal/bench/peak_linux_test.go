package bench

import (
	"os"
	"syscall"
)

// peakOf returns the most memory that a process held at once, in bytes: what
// /proc calls VmHWM.
func peakOf(s *os.ProcessState) int64 {
	usage, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return usage.Maxrss << 10
}
