package extract

import (
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Every letter must collide with its other cases and its other forms.
func TestFoldKeyOfEveryLetter(t *testing.T) {
	for r := rune(1); r <= unicode.MaxRune; r++ {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) {
			continue
		}
		s := "x" + string(r)
		key := foldKey(s)
		for _, other := range []string{norm.NFC.String(s), norm.NFD.String(s), strings.ToUpper(s), key} {
			if other != s && foldKey(other) != key {
				t.Errorf("%U: %q has the key %q, %q has %q", r, s, key, other, foldKey(other))
			}
		}
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			if foldKey("x"+string(f)) != key {
				t.Errorf("%U and %U have different keys", r, f)
			}
		}
	}
}

func TestFoldKeyKeepsApart(t *testing.T) {
	seen := map[string]string{}
	for _, s := range []string{"a", "b", "ab", "a-b", "a_b", "\u00e4", "ae", "\u65e5", "\u672c", "1", "\u00b9x", "\u0430"} {
		if other, ok := seen[foldKey(s)]; ok {
			t.Errorf("%q and %q are taken for the same", s, other)
		}
		seen[foldKey(s)] = s
	}
}
