package config

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/text"
)

// CheckName reports why name can't be the name of a plugin; the rule is that of
// [addr.CheckName]. The error is a [*RequirementError].
func CheckName(name string) error {
	if err := checkName(name); err != nil {
		err.Name = name
		return err
	}
	return nil
}

func checkName(name string) *RequirementError {
	shown := text.Quote(name)
	refuse := func(format string, args ...any) *RequirementError {
		return &RequirementError{Attribute: "name", Summary: "Invalid plugin name", Detail: fmt.Sprintf(format, args...)}
	}
	switch addr.CheckName(name) {
	case addr.NameEmpty:
		return refuse("A plugin needs a name, such as %q.", "aws")
	case addr.NameTooLong:
		return refuse("The name %s has %d characters; at most %d are allowed, because names become file names.",
			shown, utf8.RuneCountInString(name), addr.MaxName)
	case addr.NameStart, addr.NameLetters:
		return refuse("The name %s becomes a file name, so it must be a letter from a to z, then letters, digits, _ or -.%s",
			shown, didYouMean(repairName(name)))
	case addr.NameReserved:
		return refuse("The name %s is kept for a device by Windows and can't be a file name there. Choose another, such as %q.", shown, name+"-plugin")
	}
	return nil
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
	if addr.CheckName(repaired) != addr.NameFits {
		return ""
	}
	return repaired
}
