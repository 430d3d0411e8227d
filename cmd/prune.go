package cmd

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/pluginlock/plugins"
)

func newPruneCommand(a *app) *cobra.Command {
	var olderThan time.Duration
	var dryRun bool
	c := &cobra.Command{
		Use:   "prune [LOCKFILE...]",
		Short: "Remove from the store what no lock file needs",
		Long: `prune removes what neither the given lock files nor those of the projects that
were installed from this store need. It needs no configuration. A lock file that
cannot be read stops it before anything is removed.`,
		RunE: func(c *cobra.Command, lockFiles []string) error {
			if olderThan < 0 {
				return usageErrorf("--older-than: %s is negative", olderThan)
			}
			return a.prune(c.Context(), plugins.PruneOptions{LockFiles: lockFiles, OlderThan: olderThan, DryRun: dryRun})
		},
	}
	c.Flags().DurationVar(&olderThan, "older-than", 0, "keep what is younger than this `duration`, such as 720h")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "say what would be removed and remove nothing")
	return c
}

type pruneDocument struct {
	Removed []prunedDocument  `json:"removed"`
	Bytes   int64             `json:"bytes"`
	DryRun  bool              `json:"dry_run"`
	Errors  []problemDocument `json:"errors"`
}

type prunedDocument struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
}

func (a *app) prune(ctx context.Context, p plugins.PruneOptions) error {
	o, err := a.options(ctx)
	if err != nil {
		return err
	}
	progress := newProgress(a.printer)
	p.CacheDir, p.OnEvent = o.CacheDir, progress.event
	removed, err := plugins.Prune(ctx, p)
	progress.close()
	d := pruneDocument{Removed: []prunedDocument{}, DryRun: p.DryRun, Errors: problemDocuments(err)}
	for _, r := range removed {
		d.Removed = append(d.Removed, prunedDocument{r.Path, r.Size})
		d.Bytes += r.Size
		a.printer.line("%s  %s", r.Path, size(r.Size))
	}
	verb := "removed"
	if p.DryRun {
		verb = "would be removed (dry run)"
	}
	if a.json {
		a.printer.document(d)
	} else if err == nil {
		a.printer.line("%d of the store's entries %s, %s.", len(removed), verb, size(d.Bytes))
	}
	return err
}
