package filename

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// Path is a file's path that is kept as JSON, whose strings are UTF-8: a path
// need not be, and is then written in base64 after a prefix that no absolute
// path has.
type Path string

const encodedPrefix = "base64:"

// MarshalText implements [encoding.TextMarshaler].
func (p Path) MarshalText() ([]byte, error) {
	if utf8.ValidString(string(p)) && !strings.HasPrefix(string(p), encodedPrefix) {
		return []byte(p), nil
	}
	return []byte(encodedPrefix + base64.StdEncoding.EncodeToString([]byte(p))), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (p *Path) UnmarshalText(text []byte) error {
	encoded, ok := strings.CutPrefix(string(text), encodedPrefix)
	if !ok {
		*p = Path(text)
		return nil
	}
	decoded, err := base64.StdEncoding.DecodeString(encoded)
	*p = Path(decoded)
	return err
}
