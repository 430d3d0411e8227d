package extract

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/text"
)

// sink takes the files of an archive; names are canonical and checked.
type sink interface {
	// directory makes a directory whose parents exist.
	directory(name string) error
	// file takes size bytes from r and returns their digest.
	file(name string, r io.Reader, size int64, executable bool) (addr.Digest, error)
	// duplicate makes another file with the content of an earlier one.
	duplicate(name, earlier string, executable bool) error
	// link makes a symbolic link, after everything else.
	link(name, target string) error
}

// readError marks an error of the archive, not of the place written to.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }
func (e *readError) Unwrap() error { return e.err }

// move copies size bytes from r to w and gives their digest. Where r ends early
// or fails, the error is a *readError.
func move(w io.Writer, r io.Reader, size int64) (addr.Digest, error) {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	digest := sha256.New()
	for left := size; left > 0; {
		chunk := (*buffer)[:min(left, int64(len(*buffer)))]
		n, err := io.ReadFull(r, chunk)
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return "", &readError{err}
		}
		digest.Write(chunk)
		if _, err := w.Write(chunk); err != nil {
			return "", err
		}
		left -= int64(n)
	}
	return addr.DigestFrom(digest), nil
}

// nowhere is a sink that writes nothing.
type nowhere struct{}

func (nowhere) directory(string) error               { return nil }
func (nowhere) duplicate(string, string, bool) error { return nil }
func (nowhere) link(string, string) error            { return nil }

func (nowhere) file(_ string, r io.Reader, size int64, _ bool) (addr.Digest, error) {
	return move(io.Discard, r, size)
}

// disk is a sink that writes below a root.
type disk struct{ root *os.Root }

// Modes of what is written, whatever the umask and whatever the archive says.
const (
	modeDir        fs.FileMode = 0o755
	modeFile       fs.FileMode = 0o644
	modeExecutable fs.FileMode = 0o755
)

func modeOf(executable bool) fs.FileMode {
	if executable {
		return modeExecutable
	}
	return modeFile
}

func (d disk) directory(name string) error {
	err := d.root.Mkdir(name, modeDir)
	if errors.Is(err, fs.ErrExist) {
		var info fs.FileInfo
		if info, err = d.root.Lstat(name); err != nil {
			return err
		}
		if !info.IsDir() {
			if err = d.unlink(name); err != nil {
				return err
			}
			err = d.root.Mkdir(name, modeDir)
		}
	}
	if err != nil {
		return err
	}
	return d.root.Chmod(name, modeDir)
}

func (d disk) file(name string, r io.Reader, size int64, executable bool) (digest addr.Digest, err error) {
	f, err := d.create(name)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if digest, err = move(f, r, size); err != nil {
		return "", err
	}
	if err := f.Chmod(modeOf(executable)); err != nil {
		return "", err
	}
	return digest, f.Sync()
}

func (d disk) duplicate(name, earlier string, executable bool) error {
	from, err := d.root.Open(earlier)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	_, err = d.file(name, from, info.Size(), executable)
	if read, ok := errors.AsType[*readError](err); ok {
		return fmt.Errorf("reading back %s: %w", text.Clip(earlier), read.err)
	}
	return err
}

func (d disk) link(name, target string) error {
	err := d.root.Symlink(target, name)
	if errors.Is(err, fs.ErrExist) {
		if err = d.unlink(name); err == nil {
			err = d.root.Symlink(target, name)
		}
	}
	return err
}

// create opens a new file for writing; one that is there is unlinked, never
// opened, so that what else has its inode stays as it is.
func (d disk) create(name string) (*os.File, error) {
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL
	f, err := d.root.OpenFile(name, flags, 0o600)
	if !errors.Is(err, fs.ErrExist) {
		return f, err
	}
	if err := d.unlink(name); err != nil {
		return nil, err
	}
	return d.root.OpenFile(name, flags, 0o600)
}

// unlink removes a leftover of an earlier run. Within one archive no name comes
// twice, so what is in the way but not listed by this name was made under
// another: this file system takes the two for one.
func (d disk) unlink(name string) error {
	dir, err := d.root.Open(path.Dir(name))
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	for {
		names, err := dir.Readdirnames(256)
		for _, n := range names {
			if n == path.Base(name) {
				return d.root.RemoveAll(name)
			}
		}
		if errors.Is(err, io.EOF) {
			return refuse(KindCollision, name, "is, on this file system, the same as another entry")
		}
		if err != nil {
			return err
		}
	}
}
