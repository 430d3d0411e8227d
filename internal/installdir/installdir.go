// Package installdir keeps a project's install directory, ".plugins", exactly
// as it should be: for each plugin a link to its files in the store, or a copy
// of them, below plugins/, and a link to its program below bin/.
//
//	.gitignore        "*"
//	installed.json    what was made, and so may be changed or removed
//	plugins/<name>    -> the plugin's files
//	bin/<name>[.exe]  -> the program inside plugins/<name>
//
// Only what installed.json says was made here is ever replaced or removed; a
// file of somebody else in the way is an error. Every place changes by one
// rename, and a program is never written where one may be running. A run that
// is killed leaves what the next [Apply] brings to its end.
//
// The package does not verify what the store holds and decides nothing about
// versions. Start at [Check], which writes nothing, and [Apply].
package installdir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/extract"
	"github.com/pluginlock/plugins/internal/store/tree"
)

// The names inside an install directory.
const (
	ignoreFile    = ".gitignore"
	installedFile = "installed.json"
	pendingFile   = "pending.json"
	lockFile      = ".lock"
	pluginsDir    = "plugins"
	binDir        = "bin"
	workPrefix    = ".apply-" // begins the name of a directory for one run of Apply
)

// LinkMode says how a plugin's files come to the install directory.
type LinkMode string

// The link modes.
const (
	Symlink LinkMode = "symlink" // a link into the store
	Copy    LinkMode = "copy"    // a copy, for volumes and for systems without links
)

// Description is what installed.json repeats of the lock file about a plugin.
type Description struct {
	Version          addr.Version
	Source           addr.Source
	Digest           addr.Digest // as locked; zero for an override
	Manifest         addr.Digest // of the platform; zero for an override
	Protocols        []int
	Executable       string // path from the plugin's root, with slashes: "plugin/aws"
	ExecutableDigest addr.Digest
	Override         string // path of a local build used in place of the locked plugin
}

func (d Description) equal(o Description) bool {
	return d.Version == o.Version && d.Source == o.Source && d.Digest == o.Digest && d.Manifest == o.Manifest &&
		slices.Equal(d.Protocols, o.Protocols) && d.Executable == o.Executable &&
		d.ExecutableDigest == o.ExecutableDigest && d.Override == o.Override
}

// Plugin is one plugin that should be installed.
type Plugin struct {
	Name string
	Description
	StoreRoot string // absolute path of its files

	// Records are its files, of which a copy consists. Where an override has
	// none, the executable alone is copied, whatever its digest is.
	Records []extract.Record
}

// Desired is what an install directory should hold, and nothing else.
type Desired struct {
	Platform addr.Platform
	LinkMode LinkMode
	Plugins  []Plugin // in any order, names unique
}

// check refuses what no configuration can ask for.
func (d Desired) check() error {
	if d.LinkMode != Symlink && d.LinkMode != Copy {
		return fmt.Errorf("link mode %q is neither %q nor %q", d.LinkMode, Symlink, Copy)
	}
	seen := map[string]bool{}
	for _, p := range d.Plugins {
		switch {
		case !validName(p.Name):
			return fmt.Errorf("%q cannot be the name of a plugin", p.Name)
		case seen[p.Name]:
			return fmt.Errorf("plugin %q is to be installed twice", p.Name)
		case !fs.ValidPath(p.Executable) || p.Executable == ".":
			return fmt.Errorf("plugin %q: %q cannot be the path of an executable", p.Name, p.Executable)
		case !filepath.IsAbs(p.StoreRoot):
			return fmt.Errorf("plugin %q: %q is not an absolute path", p.Name, p.StoreRoot)
		case d.LinkMode == Copy && !p.isLocal() && !slices.ContainsFunc(p.Records, func(r extract.Record) bool { return r.Path == p.Executable }):
			return fmt.Errorf("plugin %q: its executable %s is not among its files", p.Name, p.Executable)
		}
		seen[p.Name] = true
	}
	return nil
}

// isLocal reports whether nobody has said what the plugin's files are.
func (p Plugin) isLocal() bool { return p.Override != "" && len(p.Records) == 0 }

// complete reads the programs of overrides that are to be copied: a local
// build changes from run to run, and only its content tells.
func (d Desired) complete(ctx context.Context) (Desired, error) {
	if d.LinkMode != Copy || !slices.ContainsFunc(d.Plugins, Plugin.isLocal) {
		return d, nil
	}
	d.Plugins = slices.Clone(d.Plugins)
	for i := range d.Plugins {
		p := &d.Plugins[i]
		if !p.isLocal() {
			continue
		}
		record, err := describeLocal(ctx, *p)
		if err != nil {
			return d, fmt.Errorf("plugin %s: %w", p.Name, err)
		}
		p.Records, p.ExecutableDigest = []extract.Record{record}, record.Digest
	}
	return d, nil
}

func describeLocal(ctx context.Context, p Plugin) (extract.Record, error) {
	root, err := os.OpenRoot(p.StoreRoot)
	if err != nil {
		return extract.Record{}, err
	}
	defer func() { _ = root.Close() }() // only read from
	info, err := root.Stat(p.Executable)
	if err != nil {
		return extract.Record{}, err
	}
	digest, err := tree.DigestOf(ctx, root, p.Executable)
	return extract.Record{Path: p.Executable, Digest: digest, Size: info.Size(), Executable: true}, err
}

// validName holds names to the rule of configurations, for they become file
// names: one that was edited into installed.json too.
func validName(name string) bool { return addr.CheckName(name) == addr.NameFits }

// binName is the file below bin/ for a plugin.
func binName(name string, p addr.Platform) string {
	if p.OS == "windows" {
		return name + ".exe"
	}
	return name
}

// binTarget is what the link below bin/ contains: relative, so that a project
// can be moved.
func binTarget(name, executable string) string {
	return filepath.Join("..", pluginsDir, name, filepath.FromSlash(executable))
}

// ForeignFileError means that something that was not made here is where the
// install directory needs its place. It was not touched.
type ForeignFileError struct {
	Path  string
	Found string // "a file", "a directory", "a symbolic link", "a special file"
}

func (e *ForeignFileError) Error() string {
	return fmt.Sprintf("%s is in the way: it is %s that plugins did not make; move it elsewhere", e.Path, e.Found)
}

// StateError means that installed.json cannot be used, so that nobody knows
// what in the directory may be replaced.
type StateError struct {
	Path string
	Err  error
}

func (e *StateError) Error() string {
	return fmt.Sprintf("%s cannot be read: %v; remove the directory %s to have it made anew", e.Path, e.Err, filepath.Dir(e.Path))
}

func (e *StateError) Unwrap() error { return e.Err }

// SymlinkError means that the file system or the user's rights do not allow
// symbolic links. Link mode copy does without.
type SymlinkError struct {
	Path string
	Err  error
}

func (e *SymlinkError) Error() string {
	cause := e.Err
	var link *os.LinkError
	if errors.As(cause, &link) {
		cause = link.Err
	}
	return fmt.Sprintf("no symbolic link can be made at %s: %v", e.Path, cause)
}

func (e *SymlinkError) Unwrap() error { return e.Err }

// kind is what can stand at a place.
type kind string

const (
	kindLink    kind = "link"
	kindDir     kind = "directory"
	kindFile    kind = "file"
	kindSpecial kind = "special"
)

func kindOf(mode fs.FileMode) kind {
	switch {
	case mode.IsDir():
		return kindDir
	case mode.IsRegular():
		return kindFile
	case mode.Type() == fs.ModeSymlink:
		return kindLink
	}
	return kindSpecial
}

// String is how messages call it.
func (k kind) String() string {
	switch k {
	case kindLink:
		return "a symbolic link"
	case kindDir:
		return "a directory"
	case kindFile:
		return "a file"
	}
	return "a special file"
}

// checkLayout refuses an install directory that is, or whose parts are,
// something else than a directory: what is written through a link lands where
// nobody expects it. exists is false where there is no install directory.
func checkLayout(dir string) (exists bool, err error) {
	for i, path := range []string{dir, filepath.Join(dir, pluginsDir), filepath.Join(dir, binDir)} {
		info, err := os.Lstat(path)
		switch {
		case os.IsNotExist(err) && i == 0:
			return false, nil
		case os.IsNotExist(err):
		case err != nil:
			return false, err
		case !info.IsDir():
			return false, &ForeignFileError{path, kindOf(info.Mode()).String()}
		}
	}
	return true, nil
}
