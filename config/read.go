package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"

	"github.com/pluginlock/plugins/internal/nesting"
)

// MaxFileSize is the size in bytes from which a file is refused; hand-written
// configuration stays a thousand times below it.
const MaxFileSize = 1 << 20

// maxDepth is how many brackets may be open within each other. We need five;
// the rest is for the other blocks of a host's file.
const maxDepth = 500

// source is one file as far as it could be read.
type source struct {
	path  string
	own   bool     // has a name of ours, so that everything in it is ours
	text  []byte   // without byte order mark; nil where it can't be read
	body  hcl.Body // nil where the file is not whole
	diags hcl.Diagnostics
}

// open reads and parses one file.
func (l *loader) open(path string) source {
	s := source{path: path, own: len(l.options.Files) == 0}
	text, problem := l.sum.readFile(path)
	if problem != nil {
		s.diags = hcl.Diagnostics{problem}
		return s
	}
	file, diags := parse(text, path)
	l.config.Files[path] = excerpt(file, path)
	s.text, s.diags = file.Bytes, diags
	if file.Body != nil && usable(diags) {
		s.body = file.Body
	}
	return s
}

// readFile reads a regular file of bounded size. A pipe is refused because
// the configuration is read a second time when a lock is held.
func readFile(path string) ([]byte, *hcl.Diagnostic) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, unreadable(path, err)
	case info.IsDir():
		return nil, unreadable(path, errors.New("it is a directory, not a file"))
	case !info.Mode().IsRegular():
		return nil, unreadable(path, errors.New("it is a device or a pipe, not a regular file"))
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer func() { _ = file.Close() }() // opened for reading: closing loses nothing
	text, err := io.ReadAll(io.LimitReader(file, MaxFileSize+1))
	switch {
	case err != nil:
		return nil, unreadable(path, err)
	case len(text) > MaxFileSize:
		return nil, unreadable(path, fmt.Errorf("it is larger than %d MiB, which no configuration file is", MaxFileSize>>20))
	}
	return text, nil
}

// parse reads text in the syntax that the file's name tells. The file returned
// holds the text without byte order mark and, if it is worth decoding, a body.
func parse(text []byte, name string) (*hcl.File, hcl.Diagnostics) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	file := &hcl.File{Bytes: text}
	if d := checkText(text, name); d != nil {
		return file, hcl.Diagnostics{d}
	}
	var diags hcl.Diagnostics
	if isJSON(name) {
		file, diags = json.Parse(text, name)
	} else {
		file, diags = hclsyntax.ParseConfig(text, name, hcl.InitialPos)
	}
	if diags.HasErrors() {
		if d := unmerged(text, name); d != nil {
			return file, hcl.Diagnostics{d}
		}
	}
	return file, withoutEcho(diags)
}

// unmerged finds git's conflict markers in a file that does not parse: what the
// parser says of them tells nobody what they are.
func unmerged(text []byte, name string) *hcl.Diagnostic {
	var at *hcl.Range // of the first marker
	markers := []string{"<<<<<<<", "=======", ">>>>>>>"}
	offset := 0
	for n, line := range bytes.SplitAfter(text, []byte("\n")) {
		word, _, _ := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte(" "))
		if string(word) == markers[0] {
			if at == nil {
				start := hcl.Pos{Line: n + 1, Column: 1, Byte: offset}
				at = &hcl.Range{Filename: name, Start: start, End: hcl.Pos{Line: n + 1, Column: 1 + len(word), Byte: offset + len(word)}}
			}
			if markers = markers[1:]; len(markers) == 0 {
				return problem("Unresolved merge conflict", *at,
					"This line is a conflict marker of git. Choose between the two sides, delete the markers, and then resolve conflicts in the lock file, if it has any, with:\n\n  plugins lock --resolve-conflicts")
			}
		}
		offset += len(line)
	}
	return nil
}

// withoutEcho drops what HCL says about every further line after a string that
// was not closed: the reader needs the one message about the string.
func withoutEcho(diags hcl.Diagnostics) hcl.Diagnostics {
	has := func(summary string) bool {
		return slices.ContainsFunc(diags, func(d *hcl.Diagnostic) bool { return d.Summary == summary })
	}
	if !has("Unterminated template string") {
		return diags
	}
	return slices.DeleteFunc(diags, func(d *hcl.Diagnostic) bool { return d.Summary == "Invalid multi-line string" })
}

// usable reports whether a body is whole in spite of its diagnostics: what the
// parser says about repeated arguments leaves nothing out but the repetition.
func usable(diags hcl.Diagnostics) bool {
	for _, d := range diags {
		if d.Severity == hcl.DiagError && d.Summary != "Attribute redefined" {
			return false
		}
	}
	return true
}

// checkText refuses what the parsers must not see.
func checkText(text []byte, name string) *hcl.Diagnostic {
	if !utf8.Valid(text) {
		return notUTF8(text, name)
	}
	find := nesting.Find
	if isJSON(name) {
		find = nesting.FindJSON
	}
	if at := find(text, name, maxDepth); at != nil {
		return problem("File nested too deeply", *at,
			"%s opens more than %d brackets within each other, or has thousands of operators. Write values directly.", name, maxDepth)
	}
	return nil
}

// notUTF8 points at the first byte that is not UTF-8.
func notUTF8(text []byte, name string) *hcl.Diagnostic {
	at := 0
	for at < len(text) {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	line := bytes.LastIndexByte(text[:at], '\n') + 1
	start := hcl.Pos{
		Line:   bytes.Count(text[:at], []byte("\n")) + 1,
		Column: utf8.RuneCount(text[line:at]) + 1,
		Byte:   at,
	}
	end := hcl.Pos{Line: start.Line, Column: start.Column + 1, Byte: at + 1}
	detail := "Configuration files are UTF-8 text, and the byte here is not part of such text. Save the file as UTF-8."
	if bytes.HasPrefix(text, []byte{0xff, 0xfe}) || bytes.HasPrefix(text, []byte{0xfe, 0xff}) {
		detail = "Configuration files are UTF-8 text; this one is UTF-16, as some editors and shells write it. Save it as UTF-8."
	}
	return problem("File is not UTF-8", hcl.Range{Filename: name, Start: start, End: end}, "%s", detail)
}
