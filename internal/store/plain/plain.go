// Package plain reads files and directories that anybody may have put something
// else in the place of: it waits at no pipe, reads no device and follows no link
// that leads out. It is what the store and the install directory have in
// common when they read, as package durable is when they write.
package plain

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ReadFile reads a regular file of at most limit bytes, never one that a link in
// its place leads to. It does not go through
// [os.Root], which takes twice the system calls: that is for callers who have
// looked at every directory on the way.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow|noWait, 0)
	if err != nil {
		return nil, err
	}
	return readBounded(f, limit)
}

// ReadBelow reads a regular file of at most limit bytes below a directory. As
// everything that goes through [os.Root] it follows links that stay below.
func ReadBelow(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, err
	}
	return readBounded(f, limit)
}

// readBounded reads and closes f.
func readBounded(f *os.File, limit int64) ([]byte, error) {
	defer func() { _ = f.Close() }() // only read from
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("it has %d bytes, more than the %d allowed", info.Size(), limit)
	}
	content := make([]byte, info.Size())
	if _, err := io.ReadFull(f, content); err != nil {
		return nil, err
	}
	return content, nil
}

// OpenDir opens a directory that no link leads to.
func OpenDir(path string) (*os.Root, error) {
	if err := mustBeDir(os.Lstat(path)); err != nil {
		return nil, err
	}
	return os.OpenRoot(path)
}

// Names lists at most limit names of a directory below another, in no order; a
// negative limit is none.
func Names(root *os.Root, dir string, limit int) ([]string, error) {
	if err := mustBeDir(root.Lstat(dir)); err != nil {
		return nil, err
	}
	f, err := root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read from
	names, err := f.Readdirnames(limit)
	if err == io.EOF { //nolint:errorlint // Readdirnames does not wrap it
		err = nil
	}
	return names, err
}

func mustBeDir(info fs.FileInfo, err error) error {
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a directory", info.Name())
	}
	return err
}
