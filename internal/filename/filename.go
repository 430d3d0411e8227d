// Package filename knows what some systems do not allow in names of files, or
// JSON in a [Path]. Plugins are locked and stored for every system at once, so
// what one of them cannot open is refused, or written otherwise, on all. It knows
// nothing of separators and lengths; those belong to whoever cuts a path into
// names.
package filename

import (
	"strings"
	"unicode/utf8"
)

// IsDevice reports whether Windows opens a device under this name, in whatever
// directory, letter case and with whatever extension:
// https://learn.microsoft.com/windows/win32/fileio/naming-a-file.
func IsDevice(name string) bool {
	base, _, _ := strings.Cut(name, ".")
	base = strings.ToLower(strings.TrimRight(base, " "))
	switch base {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	port, ok := strings.CutPrefix(base, "com")
	if !ok {
		port, ok = strings.CutPrefix(base, "lpt")
	}
	return ok && utf8.RuneCountInString(port) == 1 && strings.ContainsAny(port, "0123456789¹²³")
}
