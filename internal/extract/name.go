package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/pluginlock/plugins/internal/filename"
)

// whiteout begins the names by which a layer deletes files of lower ones.
const whiteout = ".wh."

// checkName returns the components of an entry's name, without those that are
// ".". Only a directory may come out empty: it is the root. Limits that are
// about one name are checked here too.
func checkName(raw string, isDir bool, lim Limits) ([]string, error) {
	switch {
	case raw == "":
		return nil, refuse(KindName, raw, "has no name")
	case len(raw) > lim.PathBytes:
		return nil, exceeds(limitPathBytes, int64(lim.PathBytes), raw)
	case raw[0] == '/':
		return nil, refuse(KindName, raw, "has an absolute name")
	}
	if err := checkText(raw, raw, "its name"); err != nil {
		return nil, err
	}
	name := raw
	if isDir {
		name = strings.TrimSuffix(raw, "/")
	}
	var components []string
	for c := range strings.SplitSeq(name, "/") {
		if c == "." {
			continue
		}
		if err := checkComponent(raw, c); err != nil {
			return nil, err
		}
		components = append(components, c)
	}
	if len(components) == 0 && !isDir {
		return nil, refuse(KindName, raw, "names the root itself")
	}
	if len(components) > lim.Depth {
		return nil, exceeds(limitDepth, int64(lim.Depth), raw)
	}
	return components, nil
}

// checkText refuses what no path may hold; what is "its name" or "its target".
func checkText(entry, s, what string) error {
	if !utf8.ValidString(s) {
		return refuse(KindName, entry, "is refused: %s is not UTF-8", what)
	}
	for _, r := range s {
		switch {
		case r == 0:
			return refuse(KindName, entry, "is refused: %s has a NUL", what)
		case unicode.IsControl(r):
			return refuse(KindName, entry, "is refused: %s has a control character", what)
		case r == '\\':
			return refuse(KindName, entry, "is refused: %s has a backslash", what)
		case strings.ContainsRune(`:<>"|?*`, r):
			return refuse(KindName, entry, "is refused: %s has %q, which Windows does not allow", what, r)
		}
	}
	return nil
}

func checkComponent(entry, c string) error {
	switch {
	case c == "":
		return refuse(KindName, entry, "has an empty component in its name")
	case c == "..":
		return refuse(KindName, entry, "has %q in its name", c)
	case len(c) > MaxComponentBytes:
		return exceeds(limitName, MaxComponentBytes, entry)
	case strings.HasSuffix(c, ".") || strings.HasSuffix(c, " "):
		return refuse(KindName, entry, "has a component that ends in a dot or a space, which Windows drops")
	case filename.IsDevice(c):
		return refuse(KindName, entry, "has a component that is the name of a device on Windows")
	}
	return nil
}

// foldKey maps names that some file system takes for the same to one key:
// letter case, Unicode normal forms, and the characters without a glyph that
// HFS+ passes over.
func foldKey(name string) string {
	if isASCII(name) {
		return strings.ToLower(name)
	}
	visible := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return unicode.ToUpper(r)
	}, norm.NFD.String(name))
	return norm.NFD.String(cases.Fold().String(visible))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
