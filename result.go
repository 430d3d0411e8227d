package plugins

import (
	"fmt"
	"path/filepath"

	"github.com/pluginlock/plugins/installer"
	"github.com/pluginlock/plugins/internal/installdir"
	"github.com/pluginlock/plugins/internal/text"
	"github.com/pluginlock/plugins/launch"
	"github.com/pluginlock/plugins/lock"
)

// Result is what a run came to.
type Result struct {
	Plugins     map[string]Plugin
	Lock        *lock.File   // as it is now; never nil
	LockChanged bool         // the run wrote it
	Changes     []LockChange // what changed, or would have to
	Warnings    []Problem
}

// Plugin is one plugin of a result.
type Plugin struct {
	launch.Plugin // zero paths where it is not installed
	Action        Action
	Previous      string // the version before, "" where there was none
	Reason        string // why its lock entry changed
	Override      bool   // a local program is used instead, for this run
	Err           error  // nil where all is well
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
	result := &Result{Plugins: map[string]Plugin{}, Lock: &lock.File{}, Warnings: r.allWarnings()}
	if r.lockFile != nil {
		result.Lock = r.lockFile
	}
	if plan == nil {
		return result
	}
	result.Changes = plan.Changes
	for _, w := range plan.Warnings {
		result.Warnings = append(result.Warnings, r.problem(w))
	}
	for i := range plan.Items {
		item := &plan.Items[i]
		result.Plugins[item.Name] = r.plugin(item)
	}
	return result
}

func (r *run) plugin(item *installer.Item) Plugin {
	p := Plugin{Action: item.Action, Reason: item.Reason, Override: item.Override != ""}
	p.Name = item.Name
	if item.Previous != nil {
		p.Previous = item.Previous.Version.String()
		p.Source = item.Previous.Source.String()
	}
	if item.Entry != nil {
		p.Version, p.Source, p.Digest = item.Entry.Version.String(), item.Entry.Source.String(), item.Entry.Digest
		p.Protocols = item.Entry.Protocols
	}
	p.Platform, p.Manifest = item.Platform(), item.Manifest()
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
