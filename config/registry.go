package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/text"
)

func registrySchema() *hcl.BodySchema {
	return &hcl.BodySchema{Attributes: []hcl.AttributeSchema{
		{Name: "mirror"}, {Name: "fallback"}, {Name: "tags"}, {Name: "plain_http"}, {Name: "ca_file"},
	}}
}

// registries reads the registry blocks, by prefix.
func (s *settingsDecoder) registries(blocks hcl.Blocks) []Registry {
	first := map[string]hcl.Range{}
	var registries []Registry
	for _, block := range blocks {
		prefix, ok := s.prefix(block.Labels[0], block.LabelRanges[0])
		registry := s.registry(block, prefix)
		if ok && s.unique(first, prefix, block.LabelRanges[0]) {
			registries = append(registries, registry)
		}
	}
	slices.SortFunc(registries, func(a, b Registry) int { return strings.Compare(a.Prefix, b.Prefix) })
	return registries
}

func (s *settingsDecoder) registry(block *hcl.Block, prefix string) Registry {
	content, diags := block.Body.Content(registrySchema())
	s.diags = append(s.diags, diags...)
	r := Registry{Prefix: prefix}
	what := func(name string) string {
		if prefix == "" {
			return name + " of the registry" // whose label may hold a password
		}
		return fmt.Sprintf("%s of registry %q", name, prefix)
	}
	attrs := content.Attributes
	if attr := attrs["mirror"]; attr != nil {
		r.Mirror = s.mirror(attr, what("mirror"), prefix)
	}
	if attr := attrs["ca_file"]; attr != nil {
		if path, ok := s.text(attr.Expr, what("ca_file"), "ca.pem"); ok {
			r.CAFile = s.absolute(path, attr.Expr.Range())
		}
	}
	for _, flag := range []struct {
		name  string
		value *bool
		needs string // another attribute without which this one means nothing
	}{
		{"fallback", &r.Fallback, "mirror"},
		{"tags", &r.FallbackTags, "fallback"},
		{"plain_http", &r.PlainHTTP, ""},
	} {
		attr := attrs[flag.name]
		if attr == nil {
			continue
		}
		*flag.value, _ = s.boolean(attr.Expr, what(flag.name))
		if *flag.value && (flag.needs == "mirror" && attrs["mirror"] == nil || flag.needs == "fallback" && !r.Fallback) {
			s.report("Setting without effect", attr.NameRange, "The %s has no effect without a %s. %s",
				what(flag.name), flag.needs, fallbackHelp(flag.name))
		}
	}
	return r
}

// fallbackHelp explains the two attributes that build on another one.
func fallbackHelp(name string) string {
	if name == "tags" {
		return "With fallback = true, what the mirror lacks is asked of the registry itself by digest; tags = true adds tags to that."
	}
	return "It lets what the mirror lacks be asked of the registry itself."
}

// mirror reads a registry prefix or a directory.
func (s *settingsDecoder) mirror(attr *hcl.Attribute, what, prefix string) string {
	written, ok := s.text(attr.Expr, what, "mirror.example.com/plugins")
	if !ok {
		return ""
	}
	rng := attr.Expr.Range()
	if isDirectory(written) {
		return s.absolute(written, rng)
	}
	mirror, err := ParsePrefix(written)
	switch {
	case err != nil:
		s.refuseWith(&RequirementError{Summary: "Invalid mirror", Err: err,
			Detail: sourceDetail("mirror", err) + "\n\nA mirror is a registry, with a path or not, or the directory of an OCI layout, which is an absolute path or begins with ./ or ../."}, rng)
		return ""
	case mirror == prefix:
		s.report("Invalid mirror", rng, "The registry %q is given as its own mirror.", mirror)
	}
	return mirror
}

// isDirectory tells a directory from a registry, whose name begins with
// neither a dot nor a slash.
func isDirectory(mirror string) bool {
	return filepath.IsAbs(mirror) || strings.HasPrefix(mirror, ".") || strings.HasPrefix(mirror, "/")
}

// absolute makes path absolute, starting at the settings file's directory.
func (s *settingsDecoder) absolute(path string, rng hcl.Range) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.dir, path)
	}
	abs, err := filepath.Abs(path)
	if err != nil || strings.ContainsRune(path, 0) {
		s.report("Invalid path", rng, "The path %s can't be made absolute. Write an absolute path.", text.Quote(path))
		return ""
	}
	return abs
}

// prefix reads the prefix of sources that a setting is for.
func (s *settingsDecoder) prefix(written string, rng hcl.Range) (string, bool) {
	prefix, err := ParsePrefix(written)
	if err != nil {
		s.refuseWith(&RequirementError{Summary: "Invalid registry prefix", Detail: sourceDetail("prefix", err), Err: err}, rng)
		return "", false
	}
	return prefix, true
}

// probe is what makes a source of a prefix: two segments, because Docker's
// registry gives a path of one segment another meaning.
const probe = "/p/p"

// ParsePrefix reads the first part of sources, cut between segments: a host,
// with a port or not, or a host and the beginning of a path. It returns the
// spelling that sources have; the error is an [*addr.SourceError].
func ParsePrefix(prefix string) (string, error) {
	source, err := addr.ParseSource(prefix + probe)
	if err == nil {
		return strings.TrimSuffix(source.String(), probe), nil
	}
	var typed *addr.SourceError
	if !errors.As(err, &typed) {
		return "", err
	}
	return "", &addr.SourceError{
		Input:      strings.TrimSuffix(typed.Input, probe),
		Reason:     typed.Reason,
		Suggestion: strings.TrimSuffix(typed.Suggestion, probe),
	}
}
