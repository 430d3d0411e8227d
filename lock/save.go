package lock

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// temporaryMark stands between the name of the lock file and the random part of
// a temporary file's name.
const temporaryMark = ".tmp-"

// leftoverAge is how much older than ours a temporary file must be to be taken
// for that of a killed run. A live one is a few milliseconds old; taking it away
// would make that Save fail, not the lock file bad.
const leftoverAge = time.Minute

// Save makes the lock file at path hold f and reports whether it had to be
// written. A file that holds the same content already, in whatever form, is not
// touched, nor is its time.
//
// The new content goes to a temporary file in the same directory, is synced,
// and takes the place of the old by one rename: after an error, or a crash, the
// old file is there as it was. A symbolic link stays and the file it leads to
// is replaced; one that leads nowhere is an error, and so is anything that is
// not a regular file. A new file has mode 0644 less the umask, an existing one
// keeps its permission bits. Temporary files that killed runs left behind are
// removed.
//
// What Parse would refuse, or would read as something else, is not written: the
// error holds a *[ParseError]. A file of a newer format is never replaced; the
// error matches [ErrNewerFormat]. Any other content that cannot be read, conflict
// markers too, is replaced: who calls Save has decided that.
func Save(path string, f *File) (changed bool, err error) {
	return disk{create: createExclusive, rename: os.Rename}.save(path, f)
}

// disk is what can fail while a file is replaced.
type disk struct {
	create func(name string, perm fs.FileMode) (temporary, error)
	rename func(from, to string) error
}

// temporary is the part of *os.File that is used.
type temporary interface {
	io.WriteCloser
	Sync() error
	Chmod(fs.FileMode) error
	Stat() (fs.FileInfo, error)
}

func createExclusive(name string, perm fs.FileMode) (temporary, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
}

func (d disk) save(path string, f *File) (bool, error) {
	content := f.Bytes()
	if err := readsBack(content, path, f); err != nil {
		return false, err
	}
	name, info, err := target(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if err == nil {
		same, err := holds(name, path, f)
		if err != nil || same {
			return false, err
		}
	}
	if err := d.replace(name, info, content); err != nil {
		return false, &WriteError{path, err}
	}
	return true, nil
}

// WriteError means that the lock file could not be replaced and is as it was.
type WriteError struct {
	Path string
	Err  error // of the file system
}

func (e *WriteError) Error() string {
	reason := e.Err
	var path *fs.PathError
	var link *os.LinkError
	switch { // without the temporary file's name
	case errors.As(e.Err, &path):
		reason = path.Err
	case errors.As(e.Err, &link):
		reason = link.Err
	}
	return fmt.Sprintf("cannot write the lock file %s, which is as it was: %v", e.Path, reason)
}

// Unwrap returns what the file system said.
func (e *WriteError) Unwrap() error { return e.Err }

// readsBack holds the writer to what the reader accepts, whatever the caller
// put together.
func readsBack(content []byte, path string, f *File) error {
	back, diags := Parse(content, path)
	if diags.HasErrors() {
		return fmt.Errorf("the lock was not written, for it could not be read again: %w", &ParseError{diags})
	}
	if !back.Equal(f) {
		return errors.New("the lock was not written, for it would be read as something else: a path in it is not UTF-8 in Unicode's normal form C, or an executable is given in both ways")
	}
	return nil
}

// holds reports whether the file called name has the content of f already.
func holds(name, path string, f *File) (bool, error) {
	src, err := Read(name)
	if err != nil {
		return false, err
	}
	have, diags := Parse(src, path)
	if IsNewerFormat(diags) {
		return false, &ParseError{diags}
	}
	return !diags.HasErrors() && have.Equal(f), nil
}

// replace writes content to a temporary file and renames that to name. After an
// error name is as it was, and the temporary file is gone if that can be.
func (d disk) replace(name string, old fs.FileInfo, content []byte) error {
	temp := name + temporaryMark + rand.Text()
	file, err := d.create(temp, 0o644)
	if err != nil {
		return err
	}
	info, err := fill(file, old, content)
	if err == nil {
		removeLeftovers(name, info.ModTime())
		err = d.rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	syncDirectory(filepath.Dir(name))
	return nil
}

// fill gives the file its content and its mode, and closes it.
func fill(file temporary, old fs.FileInfo, content []byte) (fs.FileInfo, error) {
	_, err := file.Write(content)
	if err == nil && old != nil {
		err = file.Chmod(old.Mode().Perm())
	}
	if err == nil {
		err = file.Sync()
	}
	info, statErr := file.Stat()
	return info, errors.Join(err, statErr, file.Close())
}

// removeLeftovers deletes the temporary files of killed runs. Both times are
// the file system's, which may have another clock than this machine. Failing is
// harmless: the next Save tries again.
func removeLeftovers(name string, now time.Time) {
	entries, err := os.ReadDir(filepath.Dir(name))
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() && strings.HasPrefix(e.Name(), filepath.Base(name)+temporaryMark) &&
			now.Sub(info.ModTime()) > leftoverAge {
			_ = os.Remove(filepath.Join(filepath.Dir(name), e.Name()))
		}
	}
}

// syncDirectory makes the rename survive a loss of power. Where that cannot be
// done (Windows, some network file systems) such a loss may bring the old file
// back, which is whole as well; so this is no reason to fail.
func syncDirectory(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	_ = d.Sync()
	_ = d.Close()
}

// resolveLink returns the file that a chain of links ends at.
func resolveLink(path string) (string, error) { return filepath.EvalSymlinks(path) }
