// Package text makes foreign text, from a registry or a user's file, fit to be
// shown: nothing in it can move a cursor, forge a line or fill a screen.
package text

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longest is how many characters of foreign text a message shows.
const longest = 120

// Clip escapes what is not printable and cuts what is too long.
func Clip(s string) string { return ClipTo(s, longest) }

// ClipTo is [Clip] with a length of the caller's, in characters.
func ClipTo(s string, limit int) string {
	var b strings.Builder
	count := 0
	for len(s) > 0 {
		if count == limit {
			b.WriteString("…")
			break
		}
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[0]), 16))
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s, count = s[size:], count+1
	}
	return b.String()
}

// Quote puts foreign text between quotation marks: escaped once, cut where it
// is too long, and unable to end the quotation itself.
func Quote(s string) string { return `"` + strings.ReplaceAll(Clip(s), `"`, `\"`) + `"` }

// Printable returns the text of a file as excerpts may show it, with question
// marks for whatever is neither printable nor a tab or the end of a line. The
// length stays the same.
func Printable(text []byte) []byte {
	var shown []byte // nil as long as it would be equal
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if !isPrintable(r, text[i+size:]) || r == utf8.RuneError && size == 1 {
			if shown == nil {
				shown = bytes.Clone(text)
			}
			copy(shown[i:], "????"[:size])
		}
		i += size
	}
	if shown == nil {
		return text
	}
	return shown
}

func isPrintable(r rune, rest []byte) bool {
	switch r {
	case '\n', '\t':
		return true
	case '\r':
		return bytes.HasPrefix(rest, []byte("\n"))
	}
	return unicode.IsPrint(r)
}

// Sentence makes a sentence of an error's text, which has none of ours yet.
func Sentence(err error) string {
	s := err.Error()
	if s != "" {
		s = strings.ToUpper(s[:1]) + s[1:]
	}
	if !strings.HasSuffix(s, "?") {
		s += "."
	}
	return s
}

// Join prints a list with commas.
func Join[T any](items []T) string {
	var b strings.Builder
	for i, item := range items {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, item)
	}
	return b.String()
}
