package cmd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pluginlock/plugins"
	"github.com/pluginlock/plugins/installer"
	"github.com/pluginlock/plugins/internal/text"
)

// initFlags are the flags of init.
type initFlags struct {
	locked, offline, upgrade bool
	platforms, overrides     []string
	linkMode                 string
}

func newInitCommand(a *app) *cobra.Command {
	var f initFlags
	c := &cobra.Command{
		Use:   "init",
		Short: "Make the install directory match the configuration and the lock file",
		Long: `init reads the configuration and the lock file, asks registries only about what
the lock file does not settle, writes the lock file where that changed it, and
makes the install directory exact. Where everything is in place it makes no
request and writes nothing.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return a.runInit(c.Context(), f) },
	}
	flags := c.Flags()
	flags.BoolVar(&f.locked, "locked", false, "change nothing and exit 3 if the lock file is not up to date")
	flags.BoolVar(&f.offline, "offline", false, "ask no registry; what is missing is an error")
	flags.BoolVar(&f.upgrade, "upgrade", false, "select the newest versions that the configuration admits")
	flags.StringArrayVar(&f.platforms, "platform", nil, "install for `os/arch` instead of this system (repeatable: several only fill the store)")
	flags.StringVar(&f.linkMode, "link-mode", "", "link `mode`, how the install directory refers to the store: symlink or copy (default: symlink)")
	flags.StringArrayVar(&f.overrides, "override", nil, "use the local program of `NAME=PATH` for this run (repeatable)")
	exclusive(c, "locked", "upgrade")
	exclusive(c, "locked", "override")
	return c
}

// apply puts the flags into o; a wrong value is a usage error.
func (f *initFlags) apply(o *plugins.Options) error {
	var err error
	if len(f.platforms) > 0 {
		if o.Platforms, err = platforms(f.platforms); err != nil {
			return err
		}
	}
	if f.linkMode != "" {
		if o.LinkMode, err = plugins.ParseLinkMode(f.linkMode); err != nil {
			return usageErrorf("--link-mode: %w", err)
		}
	}
	for _, override := range f.overrides {
		name, path, found := strings.Cut(override, "=")
		if !found || name == "" || path == "" {
			return usageErrorf("--override %q: it needs the form NAME=PATH", override)
		}
		if path, err = absolute(path); err != nil {
			return err
		}
		if o.Overrides == nil {
			o.Overrides = map[string]string{}
		}
		o.Overrides[name] = path
	}
	switch {
	case f.locked:
		o.Mode = plugins.Locked
	case f.upgrade:
		o.Mode = plugins.Update
	}
	o.Offline = o.Offline || f.offline
	return nil
}

func (a *app) runInit(ctx context.Context, f initFlags) error {
	var flagsOnly plugins.Options
	if err := f.apply(&flagsOnly); err != nil {
		return err
	}
	return a.change(ctx, func(o *plugins.Options) { _ = f.apply(o) })
}

// changed prints what a run did, one line a plugin and a summary.
func (p *printer) changed(result *plugins.Result, o plugins.Options, err error) {
	p.warnings(result)
	if p.json {
		p.document(newResultDocument(result, err))
		return
	}
	if err != nil {
		return
	}
	counts, words := map[plugins.Action]int{}, past(o)
	width := 0
	for name := range result.Plugins {
		width = max(width, len(name))
	}
	var lines strings.Builder // a thousand are written at once, not each by itself
	for _, name := range slices.Sorted(maps.Keys(result.Plugins)) {
		plugin := result.Plugins[name]
		counts[plugin.Action]++
		fmt.Fprintf(&lines, "%-*s  %s\n", width, name, describe(plugin, words))
	}
	p.line("%s%s", &lines, summarize(counts, words, result, o))
}

// describe says in one line what happened to a plugin.
func describe(p plugins.Plugin, past map[plugins.Action]string) string {
	if p.Override {
		return "local program " + p.Executable + ", not locked"
	}
	what := p.Version + " " + past[p.Action]
	switch p.Action {
	case installer.ActionChange:
		if p.Previous != "" && p.Previous != p.Version {
			what = p.Previous + " " + past[p.Action] + " to " + p.Version
		}
	case installer.ActionRemove:
		return strings.TrimSpace(p.Previous + " " + past[p.Action])
	case installer.ActionSkip:
		what += ": not for this platform"
	}
	switch {
	case len(p.Stored) > 0:
		what += " (" + text.Join(p.Stored) + ")"
	case !p.Platform.IsZero():
		what += " (" + p.Platform.String() + ")"
	}
	if len(p.Added) > 0 {
		what += "; added to the lock file: " + text.Join(p.Added)
	}
	return what
}

// past is how each action is told once it was done, or would have been.
func past(o plugins.Options) map[plugins.Action]string {
	words := map[plugins.Action]string{
		installer.ActionInstall: "installed", installer.ActionChange: "changed", installer.ActionKeep: "kept",
		installer.ActionRemove: "removed", installer.ActionSkip: "skipped",
	}
	switch {
	case o.LockOnly:
		words[installer.ActionInstall] = "locked"
	case len(o.Platforms) > 1:
		words[installer.ActionInstall] = "stored"
	}
	if o.DryRun {
		for _, action := range []plugins.Action{installer.ActionInstall, installer.ActionChange, installer.ActionRemove} {
			words[action] = "would be " + words[action]
		}
	}
	return words
}

// summarize counts the actions and says what became of the lock file.
func summarize(counts map[plugins.Action]int, past map[plugins.Action]string, result *plugins.Result, o plugins.Options) string {
	var parts []string
	for _, action := range []plugins.Action{
		installer.ActionInstall, installer.ActionChange, installer.ActionKeep, installer.ActionRemove, installer.ActionSkip,
	} {
		if n := counts[action]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, past[action]))
		}
	}
	if len(parts) == 0 {
		parts = []string{"no plugins are required"}
	}
	what := strings.Join(parts, ", ")
	switch {
	case o.DryRun:
		what += "; nothing was written (dry run)."
	case result.LockChanged:
		what += "; lock file written."
	default:
		what += "; lock file unchanged."
	}
	return what
}
