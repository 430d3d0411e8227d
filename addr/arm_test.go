package addr

import (
	"runtime/debug"
	"testing"
)

func TestArmVariantOfBuild(t *testing.T) {
	for value, want := range map[string]string{"5": "v5", "6": "v6", "7,hardfloat": "v7"} {
		settings := []debug.BuildSetting{{Key: "GOARCH", Value: "arm"}, {Key: "GOARM", Value: value}}
		if got := armVariant(settings); got != want {
			t.Errorf("GOARM=%s gives %q, want %q", value, got, want)
		}
	}
	if got := armVariant(nil); got != "" {
		t.Errorf("a build that does not say gives %q", got)
	}
}
