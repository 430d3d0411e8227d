package config

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"

	"github.com/pluginlock/plugins/internal/text"
)

// excerpt returns file as diagnostics may show it: without passwords, because a
// source with user information is refused and the excerpt must not print what
// the message leaves out, and without characters that move a cursor.
func excerpt(file *hcl.File, name string) *hcl.File {
	shown := text.Printable(maskUserInfo(file.Bytes))
	if isJSON(name) || !bytes.Equal(shown, file.Bytes) {
		// Nav names the blocks around a problem, with labels and keys as they are.
		return &hcl.File{Body: file.Body, Bytes: shown}
	}
	return file
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
