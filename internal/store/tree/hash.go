package tree

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pluginlock/plugins/addr"
)

// Problem says what in a tree cannot be part of a plugin.
type Problem struct {
	Path   string // slashes, from the tree's root
	Reason string
}

func (p *Problem) Error() string { return p.Path + " " + p.Reason }

// Hash reads the whole tree and returns a receipt for it. Nothing outside of
// root is read, links are not followed. Where permission bits mean nothing,
// executable says which files are programs.
//
// Errors: [*Problem] for what no plugin may hold: set-uid and the like, files
// that others can write, devices, pipes; what reading the files returned; the
// context's.
func Hash(ctx context.Context, root *os.Root, executable func(path string) bool) (*Receipt, error) {
	return survey(ctx, root, executable, true)
}

// Survey is [Hash] without reading files: it leaves Digest empty. Whoever has
// just written the files knows the digests, see [Receipt.Adopt].
func Survey(ctx context.Context, root *os.Root, executable func(path string) bool) (*Receipt, error) {
	return survey(ctx, root, executable, false)
}

func survey(ctx context.Context, root *os.Root, executable func(path string) bool, read bool) (*Receipt, error) {
	r := &Receipt{Format: Format}
	err := fs.WalkDir(root.FS(), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		info, err := root.Lstat(path)
		if err != nil {
			return err
		}
		if err := check(path, info); err != nil {
			return err
		}
		if info.IsDir() {
			r.Directories = append(r.Directories, Directory{path, StampOf(info)})
			return nil
		}
		f := File{Path: path, Stamp: StampOf(info)}
		if err := f.describe(ctx, root, info, executable, read); err != nil {
			return err
		}
		r.Files = append(r.Files, f)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r.sorted(), nil
}

// check refuses what no plugin may hold.
func check(path string, info fs.FileInfo) error {
	mode := info.Mode()
	switch {
	case !recordable(path):
		return &Problem{path, "has a name that is not UTF-8, or with \"|\" in it"}
	case mode.Type() == fs.ModeSymlink:
		return nil
	case !mode.IsDir() && !mode.IsRegular():
		return &Problem{path, fmt.Sprintf("is neither a file nor a link (%v)", mode.Type())}
	case modesMatter && mode.IsRegular() && mode&special != 0:
		return &Problem{path, fmt.Sprintf("has the mode %v: set-uid, set-gid and sticky bits are not allowed", mode)}
	case modesMatter && mode&othersWrite != 0:
		return &Problem{path, fmt.Sprintf("has the mode %v: others can write it", mode)}
	}
	return nil
}

// recordable reports whether a receipt can hold a name; see separator.
func recordable(name string) bool {
	return utf8.ValidString(name) && !strings.Contains(name, separator)
}

func (f *File) describe(ctx context.Context, root *os.Root, info fs.FileInfo, executable func(string) bool, read bool) (err error) {
	if info.Mode().Type() == fs.ModeSymlink {
		f.Link, err = root.Readlink(f.Path)
		if err == nil && !recordable(f.Link) {
			return &Problem{f.Path, "links to a name that is not UTF-8, or with \"|\" in it"}
		}
		f.Link = filepath.ToSlash(f.Link)
		return err
	}
	f.Size = info.Size()
	if modesMatter {
		f.Executable = info.Mode()&0o100 != 0
	} else {
		f.Executable = executable(f.Path)
	}
	if read {
		f.Digest, err = DigestOf(ctx, root, f.Path)
	}
	return err
}

// buffers are shared because plugins are hashed side by side.
var buffers = sync.Pool{New: func() any { return new([256 << 10]byte) }}

// DigestOf reads one file.
func DigestOf(ctx context.Context, root *os.Root, path string) (addr.Digest, error) {
	file, err := root.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // only read from
	buffer := buffers.Get().(*[256 << 10]byte)
	defer buffers.Put(buffer)
	hash := sha256.New()
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		n, err := file.Read(buffer[:])
		hash.Write(buffer[:n])
		if err == io.EOF {
			return addr.DigestFrom(hash), nil
		}
		if err != nil {
			return "", err
		}
	}
}
