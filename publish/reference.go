package publish

import (
	"fmt"
	"strings"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/getter"
	"github.com/pluginlock/plugins/internal/text"
)

// Reference is a source and, at most, one of what may follow it.
type Reference struct {
	Source     addr.Source
	Tag        string          // after ":"
	Version    addr.Version    // what Tag names; the zero value where it is no release
	Digest     addr.Digest     // after "@"
	Constraint addr.Constraint // after "@", where that is no digest
}

// ParseReference reads SOURCE, SOURCE:TAG, SOURCE@DIGEST or SOURCE@CONSTRAINT. A
// version with "+" in the place of a tag stands for its own spelling as one.
//
// Errors: those of the parts, [*addr.SourceError] and [*addr.ConstraintError]
// among them.
func ParseReference(s string) (Reference, error) {
	source, after, hasAfter := strings.Cut(s, "@")
	tag, hasTag := "", false
	if colon := strings.LastIndexByte(source, ':'); colon > strings.LastIndexByte(source, '/') && strings.Contains(source, "/") {
		source, tag, hasTag = source[:colon], source[colon+1:], true
	}
	var r Reference
	var err error
	if r.Source, err = addr.ParseSource(source); err != nil {
		return Reference{}, err
	}
	if hasTag {
		if r.Tag, r.Version, err = parseTag(tag); err != nil {
			return Reference{}, err
		}
	}
	if !hasAfter {
		return r, nil
	}
	switch {
	case strings.HasPrefix(after, "sha256:"), strings.HasPrefix(after, "sha512:"):
		r.Digest, err = addr.ParseDigest(after)
	case hasTag:
		err = fmt.Errorf("%q has both a tag and a version constraint", text.Clip(s))
	default:
		r.Constraint, err = addr.ParseConstraint(after)
	}
	if err != nil {
		return Reference{}, err
	}
	return r, nil
}

func parseTag(tag string) (string, addr.Version, error) {
	if v, err := addr.ParseVersion(tag); err == nil {
		return v.Tag(), v, nil
	}
	if v, ok := addr.ParseTag(tag); ok {
		return tag, v, nil
	}
	if !getter.IsTag(tag) {
		return "", addr.Version{}, fmt.Errorf("%q is neither a version nor a tag", text.Clip(tag))
	}
	return tag, addr.Version{}, nil
}

// NotVersionError means that something other than a version was to be published
// as one.
type NotVersionError struct{ Tag string }

func (e *NotVersionError) Error() string {
	return fmt.Sprintf("the tag %q is no version such as 1.4.2: moving tags follow the versions that are pushed", text.Clip(e.Tag))
}

// otherSpelling is the tag that names the same version with a v, or without.
func otherSpelling(tag string) string {
	if bare, ok := strings.CutPrefix(tag, "v"); ok {
		return bare
	}
	return "v" + tag
}
