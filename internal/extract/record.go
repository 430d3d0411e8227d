package extract

import (
	"crypto/sha256"
	"io"
	"slices"
	"strings"

	"github.com/pluginlock/plugins/addr"
)

// Record describes one file or symbolic link of a tree; directories have none.
type Record struct {
	Path       string      // from the image's root, with slashes: "plugin/aws"
	Digest     addr.Digest // of a file's content; zero for a link
	Size       int64       // bytes of a file; 0 for a link
	Executable bool
	Link       string // target of a symbolic link as written; "" for a file
}

// Content returns the digest of records, in any order: of one line for each,
//
//	f x DIGEST PATH     an executable file
//	f - DIGEST PATH     another file
//	l TARGET PATH       a symbolic link
//
// sorted bytewise, each with a line feed at its end. In paths and targets, bytes
// up to 0x20, 0x7f and "%" are written as "%" and two upper-case hexadecimal
// digits, so that a line cannot be read in two ways.
func Content(records []Record) addr.Digest {
	lines := make([]string, len(records))
	for i, r := range records {
		lines[i] = r.line()
	}
	slices.Sort(lines)
	h := sha256.New()
	for _, line := range lines {
		_, _ = io.WriteString(h, line) // a hash never fails
	}
	return addr.DigestFrom(h)
}

func (r Record) line() string {
	switch {
	case r.Link != "":
		return "l " + escape(r.Link) + " " + escape(r.Path) + "\n"
	case r.Executable:
		return "f x " + r.Digest.String() + " " + escape(r.Path) + "\n"
	default:
		return "f - " + r.Digest.String() + " " + escape(r.Path) + "\n"
	}
}

func escape(s string) string {
	const digits = "0123456789ABCDEF"
	if !strings.ContainsFunc(s, mustEscape) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; mustEscape(rune(c)) {
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func mustEscape(c rune) bool { return c <= 0x20 || c == 0x7f || c == '%' }

// Difference is one path at which two sets of records differ.
type Difference struct {
	Path string
	What string // "missing", "unexpected" or "changed"
}

// Differences compares what a tree holds with what it should hold; the result
// is ordered by path and nil where the two are equal.
func Differences(want, got []Record) []Difference {
	var all []Difference
	found := make(map[string]Record, len(got))
	for _, r := range got {
		found[r.Path] = r
	}
	for _, w := range want {
		g, ok := found[w.Path]
		switch {
		case !ok:
			all = append(all, Difference{w.Path, "missing"})
		case g != w:
			all = append(all, Difference{w.Path, "changed"})
		}
		delete(found, w.Path)
	}
	for path := range found {
		all = append(all, Difference{path, "unexpected"})
	}
	slices.SortFunc(all, func(a, b Difference) int { return strings.Compare(a.Path, b.Path) })
	return all
}
