package lock

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/pluginlock/plugins/addr"
)

// header is the first line of every lock file that this package writes.
const header = "# Maintained by the plugins installer. Commit this file; do not edit it by hand.\n"

// Bytes returns the one normal form of f: sorted, LF, two spaces of indent,
// equal signs aligned as `terraform fmt` aligns them, and nothing that depends
// on the time or the machine. It does not check what it writes; Save does.
func (f *File) Bytes() []byte {
	var b bytes.Buffer
	b.WriteString(header)
	fmt.Fprintf(&b, "\nlock_format = %d\n", Format)
	for _, e := range f.sorted().Entries {
		b.WriteString("\nplugin " + quote(e.Name) + " {\n")
		writeAttributes(&b, "  ", e.attributes())
		writeExecutables(&b, e.Executable)
		for _, p := range e.Platforms {
			b.WriteString("\n  platform " + quote(p.Platform.String()) + " {\n")
			writeAttributes(&b, "    ", []attribute{
				{"manifest", quote(p.Manifest.String())},
				{"executable_digest", quote(p.ExecutableDigest.String())},
			})
			b.WriteString("  }\n")
		}
		b.WriteString("}\n")
	}
	return b.Bytes()
}

// attribute is a left and a right side, both as they are written.
type attribute struct{ name, value string }

// attributes lists what is written on one line each.
func (e Entry) attributes() []attribute {
	all := []attribute{
		{"source", quote(e.Source.String())},
		{"version", quote(e.Version.String())},
	}
	if e.Tag != "" {
		all = append(all, attribute{"tag", quote(e.Tag)})
	}
	all = append(all, attribute{"digest", quote(e.Digest.String())})
	if len(e.Protocols) > 0 {
		numbers := make([]string, len(e.Protocols))
		for i, n := range e.Protocols {
			numbers[i] = strconv.Itoa(n)
		}
		all = append(all, attribute{"protocols", "[" + strings.Join(numbers, ", ") + "]"})
	}
	if e.Executable.Path != "" {
		all = append(all, attribute{"executable", quote(e.Executable.Path)})
	}
	return all
}

// writeExecutables writes the form of executable that takes several lines. An
// empty line keeps it out of the alignment of the lines before it.
func writeExecutables(b *bytes.Buffer, x addr.Executable) {
	if x.Path != "" || len(x.ByPlatform) == 0 {
		return
	}
	var paths []attribute
	for _, p := range x.Platforms() {
		paths = append(paths, attribute{quote(p.String()), quote(x.ByPlatform[p])})
	}
	b.WriteString("\n  executable = {\n")
	writeAttributes(b, "    ", paths)
	b.WriteString("  }\n")
}

// writeAttributes writes one line each, with the equal signs in one column. The
// left sides are ASCII, so bytes are columns.
func writeAttributes(b *bytes.Buffer, indent string, all []attribute) {
	widest := 0
	for _, a := range all {
		widest = max(widest, len(a.name))
	}
	for _, a := range all {
		b.WriteString(indent)
		b.WriteString(a.name)
		for range widest - len(a.name) {
			b.WriteByte(' ')
		}
		b.WriteString(" = ")
		b.WriteString(a.value)
		b.WriteByte('\n')
	}
}

// quote returns s as an HCL string that holds no template: `${` and `%{` are
// doubled, and what is not printable is escaped.
func quote(s string) string {
	if isPlain(s) {
		return `"` + s + `"`
	}
	var b strings.Builder
	b.WriteByte('"')
	for i, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case (r == '$' || r == '%') && strings.HasPrefix(s[i+1:], "{"):
			b.WriteRune(r)
			b.WriteRune(r)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// isPlain reports whether s stands between quotes as it is.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '$' || c == '%' {
			return false
		}
	}
	return true
}
