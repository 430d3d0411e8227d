// Package lock reads and writes the lock file, .plugins.lock.hcl.
package lock
