package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pluginlock/plugins"
)

func newUpdateCommand(a *app) *cobra.Command {
	var dryRun, lockOnly, accept bool
	c := &cobra.Command{
		Use:   "update [NAME...]",
		Short: "Select the newest versions that the configuration admits",
		Long: `update selects the named plugins anew, or all, whatever the lock file says of
them, and installs what it selected. It never goes back to an older version
unless the constraint demands it, and never takes another image of the same
version unless --accept-republished and the name say so. Link mode and platform
stay those of what is installed.`,
		RunE: func(c *cobra.Command, names []string) error {
			if accept && len(names) == 0 {
				return usageErrorf("--accept-republished needs the names of the plugins that it is for")
			}
			return a.change(c.Context(), func(o *plugins.Options) {
				o.Mode, o.Names = plugins.Update, names
				o.DryRun, o.LockOnly, o.AcceptRepublished = dryRun, lockOnly, accept
			})
		},
	}
	flags := c.Flags()
	flags.BoolVar(&dryRun, "dry-run", false, "say what would change and change nothing")
	flags.BoolVar(&lockOnly, "lock-only", false, "write the lock file and install nothing")
	flags.BoolVar(&accept, "accept-republished", false, "take the new image of a version that was published again")
	return c
}

func newLockCommand(a *app) *cobra.Command {
	var check, resolve bool
	c := &cobra.Command{
		Use:   "lock",
		Short: "Write the lock file and install nothing",
		Long: `lock does what init does up to the lock file: it resolves what the lock file
does not settle, and writes it where that changed it.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if check {
				return a.checkLock(c.Context())
			}
			return a.change(c.Context(), func(o *plugins.Options) { o.LockOnly, o.ResolveConflicts = true, resolve })
		},
	}
	flags := c.Flags()
	flags.BoolVar(&check, "check", false, "change nothing and exit 3 if the lock file is not up to date")
	flags.BoolVar(&resolve, "resolve-conflicts", false, "of a lock file with git's conflict markers keep what both sides agree on and resolve the rest")
	exclusive(c, "check", "resolve-conflicts")
	return c
}

// change runs Init with options that set changes, showing its progress.
func (a *app) change(ctx context.Context, set func(*plugins.Options)) error {
	o, err := a.options(ctx)
	if err != nil {
		return err
	}
	set(&o)
	progress := newProgress(a.printer)
	o.OnEvent = progress.event
	result, err := plugins.Init(ctx, o)
	progress.close()
	a.printer.changed(result, o, err)
	return err
}

func (a *app) checkLock(ctx context.Context) error {
	o, err := a.options(ctx)
	if err != nil {
		return err
	}
	result, err := plugins.Check(ctx, o)
	a.printer.warnings(result)
	switch {
	case a.json:
		a.printer.document(newResultDocument(result, err))
	case err == nil:
		a.printer.line("The lock file is up to date.")
	}
	return err
}
