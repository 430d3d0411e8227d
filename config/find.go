package config

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// FileName is the usual name of a project's configuration file.
const FileName = "plugins.hcl"

// NoFilesError says that a project directory has no configuration file.
type NoFilesError struct {
	Dir     string   // where they were looked for
	Names   []string // the names and patterns tried
	Nearest string   // the nearest parent directory that has one; empty where none has
}

// Error names the directory and what was looked for.
func (e *NoFilesError) Error() string {
	return fmt.Sprintf("no configuration file in %s: looked for %s", e.Dir, strings.Join(e.Names, ", "))
}

// find decides the project directory and the files to read.
func (l *loader) find() ([]string, hcl.Diagnostics) {
	if len(l.options.Files) > 0 {
		return l.findGiven()
	}
	l.config.Dir = l.options.Dir
	if l.config.Dir == "" {
		l.config.Dir = "."
	}
	return findOwn(l.config.Dir)
}

// findGiven takes the files that were named, each once.
func (l *loader) findGiven() ([]string, hcl.Diagnostics) {
	var paths []string
	for _, file := range l.options.Files {
		if path := filepath.Clean(file); !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	l.config.Dir = l.options.Dir
	if l.config.Dir != "" {
		return paths, nil
	}
	l.config.Dir = filepath.Dir(paths[0])
	for _, path := range paths[1:] {
		if dir := filepath.Dir(path); !sameDir(dir, l.config.Dir) {
			return paths, hcl.Diagnostics{problem("Project directory not clear", fileRange(path),
				"The configuration files lie in %s and in %s, and the lock file goes to one of them. Name the project directory:\n\n  --dir %s",
				l.config.Dir, dir, l.config.Dir)}
		}
	}
	return paths, nil
}

// sameDir compares two directories by name, so that "." and the absolute name
// of the working directory are one.
func sameDir(a, b string) bool {
	absA, errA := filepath.Abs(a)
	absB, errB := filepath.Abs(b)
	return errA == nil && errB == nil && absA == absB
}

// findOwn lists the tool's own files in dir.
func findOwn(dir string) ([]string, hcl.Diagnostics) {
	names, err := ownFiles(dir)
	if err != nil {
		return nil, hcl.Diagnostics{unreadable(dir, err)}
	}
	if len(names) == 0 {
		return nil, hcl.Diagnostics{noFiles(dir)}
	}
	var paths []string
	for _, name := range names {
		paths = append(paths, filepath.Join(dir, name))
	}
	return paths, nil
}

// ownFiles returns the names of our files in dir, in order. A directory that
// has such a name is among them, for it to be refused and not passed over.
func ownFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		if isOwnName(entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

func isOwnName(name string) bool {
	base := strings.TrimSuffix(name, ".json")
	return !strings.HasPrefix(name, ".") && (base == FileName || strings.HasSuffix(base, "."+FileName))
}

// noFiles reports an empty project, with what the user may have meant.
func noFiles(dir string) *hcl.Diagnostic {
	missing := &NoFilesError{
		Dir:     dir,
		Names:   []string{FileName, FileName + ".json", "*." + FileName, "*." + FileName + ".json"},
		Nearest: nearest(dir),
	}
	detail := fmt.Sprintf("The directory %s has no configuration file: there is no %s and no %s.",
		place(dir), strings.Join(missing.Names[:3], ", no "), missing.Names[3])
	if missing.Nearest != "" {
		detail += fmt.Sprintf(" Parent directories are not searched. The nearest one that has such a file:\n\n  --dir %s", missing.Nearest)
	} else {
		detail += " Write one, or name the files of your program:\n\n  --config FILE"
	}
	d := problem("No configuration file", fileRange(filepath.Join(dir, FileName)), "%s", detail)
	d.Extra = missing
	return d
}

// place is dir as a reader of a log can find it.
func place(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

// nearest returns the closest parent of dir that has a file of ours.
func nearest(dir string) string {
	current, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	for parent := filepath.Dir(current); parent != current; parent = filepath.Dir(parent) {
		if names, err := ownFiles(parent); err == nil && slices.ContainsFunc(names, func(name string) bool {
			info, err := os.Stat(filepath.Join(parent, name))
			return err == nil && info.Mode().IsRegular()
		}) {
			return parent
		}
		current = parent
	}
	return ""
}

// FileError says that a file or directory could not be read.
type FileError struct {
	Path string
	Err  error // an error of package os, or a reason of ours
}

// Error names the file and the reason.
func (e *FileError) Error() string { return e.Path + ": " + reason(e.Err) }

// Unwrap returns the cause, so that errors.Is(err, fs.ErrNotExist) works.
func (e *FileError) Unwrap() error { return e.Err }

// reason is err without the path that package os puts in front.
func reason(err error) string {
	if pathErr, ok := err.(*fs.PathError); ok { //nolint:errorlint // only the outermost layer repeats the path
		return pathErr.Err.Error()
	}
	return err.Error()
}

// unreadable reports that path can't be read.
func unreadable(path string, err error) *hcl.Diagnostic {
	d := problem("File can't be read", fileRange(path), "Reading %s failed: %s.", path, reason(err))
	d.Extra = &FileError{Path: path, Err: err}
	return d
}
