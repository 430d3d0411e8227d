package publish

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"os"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/pluginlock/plugins/internal/nesting"
	"github.com/pluginlock/plugins/internal/text"
)

// MetadataFile is the name under which a directory holds its metadata.
const MetadataFile = "package.hcl"

// maxMetadataFile is the size in bytes from which a metadata file is refused.
const maxMetadataFile = 1 << 20

// LoadMetadata reads a file such as package.hcl. The diagnostics hold all
// problems, each with the range of what is wrong. found is false, without a
// diagnostic, where there is no such file.
func LoadMetadata(path string) (m Metadata, found bool, diags hcl.Diagnostics) {
	src, err := readMetadataFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Metadata{}, false, nil
	case err != nil:
		return Metadata{}, true, hcl.Diagnostics{diagnose("Unreadable file", fileRange(path), "%v.", err)}
	}
	m, diags = ParseMetadata(src, path)
	return m, true, diags
}

func readMetadataFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading: closing loses nothing
	src, err := io.ReadAll(io.LimitReader(f, maxMetadataFile+1))
	if err == nil && len(src) > maxMetadataFile {
		err = fmt.Errorf("%s: more than %d bytes are no metadata", path, maxMetadataFile)
	}
	return src, err
}

// ParseMetadata reads the text of a metadata file; filename is for messages.
func ParseMetadata(src []byte, filename string) (Metadata, hcl.Diagnostics) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	if at := nesting.Find(src, filename, maxNesting); at != nil {
		return Metadata{}, hcl.Diagnostics{diagnose("File nested too deeply", *at,
			"%s opens more than %d brackets within each other, or has thousands of operators. Write values directly.", filename, maxNesting)}
	}
	file, diags := hclsyntax.ParseConfig(src, filename, hcl.InitialPos)
	if diags.HasErrors() {
		return Metadata{}, diags
	}
	r := metadataReader{diags: diags}
	r.read(file.Body.(*hclsyntax.Body))
	if len(r.diags) > 0 {
		slices.SortStableFunc(r.diags, func(a, b *hcl.Diagnostic) int { return a.Subject.Start.Byte - b.Subject.Start.Byte })
		return Metadata{}, r.diags
	}
	return r.m, nil
}

// maxNesting is how many brackets may be open within each other; metadata needs
// two.
const maxNesting = 100

// metadataReader reads one file.
type metadataReader struct {
	m     Metadata
	diags hcl.Diagnostics
}

// texts are the attributes that are strings.
func (r *metadataReader) texts() map[string]*string {
	return map[string]*string{
		attrName: &r.m.Name, attrVersion: &r.m.Version, attrDescription: &r.m.Description, attrLicenses: &r.m.Licenses,
		attrSource: &r.m.Source, attrVendor: &r.m.Vendor, attrRevision: &r.m.Revision,
		attrPublishTo: &r.m.PublishTo, attrExecutable: &r.m.Executable,
	}
}

func attributeNames() []string {
	return []string{attrName, attrVersion, attrDescription, attrLicenses, attrSource, attrVendor, attrRevision,
		attrPublishTo, attrProtocols, attrExecutable, attrInclude, attrExclude}
}

func (r *metadataReader) read(body *hclsyntax.Body) {
	for _, b := range body.Blocks {
		r.report("Unexpected block", b.TypeRange, "A metadata file has attributes only, such as name = \"aws\".%s", didYouMean(b.Type))
	}
	ranges := map[string]hcl.Range{}
	for name, attr := range body.Attributes {
		ranges[name] = attr.Expr.Range()
		text, isText := r.texts()[name]
		switch {
		case isText:
			*text = r.text(attr.Expr, name)
		case name == attrProtocols:
			r.m.Protocols = r.numbers(attr.Expr, name)
		case name == attrInclude:
			r.m.Include = r.list(attr.Expr, name)
		case name == attrExclude:
			r.m.Exclude = r.list(attr.Expr, name)
		default:
			r.report("Unknown attribute", attr.NameRange, "A metadata file has no attribute %q.%s", name, didYouMean(name))
		}
	}
	for _, wrong := range r.m.check() {
		r.report("Invalid value", ranges[wrong.Attribute], "The %s is refused: %s.", wrong.Attribute, strings.TrimSuffix(wrong.Reason, "."))
	}
}

// didYouMean suggests the attribute that a word is most likely a slip for.
func didYouMean(word string) string {
	word = strings.ToLower(strings.ReplaceAll(word, "-", "_"))
	switch word {
	case "license", "licence", "licences":
		return suggestion(attrLicenses)
	case "title":
		return suggestion(attrName)
	}
	best := text.Nearest(word, attributeNames())
	if best == "" {
		return " It has " + strings.Join(attributeNames(), ", ") + "."
	}
	return suggestion(best)
}

func suggestion(name string) string { return fmt.Sprintf(" Did you mean %q?", name) }

func (r *metadataReader) text(expr hclsyntax.Expression, name string) string {
	value := r.literal(expr)
	switch {
	case value == cty.NilVal:
	case value.IsNull() || value.Type() != cty.String || value.AsString() == "":
		r.report("Value of the wrong type", expr.Range(), "The %s must be a non-empty string. Leave the attribute out where there is nothing to say.", name)
	default:
		return value.AsString()
	}
	return ""
}

func (r *metadataReader) elements(expr hclsyntax.Expression, name, of string) []hclsyntax.Expression {
	tuple, ok := expr.(*hclsyntax.TupleConsExpr)
	if !ok || len(tuple.Exprs) == 0 {
		r.report("Value of the wrong type", expr.Range(), "The attribute %s must be a list of %s.", name, of)
		return nil
	}
	return tuple.Exprs
}

func (r *metadataReader) list(expr hclsyntax.Expression, name string) []string {
	var values []string
	for _, element := range r.elements(expr, name, "strings, such as [\"*.md\"]") {
		if s := r.text(element, "pattern in "+name); s != "" {
			values = append(values, s)
		}
	}
	return values
}

func (r *metadataReader) numbers(expr hclsyntax.Expression, name string) []int {
	var values []int
	for _, element := range r.elements(expr, name, "numbers, such as [5, 6]") {
		value := r.literal(element)
		if value == cty.NilVal {
			continue
		}
		n, ok := whole(value)
		if !ok {
			r.report("Value of the wrong type", element.Range(), "A protocol must be a whole number from 1 to %d.", 1<<31-1)
			continue
		}
		if slices.Contains(values, n) {
			r.report("Protocol written twice", element.Range(), "The protocol %d is in the list already.", n)
		}
		values = append(values, n)
	}
	slices.Sort(values)
	return values
}

func whole(value cty.Value) (int, bool) {
	if value.IsNull() || value.Type() != cty.Number {
		return 0, false
	}
	n, accuracy := value.AsBigFloat().Int64()
	return int(n), accuracy == big.Exact && 1 <= n && n <= 1<<31-1
}

// literal evaluates what needs no evaluation; everything else is reported, and
// the result is cty.NilVal.
func (r *metadataReader) literal(expr hclsyntax.Expression) cty.Value {
	value, diags := expr.Value(nil)
	if diags.HasErrors() || !value.IsWhollyKnown() {
		r.report("Value is not a literal", expr.Range(), "Variables, functions and templates are not evaluated here. Write the value itself, and text in quotes.")
		return cty.NilVal
	}
	return value
}

func (r *metadataReader) report(summary string, rng hcl.Range, format string, args ...any) {
	r.diags = append(r.diags, diagnose(summary, rng, format, args...))
}

func diagnose(summary string, rng hcl.Range, format string, args ...any) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(format, args...), Subject: &rng}
}

// fileRange points at a file as a whole: a diagnostic without a range prints
// as "<nil>".
func fileRange(name string) hcl.Range {
	return hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos}
}
