package addr

import (
	"cmp"
	"fmt"
	"runtime"
	"strings"

	"github.com/agext/levenshtein"

	"github.com/pluginlock/plugins/internal/text"
)

// Platform is an operating system, a processor architecture and, for some
// architectures, a variant, in the words of the OCI image specification
// (https://github.com/opencontainers/image-spec/blob/v1.1.1/image-index.md),
// which are Go's GOOS and GOARCH. Values made by this package are normalised:
// "arm64/v8" is "arm64", "amd64/v1" is "amd64", "arm" without variant is "arm/v7".
type Platform struct {
	OS, Arch, Variant string
}

// operatingSystems and architectures are what Go can build for, and so what a
// plugin can be; a name outside of them is a misspelling.
var (
	operatingSystems = []string{"aix", "android", "darwin", "dragonfly", "freebsd", "illumos", "ios", "js", "linux",
		"netbsd", "openbsd", "plan9", "solaris", "wasip1", "windows"}
	architectures = []string{"386", "amd64", "arm", "arm64", "loong64", "mips", "mips64", "mips64le", "mipsle",
		"ppc64", "ppc64le", "riscv64", "s390x", "wasm"}
)

// ParsePlatform reads "os/arch" or "os/arch/variant". A name that no Go
// toolchain knows is refused, with the nearest one that is known.
func ParsePlatform(s string) (Platform, error) {
	parts := strings.Split(s, "/")
	if len(parts) < 2 || len(parts) > 3 {
		return Platform{}, fmt.Errorf("%q is not a platform: it needs the form os/arch or os/arch/variant, such as linux/amd64", text.Clip(s))
	}
	p := Platform{OS: parts[0], Arch: parts[1]}
	if len(parts) == 3 {
		p.Variant = parts[2]
	}
	if err := known(s, "operating system", p.OS, operatingSystems); err != nil {
		return Platform{}, err
	}
	if err := known(s, "architecture", p.Arch, architectures); err != nil {
		return Platform{}, err
	}
	if len(parts) == 3 && !validVariant(p.Variant) {
		return Platform{}, fmt.Errorf("%q is not a platform: variant %q must be v and a number, such as v7", text.Clip(s), text.Clip(p.Variant))
	}
	return p.Normalize(), nil
}

// HostPlatform is the platform that this program was built for.
func HostPlatform() Platform {
	return Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}.Normalize()
}

// Normalize returns p in the spelling under which equal platforms are equal.
func (p Platform) Normalize() Platform {
	switch {
	case p.Arch == "arm64" && p.Variant == "v8", p.Arch == "amd64" && p.Variant == "v1":
		p.Variant = ""
	case p.Arch == "arm" && p.Variant == "":
		p.Variant = "v7"
	}
	return p
}

// Fallbacks lists the platforms whose programs run on p, the best first and p
// itself among them: an arm/v7 processor also runs arm/v6 and arm/v5.
func (p Platform) Fallbacks() []Platform {
	all := []Platform{p}
	var older []string
	switch {
	case p.Arch == "arm" && p.Variant == "v7":
		older = []string{"v6", "v5"}
	case p.Arch == "arm" && p.Variant == "v6":
		older = []string{"v5"}
	case p.Arch == "amd64" && p.Variant == "v4":
		older = []string{"v3", "v2", ""}
	case p.Arch == "amd64" && p.Variant == "v3":
		older = []string{"v2", ""}
	case (p.Arch == "amd64" || p.Arch == "arm64") && p.Variant != "":
		older = []string{""}
	}
	for _, variant := range older {
		all = append(all, Platform{p.OS, p.Arch, variant})
	}
	return all
}

// String returns "os/arch" or "os/arch/variant"; the zero value gives "".
func (p Platform) String() string {
	if p.IsZero() {
		return ""
	}
	if p.Variant == "" {
		return p.OS + "/" + p.Arch
	}
	return p.OS + "/" + p.Arch + "/" + p.Variant
}

// IsZero reports whether p is no platform.
func (p Platform) IsZero() bool { return p == Platform{} }

// Compare orders platforms by their text.
func (p Platform) Compare(q Platform) int { return cmp.Compare(p.String(), q.String()) }

// known reports an error unless name is one of names.
func known(whole, what, name string, names []string) error {
	nearest, distance := "", 3
	for _, candidate := range names {
		if candidate == name {
			return nil
		}
		if d := levenshtein.Distance(name, candidate, nil); d < distance {
			nearest, distance = candidate, d
		}
	}
	if nearest == "" {
		return fmt.Errorf("%q is not a platform: %s %q is not known", text.Clip(whole), what, text.Clip(name))
	}
	return fmt.Errorf("%q is not a platform: %s %q is not known; did you mean %q?", text.Clip(whole), what, text.Clip(name), nearest)
}

func validVariant(v string) bool {
	return len(v) == 2 && v[0] == 'v' && v[1] >= '1' && v[1] <= '9'
}
