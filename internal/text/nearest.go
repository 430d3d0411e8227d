package text

import (
	"strings"

	"github.com/agext/levenshtein"
)

// Nearest returns the name of known, all in lower case, that name is most
// likely a slip for, or "": one that two edits at most make of it, so that two
// swapped letters are found. A name that has no letter in common with it is
// not meant. Of several that are as near it returns the first.
func Nearest(name string, known []string) string {
	name = strings.ToLower(name)
	nearest, distance := "", min(3, len(name))
	for _, k := range known {
		if len(name) > len(k)+2 {
			continue // comparing takes time by the product of the lengths
		}
		if d := levenshtein.Distance(name, k, nil); d < distance {
			nearest, distance = k, d
		}
	}
	return nearest
}
