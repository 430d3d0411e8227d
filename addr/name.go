package addr

import (
	"strings"
	"unicode/utf8"

	"github.com/pluginlock/plugins/internal/filename"
)

// MaxName is the most characters of a plugin's name.
const MaxName = 64

// NameFault is what keeps a text from being the name of a plugin.
type NameFault int

// The faults of names, in the order in which they are looked for.
const (
	NameFits     NameFault = iota // it can be a name
	NameEmpty                     // it has no character
	NameTooLong                   // it has more than MaxName characters
	NameStart                     // it begins with something else than a letter from a to z
	NameLetters                   // it has something else than a to z, 0 to 9, "_" and "-"
	NameReserved                  // Windows keeps it for a device
)

// CheckName returns what is wrong with the name of a plugin, or NameFits. Names
// become names of files on every system, so the grammar is narrow:
// [a-z][a-z0-9_-]*, at most 64 characters, and none of the names that Windows
// keeps for devices.
func CheckName(name string) NameFault {
	const letters, others = "abcdefghijklmnopqrstuvwxyz", "0123456789_-"
	switch {
	case name == "":
		return NameEmpty
	case utf8.RuneCountInString(name) > MaxName:
		return NameTooLong
	case !strings.Contains(letters, name[:1]):
		return NameStart
	case strings.Trim(name, letters+others) != "":
		return NameLetters
	case filename.IsDevice(name):
		return NameReserved
	}
	return NameFits
}
