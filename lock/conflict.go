package lock

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// ErrConflict is what [ParseError] matches where git left conflict markers in
// the file.
var ErrConflict = errors.New("unresolved merge conflict")

// resolveCommand rebuilds a file that holds conflict markers.
const resolveCommand = "plugins lock --resolve-conflicts"

// IsConflict reports whether Parse refused the file for its conflict markers,
// so that ParseConflicted is what can read it.
func IsConflict(diags hcl.Diagnostics) bool {
	return errors.Is(&ParseError{Diagnostics: diags}, ErrConflict)
}

// ParseConflicted reads a file in which git left conflict markers, in any of
// the styles merge, diff3 and zdiff3: it rebuilds the whole file of each side,
// with what git merged by itself in both, and reads each as strictly as Parse.
// "Ours" is the side that git shows first. A file without markers gives two
// equal files. The ranges of diagnostics and entries are those of src.
func ParseConflicted(src []byte, filename string) (ours, theirs *File, diags hcl.Diagnostics) {
	lines := splitLines(src)
	hunks := findHunks(lines)
	ours, oursDiags := Parse(side(lines, hunks, true), filename)
	theirs, theirsDiags := Parse(side(lines, hunks, false), filename)
	diags = unite(oursDiags, theirsDiags)
	if diags.HasErrors() {
		return nil, nil, diags
	}
	return ours, theirs, diags
}

// Merge returns what two versions of a lock file agree on: the entries that
// are the same in both and those that only one has. An entry that only one
// side has is kept, since the side without it may have removed it or never had
// it; whoever compares the result with the configuration can tell which.
// Entries of one name that differ in anything are left out, so that they are
// resolved anew, and their names are returned in order. Neither side is ever
// preferred, and nothing of one entry is mixed with the other's.
func Merge(ours, theirs *File) (merged *File, disagree []string) {
	merged = &File{}
	for _, e := range entriesOf(ours) {
		other, both := theirs.Entry(e.Name)
		if both && !e.Equal(*other) {
			disagree = append(disagree, e.Name)
			continue
		}
		merged.Set(e)
	}
	for _, e := range entriesOf(theirs) {
		if _, both := ours.Entry(e.Name); !both {
			merged.Set(e)
		}
	}
	slices.Sort(disagree)
	return merged, disagree
}

// hunk is one conflict, as line numbers from zero of its marker lines; base is
// that of the ancestor's text, or of middle where git did not write that.
type hunk struct{ start, base, middle, end int }

// findHunks lists the complete conflicts: a line of seven less-than signs, then
// optionally one of bars, one of equal signs, and one of greater-than signs.
// A marker that is no part of such a sequence is ordinary text. Markers inside
// the ancestor's text are longer than seven and so are not seen.
func findHunks(lines [][]byte) []hunk {
	var all []hunk
	open, current := false, hunk{}
	for n, line := range lines {
		switch marker(line) {
		case '<':
			open, current = true, hunk{start: n}
		case '|':
			open = open && current.base == 0 && current.middle == 0
			current.base = n
		case '=':
			open = open && current.middle == 0
			current.middle = n
		case '>':
			if open && current.middle != 0 {
				current.end = n
				if current.base == 0 {
					current.base = current.middle
				}
				all = append(all, current)
			}
			open = false
		}
	}
	return all
}

// marker returns the character that line is a conflict marker of, or 0.
func marker(line []byte) byte {
	const size = 7 // git's default; its conflict-marker-size attribute is not followed
	line = bytes.TrimRight(line, "\r\n")
	if len(line) < size || bytes.IndexByte([]byte("<|=>"), line[0]) < 0 {
		return 0
	}
	label, found := bytes.CutPrefix(line, bytes.Repeat(line[:1], size))
	if !found || len(label) > 0 && (label[0] != ' ' || line[0] == '=') {
		return 0
	}
	return line[0]
}

// side returns the text of one side. What is not of it becomes blank, so that
// the rest keeps its lines, columns and offsets.
func side(lines [][]byte, hunks []hunk, ours bool) []byte {
	var out []byte
	for n, line := range lines {
		if len(hunks) > 0 && n > hunks[0].end {
			hunks = hunks[1:]
		}
		if len(hunks) > 0 && hunks[0].hides(n, ours) {
			line = blank(line)
		}
		out = append(out, line...)
	}
	return out
}

// hides reports whether line n is one of the conflict but not of the side.
func (h hunk) hides(n int, ours bool) bool {
	switch {
	case n < h.start:
		return false
	case ours:
		return n == h.start || n >= h.base
	default:
		return n <= h.middle || n == h.end
	}
}

// blank returns line with a space for each byte but those that end it.
func blank(line []byte) []byte {
	end := len(bytes.TrimRight(line, "\r\n"))
	return append(bytes.Repeat([]byte(" "), end), line[end:]...)
}

func splitLines(src []byte) [][]byte { return bytes.SplitAfter(src, []byte("\n")) }

// conflictDiagnostic describes the first of hunks.
func conflictDiagnostic(lines [][]byte, hunks []hunk, filename string) *hcl.Diagnostic {
	first := hunks[0].start
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Unresolved merge conflict",
		Detail: detail("There is an unresolved merge conflict in %s line %d%s. To keep the entries on which both sides agree "+
			"and resolve the others anew, run:\n\n  %s",
			filepath.Base(filename), first+1, more(len(hunks)-1), resolveCommand),
		Subject: lineRange(lines, first, filename),
		Extra:   refusal{ErrConflict},
	}
}

// halfConflict replaces what the HCL parser says of a conflict marker whose
// counterparts were edited away; nil where none of diags is about one.
func halfConflict(lines [][]byte, diags hcl.Diagnostics, filename string) *hcl.Diagnostic {
	for _, d := range diags {
		n := d.Subject.Start.Line - 1
		if n >= len(lines) || marker(lines[n]) == 0 {
			continue
		}
		return &hcl.Diagnostic{
			Severity: hcl.DiagError,
			Summary:  "Incomplete merge conflict",
			Detail: detail("Line %d of %s is a conflict marker of git, but the markers that belong to it are gone, so the two sides "+
				"cannot be told apart. While the merge is not yet committed, this writes all markers again:\n\n  git checkout --merge -- %s",
				n+1, filepath.Base(filename), filename),
			Subject: lineRange(lines, n, filename),
		}
	}
	return nil
}

// lineRange is the whole of line n, without what ends it.
func lineRange(lines [][]byte, n int, filename string) *hcl.Range {
	start := hcl.Pos{Line: n + 1, Column: 1}
	for _, line := range lines[:n] {
		start.Byte += len(line)
	}
	length := len(bytes.TrimRight(lines[n], "\r\n"))
	end := hcl.Pos{Line: n + 1, Column: 1 + length, Byte: start.Byte + length}
	return &hcl.Range{Filename: filename, Start: start, End: end}
}
