package cmd

import (
	"github.com/spf13/cobra"

	"github.com/pluginlock/plugins"
)

type envDocument struct {
	plugins.Paths
	Errors []problemDocument `json:"errors"`
}

func newEnvCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "env",
		Short: "Print the paths and settings that a run would use",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			o, err := a.options(c.Context())
			if err != nil {
				return err
			}
			env, err := plugins.Environment(o)
			if err != nil {
				return err
			}
			if a.json {
				a.printer.document(envDocument{env, problemDocuments(nil)})
				return nil
			}
			for _, v := range []struct{ name, value string }{
				{"version", env.Version}, {"platform", env.Platform}, {"directory", env.Dir}, {"lock file", env.LockFile},
				{"install directory", env.InstallDir}, {"cache directory", env.CacheDir}, {"settings file", env.SettingsFile},
			} {
				a.printer.line("%-17s  %s", v.name, orDash(v.value))
			}
			return nil
		},
	}
}
