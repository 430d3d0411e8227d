package lock

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// maxSize is the most bytes that are read; a thousand plugins for ten platforms
// each need two thirds of it. The parser takes up to a thousand times as
// much memory.
const maxSize = 4 << 20

// Load reads the lock file at path, and returns its bytes too, for excerpts in
// messages. The error is a *[ParseError] where the content was refused (then
// the bytes are there still), and matches [fs.ErrNotExist] where there is no
// file. A symbolic link is followed; one that leads nowhere, and what is not a
// regular file, are errors that do not match [fs.ErrNotExist].
func Load(path string) (*File, []byte, error) {
	src, err := Read(path)
	if err != nil {
		return nil, nil, err
	}
	f, diags := Parse(src, path)
	if diags.HasErrors() {
		return nil, src, &ParseError{diags}
	}
	return f, src, nil
}

// Read returns the bytes of the lock file at path. Errors are those of [Load]
// that are not about the content.
func Read(path string) ([]byte, error) {
	_, info, err := target(path)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the lock file: %w", err)
	}
	defer file.Close() //nolint:errcheck // nothing was written
	var src bytes.Buffer
	src.Grow(int(min(info.Size(), maxSize)) + bytes.MinRead) // to read it without copying
	if _, err := src.ReadFrom(io.LimitReader(file, maxSize+1)); err != nil {
		return nil, fmt.Errorf("cannot read the lock file: %w", err)
	}
	if src.Len() > maxSize {
		return nil, fmt.Errorf("%s is no lock file: it is larger than %d MiB", path, maxSize>>20)
	}
	return src.Bytes(), nil
}

// target returns the regular file that path leads to, over symbolic links, and
// what is known of it. Where there is nothing at path, the error matches
// fs.ErrNotExist and the name is path itself.
func target(path string) (string, fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return path, nil, fmt.Errorf("cannot read the lock file: %w", err)
	}
	name := path
	if info.Mode()&fs.ModeSymlink != 0 {
		if name, info, err = follow(path); err != nil {
			return "", nil, err
		}
	}
	if !info.Mode().IsRegular() {
		return "", nil, fmt.Errorf("%s is in the place of the lock file, but is not a regular file (%s)", path, info.Mode().Type())
	}
	return name, info, nil
}

// follow resolves the link at path. The error of a link that leads nowhere does
// not match fs.ErrNotExist: a caller would take it for a missing lock file and
// write a new one, somewhere.
func follow(path string) (string, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		to, _ := os.Readlink(path) // only for the message
		return "", nil, fmt.Errorf("%s is a symbolic link to %q, which does not exist", path, to)
	}
	if err != nil {
		return "", nil, fmt.Errorf("cannot read the lock file: %w", err)
	}
	name, err := resolveLink(path)
	if err != nil {
		return "", nil, fmt.Errorf("cannot read the lock file: %w", err)
	}
	return name, info, nil
}
