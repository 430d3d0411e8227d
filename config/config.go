// Package config reads what users write: which plugins a project needs, from
// where and in which versions, and the settings of a machine.
//
// [Load] reads a project's files, plugins.hcl and its kin or a host program's
// own files, and reports all problems of all files at once, each at the text
// that causes it. [Decode] takes required_plugins blocks out of a body that a
// host program has parsed itself. [LoadSettings] reads mirrors and other
// settings of the machine. Host programs whose configuration is not HCL fill
// a [Requirement] and call its Check method.
//
// The package only reads. It resolves nothing, knows neither lock file nor
// registry, and evaluates no expression: every value is a literal.
package config

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/text"
)

// Options say what [Load] reads.
type Options struct {
	// Dir is the project directory. Where it is empty it is the directory of
	// Files, which must then share one, or the working directory.
	Dir string
	// Files are a host program's own files, read in place of the files of Dir.
	// Relative names start at the working directory, not at Dir. In them only
	// required_plugins blocks are read, and everything else is left alone.
	Files []string
	// ToolVersion is the version of the running tool that required_version is
	// compared with, with or without a leading v. Where it is empty, "(devel)"
	// or otherwise no release, required_version is not compared, and
	// [ToolRequirement] says why.
	ToolVersion string
	// DefaultPrefix, such as "registry.example.com/plugins", is put in front of
	// a source that names no registry host. Empty: such a source is an error.
	DefaultPrefix string
}

// Config is what the files of a project say.
type Config struct {
	// Dir is the project directory: Options.Dir, or what it defaults to.
	Dir string
	// Paths are the files that were read, in that order.
	Paths []string
	// Requirements are the required plugins, by name.
	Requirements []Requirement
	// Platforms are those that plugins are locked for unless their requirement
	// lists its own, in order; nil where the project does not say.
	Platforms []addr.Platform
	// RequiredVersion is the version of the tool that the project asks for.
	RequiredVersion ToolRequirement
	// Files holds the text of each file by the name that diagnostics use, for
	// excerpts: credentials in it are masked, so it is not fit for editing.
	Files map[string]*hcl.File
	// Digest is of the names and the text of all files; "" where one could not
	// be read.
	Digest addr.Digest
}

// Load reads the configuration of one project. The diagnostics hold all
// problems of all files in the order of their position, each with a Subject.
// Config is never nil: after an error it holds what could be read, and Files
// for excerpts. Where no file is there at all, the diagnostic's Extra is a
// [*NoFilesError]; where one can't be read, a [*FileError].
func Load(o Options) (*Config, hcl.Diagnostics) {
	l := &loader{options: o, config: &Config{Files: map[string]*hcl.File{}}, sum: newSum()}
	l.load()
	return l.config, tidy(l.diags)
}

// loader is the state of one Load.
type loader struct {
	options Options
	config  *Config
	sum     *sum // of what was read
	sources []source
	plugins []*pluginsBlock // of all files; more than one is an error
	entries []entry
	diags   hcl.Diagnostics
}

func (l *loader) load() {
	paths, diags := l.find()
	l.config.Paths = paths
	if diags.HasErrors() {
		l.diags = diags
		return
	}
	for _, path := range paths {
		l.sources = append(l.sources, l.open(path))
	}
	l.config.Digest = l.sum.digest()
	l.judge()
}

// judge decides what the files mean.
func (l *loader) judge() {
	// A project for a newer tool may hold syntax that this one can't judge, so
	// the one thing said about it is that it needs a newer tool.
	if diags := l.checkToolVersion(); diags.HasErrors() {
		l.diags = diags
		return
	}
	for _, s := range l.sources {
		l.diags = append(l.diags, s.diags...)
		if s.body != nil {
			l.decodeFile(s)
		}
	}
	l.mergePlugins()
	l.mergeEntries()
}

// decodeFile reads the blocks of one parsed file.
func (l *loader) decodeFile(s source) {
	d := decoder{prefix: l.options.DefaultPrefix}
	if s.own {
		content, diags := s.body.Content(ownSchema())
		d.diags = append(d.diags, diags...)
		for _, block := range content.Blocks.OfType(pluginsType) {
			l.plugins = append(l.plugins, d.pluginsBlock(block))
		}
		l.entries = append(l.entries, d.requirements(content.Blocks.OfType(requiredType))...)
	} else {
		entries, _ := d.partial(s.body)
		l.entries = append(l.entries, entries...)
	}
	l.diags = append(l.diags, d.diags...)
}

// mergePlugins takes over the plugins block, of which a project has one.
func (l *loader) mergePlugins() {
	for i, block := range l.plugins {
		if i > 0 {
			l.diags = append(l.diags, problem("Plugins block written twice", block.rng,
				"A project has at most one plugins block, and there is one at %s already. Merge the two, or delete this one.",
				l.plugins[0].rng))
			continue
		}
		l.config.Platforms = block.platforms
	}
}

// mergeEntries makes one requirement of each name.
func (l *loader) mergeEntries() {
	merged, diags := merge(l.entries)
	l.diags = append(l.diags, diags...)
	for _, e := range merged {
		if missing := uncovered(e.Executable, l.config.Platforms); len(e.Platforms) == 0 && len(missing) > 0 {
			l.diags = append(l.diags, problem("Executable missing for a platform", e.executableRange,
				"The executable of plugin %s has no path for %s, which the platforms of the plugins block ask for. "+
					"Add a path, or give the plugin platforms of its own.", text.Quote(e.Name), names(missing)))
		}
		l.config.Requirements = append(l.config.Requirements, e.Requirement)
	}
	slices.SortFunc(l.config.Requirements, func(a, b Requirement) int { return strings.Compare(a.Name, b.Name) })
}

// isJSON reports whether the file called name is in HCL's JSON syntax.
func isJSON(name string) bool { return strings.EqualFold(filepath.Ext(name), ".json") }
