package addr

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxSource is the most characters that a source may have, host included; it
// is what registries accept.
const maxSource = 255

// Source is where a plugin lives: a registry and a repository in it. Two
// sources are the same if they are ==, whatever spelling they were read from.
// The zero value is no source.
type Source struct {
	host, path string
}

// SourceError is why a text is no source. No field holds a password that was
// in the text.
type SourceError struct {
	Input      string // what was read, without user info and query
	Reason     string // a clause that follows the quoted text: "names a tag"
	Suggestion string // a valid source that may be what was meant, or ""
}

// Error names the text, the reason and the suggestion.
func (e *SourceError) Error() string {
	message := fmt.Sprintf("source %s %s", quote(e.Input), e.Reason)
	if e.Suggestion != "" {
		message += "; write " + quote(e.Suggestion)
	}
	return message
}

// ParseSource reads host[:port]/path. The host is a name, an IPv4 address or an
// IPv6 address in brackets; the path follows the repository grammar of the OCI
// distribution specification 1.1. There is no default registry.
//
// One registry has one spelling: the host's case is folded, port 443 is left
// out, index.docker.io is docker.io, and a path of one segment there begins
// with library/. Everything else that is not in normal form is refused, with a
// *[SourceError].
func ParseSource(s string) (Source, error) {
	source, reason := parseSource(s)
	if reason == "" {
		return source, nil
	}
	e := &SourceError{Input: redact(s), Reason: reason}
	if len(s) <= 2*maxSource {
		if meant, reason := parseSource(repairSource(s)); reason == "" {
			e.Suggestion = meant.String()
		}
	}
	return Source{}, e
}

// Host returns the registry: "example.com", "localhost:5000" or "[::1]:5000".
func (s Source) Host() string { return s.host }

// Path returns the repository inside the registry, such as "plugins/aws".
func (s Source) Path() string { return s.path }

// String returns the normal form, which [ParseSource] reads back; "" for the
// zero value.
func (s Source) String() string {
	if s.IsZero() {
		return ""
	}
	return s.host + "/" + s.path
}

// IsZero reports whether s is no source.
func (s Source) IsZero() bool { return s == Source{} }

// Compare orders sources by their text.
func (s Source) Compare(t Source) int { return cmp.Compare(s.String(), t.String()) }

// parseSource returns the reason for which s is refused, or "". The order of
// the checks is that of what a reader would first see to be wrong.
func parseSource(s string) (Source, string) {
	if reason := checkText(s); reason != "" {
		return Source{}, reason
	}
	if reason := checkExtras(s); reason != "" {
		return Source{}, reason
	}
	first, path, hasPath := strings.Cut(s, "/")
	if reason := checkPresent(first, path, hasPath); reason != "" {
		return Source{}, reason
	}
	host, reason := parseHost(first)
	if reason != "" {
		return Source{}, reason
	}
	if reason := checkPath(path); reason != "" {
		return Source{}, reason
	}
	source := canonical(host, path)
	if n := len(source.String()); n > maxSource {
		return Source{}, fmt.Sprintf("is too long: in full it has %d characters, a source has at most %d", n, maxSource)
	}
	return source, ""
}

// canonical gives Docker's registry its one name.
func canonical(host, path string) Source {
	if host == "index.docker.io" {
		host = "docker.io"
	}
	if host == "docker.io" && !strings.Contains(path, "/") {
		path = "library/" + path
	}
	return Source{host, path}
}

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
		return "has a scheme, " + quote(scheme) + "; a source begins with the host"
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
		return "names the version " + quote(suffix) + "; which versions are accepted is said by the version constraint"
	case strings.LastIndexByte(rest, ':') > strings.LastIndexByte(rest, '/') && slash >= 0:
		return "names the tag " + quote(rest[strings.LastIndexByte(rest, ':')+1:]) + "; which versions are accepted is said by the version constraint"
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

// redact removes from s what may be a secret: everything before the last @ and
// behind a question mark. Where these overlap nothing is left.
func redact(s string) string {
	scheme, rest := cutScheme(s)
	rest, suffix := cutSuffix(rest)
	if suffix != "" {
		suffix = "@" + suffix
	}
	at, query := strings.LastIndexByte(rest, '@'), strings.IndexAny(rest, "?#")
	switch {
	case query >= 0 && query < at:
		return scheme + "***"
	case at >= 0:
		rest = "***" + rest[at:]
	}
	if before, _, found := strings.Cut(rest, "?"); found {
		rest = before + "?***"
	}
	return scheme + rest + suffix
}

// repairSource takes away what can be taken away without a guess, and leaves
// the judgement to the parser.
func repairSource(s string) string {
	s = strings.TrimSpace(s)
	_, s = cutScheme(s)
	s, _ = cutSuffix(s)
	s = s[strings.LastIndexByte(s, '@')+1:]
	if query := strings.IndexAny(s, "?#"); query >= 0 {
		s = s[:query]
	}
	first, path, _ := strings.Cut(strings.ReplaceAll(s, `\`, "/"), "/")
	var segments []string
	for segment := range strings.SplitSeq(path, "/") {
		if segment != "" {
			segments = append(segments, strings.ToLower(segment))
		}
	}
	if last := len(segments) - 1; last >= 0 {
		segments[last], _, _ = strings.Cut(segments[last], ":")
	}
	return repairHost(first) + "/" + strings.Join(segments, "/")
}
