package extract

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Walk reads the records of the tree below root from disk, every file's digest
// included, so that [Content] of them can be compared with what was declared and
// [Differences] can name what is missing, added or changed. It refuses what
// [Payload] would not have made: other kinds of files, set-uid, set-gid and
// sticky bits, files or directories that everybody may write, links that lead
// out or to nothing.
//
// known are records from elsewhere, a receipt say; they serve only where the
// file system has no executable bit, on Windows, to tell which files have it.
//
// Errors: [*EntryError] and [*LimitError] as for an archive; those of the
// context and the file system.
func Walk(ctx context.Context, root *os.Root, known []Record, lim Limits) ([]Record, error) {
	lim = lim.withDefaults()
	w := &walker{ctx: ctx, root: root, lim: lim, tree: newTree(lim.Entries)}
	if runtime.GOOS == "windows" {
		w.executable = map[string]bool{}
		for _, r := range known {
			w.executable[r.Path] = r.Executable
		}
	}
	if err := w.directory(".", 0); err != nil {
		return nil, err
	}
	if _, err := w.tree.checkLinks(); err != nil {
		return nil, err
	}
	slices.SortFunc(w.records, func(a, b Record) int { return strings.Compare(a.Path, b.Path) })
	return w.records, nil
}

type walker struct {
	ctx        context.Context
	root       *os.Root
	lim        Limits
	tree       *tree
	executable map[string]bool // by path; nil where the file system knows
	records    []Record
	total      int64
}

func (w *walker) directory(name string, depth int) error {
	names, err := w.list(name)
	if err != nil {
		return err
	}
	for _, n := range names {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if err := w.entry(path.Join(name, n), depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) list(name string) ([]string, error) {
	dir, err := w.root.Open(name)
	if err != nil {
		return nil, err
	}
	names, err := dir.Readdirnames(w.lim.Entries + 1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, errors.Join(err, dir.Close())
}

func (w *walker) entry(name string, depth int) error {
	info, err := w.root.Lstat(name)
	if err != nil {
		return err
	}
	components, err := checkName(name, info.IsDir(), w.lim)
	if err != nil {
		return err
	}
	if err := checkMode(name, info.Mode()); err != nil {
		return err
	}
	n := node{kind: kindFile, record: -1}
	switch {
	case info.IsDir():
		n.kind = kindDir
	case info.Mode()&fs.ModeSymlink != 0:
		n.kind = kindLink
		target, err := w.root.Readlink(name)
		if err != nil {
			return err
		}
		n.target = filepath.ToSlash(target)
		if err := checkTarget(name, n.target, depth, w.lim); err != nil {
			return err
		}
		w.records = append(w.records, Record{Path: name, Link: n.target})
	}
	if _, err := w.tree.add(name, components, n); err != nil {
		return err
	}
	switch n.kind {
	case kindDir:
		return w.directory(name, depth+1)
	case kindFile:
		return w.file(name, info)
	default:
		return nil
	}
}

// checkMode refuses the kinds of files and the bits that are never written.
// Windows makes permissions up, and links have none anywhere.
func checkMode(name string, mode fs.FileMode) error {
	switch {
	case mode&fs.ModeSymlink != 0:
		return nil
	case !mode.IsRegular() && !mode.IsDir():
		return refuse(KindType, name, "is neither a file nor a directory nor a symbolic link")
	case runtime.GOOS == "windows":
		return nil
	case mode&fs.ModeSetuid != 0:
		return refuse(KindType, name, "has the set-uid bit")
	case mode&fs.ModeSetgid != 0:
		return refuse(KindType, name, "has the set-gid bit")
	case mode&fs.ModeSticky != 0:
		return refuse(KindType, name, "has the sticky bit")
	case mode&0o002 != 0:
		return refuse(KindType, name, "can be written by everybody")
	}
	return nil
}

func (w *walker) file(name string, seen fs.FileInfo) error {
	f, err := w.root.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(info, seen) {
		return refuse(KindType, name, "was replaced while it was read")
	}
	size := info.Size()
	if w.total += size; size > w.lim.FileBytes || w.total > w.lim.Bytes {
		return exceeds(limitBytes, min(w.lim.FileBytes, w.lim.Bytes), name)
	}
	r := Record{Path: name, Size: size, Executable: info.Mode()&0o111 != 0}
	if w.executable != nil {
		r.Executable = w.executable[name]
	}
	r.Digest, err = move(io.Discard, &cancellable{w.ctx, f}, size)
	if read, ok := errors.AsType[*readError](err); ok {
		if errors.Is(read.err, io.ErrUnexpectedEOF) {
			return refuse(KindSize, name, "became shorter while it was read")
		}
		return read.err
	}
	w.records = append(w.records, r)
	return err
}

// cancellable ends reading with the context.
type cancellable struct {
	ctx context.Context
	r   io.Reader
}

func (c *cancellable) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
