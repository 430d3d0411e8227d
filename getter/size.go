package getter

import (
	"strconv"
	"strings"
)

// size writes a number of bytes for people: "8 MB".
func size(n int64) string {
	unit, factor := unitOf(n)
	return amount(n, factor) + " " + unit
}

// sizeOf writes a part and a whole in one unit, "3 of 8 MB": a smaller one where
// they would look the same.
func sizeOf(part, whole int64) string {
	unit, factor := unitOf(whole)
	for part != whole && factor > 1 && amount(part, factor) == amount(whole, factor) {
		unit, factor = unitOf(factor - 1)
	}
	return amount(part, factor) + " of " + amount(whole, factor) + " " + unit
}

func unitOf(n int64) (string, int64) {
	switch {
	case n >= 1e9:
		return "GB", 1e9
	case n >= 1e6:
		return "MB", 1e6
	case n >= 1e3:
		return "kB", 1e3
	}
	return "bytes", 1
}

// amount has one digit behind the point, if that is not 0.
func amount(n, factor int64) string {
	return strings.TrimSuffix(strconv.FormatFloat(float64(n)/float64(factor), 'f', 1, 64), ".0")
}
