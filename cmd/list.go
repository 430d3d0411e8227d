package cmd

import (
	"github.com/spf13/cobra"

	"github.com/pluginlock/plugins"
)

func newListCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List what is required, locked and installed",
		Long: `list compares configuration, lock file and install directory without asking a
registry and without writing anything.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			o, err := a.options(c.Context())
			if err != nil {
				return err
			}
			listed, err := plugins.List(c.Context(), o)
			a.printer.listed(listed, err)
			return err
		},
	}
}

// listDocument is what list prints with --json.
type listDocument struct {
	Plugins []pluginDocument  `json:"plugins"`
	Errors  []problemDocument `json:"errors"`
}

func (p *printer) listed(listed []plugins.Listed, err error) {
	if p.json {
		d := listDocument{Plugins: []pluginDocument{}, Errors: problemDocuments(err)}
		for _, l := range listed {
			one := newPluginDocument(plugins.Plugin{Plugin: l.Plugin, Err: l.Err})
			one.Status, one.Required, one.Override = string(l.Status), &l.Required, l.Override != ""
			one.Repaired = l.Repaired
			d.Plugins = append(d.Plugins, one)
		}
		p.document(d)
		return
	}
	if err == nil && len(listed) == 0 {
		p.note("No plugins are required or installed.")
		return
	}
	table := newTable("NAME", "VERSION", "PLATFORM", "STATUS", "DIGEST", "SOURCE")
	for _, l := range listed {
		status := string(l.Status)
		if l.Override != "" {
			status = "overridden"
		}
		if !l.Required {
			status += ", not required"
		}
		table.row(l.Name, orDash(l.Version), orDash(l.Platform.String()), status, orDash(shortDigest(l.Digest.String())), l.Source)
	}
	p.table(table)
}
