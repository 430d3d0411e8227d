package image

import (
	"strings"
	"testing"
)

func TestConfigPlatform(t *testing.T) {
	for raw, want := range map[string]string{
		`{"os":"linux","architecture":"arm","variant":"v7","rootfs":{}}`: "linux/arm/v7",
		`{"os":"linux","architecture":"arm64","variant":"v8"}`:           "linux/arm64",
		`{"architecture":"amd64"}`:                                       `! does not say "os" and "architecture"`,
		`{"os":"linux"}`:                                                 `! does not say "os" and "architecture"`,
		`{"os":"haiku","architecture":"amd64"}`:                          "! its config: ",
		`{"os":1}`:                                                       "! is not JSON",
		``:                                                               "! is not JSON",
	} {
		got, err := ConfigPlatform([]byte(raw))
		message, refused := strings.CutPrefix(want, "! ")
		switch {
		case refused && (err == nil || !strings.Contains(err.Error(), message)):
			t.Errorf("%s: %v, %v, want %q", raw, got, err, message)
		case !refused && (err != nil || got.String() != want):
			t.Errorf("%s: %v, %v, want %s", raw, got, err, want)
		}
	}
}
