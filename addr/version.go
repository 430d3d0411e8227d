package addr

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/pluginlock/plugins/internal/text"
)

// maxTag is the longest tag that a registry takes, in characters (OCI
// distribution specification 1.1). A version that is longer could never be
// published.
const maxTag = 128

// Version is a version by Semantic Versioning 2.0.0, in normal form. Values are
// compared with ==, which tells builds apart, or ordered with
// [Version.Compare]. The zero value is no version; it is not 0.0.0.
type Version struct {
	major, minor, patch uint64
	prerelease, build   string
	valid               bool
}

// ParseVersion reads MAJOR.MINOR.PATCH[-PRERELEASE][+BUILD], the form that
// [Version.String] writes and nothing else: no v in front, no leading zeros,
// three numbers that fit 64 bits each, at most 128 characters.
func ParseVersion(s string) (Version, error) {
	v, reason := parseVersion(s)
	if reason != "" {
		return Version{}, fmt.Errorf("version %s %s", text.Quote(s), reason)
	}
	return v, nil
}

// ParseTag reads a tag of a repository. A tag is a release if it is a version,
// strictly, with an optional v in front and with _ in the place of +, which a
// tag cannot hold. For everything else (latest, 1.2, 20240131, 01.2.3,
// sha256-…) the result is false.
func ParseTag(tag string) (Version, bool) {
	if len(tag) > maxTag || strings.Contains(tag, "+") {
		return Version{}, false
	}
	v, reason := parseVersion(strings.Replace(strings.TrimPrefix(tag, "v"), "_", "+", 1))
	return v, reason == ""
}

// Newest returns the newest of the versions that c admits, by
// [Version.Compare]; false where it admits none. Their order does not matter.
func Newest(c Constraint, versions []Version) (Version, bool) {
	var newest Version
	for _, v := range versions {
		if c.Allows(v) && (newest.IsZero() || v.Compare(newest) > 0) {
			newest = v
		}
	}
	return newest, !newest.IsZero()
}

// Major returns the first number.
func (v Version) Major() uint64 { return v.major }

// Minor returns the second number.
func (v Version) Minor() uint64 { return v.minor }

// Patch returns the third number.
func (v Version) Patch() uint64 { return v.patch }

// Prerelease returns what follows the hyphen, such as "rc.1"; "" for a release.
func (v Version) Prerelease() string { return v.prerelease }

// Build returns the build metadata, what follows the plus sign, or "".
func (v Version) Build() string { return v.build }

// IsZero reports whether v is no version.
func (v Version) IsZero() bool { return !v.valid }

// String returns the normal form, which [ParseVersion] reads back; "" for the
// zero value.
func (v Version) String() string {
	if !v.valid {
		return ""
	}
	return v.format(3)
}

// Tag returns the version's own spelling as a tag, with _ for + and without a
// v; [ParseTag] reads it back.
func (v Version) Tag() string { return strings.Replace(v.String(), "+", "_", 1) }

// Compare orders by precedence of Semantic Versioning (section 11), where
// builds of one version are equal, and those by the text of their metadata, so
// that the order is total. The zero value comes first.
func (v Version) Compare(w Version) int {
	if v.valid != w.valid {
		if w.valid {
			return -1
		}
		return 1
	}
	return cmp.Or(v.precedence(w), cmp.Compare(v.build, w.build))
}

// precedence is Compare without the build metadata.
func (v Version) precedence(w Version) int {
	if c := cmp.Or(cmp.Compare(v.major, w.major), cmp.Compare(v.minor, w.minor), cmp.Compare(v.patch, w.patch)); c != 0 {
		return c
	}
	switch {
	case v.prerelease == w.prerelease:
		return 0
	case v.prerelease == "":
		return 1
	case w.prerelease == "":
		return -1
	}
	return semver.Compare("v0.0.0-"+v.prerelease, "v0.0.0-"+w.prerelease)
}

// sameNumbers reports whether the first n of the three numbers agree, and the
// first in any case: "~> 1" holds fast on it as "~> 1.2" does.
func (v Version) sameNumbers(w Version, n int) bool {
	return v.major == w.major && (n < 2 || v.minor == w.minor) && (n < 3 || v.patch == w.patch)
}

// format writes the first n numbers and what follows them.
func (v Version) format(n int) string {
	numbers := [3]uint64{v.major, v.minor, v.patch}
	var b strings.Builder
	for i, number := range numbers[:n] {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(strconv.FormatUint(number, 10))
	}
	if v.prerelease != "" {
		b.WriteString("-" + v.prerelease)
	}
	if v.build != "" {
		b.WriteString("+" + v.build)
	}
	return b.String()
}

// parseVersion reads a whole version; the reason is "" where s is one.
func parseVersion(s string) (Version, string) {
	v, count, reason := parsePartial(s)
	switch {
	case reason != "":
		return Version{}, reason
	case count < 3:
		return Version{}, "needs three numbers, MAJOR.MINOR.PATCH"
	}
	return v, ""
}

// parsePartial reads a version of which trailing numbers may be missing, as in
// a constraint; missing ones are 0. The count says how many were written. The
// reason, a clause that follows the quoted text, is "" where s could be read.
func parsePartial(s string) (v Version, count int, reason string) {
	if len(s) > maxTag {
		return Version{}, 0, fmt.Sprintf("is longer than %d characters, more than a tag can hold", maxTag)
	}
	rest, build, hasBuild := strings.Cut(s, "+")
	core, prerelease, hasPrerelease := strings.Cut(rest, "-")
	numbers, count, reason := parseNumbers(core)
	switch {
	case reason != "":
		return Version{}, 0, reason
	case count < 3 && hasPrerelease:
		return Version{}, 0, "has a pre-release, which needs three numbers before it"
	case count < 3 && hasBuild:
		return Version{}, 0, "has build metadata, which needs three numbers before it"
	}
	if hasPrerelease {
		reason = checkIdentifiers(prerelease, "pre-release", true)
	}
	if hasBuild && reason == "" {
		reason = checkIdentifiers(build, "build metadata", false)
	}
	if reason != "" {
		return Version{}, 0, reason
	}
	return Version{numbers[0], numbers[1], numbers[2], prerelease, build, true}, count, ""
}

// parseNumbers reads one to three numbers with dots between them.
func parseNumbers(s string) (numbers [3]uint64, count int, reason string) {
	if s == "" {
		return numbers, 0, "has no number"
	}
	for field := range strings.SplitSeq(s, ".") {
		if count == len(numbers) {
			return numbers, 0, "has more than three numbers; a version is MAJOR.MINOR.PATCH"
		}
		switch {
		case field == "":
			return numbers, 0, "has an empty number"
		case !digits(field):
			return numbers, 0, fmt.Sprintf("has %s where a number must be", text.Quote(field))
		case len(field) > 1 && field[0] == '0':
			return numbers, 0, fmt.Sprintf("has the number %s with a leading zero", text.Quote(field))
		}
		n, err := strconv.ParseUint(field, 10, 64)
		if err != nil {
			return numbers, 0, fmt.Sprintf("has the number %s, which is too large", text.Quote(field))
		}
		numbers[count] = n
		count++
	}
	return numbers, count, ""
}

// checkIdentifiers holds dot-separated identifiers to sections 9 and 10 of
// Semantic Versioning: letters, digits and hyphens, none empty and, in a
// pre-release, no number with a leading zero.
func checkIdentifiers(s, what string, numeric bool) string {
	for id := range strings.SplitSeq(s, ".") {
		if id == "" {
			return fmt.Sprintf("has an empty part in its %s", what)
		}
		for _, r := range id {
			if !alphanumeric(r) && r != '-' {
				return fmt.Sprintf("has %s in its %s; only letters, digits, hyphens and dots may be there", text.Quote(string(r)), what)
			}
		}
		if numeric && len(id) > 1 && id[0] == '0' && digits(id) {
			return fmt.Sprintf("has the number %s with a leading zero in its %s", text.Quote(id), what)
		}
	}
	return ""
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func alphanumeric(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
