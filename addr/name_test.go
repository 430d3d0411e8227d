package addr

import (
	"strings"
	"testing"
)

func TestCheckName(t *testing.T) {
	for name, want := range map[string]NameFault{
		"a": NameFits, "aws": NameFits, "a-b_9": NameFits, "com": NameFits, "com10": NameFits, "console": NameFits,
		strings.Repeat("a", MaxName): NameFits,

		"":                                   NameEmpty,
		strings.Repeat("a", MaxName+1):       NameTooLong,
		strings.Repeat("ä", MaxName+1):       NameTooLong,
		strings.Repeat("con", MaxName):       NameTooLong,
		"a" + strings.Repeat("ä", MaxName-1): NameLetters, // counted in characters
		"9a":                                 NameStart, "-a": NameStart, "_a": NameStart, "A": NameStart, "ä": NameStart, "..": NameStart, "\xff": NameStart,
		"aA": NameLetters, "a.b": NameLetters, "a/b": NameLetters, "a b": NameLetters, "a\x00": NameLetters, "con.txt": NameLetters,
		"con": NameReserved, "prn": NameReserved, "aux": NameReserved, "nul": NameReserved, "com0": NameReserved, "lpt9": NameReserved,
	} {
		if got := CheckName(name); got != want {
			t.Errorf("%q: fault %d, want %d", name, got, want)
		}
	}
}
