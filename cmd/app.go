package cmd

import (
	"cmp"
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pluginlock/plugins"
	"github.com/pluginlock/plugins/addr"
)

// app is what the commands of one tree share: the global flags.
type app struct {
	use  string
	load func(context.Context) (plugins.Options, error)

	dir, lockFile, installDir, cacheDir string
	configFiles                         []string
	json, quiet                         bool

	printer *printer // of the command that runs
}

// addFlags defines the global flags on root.
func (a *app) addFlags(root *cobra.Command, mounted bool) {
	flags := root.PersistentFlags()
	flags.BoolVar(&a.json, "json", false, "print one JSON document on standard output")
	flags.BoolVar(&a.quiet, "quiet", false, "print errors only")
	if a.load != nil {
		return
	}
	short := "C"
	if mounted {
		short = ""
	}
	flags.StringVarP(&a.dir, "dir", short, "", "project `directory` (default: that of --config, else the working directory)")
	flags.StringArrayVar(&a.configFiles, "config", nil, "read required_plugins from this `file` of a host program instead of plugins.hcl (repeatable)")
	flags.StringVar(&a.lockFile, "lock-file", "", "lock `file` (default: .plugins.lock.hcl in the project directory)")
	flags.StringVar(&a.installDir, "install-dir", "", "install `directory` (default: .plugins in the project directory)")
	flags.StringVar(&a.cacheDir, "cache-dir", "", "cache `directory`: the store of downloaded plugins (default: $PLUGINS_CACHE_DIR, else plugins in the user's cache directory)")
}

// options returns the library's options from environment and flags.
func (a *app) options(ctx context.Context) (plugins.Options, error) {
	if a.load != nil {
		return a.load(ctx)
	}
	o, err := plugins.FromEnvironment()
	if err != nil {
		return o, err
	}
	o.Dir, o.ConfigFiles = a.dir, a.configFiles
	if o.LockFile, err = absolute(a.lockFile); err != nil {
		return o, err
	}
	if o.InstallDir, err = absolute(a.installDir); err != nil {
		return o, err
	}
	if a.cacheDir != "" {
		if o.CacheDir, err = absolute(a.cacheDir); err != nil {
			return o, err
		}
	}
	return o, nil
}

// absolute makes a path of the command line independent of the project
// directory: relative paths start where the user stands.
func absolute(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	return filepath.Abs(path)
}

// reportErrors makes every command below root report its error, as text or as
// part of its JSON document, before it returns it.
func (a *app) reportErrors(root *cobra.Command) {
	for _, c := range root.Commands() {
		c.SilenceErrors, c.SilenceUsage = true, true
		check := c.Args
		if check == nil {
			check = cobra.ArbitraryArgs
		}
		c.Args = func(c *cobra.Command, args []string) error {
			err := cmp.Or(noEmptyFlag(c.Flags()), check(c, args))
			return a.newPrinter(c).finish(c, err)
		}
		if run := c.RunE; run != nil {
			c.RunE = func(c *cobra.Command, args []string) error {
				p := a.newPrinter(c)
				return p.finish(c, run(c, args))
			}
		}
		a.reportErrors(c)
	}
}

// platforms parses the values of --platform.
func platforms(values []string) ([]addr.Platform, error) {
	var parsed []addr.Platform
	for _, value := range values {
		p, err := addr.ParsePlatform(value)
		if err != nil {
			return nil, usageErrorf("--platform: %w", err)
		}
		parsed = append(parsed, p)
	}
	return parsed, nil
}

// newPrinter prepares the output of one command.
func (a *app) newPrinter(c *cobra.Command) *printer {
	a.printer = &printer{out: c.OutOrStdout(), errOut: c.ErrOrStderr(), quiet: a.quiet, json: a.json}
	if f, ok := a.printer.errOut.(*os.File); ok {
		a.printer.terminal = isTerminal(f)
	}
	return a.printer
}
