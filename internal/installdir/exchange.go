package installdir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"

	"github.com/pluginlock/plugins/internal/store/durable"
)

// exchange puts what is ready into its place, and remembers how to take that
// back. A link replaces a link, and a file a file, in one step, so that nobody
// finds the place empty. What was there is kept below work until the end.
func (a *applier) exchange(c change) error {
	old := fmt.Sprintf("%s/old-%d", a.work, len(a.undo))
	info, err := a.root.Lstat(c.place)
	there := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if there && c.ready != "" && kindOf(info.Mode()) == c.kind && a.keepAside(c, old) {
		if err := a.root.Rename(c.ready, c.place); err != nil {
			return err
		}
		a.undo = append(a.undo, func() error { return a.root.Rename(old, c.place) })
		return nil
	}
	if there {
		if err := a.moveAside(c.place, old); err != nil {
			return err
		}
		a.undo = append(a.undo, func() error { return a.root.Rename(old, c.place) })
	}
	if c.ready == "" {
		return nil
	}
	if err := a.root.Rename(c.ready, c.place); err != nil {
		return err
	}
	a.undo = append(a.undo, func() error { return a.root.Rename(c.place, c.ready) })
	return nil
}

// keepAside makes a second name for what is in a place, so that it can be
// replaced in one step and still be brought back. It reports false where that
// cannot be done: then the place is empty for a moment.
func (a *applier) keepAside(c change, old string) bool {
	switch {
	case runtime.GOOS == "windows": // does not rename onto the link of a directory
		return false
	case c.kind == kindLink:
		target, err := a.root.Readlink(c.place)
		return err == nil && a.root.Symlink(target, old) == nil
	case c.kind == kindFile:
		return a.root.Link(c.place, old) == nil || a.duplicate(c.place, old) == nil
	}
	return false
}

// moveAside renames, or copies and deletes: a directory that came with a
// container's image cannot be renamed there (overlayfs says that it is on
// another device).
func (a *applier) moveAside(place, old string) error {
	err := a.root.Rename(place, old)
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	if err := os.CopyFS(a.path(filepath.FromSlash(old)), os.DirFS(a.path(filepath.FromSlash(place)))); err != nil {
		return err
	}
	return durable.RemoveAll(a.root, place)
}

// duplicate copies a file of the install directory where it cannot get a
// second name.
func (a *applier) duplicate(name, to string) error {
	from, err := a.root.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // only read from
	info, err := from.Stat()
	if err != nil {
		return err
	}
	target, err := a.root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(target, from)
	return errors.Join(err, target.Close())
}

// takeBack undoes the changes, the last one first. Where that fails, what says
// which places were about to change is left for the next run.
func (a *applier) takeBack() error {
	var errs []error
	for i, undo := range slices.Backward(a.undo) {
		if i < a.announced && len(errs) > 0 {
			break
		}
		if err := undo(); err != nil {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("and the install directory could not be brought back to what it was: %w", err)
	}
	return nil
}
