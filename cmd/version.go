package cmd

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/pluginlock/plugins"
)

type programDocument struct {
	Version string            `json:"version"`
	Go      string            `json:"go"`
	Errors  []problemDocument `json:"errors"`
}

func newVersionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				a.printer.document(programDocument{plugins.Version(), runtime.Version(), problemDocuments(nil)})
				return nil
			}
			a.printer.result("plugins " + plugins.Version())
			return nil
		},
	}
}
