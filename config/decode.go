package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/text"
)

// The block types of a project's files.
const (
	pluginsType  = "plugins"
	requiredType = "required_plugins"
)

func ownSchema() *hcl.BodySchema {
	return &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: pluginsType}, {Type: requiredType}}}
}

func hostSchema() *hcl.BodySchema {
	return &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: requiredType}}}
}

// Decode takes the required_plugins blocks, any number of them, out of a host
// program's body, in HCL or in JSON. It returns the requirements by name, the
// rest of the body, which is the host's to decode, and all problems in the
// order of their position. A name required twice is one requirement if all its
// attributes are the same, and an error otherwise.
func Decode(body hcl.Body) ([]Requirement, hcl.Body, hcl.Diagnostics) {
	return Decoder{}.Decode(body)
}

// Decoder is [Decode] with settings of the host's.
type Decoder struct {
	// DefaultPrefix is as in [Options].
	DefaultPrefix string
}

// Decode is as the function [Decode].
func (o Decoder) Decode(body hcl.Body) ([]Requirement, hcl.Body, hcl.Diagnostics) {
	d := decoder{prefix: o.DefaultPrefix}
	entries, rest := d.partial(body)
	merged, diags := merge(entries)
	var requirements []Requirement
	for _, e := range merged {
		requirements = append(requirements, e.Requirement)
	}
	slices.SortFunc(requirements, func(a, b Requirement) int { return strings.Compare(a.Name, b.Name) })
	return requirements, rest, tidy(append(d.diags, diags...))
}

// decoder collects problems while it reads bodies.
type decoder struct {
	prefix string
	diags  hcl.Diagnostics
}

func (d *decoder) report(summary string, rng hcl.Range, format string, args ...any) {
	d.diags = append(d.diags, problem(summary, rng, format, args...))
}

// refuseWith reports an attribute's error at rng, with the typed cause as Extra.
func (d *decoder) refuseWith(err *RequirementError, rng hcl.Range) {
	if err == nil {
		return
	}
	diag := problem(err.Summary, rng, "%s", err.Detail)
	if err.Err != nil {
		diag.Extra = err.Err
	}
	d.diags = append(d.diags, diag)
}

// entry is a requirement and where the rest of it stands.
type entry struct {
	Requirement
	executableRange hcl.Range
}

// partial reads the required_plugins blocks of a body that is not all ours.
func (d *decoder) partial(body hcl.Body) ([]entry, hcl.Body) {
	content, rest, diags := body.PartialContent(hostSchema())
	d.diags = append(d.diags, diags...)
	// An equals sign too many would otherwise hide all requirements.
	if native, ok := body.(*hclsyntax.Body); ok {
		if attr := native.Attributes[requiredType]; attr != nil {
			d.report("Block written as an attribute", attr.NameRange,
				"%s is a block. Write it without the equals sign:\n\n  %s {", requiredType, requiredType)
		}
	}
	return d.requirements(content.Blocks), rest
}

// requirements reads the entries of required_plugins blocks in their order.
func (d *decoder) requirements(blocks hcl.Blocks) []entry {
	var entries []entry
	for _, block := range blocks {
		for _, attr := range d.attributes(block.Body) {
			entries = append(entries, d.entry(attr))
		}
	}
	return entries
}

// attributes returns the attributes of a body without blocks, in their order.
func (d *decoder) attributes(body hcl.Body) []*hcl.Attribute {
	attrs, diags := body.JustAttributes()
	if native, ok := body.(*hclsyntax.Body); ok {
		// HCL names only the first of the blocks, and not what to do.
		diags = nil
		for _, block := range native.Blocks {
			d.report("Attribute written as a block", block.TypeRange,
				"The plugin %q is written as a block, and must be an attribute with an object. Put an equals sign before the brace:\n\n  %s = {",
				block.Type, block.Type)
		}
	}
	d.diags = append(d.diags, diags...)
	var sorted []*hcl.Attribute
	for _, attr := range attrs {
		sorted = append(sorted, attr)
	}
	slices.SortFunc(sorted, func(a, b *hcl.Attribute) int { return compareRanges(a.NameRange, b.NameRange) })
	return sorted
}

// merge makes one entry of those with equal name and content, and an error of
// those with equal name and other content.
func merge(entries []entry) ([]entry, hcl.Diagnostics) {
	var merged []entry
	var diags hcl.Diagnostics
	index := map[string]int{}
	for _, e := range entries {
		at, again := index[e.Name]
		if !again {
			index[e.Name] = len(merged)
			merged = append(merged, e)
			continue
		}
		first := merged[at]
		if differs := differences(first.Requirement, e.Requirement); len(differs) > 0 {
			diags = append(diags, problem("Plugin required twice", e.Range,
				"Plugin %s is required at %s already, with other values of %s. Delete one of the two, or give one another name.",
				text.Quote(e.Name), first.Range, list(differs)))
		}
	}
	return merged, diags
}

// differences names the attributes in which two requirements differ.
func differences(a, b Requirement) []string {
	var differs []string
	for _, field := range []struct {
		name string
		same bool
	}{
		{"source", a.Source == b.Source},
		{"version", a.Version == b.Version},
		{"protocols", slices.Equal(a.Protocols, b.Protocols)},
		{"executable", a.Executable.Equal(b.Executable)},
		{"platforms", slices.Equal(a.Platforms, b.Platforms)},
	} {
		if !field.same {
			differs = append(differs, field.name)
		}
	}
	return differs
}

// pluginsBlock is what a plugins block says, but for required_version.
type pluginsBlock struct {
	rng       hcl.Range
	platforms []addr.Platform
}

func pluginsSchema() *hcl.BodySchema {
	return &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "required_version"}, {Name: "platforms"}}}
}

// pluginsBlock reads a plugins block. A required_version that holds has been
// judged before; here one is reported that can't be read.
func (d *decoder) pluginsBlock(block *hcl.Block) *pluginsBlock {
	content, diags := block.Body.Content(pluginsSchema())
	d.diags = append(d.diags, diags...)
	p := &pluginsBlock{rng: block.TypeRange}
	if attr := content.Attributes["required_version"]; attr != nil {
		if version, ok := d.text(attr.Expr, "required_version", ">= 0.1.0"); ok {
			_, err := checkVersion(version)
			d.refuseWith(err, attr.Expr.Range())
		}
	}
	if attr := content.Attributes["platforms"]; attr != nil {
		p.platforms = d.platforms(attr.Expr, "platforms of the plugins block")
	}
	return p
}

// platforms reads a list of platforms, in order.
func (d *decoder) platforms(expr hcl.Expression, what string) []addr.Platform {
	elements, _ := d.elements(expr, what, `["linux/amd64", "darwin/arm64"]`)
	first := map[addr.Platform]hcl.Range{}
	var platforms []addr.Platform
	for _, element := range elements {
		if p, ok := d.platform(element, what, first); ok {
			platforms = append(platforms, p)
		}
	}
	slices.SortFunc(platforms, addr.Platform.Compare)
	return platforms
}

// platform reads one element of a list of platforms. It notes where each stands
// in first.
func (d *decoder) platform(expr hcl.Expression, what string, first map[addr.Platform]hcl.Range) (addr.Platform, bool) {
	written, ok := d.text(expr, "platform in the "+what, "linux/amd64")
	if !ok {
		return addr.Platform{}, false
	}
	return d.uniquePlatform(written, expr.Range(), first)
}

// uniquePlatform parses a platform that must not have been written before.
func (d *decoder) uniquePlatform(written string, rng hcl.Range, first map[addr.Platform]hcl.Range) (addr.Platform, bool) {
	p, err := addr.ParsePlatform(written)
	if err != nil {
		d.refuseWith(&RequirementError{Summary: "Invalid platform", Detail: text.Sentence(err), Err: err}, rng)
		return p, false
	}
	if before, again := first[p]; again {
		d.report("Platform listed twice", rng, "The platform %s is listed at %s already. Delete one of the two.%s", p, before, normalNote(written, p))
		return p, false
	}
	first[p] = rng
	return p, true
}

// normalNote explains how two spellings came to be one platform.
func normalNote(written string, p addr.Platform) string {
	if written == p.String() {
		return ""
	}
	return fmt.Sprintf(" (%s is another way to write %s.)", written, p)
}

// protocols reads a list of protocol versions, ascending.
func (d *decoder) protocols(expr hcl.Expression, what string) []int {
	elements, _ := d.elements(expr, what, "[5, 6]")
	first := map[int64]hcl.Range{}
	var protocols []int
	for _, element := range elements {
		number, ok := d.integer(element, "protocol version in the "+what, 1, maxProtocol)
		if !ok {
			continue
		}
		if before, again := first[number]; again {
			d.report("Protocol version listed twice", element.Range(), "The protocol version %d is listed at %s already. Delete one of the two.", number, before)
			continue
		}
		first[number] = element.Range()
		protocols = append(protocols, int(number))
	}
	slices.SortFunc(protocols, cmp.Compare[int])
	return protocols
}
