package config

import (
	"fmt"
	"strings"
)

// maxName is the most characters of a plugin's name.
const maxName = 64

// CheckName reports why name can't be the name of a plugin. Names become file
// names on every system, so the grammar is narrow: [a-z][a-z0-9_-]*, at most 64
// characters, and none of the names that Windows keeps for devices. The error
// is a [*RequirementError].
func CheckName(name string) error {
	if err := checkName(name); err != nil {
		err.Name = name
		return err
	}
	return nil
}

func checkName(name string) *RequirementError {
	shown := quote(name)
	refuse := func(format string, args ...any) *RequirementError {
		return &RequirementError{Attribute: "name", Summary: "Invalid plugin name", Detail: fmt.Sprintf(format, args...)}
	}
	switch {
	case name == "":
		return refuse("A plugin needs a name, such as %q.", "aws")
	case len(name) > maxName:
		return refuse("The name %s has %d characters; at most %d are allowed, because names become file names.", shown, len(name), maxName)
	case !matchesName(name):
		return refuse("The name %s becomes a file name, so it must be a letter from a to z, then letters, digits, _ or -.%s",
			shown, didYouMean(repairName(name)))
	case isDeviceName(name):
		return refuse("The name %s is kept for a device by Windows and can't be a file name there. Choose another, such as %q.", shown, name+"-plugin")
	}
	return nil
}

func matchesName(name string) bool {
	for i, r := range name {
		letter := 'a' <= r && r <= 'z'
		other := '0' <= r && r <= '9' || r == '_' || r == '-'
		if !letter && (i == 0 || !other) {
			return false
		}
	}
	return name != ""
}

// repairName returns a name near to name that is allowed, or "".
func repairName(name string) string {
	repaired := strings.Map(func(r rune) rune {
		switch {
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		case r == '.' || r == '/' || r == ' ':
			return '_'
		}
		return r
	}, name)
	if !matchesName(repaired) || isDeviceName(repaired) {
		return ""
	}
	return repaired
}

// isDeviceName reports whether Windows opens a device under this name,
// https://learn.microsoft.com/windows/win32/fileio/naming-a-file.
func isDeviceName(name string) bool {
	switch name {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(name) == 4 && (name[:3] == "com" || name[:3] == "lpt") && '0' <= name[3] && name[3] <= '9'
}
