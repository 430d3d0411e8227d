package cmd

import (
	"github.com/spf13/cobra"

	"github.com/pluginlock/plugins"
)

type whichDocument struct {
	pluginDocument
	Errors []problemDocument `json:"errors"`
}

func newWhichCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "which NAME",
		Short: "Print the path of an installed plugin's program",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			o, err := a.options(c.Context())
			if err != nil {
				return err
			}
			plugin, err := plugins.Which(c.Context(), o, args[0])
			if err != nil {
				return err
			}
			if a.json {
				a.printer.document(whichDocument{newPluginDocument(plugins.Plugin{Plugin: plugin}), problemDocuments(nil)})
				return nil
			}
			a.printer.result(plugin.Executable)
			return nil
		},
	}
}
