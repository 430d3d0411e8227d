package store

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/pluginlock/plugins/addr"
)

// ErrNotFound means that the store does not have what was asked for.
var ErrNotFound = errors.New("not in the store")

// DamagedError means that something is in the store under the right name but
// is not what it should be. It is garbage: the next [Store.Put] replaces it.
type DamagedError struct {
	Path   string // absolute
	Reason string
	Err    error // what reading it returned; nil where the content is wrong
}

func (e *DamagedError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("damaged in the store: %s: %s: %v", e.Path, e.Reason, e.Err)
	}
	return fmt.Sprintf("damaged in the store: %s: %s", e.Path, e.Reason)
}

func (e *DamagedError) Unwrap() error { return e.Err }

// ReadOnlyError means that something has to be stored and the store cannot be
// written. Another cache directory helps.
type ReadOnlyError struct {
	Path string // the cache directory
	Err  error
}

func (e *ReadOnlyError) Error() string {
	return fmt.Sprintf("the cache directory %s cannot be written: %v", e.Path, e.Err)
}

func (e *ReadOnlyError) Unwrap() error { return e.Err }

// UnsafeError means that other users could change what the store holds.
type UnsafeError struct {
	Path string
	Mode fs.FileMode
}

func (e *UnsafeError) Error() string {
	return fmt.Sprintf("other users can write %s (mode %04o), and so could change what is installed; take that right from them, or use a directory inside of it as cache directory",
		e.Path, e.Mode.Perm())
}

// MismatchError means that what was to be stored is not what was announced.
type MismatchError struct {
	Key       Key
	What      string // "manifest", "content", "executable PATH"
	Want, Got addr.Digest
}

func (e *MismatchError) Error() string {
	got := e.Got.String()
	if e.Got.IsZero() {
		got = "not there"
	}
	return fmt.Sprintf("%s of %s: the digest should be %s and is %s", e.What, e.Key.Manifest, e.Want, got)
}

func isReadOnly(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}
