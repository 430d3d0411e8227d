package publish

import (
	"fmt"
	"path"
	"strings"
)

// checkPatterns refuses what [path.Match] cannot read and what could never
// match.
func checkPatterns(patterns []string) error {
	for _, pattern := range patterns {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return fmt.Errorf("%q is no pattern of file names", pattern)
		}
		if strings.HasPrefix(pattern, "/") || strings.Contains("/"+pattern+"/", "/../") || strings.Contains("/"+pattern+"/", "/./") {
			return fmt.Errorf("the pattern %q can match nothing: paths begin at a platform's files, such as \"docs/*.md\"", pattern)
		}
	}
	return nil
}

// matches reports whether one of patterns matches p, or a directory above it.
// Patterns are those that checkPatterns has passed.
func matches(patterns []string, p string) bool {
	parts := strings.Split(p, "/")
	for _, pattern := range patterns {
		for n := range parts {
			if matchOne(strings.TrimSuffix(pattern, "/"), parts[:n+1]) {
				return true
			}
		}
	}
	return false
}

func matchOne(pattern string, parts []string) bool {
	if !strings.Contains(pattern, "/") && pattern != "**" {
		ok, _ := path.Match(pattern, parts[len(parts)-1])
		return ok
	}
	return matchParts(strings.Split(pattern, "/"), parts)
}

// matchParts matches component by component; "**" takes any number of them.
func matchParts(pattern, parts []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			for skip := range len(parts) + 1 {
				if matchParts(pattern[1:], parts[skip:]) {
					return true
				}
			}
			return false
		}
		if len(parts) == 0 {
			return false
		}
		if ok, _ := path.Match(pattern[0], parts[0]); !ok {
			return false
		}
		pattern, parts = pattern[1:], parts[1:]
	}
	return len(parts) == 0
}
