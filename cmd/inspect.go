package cmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pluginlock/plugins"
	"github.com/pluginlock/plugins/internal/text"
)

func newInspectCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "inspect NAME|SOURCE[:TAG|@CONSTRAINT|@DIGEST]|LAYOUT[:TAG]",
		Short: "Show what a registry has for a plugin, and why each version is chosen or not",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if isSource(args[0]) {
				return a.inspectSource(c.Context(), args[0])
			}
			return a.explain(c.Context(), args[0])
		},
	}
}

// explain is inspect for the name of a required plugin.
func (a *app) explain(ctx context.Context, name string) error {
	o, err := a.options(ctx)
	if err != nil {
		return err
	}
	explanation, err := plugins.Explain(ctx, o, name)
	if err != nil {
		return err
	}
	a.printer.explanation(explanation)
	return nil
}

type explanationDocument struct {
	Name       string            `json:"name"`
	Source     string            `json:"source"`
	Constraint string            `json:"constraint"`
	Locked     string            `json:"locked,omitempty"`
	Platforms  []string          `json:"platforms"`
	Versions   []versionDocument `json:"versions"`
	Errors     []problemDocument `json:"errors"`
}

type versionDocument struct {
	Version string   `json:"version"`
	Tags    []string `json:"tags"`
	Chosen  bool     `json:"chosen"`
	Locked  bool     `json:"locked"`
	Reason  string   `json:"reason,omitempty"`
}

func (p *printer) explanation(e *plugins.Explanation) {
	if p.json {
		d := explanationDocument{Name: e.Name, Source: e.Source, Constraint: e.Constraint, Locked: e.Locked,
			Platforms: []string{}, Versions: []versionDocument{}, Errors: problemDocuments(nil)}
		for _, platform := range e.Platforms {
			d.Platforms = append(d.Platforms, platform.String())
		}
		for _, v := range e.Versions {
			d.Versions = append(d.Versions, versionDocument(v))
		}
		p.document(d)
		return
	}
	p.line("%s  %s", e.Name, e.Source)
	p.line("constraint  %s", e.Constraint)
	p.line("locked      %s", orDash(e.Locked))
	if len(e.Platforms) > 0 {
		p.line("platforms   %s", text.Join(e.Platforms))
	}
	p.line("")
	table := newTable("VERSION", "TAGS", "VERDICT")
	for _, v := range e.Versions {
		verdict := v.Reason
		if v.Chosen {
			verdict = "chosen"
		}
		if v.Locked {
			verdict += " (locked)"
		}
		table.row(v.Version, strings.Join(v.Tags, ", "), verdict)
	}
	p.table(table)
}
