package addr

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/pluginlock/plugins/internal/text"
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
	message := fmt.Sprintf("source %s %s", text.Quote(e.Input), e.Reason)
	if e.Suggestion != "" {
		message += "; write " + text.Quote(e.Suggestion)
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
