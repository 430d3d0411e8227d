package cmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/pluginlock/plugins"
)

// errOutdated makes "outdated --exit-code" exit 3; the list has said it all.
var errOutdated = errors.New("some plugins are outdated")

func newOutdatedCommand(a *app) *cobra.Command {
	var exitCode bool
	c := &cobra.Command{
		Use:   "outdated [NAME...]",
		Short: "Compare the locked versions with what registries have",
		Long: `outdated lists for each required plugin, or the named ones, the locked version,
the newest that the constraint admits and the newest of all. It changes nothing
and exits 0 even where something is outdated, unless --exit-code is given. A
registry that cannot be asked is an error; the other plugins are listed still.`,
		RunE: func(c *cobra.Command, names []string) error { return a.outdated(c.Context(), names, exitCode) },
	}
	c.Flags().BoolVar(&exitCode, "exit-code", false, "exit 3 if something is outdated or a tag was moved")
	return c
}

func (a *app) outdated(ctx context.Context, names []string, exitCode bool) error {
	o, err := a.options(ctx)
	if err != nil {
		return err
	}
	o.Names = names
	found, err := plugins.FindOutdated(ctx, o)
	a.printer.outdated(found, err)
	if err != nil || !exitCode {
		return err
	}
	for i := range found {
		if found[i].IsOutdated() || found[i].Moved {
			return &silentError{errOutdated}
		}
	}
	return nil
}

type outdatedDocument struct {
	Plugins []outdatedPluginDocument `json:"plugins"`
	Errors  []problemDocument        `json:"errors"`
}

type outdatedPluginDocument struct {
	Name       string `json:"name"`
	Source     string `json:"source"`
	Constraint string `json:"constraint"`
	Current    string `json:"current,omitempty"`
	Allowed    string `json:"allowed,omitempty"`
	Newest     string `json:"newest,omitempty"`
	Outdated   bool   `json:"outdated"`
	Moved      bool   `json:"moved"`
	TagDigest  string `json:"tag_digest,omitempty"`
	Error      string `json:"error,omitempty"`
}

func (p *printer) outdated(found []plugins.Outdated, err error) {
	if p.json {
		d := outdatedDocument{Plugins: []outdatedPluginDocument{}, Errors: problemDocuments(err)}
		for i := range found {
			o := &found[i]
			one := outdatedPluginDocument{o.Name, o.Source, o.Constraint, o.Current, o.Allowed, o.Newest, o.IsOutdated(), o.Moved, o.TagNow, ""}
			if o.Err != nil {
				one.Error = o.Err.Error()
			}
			d.Plugins = append(d.Plugins, one)
		}
		p.document(d)
		return
	}
	table := newTable("NAME", "CURRENT", "ALLOWED", "NEWEST", "CONSTRAINT", "SOURCE", "NOTE")
	for i := range found {
		o := &found[i]
		table.row(o.Name, orDash(o.Current), orDash(o.Allowed), orDash(o.Newest), o.Constraint, o.Source, noteOf(o))
	}
	p.table(table)
}

func noteOf(o *plugins.Outdated) string {
	switch {
	case o.Err != nil:
		return "not known: the registry could not be asked"
	case o.Moved && o.TagNow == "":
		return "the tag of the locked version is gone"
	case o.Moved:
		return "the tag of the locked version was moved to " + shortDigest(o.TagNow)
	case o.IsOutdated():
		return "outdated"
	}
	return ""
}
