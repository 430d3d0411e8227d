package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/text"
)

// entryAttributes are the attributes of one required plugin.
func entryAttributes() []string {
	return []string{"source", "version", "protocols", "executable", "platforms"}
}

// What the messages show where something is missing.
const (
	exampleSource  = "registry.example.com/plugins/"
	exampleVersion = "~> 1.2"
)

// entry reads one required plugin.
func (d *decoder) entry(attr *hcl.Attribute) entry {
	e := entry{Requirement: Requirement{Name: attr.Name, Range: attr.NameRange}}
	d.refuseWith(checkName(attr.Name), attr.NameRange)
	what := fmt.Sprintf("requirement of plugin %s", text.Quote(attr.Name))
	value, is := d.literal(attr.Expr, what)
	switch is {
	case "an object":
		d.object(&e, d.pairs(attr.Expr, what), isNative(attr.Expr))
	case "":
	default:
		written := ""
		if is == "a string" {
			written = value.AsString()
		}
		d.report("Value of the wrong type", attr.Expr.Range(), "The %s must be an object; this is %s. Write:\n\n%s",
			what, is, objectFor(attr.Name, written, isNative(attr.Expr)))
	}
	return e
}

// objectFor shows the object to write instead of a plain string, which may be
// the source or the constraint.
func objectFor(name, written string, native bool) string {
	source, version := exampleSource+strings.Trim(text.Clip(name), "/"), exampleVersion
	if _, err := addr.ParseSource(written); err == nil {
		source = written
	} else if _, err := addr.ParseConstraint(written); err == nil {
		version = written
	}
	if native {
		return fmt.Sprintf("  %s = {\n    source  = %q\n    version = %q\n  }", text.Clip(name), source, version)
	}
	return fmt.Sprintf("  %s: {\n    \"source\": %q,\n    \"version\": %q\n  }", text.Quote(name), source, version)
}

// object reads the attributes of one required plugin.
func (d *decoder) object(e *entry, pairs []pair, native bool) {
	given := map[string]bool{}
	for _, p := range pairs {
		given[p.key] = true
	}
	for _, p := range pairs {
		what := fmt.Sprintf("%s of plugin %s", text.Clip(p.key), text.Quote(e.Name))
		switch p.key {
		case "source":
			e.SourceRange = p.value.Range()
			e.Source = d.source(p.value, what)
		case "version":
			e.VersionRange = p.value.Range()
			e.Version = d.version(p.value, what)
		case "protocols":
			e.Protocols = d.protocols(p.value, what)
		case "platforms":
			e.Platforms = d.platforms(p.value, what)
		case "executable":
			e.executableRange = p.value.Range()
			e.Executable = d.executable(p.value, what)
		default:
			d.unknown(e.Name, p, given)
		}
	}
	d.missing(e, given, native)
	if missing := uncovered(e.Executable, e.Platforms); len(missing) > 0 {
		d.report("Executable missing for a platform", e.executableRange,
			"The executable of plugin %s has no path for %s, which its platforms name. Add one.", text.Quote(e.Name), names(missing))
	}
}

// unknown reports an attribute that does not exist. The one that was probably
// meant counts as given, so that it is not reported as missing too.
func (d *decoder) unknown(plugin string, p pair, given map[string]bool) {
	free := slices.DeleteFunc(entryAttributes(), func(name string) bool { return given[name] })
	meant := text.Nearest(p.key, free)
	given[meant] = true
	hint := didYouMean(meant)
	if hint == "" {
		hint = fmt.Sprintf(" The attributes of a plugin are %s.", list(entryAttributes()))
	}
	d.report("Unknown attribute", p.keyRange, "Plugin %s has an attribute %s, which does not exist.%s",
		text.Quote(plugin), text.Quote(p.key), hint)
}

// missing reports the attributes that a plugin must have.
func (d *decoder) missing(e *entry, given map[string]bool, native bool) {
	for _, required := range []struct{ name, why, example string }{
		{"source", "does not say where it comes from", exampleSource + text.Clip(e.Name)},
		{"version", "does not say which versions are accepted", exampleVersion},
	} {
		if given[required.name] {
			continue
		}
		line := fmt.Sprintf("%s = %q", required.name, required.example)
		if !native {
			line = fmt.Sprintf("%q: %q", required.name, required.example)
		}
		d.report("Attribute missing", e.Range, "Plugin %s %s. Add a line such as:\n\n  %s", text.Quote(e.Name), required.why, line)
	}
}

// source reads a source, with the host program's prefix where there is one.
func (d *decoder) source(expr hcl.Expression, what string) string {
	written, ok := d.text(expr, what, exampleSource+"aws")
	if !ok {
		return ""
	}
	if d.prefix != "" && !namesHost(written) {
		written = strings.TrimSuffix(d.prefix, "/") + "/" + written
	}
	_, err := checkSource(written)
	d.refuseWith(err, expr.Range())
	return written
}

// namesHost reports whether a source begins with what is meant as a host: as
// elsewhere with images, a dot, a port or "localhost" tells.
func namesHost(source string) bool {
	first, _, _ := strings.Cut(source, "/")
	return strings.ContainsAny(first, ".:") || first == "localhost"
}

// version reads a version constraint.
func (d *decoder) version(expr hcl.Expression, what string) string {
	written, ok := d.text(expr, what, exampleVersion)
	if !ok {
		return ""
	}
	_, err := checkVersion(written)
	d.refuseWith(err, expr.Range())
	return written
}

// executable reads a path, or a map from platforms to paths.
func (d *decoder) executable(expr hcl.Expression, what string) addr.Executable {
	value, is := d.literal(expr, what)
	switch is {
	case "a string":
		return addr.Executable{Path: d.path(expr.Range(), value.AsString())}
	case "an object":
		return addr.Executable{ByPlatform: d.pathMap(expr, what)}
	case "":
	default:
		d.wrong(expr.Range(), what, "a path in the image, or an object with a path for each platform", is)
	}
	return addr.Executable{}
}

func (d *decoder) path(rng hcl.Range, path string) string {
	if wrong := pathProblem(path); wrong != "" {
		d.report("Invalid executable path", rng, "%s", wrong)
	}
	return path
}

func (d *decoder) pathMap(expr hcl.Expression, what string) map[addr.Platform]string {
	pairs := d.pairs(expr, what)
	if items, _ := hcl.ExprMap(expr); len(items) == 0 {
		d.wrong(expr.Range(), what, "a path, or an object with a path for each platform", "an empty object")
	}
	first := map[addr.Platform]hcl.Range{}
	paths := map[addr.Platform]string{}
	for _, p := range pairs {
		platform, ok := d.uniquePlatform(p.key, p.keyRange, first)
		path, isText := d.text(p.value, fmt.Sprintf("path for %s in the %s", text.Clip(p.key), what), "/plugins/aws")
		if ok && isText {
			paths[platform] = d.path(p.value.Range(), path)
		}
	}
	return paths
}
