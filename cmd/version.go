package cmd

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/pluginlock/plugins"
)

func newVersionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				a.printer.document(struct {
					Version string `json:"version"`
					Go      string `json:"go"`
				}{plugins.Version(), runtime.Version()})
				return nil
			}
			a.printer.result("plugins " + plugins.Version())
			return nil
		},
	}
}
