package addr

import (
	"net/netip"
	"strings"
)

// This file makes of a text that was refused what can be shown of it, and what
// was probably meant.

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

// repairHost takes away a trailing dot and an empty port, and puts brackets
// around an IPv6 address.
func repairHost(s string) string {
	if address, err := netip.ParseAddr(s); err == nil && address.Is6() {
		return "[" + address.String() + "]"
	}
	name, port, _ := cutPort(s)
	name = strings.TrimSuffix(name, ".")
	if port == "" {
		return name
	}
	return name + ":" + port
}
