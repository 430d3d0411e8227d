package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pluginlock/plugins"
)

func newVerifyCommand(a *app) *cobra.Command {
	var repair bool
	c := &cobra.Command{
		Use:   "verify",
		Short: "Compare every installed file with the lock file",
		Long: `verify reads every file of every installed plugin and compares it, by way of the
digests that the lock file leads to, with what its publisher packed. It asks no
registry and trusts nothing that the store noted earlier. It exits 3 where
something differs.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			o, err := a.options(c.Context())
			if err != nil {
				return err
			}
			o.Repair = repair
			listed, err := plugins.Verify(c.Context(), o)
			a.printer.verified(listed, err)
			return err
		},
	}
	c.Flags().BoolVar(&repair, "repair", false, "discard what is damaged and install it again")
	return c
}

func (p *printer) verified(listed []plugins.Listed, err error) {
	if p.json {
		p.listed(listed, err)
		return
	}
	good, width := 0, 0
	for _, l := range listed {
		width = max(width, len(l.Name))
	}
	for _, l := range listed {
		if l.Err == nil {
			good++
			what := "verified"
			if l.Repaired {
				what = "repaired and verified"
			}
			p.line("%-*s  %s %s (%s)", width, l.Name, l.Version, what, l.Platform)
		}
	}
	if err == nil {
		p.line("%s", fmt.Sprintf("%d of %d plugins verified.", good, len(listed)))
	}
}
