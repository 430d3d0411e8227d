package publish

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pluginlock/plugins/addr"
)

// File is one file, or one directory with all that is in it, for a platform.
type File struct {
	Platform addr.Platform
	Path     string // a file is packed under its base name, a directory as the tree below it
}

// ParseFile reads PLATFORM=PATH, such as "linux/amd64=build/aws".
func ParseFile(s string) (File, error) {
	platform, path, ok := strings.Cut(s, "=")
	if !ok || path == "" {
		return File{}, fmt.Errorf("%q does not have the form PLATFORM=PATH, such as linux/amd64=build/aws", s)
	}
	p, err := addr.ParsePlatform(platform)
	if err != nil {
		return File{}, err
	}
	return File{p, path}, nil
}

// origin is one place on disk from which a platform's files come.
type origin struct {
	disk  string // path on disk
	label string // the same as messages show it
	at    string // where it lies among the platform's files: "" for a tree
}

// input is what was found to pack.
type input struct {
	platforms map[addr.Platform][]origin
	warnings  []Warning
	problems  problems
}

func newInput() *input { return &input{platforms: map[addr.Platform][]origin{}} }

// sorted lists the platforms in order.
func (in *input) sorted() []addr.Platform {
	return slices.SortedFunc(maps.Keys(in.platforms), addr.Platform.Compare)
}

func (in *input) add(p addr.Platform, o origin) { in.platforms[p] = append(in.platforms[p], o) }

// ErrNoInput means that there is nothing to pack.
var ErrNoInput = errors.New("nothing to pack")

// detect finds the input: the files that are named, else what goreleaser
// lists, else the tree of platforms.
func detect(dir string, files []File) (*input, error) {
	if len(files) > 0 {
		return namedFiles(files)
	}
	if dir == "" {
		return nil, fmt.Errorf("%w: neither a directory nor files are given", ErrNoInput)
	}
	switch info, err := os.Stat(dir); {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s is a file, not the directory of a build; name single files by platform", dir)
	}
	for _, name := range []string{artifactsFile, filepath.Join("dist", artifactsFile)} {
		list := filepath.Join(dir, name)
		if _, err := os.Lstat(list); err == nil {
			return goreleaser(list)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return tree(dir)
}

// namedFiles is the input of files that are given by platform.
func namedFiles(files []File) (*input, error) {
	in := newInput()
	for _, f := range files {
		p := f.Platform.Normalize()
		o, err := newOrigin(f.Path, filepath.Base(f.Path))
		if err != nil {
			in.problems.add(p, f.Path, err)
			continue
		}
		in.add(p, o)
	}
	return in, in.problems.err()
}

// newOrigin follows symbolic links to what the user named.
func newOrigin(path, name string) (origin, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return origin{}, withoutPath(err)
	case info.IsDir():
		return origin{disk: path, label: path}, nil
	case !info.Mode().IsRegular():
		return origin{}, fmt.Errorf("is %s, not a file", kindOf(info.Mode()))
	}
	return origin{disk: path, label: path, at: name}, nil
}

// withoutPath takes the path out of an error whose message names it already.
func withoutPath(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

// kindOf names what is neither a regular file nor a directory.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	case mode.IsDir():
		return "a directory"
	case mode.IsRegular():
		return "a file"
	}
	return "neither a file nor a directory"
}
