package addr

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

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

// variantsOf lists the variants of an architecture, the oldest first; a
// processor of one runs the programs of all before it.
func variantsOf(arch string) []string {
	switch arch {
	case "amd64":
		return []string{"v1", "v2", "v3", "v4"}
	case "arm":
		return []string{"v5", "v6", "v7", "v8"}
	case "arm64":
		return []string{"v8", "v9"}
	}
	return nil
}

// ParsePlatform reads "os/arch" or "os/arch/variant". A name that no Go
// toolchain knows is refused, with the nearest one that is known, and so is a
// variant that the architecture does not have.
func ParsePlatform(s string) (Platform, error) {
	parts := strings.Split(s, "/")
	if len(parts) < 2 || len(parts) > 3 {
		return Platform{}, fmt.Errorf("%s is not a platform: it needs the form os/arch or os/arch/variant, such as linux/amd64", text.Quote(s))
	}
	p := Platform{OS: parts[0], Arch: parts[1]}
	if reason := unknown("operating system", p.OS, operatingSystems); reason != "" {
		return Platform{}, fmt.Errorf("%s is not a platform: %s", text.Quote(s), reason)
	}
	if reason := unknown("architecture", p.Arch, architectures); reason != "" {
		return Platform{}, fmt.Errorf("%s is not a platform: %s", text.Quote(s), reason)
	}
	if len(parts) == 3 {
		p.Variant = parts[2]
		if reason := wrongVariant(p); reason != "" {
			return Platform{}, fmt.Errorf("%s is not a platform: %s", text.Quote(s), reason)
		}
	}
	return p.Normalize(), nil
}

// HostPlatform is the platform that this program was built for, which is not
// always all that the processor can do.
func HostPlatform() Platform {
	p := Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok && p.Arch == "arm" {
		p.Variant = armVariant(info.Settings)
	}
	return p.Normalize()
}

// armVariant returns the variant for which an arm program was built: a program
// for v6 may well run on a processor that has no more than that. It is "" where
// the build does not say.
func armVariant(settings []debug.BuildSetting) string {
	for _, s := range settings {
		if s.Key == "GOARM" {
			version, _, _ := strings.Cut(s.Value, ",") // "7,hardfloat"
			return "v" + version
		}
	}
	return ""
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
	p = p.Normalize()
	all := []Platform{p}
	variants := variantsOf(p.Arch)
	for i := slices.Index(variants, p.Variant) - 1; i >= 0; i-- {
		all = append(all, Platform{p.OS, p.Arch, variants[i]}.Normalize())
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

// unknown returns the reason for which name is none of names, or "".
func unknown(what, name string, names []string) string {
	if slices.Contains(names, name) {
		return ""
	}
	reason := fmt.Sprintf("%s %s is not known", what, text.Quote(name))
	if nearest := nearest(name, names); nearest != "" {
		reason += fmt.Sprintf("; did you mean %q?", nearest)
	}
	return reason
}

// nearest returns the name that was probably meant, or "": another system's
// word, or a misspelling by one or two letters.
func nearest(name string, names []string) string {
	name = strings.ToLower(name)
	if alias := elsewhere(name); slices.Contains(names, alias) {
		return alias
	}
	return text.Nearest(name, names)
}

// elsewhere returns the name here of what other systems call otherwise, or "".
func elsewhere(name string) string {
	switch name {
	case "x86_64", "x86-64", "x64":
		return "amd64"
	case "aarch64":
		return "arm64"
	case "i386", "i686", "x86":
		return "386"
	case "macos", "osx":
		return "darwin"
	}
	return ""
}

// wrongVariant returns the reason for which p cannot have its variant, or "".
func wrongVariant(p Platform) string {
	variants := variantsOf(p.Arch)
	switch {
	case slices.Contains(variants, p.Variant):
		return ""
	case len(variants) == 0:
		return fmt.Sprintf("architecture %s has no variants, but %s is given", p.Arch, text.Quote(p.Variant))
	}
	return fmt.Sprintf("variant %s is not known; %s has %s", text.Quote(p.Variant), p.Arch, strings.Join(variants, ", "))
}
