package addr

import (
	"fmt"
	"strings"

	"github.com/pluginlock/plugins/internal/text"
)

// checkPath holds each segment to the grammar of the OCI distribution
// specification 1.1: [a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*.
func checkPath(path string) string {
	for segment := range strings.SplitSeq(path, "/") {
		switch segment {
		case "":
			return "has an empty path segment"
		case ".", "..":
			return fmt.Sprintf("has the path segment %s; a source is an address, not a relative path", text.Quote(segment))
		}
		if reason := checkSegment(segment); reason != "" {
			return reason
		}
	}
	return ""
}

func checkSegment(segment string) string {
	for _, r := range segment {
		switch {
		case r >= 'A' && r <= 'Z':
			return "has upper case in its path; a repository is lower case"
		case !alphanumeric(r) && !strings.ContainsRune("._-", r):
			return fmt.Sprintf("has %s in its path; only a to z, 0 to 9, dots, underscores and hyphens may be there", text.Quote(string(r)))
		}
	}
	for rest := segment; ; {
		word := strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyz0123456789")
		if len(word) == len(rest) {
			return fmt.Sprintf("has the path segment %s, in which a letter or digit must be at both ends and after each separator", text.Quote(segment))
		}
		if word == "" {
			return ""
		}
		rest = strings.TrimLeft(word, "._-")
		if between := word[:len(word)-len(rest)]; !validSeparator(between) {
			return fmt.Sprintf("has the path segment %s, in which %s cannot separate words: one dot, one or two underscores, or hyphens can", text.Quote(segment), text.Quote(between))
		}
	}
}

func validSeparator(s string) bool {
	return s == "." || s == "_" || s == "__" || strings.Trim(s, "-") == ""
}
