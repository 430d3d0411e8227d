package config

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
)

// excerpt returns file as diagnostics may show it: without passwords, because a
// source with user information is refused and the excerpt must not print what
// the message leaves out, and without characters that move a cursor.
func excerpt(file *hcl.File, name string) *hcl.File {
	shown := printable(maskUserInfo(file.Bytes))
	if isJSON(name) || !bytes.Equal(shown, file.Bytes) {
		// Nav names the blocks around a problem, with labels and keys as they are.
		return &hcl.File{Body: file.Body, Bytes: shown}
	}
	return file
}

// printable returns text with question marks for whatever is neither printable
// nor a tab or the end of a line. The length stays the same.
func printable(text []byte) []byte {
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

// maskUserInfo returns text with stars for whatever stands between the opening
// quote, or a scheme, and an at sign in the same quoted text. The length stays
// the same, and with it all positions.
func maskUserInfo(text []byte) []byte {
	if bytes.IndexByte(text, '@') < 0 {
		return text
	}
	masked := bytes.Clone(text)
	start := -1 // of the user information, if there is one; -1 outside of quotes
	for i, char := range text {
		switch {
		case char == '\n':
			start = -1
		case char == '"':
			start = i + 1
		case char == ':' && start >= 0 && bytes.HasPrefix(text[i:], []byte("://")):
			start = i + len("://")
		case char == '@' && start >= 0 && start <= i && !isDigestAt(text[i+1:]):
			for j := start; j < i; j++ {
				masked[j] = '*'
			}
			start = i // what is masked already stays so
		}
	}
	return masked
}

// isDigestAt reports whether what follows an at sign is a digest.
func isDigestAt(rest []byte) bool {
	return bytes.HasPrefix(rest, []byte("sha256:")) || bytes.HasPrefix(rest, []byte("sha512:"))
}
