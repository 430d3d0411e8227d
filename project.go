package plugins

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/config"
	"github.com/pluginlock/plugins/installer"
	"github.com/pluginlock/plugins/internal/text"
	"github.com/pluginlock/plugins/lock"
)

// readProject reads configuration and lock file, which happens twice in a run
// that writes: once to see that there is something to do, once under the lock.
func (r *run) readProject() error {
	cfg, diags := r.readConfig()
	r.setWarnings(r.problemsOf(diags, hcl.DiagWarning, nil))
	if diags.HasErrors() {
		return diags
	}
	if err := r.setPaths(cfg.Dir); err != nil {
		return err
	}
	r.requirements = cfg.Requirements
	var err error
	if r.typed, err = typedRequirements(cfg); err != nil {
		return err
	}
	if err := r.checkNames(); err != nil {
		return err
	}
	return r.readLock()
}

// setPaths makes the paths of the options absolute, below the project directory.
func (r *run) setPaths(dir string) (err error) {
	if r.dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	r.lockPath = r.inDir(r.options.LockFile, lock.FileName)
	r.installDir = r.inDir(r.options.InstallDir, InstallDirName)
	return nil
}

func (r *run) readConfig() (*config.Config, hcl.Diagnostics) {
	if r.options.Requirements != nil {
		return &config.Config{Dir: cmp.Or(r.options.Dir, "."), Requirements: r.options.Requirements}, nil
	}
	cfg, diags := config.Load(r.configOptions())
	r.files, r.configDigest = cfg.Files, cfg.Digest
	return cfg, diags
}

func (r *run) configOptions() config.Options {
	return config.Options{
		Dir:           r.options.Dir,
		Files:         r.options.ConfigFiles,
		ToolVersion:   Version(),
		DefaultPrefix: r.options.DefaultPrefix,
	}
}

// readLock reads the lock file. That one could not be written later, for want of
// a directory, is told before any registry is asked.
func (r *run) readLock() error {
	file, src, err := lock.Load(r.lockPath)
	r.lockAbsent = errors.Is(err, fs.ErrNotExist)
	switch {
	case r.lockAbsent:
		file, err = &lock.File{}, lockDirectory(r.lockPath)
	case r.options.ResolveConflicts && errors.Is(err, lock.ErrConflict):
		file, err = r.mergeLock(src)
	case err != nil && src == nil:
		err = &LockFileError{err}
	}
	if err != nil {
		return r.excerpt(r.lockPath, src, err)
	}
	r.lockFile, r.lockDigest = file, addr.DigestOf(src)
	return nil
}

// lockDirectory reports an error where a lock file has no directory to be in.
func lockDirectory(path string) error {
	dir := filepath.Dir(path)
	switch info, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return &LockFileError{fmt.Errorf("there is no directory %s for the lock file %s", dir, filepath.Base(path))}
	case err != nil:
		return &LockFileError{err}
	case !info.IsDir():
		return &LockFileError{fmt.Errorf("%s, where the lock file %s would be, is not a directory", dir, filepath.Base(path))}
	}
	return nil
}

// mergeLock keeps what both sides of a conflict agree on; the rest is resolved
// anew. There is then no lock file that could be left as it is.
func (r *run) mergeLock(src []byte) (*lock.File, error) {
	ours, theirs, diags := lock.ParseConflicted(src, r.lockPath)
	if diags.HasErrors() {
		return nil, diags
	}
	merged, _ := lock.Merge(ours, theirs)
	r.lockAbsent = true
	return merged, nil
}

// excerpt lets messages about err show the lines of a file that are at fault,
// and name the file as the user would from the working directory.
func (r *run) excerpt(path string, src []byte, err error) error {
	shown := path
	if wd, wdErr := os.Getwd(); wdErr == nil {
		if relative, relErr := filepath.Rel(wd, path); relErr == nil && filepath.IsLocal(relative) {
			shown = relative
		}
	}
	var parse *lock.ParseError
	if errors.As(err, &parse) {
		rename(parse.Diagnostics, path, shown)
	}
	if src != nil {
		if r.files == nil {
			r.files = map[string]*hcl.File{}
		}
		r.files[shown] = &hcl.File{Bytes: text.Printable(src)}
	}
	return err
}

// rename gives a file another name wherever diagnostics name it.
func rename(diags hcl.Diagnostics, from, to string) {
	for _, d := range diags {
		for _, at := range []*hcl.Range{d.Subject, d.Context} {
			if at != nil && at.Filename == from {
				at.Filename = to
			}
		}
	}
}

// inDir returns path, or the default name, below the project directory.
func (r *run) inDir(path, name string) string {
	if path == "" {
		path = name
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(r.dir, path)
}

// checkNames refuses names and overrides of plugins that nobody requires, and
// overrides that are no programs.
func (r *run) checkNames() error {
	named := slices.Concat(r.options.Names, slices.Sorted(maps.Keys(r.options.Overrides)))
	unknown := slices.DeleteFunc(named, func(name string) bool {
		return slices.ContainsFunc(r.requirements, func(q Requirement) bool { return q.Name == name })
	})
	if len(unknown) > 0 {
		slices.Sort(unknown)
		return &UnknownPluginError{slices.Compact(unknown)}
	}
	for name, path := range r.options.Overrides {
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			return &OverrideError{Name: name, Path: path, Reason: "it is not a file", Err: err}
		}
	}
	return nil
}

// OverrideError means that a local program cannot be used in place of a plugin.
type OverrideError struct {
	Name, Path string // "" where overriding as such is at fault
	Reason     string
	Err        error // may be nil
}

func (e *OverrideError) Error() string {
	if e.Name == "" {
		return e.Reason
	}
	return fmt.Sprintf("%s cannot take the place of plugin %q: %s", e.Path, e.Name, e.Reason)
}

// Unwrap returns what the file system said.
func (e *OverrideError) Unwrap() error { return e.Err }

// typedRequirements checks the requirements and folds the project's platforms
// into those that do not list their own.
func typedRequirements(cfg *config.Config) ([]installer.Requirement, error) {
	var typed []installer.Requirement
	var diags hcl.Diagnostics
	for _, requirement := range cfg.Requirements {
		checked, err := requirement.Check()
		if err != nil {
			diags = append(diags, &hcl.Diagnostic{
				Severity: hcl.DiagError, Summary: "Invalid requirement", Detail: err.Error(), Subject: rangeOf(requirement), Extra: err})
			continue
		}
		r := installer.Requirement{
			Name: checked.Name, Source: checked.Source, Constraint: checked.Constraint, Protocols: checked.Protocols,
			Executable: checked.Executable, Platforms: checked.Platforms, OnlyPlatforms: len(checked.Platforms) > 0,
		}
		if !r.OnlyPlatforms {
			r.Platforms = cfg.Platforms
		}
		typed = append(typed, r)
	}
	slices.SortFunc(typed, func(a, b installer.Requirement) int { return cmp.Compare(a.Name, b.Name) })
	if diags.HasErrors() {
		return nil, diags
	}
	return typed, nil
}

// rangeOf returns where a requirement is written; nil where its host filled it
// from something that has no ranges.
func rangeOf(r Requirement) *hcl.Range {
	if r.Range.Filename == "" {
		return nil
	}
	return &r.Range
}
