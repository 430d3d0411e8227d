package installdir

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/extract"
	"github.com/pluginlock/plugins/internal/store/durable"
)

// copyTree copies a plugin's files, comparing their digests on the way.
func (a *applier) copyTree(p Plugin, to string) error {
	from, err := os.OpenRoot(p.StoreRoot)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // only read from
	dirs := map[string]bool{}
	if err := a.copyDir(dirs, to, "."); err != nil {
		return err
	}
	for _, r := range p.Records {
		if err := a.copyDir(dirs, to, path.Dir(r.Path)); err != nil {
			return err
		}
		name := to + "/" + r.Path
		if r.Link != "" {
			if err := a.link(filepath.FromSlash(r.Link), name); err != nil {
				return &SymlinkError{filepath.Join(a.path(pluginsDir, p.Name), filepath.FromSlash(r.Path)), err}
			}
		} else if err := a.copyFile(from, r, name); err != nil {
			return err
		}
	}
	for dir := range dirs {
		if err := durable.SyncDir(a.path(filepath.FromSlash(to), filepath.FromSlash(dir))); err != nil {
			return err
		}
	}
	return nil
}

// copyDir makes a directory of the copy and its parents, with one mode
// whatever the umask: other users may be meant to run what is on a volume.
func (a *applier) copyDir(made map[string]bool, to, dir string) error {
	if made[dir] {
		return nil
	}
	if dir != "." {
		if err := a.copyDir(made, to, path.Dir(dir)); err != nil {
			return err
		}
	}
	made[dir] = true
	name := path.Join(to, dir)
	if err := a.root.Mkdir(name, 0o755); err != nil {
		return err
	}
	return a.root.Chmod(name, 0o755)
}

func (a *applier) copyProgram(p Plugin, to string) error {
	from, err := os.OpenRoot(p.StoreRoot)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // only read from
	return a.copyFile(from, extract.Record{Path: p.Executable, Digest: p.ExecutableDigest, Executable: true}, to)
}

func (a *applier) copyFile(from *os.Root, r extract.Record, to string) (err error) {
	source, err := from.Open(r.Path)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }() // only read from
	mode := fs.FileMode(0o644)
	if r.Executable {
		mode = 0o755
	}
	target, err := a.root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	hash := sha256.New()
	_, err = io.Copy(target, io.TeeReader(readerFunc(func(b []byte) (int, error) {
		if err := a.ctx.Err(); err != nil {
			return 0, err
		}
		return source.Read(b)
	}), hash))
	if got := addr.DigestFrom(hash); err == nil && got != r.Digest {
		err = fmt.Errorf("the digest of %s in the store is %s, not %s", r.Path, got, r.Digest)
	}
	if err == nil {
		err = target.Chmod(mode) // whatever the umask
	}
	if err == nil {
		err = target.Sync()
	}
	return errors.Join(err, target.Close())
}

// readerFunc is a reader that looks at the context first.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }
