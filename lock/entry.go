package lock

import (
	"fmt"
	"path"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/text"
)

// entry decodes a plugin block; false where it has no name to report it under.
func (r *reader) entry(block *hclsyntax.Block) (Entry, bool) {
	if !r.oneLabel(block, "plugin", `plugin "aws"`) {
		return Entry{}, false
	}
	e := Entry{Name: block.Labels[0], Range: hcl.RangeBetween(block.TypeRange, block.LabelRanges[0])}
	if reason := checkName(e.Name); reason != "" {
		r.refuse(block.LabelRanges[0], "Invalid plugin name", "%s cannot be the name of a plugin: %s. %s", text.Quote(e.Name), reason, restore)
	}
	r.onlyKnown(block.Body, "a plugin block",
		[]string{"source", "version", "tag", "digest", "protocols", "executable"}, []string{"platform"})
	e.Source = r.readSource(block)
	e.Version = r.readVersion(block)
	e.Tag = r.readTag(block, e.Version)
	e.Digest = r.readDigest(block, "digest")
	if attr, ok := block.Body.Attributes["protocols"]; ok {
		e.Protocols = r.protocols(attr)
	}
	if attr, ok := block.Body.Attributes["executable"]; ok {
		e.Executable = r.executable(attr)
	}
	e.Platforms = r.platforms(block, e.Executable)
	return e, true
}

// oneLabel refuses a block whose header has not exactly one label.
func (r *reader) oneLabel(block *hclsyntax.Block, kind, example string) bool {
	switch len(block.Labels) {
	case 1:
		return true
	case 0:
		r.refuse(block.TypeRange, "Missing label", "The block needs a name behind its type, as in `%s`. %s", example, restore)
	default:
		r.refuse(block.LabelRanges[1], "Extraneous label", "A %s block has one name only, as in `%s`. %s", kind, example, restore)
	}
	return false
}

// checkName returns why name is refused, or "".
func checkName(name string) string {
	switch addr.CheckName(name) {
	case addr.NameTooLong:
		return fmt.Sprintf("it is longer than %d characters", addr.MaxName)
	case addr.NameEmpty, addr.NameStart:
		return "it must begin with a letter from a to z"
	case addr.NameLetters:
		return "it may hold lower-case letters, digits, _ and - only"
	case addr.NameReserved:
		return "Windows reserves it"
	}
	return ""
}

// required returns the text of an attribute that must be there.
func (r *reader) required(block *hclsyntax.Block, name string) (string, hcl.Range, bool) {
	attr, ok := block.Body.Attributes[name]
	if !ok {
		r.refuse(block.DefRange(), "Missing attribute", "The block has no %s. %s", name, restore)
		return "", hcl.Range{}, false
	}
	s, ok := r.literal(attr.Expr, name)
	return s, attr.Expr.Range(), ok
}

func (r *reader) readSource(block *hclsyntax.Block) addr.Source {
	s, at, ok := r.required(block, "source")
	if !ok {
		return addr.Source{}
	}
	source, err := addr.ParseSource(s)
	if err != nil {
		r.refuse(at, "Invalid source", "%s %s", text.Sentence(err), restore)
		return addr.Source{}
	}
	r.normal(at, "source", s, source.String())
	return source
}

func (r *reader) readVersion(block *hclsyntax.Block) addr.Version {
	s, at, ok := r.required(block, "version")
	if !ok {
		return addr.Version{}
	}
	version, err := addr.ParseVersion(s)
	if err != nil {
		r.refuse(at, "Invalid version", "%s %s", text.Sentence(err), restore)
	}
	return version
}

// readTag reads the tag, which is there only where it differs from the
// version's own spelling, and must be the same version still.
func (r *reader) readTag(block *hclsyntax.Block, version addr.Version) string {
	attr, ok := block.Body.Attributes["tag"]
	if !ok {
		return ""
	}
	tag, ok := r.literal(attr.Expr, "tag")
	if !ok || version.IsZero() {
		return ""
	}
	parsed, release := addr.ParseTag(tag)
	switch {
	case !release:
		r.refuse(attr.Expr.Range(), "Invalid tag", "The tag %s is not a version. %s", text.Quote(tag), restore)
	case parsed != version:
		r.refuse(attr.Expr.Range(), "Invalid tag", "The tag %s is the version %s, but the entry is for %s. %s", text.Quote(tag), parsed, version, restore)
	case tag == version.Tag():
		r.refuse(attr.Expr.Range(), "Redundant tag", "A tag that is spelt like the version is not recorded: delete the line.")
	}
	return tag
}

func (r *reader) readDigest(block *hclsyntax.Block, name string) addr.Digest {
	s, at, ok := r.required(block, name)
	if !ok {
		return ""
	}
	digest, err := addr.ParseDigest(s)
	if err != nil {
		r.refuse(at, "Invalid digest", "%s %s", text.Sentence(err), restore)
	}
	return digest
}

// executable reads one path, or an object with one for each platform.
func (r *reader) executable(attr *hclsyntax.Attribute) addr.Executable {
	object, ok := attr.Expr.(*hclsyntax.ObjectConsExpr)
	if !ok {
		return addr.Executable{Path: r.path(attr.Expr)}
	}
	if len(object.Items) == 0 {
		r.refuse(attr.Expr.Range(), "Invalid executable", "The object is empty. A plugin image has no such attribute. %s", restore)
	}
	paths := map[addr.Platform]string{}
	for _, item := range object.Items {
		key := item.KeyExpr.(*hclsyntax.ObjectConsKeyExpr).Wrapped
		s, ok := r.literal(key, "platform")
		p, valid := addr.Platform{}, false
		if ok {
			p, valid = r.platform(key.Range(), s)
		}
		if _, twice := paths[p]; valid && twice {
			r.refuse(key.Range(), "Duplicate platform", "The object already has a path for %s. %s", p, restore)
		}
		paths[p] = r.path(item.ValueExpr)
	}
	return addr.Executable{ByPlatform: paths}
}

// path reads the path of an executable inside an image.
func (r *reader) path(e hclsyntax.Expression) string {
	s, ok := r.literal(e, "path of an executable")
	if !ok {
		return ""
	}
	if reason := checkPath(s); reason != "" {
		r.refuse(e.Range(), "Invalid executable", "%s is not the path of an executable in an image: %s. %s", text.Quote(s), reason, restore)
	}
	return s
}

// checkPath returns why p is refused, or "".
func checkPath(p string) string {
	switch {
	case !strings.HasPrefix(p, "/"):
		return "it must begin with a slash"
	case p == "/" || path.Clean(p) != p:
		return `it must name a file, without empty segments, "." and ".."`
	case strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' || r == unicode.ReplacementChar }):
		return "it holds a backslash, a control character, or one that is not UTF-8"
	}
	return ""
}

// platforms reads the platform blocks of an entry.
func (r *reader) platforms(block *hclsyntax.Block, x addr.Executable) []Platform {
	var all []Platform
	seen := map[addr.Platform]hcl.Range{}
	blocks := 0
	for _, inner := range block.Body.Blocks {
		if inner.Type != "platform" {
			continue
		}
		blocks++
		if !r.oneLabel(inner, "platform", `platform "linux/amd64"`) {
			continue
		}
		at := inner.LabelRanges[0]
		r.onlyKnown(inner.Body, "a platform block", []string{"manifest", "executable_digest"}, nil)
		p, ok := r.platform(at, inner.Labels[0])
		if first, twice := seen[p]; ok && twice {
			r.refuse(at, "Duplicate platform", "The platform %s already has a block on line %d; which of the two is meant cannot be told. %s", p, first.Start.Line, restore)
		}
		if ok && !x.IsZero() && x.For(p) == "" {
			r.refuse(at, "Platform without executable", "The attribute executable of this entry names no path for %s. %s", p, restore)
		}
		seen[p] = at
		all = append(all, Platform{p, r.readDigest(inner, "manifest"), r.readDigest(inner, "executable_digest")})
	}
	if blocks == 0 {
		r.refuse(block.DefRange(), "Missing platform", "The entry has no platform block, so nothing could be installed from it. %s", restore)
	}
	return all
}

// platform reads a platform in normal form.
func (r *reader) platform(at hcl.Range, s string) (addr.Platform, bool) {
	p, err := addr.ParsePlatform(s)
	if err != nil {
		r.refuse(at, "Invalid platform", "%s %s", text.Sentence(err), restore)
		return addr.Platform{}, false
	}
	return p, r.normal(at, "platform", s, p.String())
}
