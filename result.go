package plugins

import (
	"fmt"
	"path/filepath"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/installer"
	"github.com/pluginlock/plugins/internal/installdir"
	"github.com/pluginlock/plugins/internal/text"
	"github.com/pluginlock/plugins/launch"
	"github.com/pluginlock/plugins/lock"
)

// Result is what a run came to.
type Result struct {
	Plugins     map[string]Plugin
	LockChanged bool         // the run wrote the lock file
	Changes     []LockChange // what changed, or would have to
	Warnings    []Problem
	Files       map[string]*hcl.File // the configuration, for excerpts; nil where nothing had to be read

	lock *lockFile
}

// Lock returns the lock file as it is now, never nil, each time the same; do
// not change it. Where nothing had changed it is parsed by the first call. Any
// number of goroutines may call it.
func (r *Result) Lock() *lock.File {
	if r.lock == nil {
		return &lock.File{}
	}
	return r.lock.get()
}

// lockFile is a lock file that was parsed, or is once somebody asks.
type lockFile struct {
	once sync.Once
	file *lock.File
	path string // of src
	src  []byte // where file is nil: bytes that were parsed before, without an error
}

func (l *lockFile) get() *lock.File {
	l.once.Do(func() {
		if l.file == nil {
			l.file, _ = lock.Parse(l.src, l.path)
		}
	})
	return l.file
}

// Plugin is one plugin of a result.
type Plugin struct {
	launch.Plugin // zero paths where it is not installed
	Action        Action
	Previous      string // the version that was installed, else locked, before; "" where there was none
	Reason        string // why its lock entry changed

	// Stored are the platforms of it that the store has now, where several
	// were asked for and so none is installed.
	Stored []addr.Platform
	// Added are platforms that its lock entry gained without any other change.
	Added []addr.Platform

	Override bool  // a local program is used instead, for this run
	Err      error // nil where all is well
}

// Usable returns the plugins that can be run, so that a host can go on where
// one of several is broken.
func (r *Result) Usable() map[string]launch.Plugin {
	usable := map[string]launch.Plugin{}
	for name, p := range r.Plugins {
		if p.Err == nil && p.Executable != "" {
			usable[name] = p.Plugin
		}
	}
	return usable
}

// result describes a plan, which may be nil or incomplete.
func (r *run) result(plan *installer.Plan) *Result {
	result := &Result{Plugins: map[string]Plugin{}, Warnings: r.allWarnings(), Files: r.files}
	if r.lockFile != nil {
		result.lock = &lockFile{file: r.lockFile}
	}
	if plan == nil {
		return result
	}
	result.Changes = plan.Changes
	for _, w := range plan.Warnings {
		result.Warnings = append(result.Warnings, r.problem(w))
	}
	result.Warnings = append(result.Warnings, r.doubles(plan)...)
	for i := range plan.Items {
		item := &plan.Items[i]
		result.Plugins[item.Name] = r.plugin(item)
	}
	return result
}

// doubles warns of two names that have ended on one version of one source.
func (r *run) doubles(plan *installer.Plan) []Problem {
	var warnings []Problem
	first := map[string]string{}
	for _, item := range plan.Items {
		if item.Entry == nil {
			continue
		}
		what := item.Entry.Source.String() + " " + item.Entry.Version.String()
		if other, ok := first[what]; ok {
			err := &DoubleError{Names: [2]string{other, item.Name}, At: [2]*hcl.Range{r.rangeOf(other), r.rangeOf(item.Name)}}
			warnings = append(warnings, r.problem(&installer.Problem{
				Plugin: item.Name, Source: item.Entry.Source, Version: item.Entry.Version.String(), Err: err}))
		}
		first[what] = item.Name
	}
	return warnings
}

// DoubleError warns that two names stand for one version of one source.
type DoubleError struct {
	Names [2]string
	At    [2]*hcl.Range // where they are required; nil where nowhere
}

func (e *DoubleError) Error() string {
	if e.At[0] == nil || e.At[1] == nil {
		return fmt.Sprintf("%q and %q are the same plugin in the same version", e.Names[0], e.Names[1])
	}
	return fmt.Sprintf("%q (%s) and %q (%s) are the same plugin in the same version", e.Names[0], e.At[0], e.Names[1], e.At[1])
}

// rangeOf returns where a plugin is required; nil where nowhere in a file.
func (r *run) rangeOf(name string) *hcl.Range {
	for _, q := range r.requirements {
		if q.Name == name {
			return rangeOf(q)
		}
	}
	return nil
}

func (r *run) plugin(item *installer.Item) Plugin {
	p := Plugin{Action: item.Action, Reason: item.Reason, Override: item.Override != ""}
	p.Name = item.Name
	if item.Previous != nil {
		p.Previous = item.Previous.Version.String()
		p.Source = item.Previous.Source.String()
	}
	if !item.Installed.IsZero() {
		p.Previous = item.Installed.String()
	}
	if item.Entry != nil {
		p.Version, p.Source, p.Digest = item.Entry.Version.String(), item.Entry.Source.String(), item.Entry.Digest
		p.Protocols = item.Entry.Protocols
	}
	p.Platform, p.Manifest, p.Added = item.Platform(), item.Manifest(), item.Added()
	switch {
	case r.options.LockOnly: // the lock file is for every platform
		p.Platform, p.Manifest = addr.Platform{}, ""
	case len(r.targets) > 1:
		p.Stored, p.Platform, p.Manifest = item.Platforms(), addr.Platform{}, ""
	}
	switch {
	case item.Override != "":
		p.Executable = item.Override
	case item.Program() != "" && len(r.targets) == 1 && !r.options.LockOnly:
		p.Dir = installdir.PluginDir(r.installDir, item.Name)
		p.Executable = filepath.Join(p.Dir, filepath.FromSlash(item.Program()))
	}
	if item.Problem != nil {
		problem := r.problem(item.Problem)
		p.Err = &problem
	}
	return p
}

// ParseLinkMode reads "symlink" or "copy".
func ParseLinkMode(s string) (LinkMode, error) {
	switch mode := LinkMode(s); mode {
	case installdir.Symlink, installdir.Copy:
		return mode, nil
	}
	return "", fmt.Errorf("%q is neither %q nor %q", text.Clip(s), installdir.Symlink, installdir.Copy)
}
