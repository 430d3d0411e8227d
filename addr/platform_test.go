package addr_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/pluginlock/plugins/addr"
)

// parsePlatform parses a platform that must be right.
func parsePlatform(t *testing.T, s string) addr.Platform {
	t.Helper()
	p, err := addr.ParsePlatform(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPlatformNormalForm(t *testing.T) {
	for in, want := range map[string]string{
		"linux/amd64":    "linux/amd64",
		"linux/amd64/v1": "linux/amd64",
		"linux/amd64/v3": "linux/amd64/v3",
		"linux/arm64":    "linux/arm64",
		"linux/arm64/v8": "linux/arm64",
		"linux/arm64/v9": "linux/arm64/v9",
		"linux/arm":      "linux/arm/v7",
		"linux/arm/v6":   "linux/arm/v6",
		"windows/386":    "windows/386",
		"linux/s390x":    "linux/s390x",
	} {
		if got := parsePlatform(t, in).String(); got != want {
			t.Errorf("ParsePlatform(%q) is %q, want %q", in, got, want)
		}
	}
}

func TestPlatformRefusals(t *testing.T) {
	for _, test := range []struct{ in, reason string }{
		{"", "it needs the form os/arch"},
		{"linux", "it needs the form os/arch"},
		{"linux_amd64", "it needs the form os/arch"},
		{"linux/arm/v7/x", "it needs the form os/arch"},
		{"linux/", `architecture "" is not known`},
		{"/amd64", `operating system "" is not known`},
		{"linux/amd46", `architecture "amd46" is not known; did you mean "amd64"?`},
		{"linux/x86_64", `architecture "x86_64" is not known; did you mean "amd64"?`},
		{"linux/aarch64", `architecture "aarch64" is not known; did you mean "arm64"?`},
		{"macos/arm64", `operating system "macos" is not known; did you mean "darwin"?`},
		{"Linux/AMD64", `operating system "Linux" is not known; did you mean "linux"?`},
		{"linux/AMD64", `architecture "AMD64" is not known; did you mean "amd64"?`},
		{"aarch64/linux", `operating system "aarch64" is not known`},
		{"linux/unknown", `architecture "unknown" is not known`},
		{"unknown/unknown", `operating system "unknown" is not known`},
		{"linux/amd64/v5", `variant "v5" is not known; amd64 has v1, v2, v3, v4`},
		{"linux/arm/7", `variant "7" is not known; arm has v5, v6, v7, v8`},
		{"linux/amd64/", `variant "" is not known`},
		{"linux/386/v7", `architecture 386 has no variants, but "v7" is given`},
		{"linux\x1b/amd64", `operating system "linux\x1b" is not known`},
		{strings.Repeat("x", 5000) + "/amd64", "is not known"},
	} {
		p, err := addr.ParsePlatform(test.in)
		if err == nil || !strings.Contains(err.Error(), test.reason) || len(err.Error()) > 600 {
			t.Errorf("ParsePlatform(%.30q) = %q, %v; want %q", test.in, p, err, test.reason)
		}
		if strings.Contains(test.in, "aarch64/") && strings.Contains(fmt.Sprint(err), "did you mean") {
			t.Errorf("an architecture was offered as an operating system: %v", err)
		}
	}
}

func TestPlatformFallbacks(t *testing.T) {
	for in, want := range map[string]string{
		"linux/arm/v8":   "linux/arm/v8 linux/arm/v7 linux/arm/v6 linux/arm/v5",
		"linux/arm":      "linux/arm/v7 linux/arm/v6 linux/arm/v5",
		"linux/arm/v6":   "linux/arm/v6 linux/arm/v5",
		"linux/arm/v5":   "linux/arm/v5",
		"linux/amd64/v4": "linux/amd64/v4 linux/amd64/v3 linux/amd64/v2 linux/amd64",
		"linux/amd64":    "linux/amd64",
		"linux/arm64/v9": "linux/arm64/v9 linux/arm64",
		"darwin/arm64":   "darwin/arm64",
		"linux/riscv64":  "linux/riscv64",
	} {
		if got := join(parsePlatform(t, in).Fallbacks()); got != want {
			t.Errorf("%s runs programs of %s, want %s", in, got, want)
		}
	}
}

func join(platforms []addr.Platform) string {
	var texts []string
	for _, p := range platforms {
		texts = append(texts, p.String())
	}
	return strings.Join(texts, " ")
}

func TestHostPlatform(t *testing.T) {
	host := addr.HostPlatform()
	if host.OS != runtime.GOOS || host.Arch != runtime.GOARCH {
		t.Errorf("the host is %s", host)
	}
	if parsePlatform(t, host.String()) != host {
		t.Errorf("%s does not read back equal", host)
	}
}

func TestPlatformOrder(t *testing.T) {
	var platforms []addr.Platform
	for _, s := range []string{"windows/amd64", "linux/arm/v7", "linux/arm64", "linux/arm/v6", "darwin/arm64", "linux/amd64"} {
		platforms = append(platforms, parsePlatform(t, s))
	}
	slices.SortFunc(platforms, addr.Platform.Compare)
	if got, want := join(platforms), "darwin/arm64 linux/amd64 linux/arm/v6 linux/arm/v7 linux/arm64 windows/amd64"; got != want {
		t.Errorf("sorted: %s, want %s", got, want)
	}
	if zero := (addr.Platform{}); !zero.IsZero() || zero.String() != "" || platforms[0].IsZero() {
		t.Error("the zero platform must be no platform")
	}
}

func FuzzParsePlatform(f *testing.F) {
	for _, s := range []string{"linux/amd64", "linux/arm/v7", "linux/arm64/v8", "linux_amd64", "linux/amd46", "macos/x86_64", "linux//", "linux/arm/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := addr.ParsePlatform(s)
		if err != nil {
			if err.Error() == "" || !p.IsZero() {
				t.Errorf("%q is refused as %q, %v", s, p, err)
			}
			return
		}
		if again := parsePlatform(t, p.String()); again != p || p.Normalize() != p {
			t.Errorf("%q is %s, which is %s", s, p, again)
		}
		if p.Fallbacks()[0] != p {
			t.Errorf("%s does not come first among %s", p, join(p.Fallbacks()))
		}
	})
}
