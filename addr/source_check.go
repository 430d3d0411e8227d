package addr

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pluginlock/plugins/internal/text"
)

// This file refuses what is wrong with the text of a source as a whole, before
// its host and its path are looked at.

// checkText refuses what no part of a source may be.
func checkText(s string) string {
	switch {
	case s == "":
		return "is empty; it needs the form host/path, such as registry.example.com/plugins/aws"
	case len(s) > maxSource:
		return fmt.Sprintf("is too long: a source has at most %d characters", maxSource)
	}
	if !utf8.ValidString(s) {
		return "is not UTF-8 text"
	}
	for _, r := range s {
		switch {
		case r < 0x20 || r == 0x7f:
			return fmt.Sprintf("has a control character, U+%04X", r)
		case r == ' ':
			return "has a space"
		case r == '\\':
			return "has a backslash; a source is written with slashes"
		}
	}
	return ""
}

// checkExtras refuses the parts that a URL or an image reference may have and
// a source may not.
func checkExtras(s string) string {
	if scheme, _ := cutScheme(s); scheme != "" {
		return "has a scheme, " + text.Quote(scheme) + "; a source begins with the host"
	}
	rest, suffix := cutSuffix(s)
	query := strings.IndexAny(rest, "?#")
	at := strings.LastIndexByte(rest, '@')
	slash := strings.IndexByte(rest, '/')
	switch {
	case at >= 0 && (query < 0 || at < query || slash > query):
		if slash >= 0 && slash < at {
			return "has an @ after its first slash, which separates neither a version nor a digest"
		}
		return "has user info before the host; credentials are kept by plugins login, never in a source"
	case query >= 0 && rest[query] == '?':
		return "has a query, which a source cannot"
	case query >= 0:
		return "has a fragment, which a source cannot"
	case isDigest(suffix):
		return "names a digest; the lock file pins digests"
	case suffix != "":
		return "names the version " + text.Quote(suffix) + "; which versions are accepted is said by the version constraint"
	case strings.LastIndexByte(rest, ':') > strings.LastIndexByte(rest, '/') && slash >= 0:
		return "names the tag " + text.Quote(rest[strings.LastIndexByte(rest, ':')+1:]) + "; which versions are accepted is said by the version constraint"
	}
	return ""
}

// checkPresent refuses a source that lacks one of its two parts.
func checkPresent(first, path string, hasPath bool) string {
	name, tag, _ := strings.Cut(first, ":")
	switch {
	case !isHost(first), !hasPath && tag != "" && !digits(tag) && !isHost(name) && !strings.Contains(tag, ":"):
		return "has no registry host; it needs the form host/path, such as registry.example.com/plugins/aws"
	case !hasPath || path == "":
		return "has no repository path after the host"
	}
	return ""
}

// isHost reports whether the first segment is meant as a host and not as the
// first part of a path.
func isHost(segment string) bool {
	return segment != "." && segment != ".." && strings.ContainsAny(segment, ".:") || strings.EqualFold(segment, "localhost")
}

// cutSuffix separates a digest or a version behind the last @, as other tools
// take it. Anything else behind an @ is left: what stands before it may be a
// password.
func cutSuffix(s string) (rest, suffix string) {
	at := strings.LastIndexByte(s, '@')
	if at < 0 {
		return s, ""
	}
	first, _, hasPath := strings.Cut(s[:at], "/")
	if _, reason := parseHost(first); reason != "" || !hasPath {
		return s, ""
	}
	suffix = s[at+1:]
	if isDigest(suffix) || isVersionLike(suffix) {
		return s[:at], suffix
	}
	return s, ""
}

// cutScheme separates a scheme, with its "://".
func cutScheme(s string) (scheme, rest string) {
	name, rest, found := strings.Cut(s, "://")
	if !found || strings.ContainsFunc(name, func(r rune) bool { return !alphanumeric(r) && !strings.ContainsRune("+-.", r) }) {
		return "", s
	}
	return name + "://", rest
}

// isDigest reports whether s is meant as a digest, by any algorithm.
func isDigest(s string) bool {
	algorithm, encoded, found := strings.Cut(s, ":")
	return found && (algorithm == "sha256" || algorithm == "sha512" || len(encoded) >= 32 && !strings.ContainsFunc(encoded, notHex))
}

func notHex(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') }

func isVersionLike(s string) bool {
	_, _, reason := parsePartial(strings.TrimPrefix(s, "v"))
	return reason == "" || s == "latest"
}
