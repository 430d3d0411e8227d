package cmd

import (
	"maps"
	"slices"

	"github.com/pluginlock/plugins"
)

// resultDocument is what init prints with --json.
type resultDocument struct {
	Plugins     []pluginDocument  `json:"plugins"`
	LockChanged bool              `json:"lock_changed"`
	Changes     []changeDocument  `json:"changes"`
	Warnings    []problemDocument `json:"warnings"`
	Errors      []problemDocument `json:"errors"`
}

type pluginDocument struct {
	Name       string   `json:"name"`
	Action     string   `json:"action,omitempty"`
	Status     string   `json:"status,omitempty"`
	Version    string   `json:"version,omitempty"`
	Previous   string   `json:"previous,omitempty"`
	Source     string   `json:"source,omitempty"`
	Digest     string   `json:"digest,omitempty"`
	Platform   string   `json:"platform,omitempty"`
	Stored     []string `json:"stored,omitempty"` // platforms, where several were asked for
	Protocols  []int    `json:"protocols,omitempty"`
	Executable string   `json:"executable,omitempty"`
	Override   bool     `json:"override,omitempty"`
	Required   *bool    `json:"required,omitempty"`
	Repaired   bool     `json:"repaired,omitempty"`
	Error      string   `json:"error,omitempty"`
}

// changeDocument is one difference between the lock file and what it has to be.
type changeDocument struct {
	Name   string `json:"name"`
	From   string `json:"from,omitempty"`
	To     string `json:"to,omitempty"`
	Reason string `json:"reason"`
}

func newResultDocument(result *plugins.Result, err error) resultDocument {
	d := resultDocument{
		Plugins:     []pluginDocument{},
		LockChanged: result.LockChanged,
		Changes:     []changeDocument{},
		Warnings:    documentsOf(result.Warnings),
		Errors:      problemDocuments(err),
	}
	for _, name := range slices.Sorted(maps.Keys(result.Plugins)) {
		p := result.Plugins[name]
		one := newPluginDocument(p)
		one.Action = string(p.Action)
		d.Plugins = append(d.Plugins, one)
	}
	for _, c := range result.Changes {
		d.Changes = append(d.Changes, changeDocument{c.Name, c.From.String(), c.To.String(), c.Reason})
	}
	return d
}

func newPluginDocument(p plugins.Plugin) pluginDocument {
	d := pluginDocument{
		Name: p.Name, Version: p.Version, Previous: p.Previous, Source: p.Source, Digest: p.Digest.String(),
		Platform: p.Platform.String(), Protocols: p.Protocols, Executable: p.Executable, Override: p.Override,
	}
	for _, stored := range p.Stored {
		d.Stored = append(d.Stored, stored.String())
	}
	if p.Err != nil {
		d.Error = p.Err.Error()
	}
	return d
}
