package lock

import (
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/pluginlock/plugins/internal/nesting"
	"github.com/pluginlock/plugins/internal/text"
)

// maxNesting is how many brackets may be open within each other; a lock file
// needs three.
const maxNesting = 100

// Parse reads a lock file. The file name is only used in diagnostics.
//
// The order of entries and platforms, white space, comments, CRLF and a byte
// order mark are free, for git and editors change them. Everything else is held
// to the normal form, and what could mean two things is refused: all problems
// are reported at once, in the order of the file, each with the range of the
// text that is wrong. The file is nil exactly if there are errors. Ask
// IsConflict and IsNewerFormat about the two refusals that have a remedy of
// their own; for these there is one diagnostic and nothing else was looked at.
func Parse(src []byte, filename string) (*File, hcl.Diagnostics) {
	if f, ok := parseNormal(src, filename); ok {
		return f, nil
	}
	return parseAny(src, filename)
}

// parseAny is Parse for files that are not, or not known to be, in normal form.
func parseAny(src []byte, filename string) (*File, hcl.Diagnostics) {
	lines := splitLines(src)
	if hunks := findHunks(lines); len(hunks) > 0 {
		return nil, hcl.Diagnostics{conflictDiagnostic(lines, hunks, filename)}
	}
	r := &reader{src: src, filename: filename}
	if at := nesting.Find(src, filename, maxNesting); at != nil {
		r.refuse(*at, "Not a lock file", "This is nested deeper than anything in a lock file. %s", restoreFile)
		return nil, r.diags
	}
	parsed, diags := hclsyntax.ParseConfig(src, filename, hcl.InitialPos)
	body := parsed.Body.(*hclsyntax.Body) // what hclsyntax documents
	if d := r.newerFormat(body); d != nil {
		return nil, hcl.Diagnostics{d}
	}
	if d := halfConflict(lines, diags, filename); d != nil {
		return nil, hcl.Diagnostics{d}
	}
	for _, d := range diags {
		d.Detail += " " + restoreFile
	}
	if !complete(diags) {
		return nil, unite(diags)
	}
	f := r.file(body)
	if diags = unite(diags, r.diags); diags.HasErrors() {
		return nil, diags
	}
	return f, nil
}

// complete reports whether the body is whole in spite of diags, so that a
// second look at it finds problems and does not invent any.
func complete(diags hcl.Diagnostics) bool {
	for _, d := range diags {
		if d.Summary != "Attribute redefined" {
			return false
		}
	}
	return true
}

// reader collects what is wrong while it decodes.
type reader struct {
	src      []byte
	filename string
	diags    hcl.Diagnostics
}

func (r *reader) refuse(at hcl.Range, summary, format string, args ...any) {
	r.diags = append(r.diags, &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  summary,
		Detail:   detail(format, args...),
		Subject:  &at,
	})
}

// newerFormat looks for a lock_format above ours before anything else is
// judged: what a newer version writes may be wrong by our rules.
func (r *reader) newerFormat(body *hclsyntax.Body) *hcl.Diagnostic {
	attr, ok := body.Attributes["lock_format"]
	if !ok {
		return nil
	}
	number := r.source(attr.Expr)
	if n, err := strconv.Atoi(number); !isDigits(number) || err == nil && n <= Format {
		return nil
	}
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Lock file of a newer version",
		Detail: detail("This lock was written by a newer version (format %s, this tool knows %d), and may hold what this one would lose. "+
			"Nothing was changed. Install a newer version of plugins.", text.Clip(number), Format),
		Subject: attr.Expr.Range().Ptr(),
		Extra:   refusal{ErrNewerFormat},
	}
}

// file decodes the whole body.
func (r *reader) file(body *hclsyntax.Body) *File {
	r.onlyKnown(body, "a lock file", []string{"lock_format"}, []string{"plugin"})
	r.format(body)
	f := &File{}
	seen := map[string]hcl.Range{}
	for _, block := range body.Blocks {
		if block.Type != "plugin" {
			continue
		}
		e, named := r.entry(block)
		if !named {
			continue
		}
		if first, twice := seen[e.Name]; twice {
			r.refuse(block.LabelRanges[0], "Duplicate plugin",
				"The plugin %q already has an entry on line %d; which of the two is meant cannot be told. "+
					"Delete both and have the plugin resolved anew with:\n\n  plugins init", e.Name, first.Start.Line)
			continue
		}
		seen[e.Name] = block.LabelRanges[0]
		f.Set(e)
	}
	return f
}

// format checks that lock_format is there and is ours; newerFormat has seen to
// what is above.
func (r *reader) format(body *hclsyntax.Body) {
	attr, ok := body.Attributes["lock_format"]
	switch {
	case !ok:
		start := hcl.Range{Filename: r.filename, Start: hcl.InitialPos, End: hcl.InitialPos}
		r.refuse(start, "Missing lock_format",
			"Every lock file begins with `lock_format = %d`. %s", Format, restoreFile)
	case r.source(attr.Expr) != strconv.Itoa(Format):
		r.refuse(attr.Expr.Range(), "Invalid lock_format",
			"%s is not a format of lock files: this tool knows %d, written as that number. %s",
			text.Clip(r.source(attr.Expr)), Format, restoreFile)
	}
}

// onlyKnown refuses attributes and blocks of other names.
func (r *reader) onlyKnown(body *hclsyntax.Body, where string, attributes, blocks []string) {
	for name, attr := range body.Attributes {
		if !contains(attributes, name) {
			r.refuse(attr.NameRange, "Unknown attribute", "%s has no attribute %s%s %s", upperFirst(where), text.Quote(name), suggest(name, attributes), deleteIt)
		}
	}
	for _, block := range body.Blocks {
		if !contains(blocks, block.Type) {
			r.refuse(block.TypeRange, "Unknown block", "%s has no block %s%s %s", upperFirst(where), text.Quote(block.Type), suggest(block.Type, blocks), deleteIt)
		}
	}
}

// source is the text of an expression as it stands in the file.
func (r *reader) source(e hclsyntax.Expression) string {
	return string(e.Range().SliceBytes(r.src))
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
