package lock

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/pluginlock/plugins/addr"
)

// parseNormal reads a file that is byte for byte what File.Bytes writes, as
// nearly every one is, in a twentieth of the time that HCL's parser takes: that
// time is what a run has to spend in which nothing is missing.
//
// It need not be clever: it takes what it understands, holds the values to the
// same rules as Parse, writes them, and compares. Whatever else a file may be, ok
// is false and Parse goes on to find out, and to say, what it is. The form of
// executable that takes several lines is left to it too.
func parseNormal(src []byte, filename string) (f *File, ok bool) {
	n := &normal{rest: string(src), filename: filename, file: &File{}}
	for n.next() {
		if !n.read() {
			return nil, false
		}
	}
	if !n.endEntry() || !bytes.Equal(n.file.Bytes(), src) {
		return nil, false
	}
	return n.file, true
}

// normal is a file that is read by the line.
type normal struct {
	rest     string
	filename string
	file     *File

	line  string  // without white space around it
	start hcl.Pos // where the line begins
	end   hcl.Pos // where the next one does

	entry    *Entry // that the lines belong to; nil before the first
	platform *Platform
}

func (n *normal) next() bool {
	if n.rest == "" {
		return false
	}
	line, rest, _ := strings.Cut(n.rest, "\n")
	n.start = hcl.Pos{Line: n.end.Line + 1, Column: 1, Byte: n.end.Byte}
	n.end = hcl.Pos{Line: n.start.Line, Byte: n.start.Byte + len(line) + 1}
	n.line, n.rest = strings.TrimSpace(line), rest
	return true
}

// read takes one line; false where it is not understood.
func (n *normal) read() bool {
	switch {
	case n.line == "", n.line == "}", n.entry == nil && (n.line[0] == '#' || strings.HasPrefix(n.line, "lock_format")):
		return true
	case strings.HasSuffix(n.line, " {"):
		kind, label, _ := strings.Cut(strings.TrimSuffix(n.line, " {"), " ")
		name, ok := unquote(label)
		return ok && n.begin(kind, name)
	case n.entry == nil:
		return false
	}
	name, value, _ := strings.Cut(n.line, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if name == "protocols" {
		return n.protocols(value)
	}
	value, ok := unquote(value)
	return ok && n.attribute(name, value)
}

// begin begins a block.
func (n *normal) begin(kind, name string) bool {
	switch {
	case kind == "plugin" && addr.CheckName(name) == addr.NameFits && n.endEntry():
		end := n.start
		end.Column += len(`plugin ""`) + len(name)
		end.Byte += len(`plugin ""`) + len(name)
		n.file.Entries = append(n.file.Entries, Entry{Name: name, Range: hcl.Range{Filename: n.filename, Start: n.start, End: end}})
		n.entry, n.platform = &n.file.Entries[len(n.file.Entries)-1], nil
		return true
	case kind == "platform" && n.entry != nil:
		p, err := addr.ParsePlatform(name)
		if last := len(n.entry.Platforms) - 1; err != nil || last >= 0 && n.entry.Platforms[last].Platform.Compare(p) >= 0 {
			return false
		}
		n.entry.Platforms = append(n.entry.Platforms, Platform{Platform: p})
		n.platform = &n.entry.Platforms[len(n.entry.Platforms)-1]
		return true
	}
	return false
}

// attribute takes a value that is a string. One that comes twice is found by
// comparing what is written.
func (n *normal) attribute(name, value string) bool {
	var err error
	switch e := n.entry; {
	case n.platform != nil && name == "manifest":
		n.platform.Manifest, err = addr.ParseDigest(value)
	case n.platform != nil && name == "executable_digest":
		n.platform.ExecutableDigest, err = addr.ParseDigest(value)
	case n.platform != nil:
		return false
	case name == "source":
		e.Source, err = addr.ParseSource(value)
	case name == "version":
		e.Version, err = addr.ParseVersion(value)
	case name == "tag":
		e.Tag = value
	case name == "digest":
		e.Digest, err = addr.ParseDigest(value)
	case name == "executable":
		e.Executable.Path = value
		return checkPath(value) == ""
	default:
		return false
	}
	return err == nil
}

func (n *normal) protocols(value string) bool {
	list, open := strings.CutPrefix(value, "[")
	list, closed := strings.CutSuffix(list, "]")
	for number := range strings.SplitSeq(list, ", ") {
		protocol, err := strconv.Atoi(number)
		last := len(n.entry.Protocols) - 1
		if err != nil || protocol < 1 || last >= 0 && protocol <= n.entry.Protocols[last] {
			return false
		}
		n.entry.Protocols = append(n.entry.Protocols, protocol)
	}
	return open && closed && n.platform == nil
}

// endEntry holds the entry as a whole to the rules, and to the order.
func (n *normal) endEntry() bool {
	e := n.entry
	if e == nil {
		return true
	}
	if e.Source.IsZero() || e.Version.IsZero() || e.Digest.IsZero() || len(e.Platforms) == 0 {
		return false
	}
	if e.Tag != "" {
		version, release := addr.ParseTag(e.Tag)
		if !release || version != e.Version || e.Tag == e.Version.Tag() {
			return false
		}
	}
	for _, p := range e.Platforms {
		if p.Manifest.IsZero() || p.ExecutableDigest.IsZero() {
			return false
		}
	}
	last := len(n.file.Entries) - 1
	return last == 0 || n.file.Entries[last-1].Name < e.Name
}

// unquote reads a string in which nothing is escaped.
func unquote(s string) (string, bool) {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return "", false
	}
	s = s[1 : len(s)-1]
	return s, isPlain(s)
}
