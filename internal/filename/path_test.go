package filename

import (
	"encoding/json"
	"testing"
	"unicode/utf8"
)

func TestPath(t *testing.T) {
	for _, path := range []Path{"", "/home/me/ü \"x\"/.cache", "C:\\Users\\me", "/inv\xff\xfe/x", "base64:/odd"} {
		encoded, err := json.Marshal(path)
		if err != nil || !utf8.Valid(encoded) {
			t.Errorf("%q: %s, %v", path, encoded, err)
		}
		var back Path
		if err := json.Unmarshal(encoded, &back); err != nil || back != path {
			t.Errorf("%q came back as %q, %v", path, back, err)
		}
	}
	var p Path
	if err := json.Unmarshal([]byte(`"base64:%"`), &p); err == nil {
		t.Errorf("%q", p)
	}
}
