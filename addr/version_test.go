package addr_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/semver"

	"github.com/pluginlock/plugins/addr"
)

// parseVersion parses a version that must be right.
func parseVersion(t *testing.T, s string) addr.Version {
	t.Helper()
	v, err := addr.ParseVersion(s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestVersionParts(t *testing.T) {
	v := parseVersion(t, "1.22.333-rc.1-x+linux.009")
	if v.Major() != 1 || v.Minor() != 22 || v.Patch() != 333 || v.Prerelease() != "rc.1-x" || v.Build() != "linux.009" {
		t.Errorf("parts of %s: %d, %d, %d, %q, %q", v, v.Major(), v.Minor(), v.Patch(), v.Prerelease(), v.Build())
	}
	if v.Tag() != "1.22.333-rc.1-x_linux.009" {
		t.Errorf("tag %q", v.Tag())
	}
}

func TestVersionZeroIsNoVersion(t *testing.T) {
	var zero addr.Version
	least := parseVersion(t, "0.0.0-0")
	if !zero.IsZero() || zero.String() != "" || zero.Tag() != "" {
		t.Errorf("the zero version is %q", zero)
	}
	if parseVersion(t, "0.0.0").IsZero() || parseVersion(t, "0.0.0") == zero {
		t.Error("0.0.0 is taken for no version")
	}
	if zero.Compare(least) >= 0 || least.Compare(zero) <= 0 || zero.Compare(addr.Version{}) != 0 {
		t.Error("no version must come before every version")
	}
}

func TestVersionRefusals(t *testing.T) {
	for _, test := range []struct{ in, reason string }{
		{"", "has no number"},
		{"v1.2.3", `has "v1" where a number must be`},
		{"1.2", "needs three numbers"},
		{"1.2.3.4", "has more than three numbers"},
		{"1..3", "has an empty number"},
		{"1.2.03", `has the number "03" with a leading zero`},
		{"1.2.+3", "has an empty number"},
		{" 1.2.3", `has " 1" where a number must be`},
		{"1.2.٣", `where a number must be`},
		{"18446744073709551616.0.0", "which is too large"},
		{"1.2-rc", "has a pre-release, which needs three numbers"},
		{"1.2+9", "has build metadata, which needs three numbers"},
		{"1.2.3-", "has an empty part in its pre-release"},
		{"1.2.3-rc.", "has an empty part in its pre-release"},
		{"1.2.3-rc.01", "with a leading zero in its pre-release"},
		{"1.2.3-rc_1", `has "_" in its pre-release`},
		{"1.2.3-é", `has "é" in its pre-release`},
		{"1.2.3+", "has an empty part in its build metadata"},
		{"1.2.3+a+b", `has "+" in its build metadata`},
		{"1.2.3+a\x1b", `has "\x1b" in its build metadata`},
		{"1.2.3-" + strings.Repeat("a", 123), "is longer than 128 characters"},
	} {
		v, err := addr.ParseVersion(test.in)
		if err == nil {
			t.Errorf("ParseVersion(%q) = %s, want an error", test.in, v)
			continue
		}
		if !strings.Contains(err.Error(), test.reason) || !v.IsZero() {
			t.Errorf("ParseVersion(%q): %v, want %q", test.in, err, test.reason)
		}
	}
}

func TestTagLength(t *testing.T) {
	longest := "1.2.3-" + strings.Repeat("a", 122)
	if _, ok := addr.ParseTag(longest); !ok {
		t.Error("a tag of 128 characters was refused")
	}
	if v, ok := addr.ParseTag("v" + longest); ok {
		t.Errorf("a tag of 129 characters, which no registry has, gives %s", v)
	}
}

// ascending holds the example of Semantic Versioning, section 11, and the
// order of builds, which is ours.
var ascending = strings.Fields("0.0.0-0 0.0.0 0.0.1 0.9.0 0.10.0 " +
	"1.0.0-0 1.0.0-9 1.0.0-10 1.0.0-99999999999999999999 1.0.0-100000000000000000000 1.0.0--1 1.0.0-RC 1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta " +
	"1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0-rc.1+9 1.0.0-rc.1.hotfix " +
	"1.0.0 1.0.0+10 1.0.0+9 1.9.0 1.10.0 18446744073709551615.0.0")

func TestVersionOrder(t *testing.T) {
	for i, a := range ascending {
		for j, b := range ascending {
			v, w := parseVersion(t, a), parseVersion(t, b)
			if got, want := sign(v.Compare(w)), sign(i-j); got != want {
				t.Errorf("%s.Compare(%s) = %d, want %d", v, w, got, want)
			}
			// The numbers beyond 64 bits are the module's own way of comparing.
			if v.Build() == "" && w.Build() == "" && sign(i-j) != semver.Compare("v"+a, "v"+b) {
				t.Errorf("%s and %s are not in the order of x/mod/semver", a, b)
			}
		}
	}
}

func sign(n int) int { return min(1, max(-1, n)) }

func TestNewestIgnoresOrder(t *testing.T) {
	c, err := addr.ParseConstraint(">= 0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	var versions []addr.Version
	for _, s := range ascending {
		versions = append(versions, parseVersion(t, s))
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		random.Shuffle(len(versions), func(i, j int) { versions[i], versions[j] = versions[j], versions[i] })
		before := slices.Clone(versions)
		if v, _ := addr.Newest(c, versions); v.String() != "18446744073709551615.0.0" {
			t.Fatalf("newest is %s", v)
		}
		if !slices.Equal(before, versions) {
			t.Fatal("the versions were moved")
		}
	}
	if v, found := addr.Newest(c, nil); found || !v.IsZero() {
		t.Errorf("the newest of none is %s", v)
	}
}

// Case C07: lexical listings, v in front, tags of two numbers.
func TestC07TagsAreReadStrictly(t *testing.T) {
	tags := strings.Fields("1.0 1.1.10 1.1.17 1.1.9 latest main v1.2.0 v1.2 01.5.0 1.02.0 1.3.0.1 2")
	for _, test := range []struct{ constraint, version, tag string }{
		{"~> 1.1.0", "1.1.17", "1.1.17"},
		{"~> 1.2", "1.2.0", "v1.2.0"},
		{">= 1.0", "1.2.0", "v1.2.0"},
	} {
		version, tag := newestTag(t, test.constraint, tags)
		if version != test.version || tag != test.tag {
			t.Errorf("%q chooses %q by the tag %q, want %q by %q", test.constraint, version, tag, test.version, test.tag)
		}
	}
	ignored := slices.DeleteFunc(slices.Clone(tags), func(tag string) bool { _, ok := addr.ParseTag(tag); return ok })
	if got, want := strings.Join(ignored, " "), "1.0 latest main v1.2 01.5.0 1.02.0 1.3.0.1 2"; got != want {
		t.Errorf("ignored: %s, want %s", got, want)
	}
}

func TestC07PrefixedTagsAreTheSameVersions(t *testing.T) {
	version, tag := newestTag(t, "~> 1.1", strings.Fields("v1.1.10 v1.1.9 v1.2.0 v2.0.0"))
	if version != "1.2.0" || tag != "v1.2.0" {
		t.Errorf("chose %q by the tag %q", version, tag)
	}
	plain, _ := addr.ParseTag("1.2.0")
	prefixed, _ := addr.ParseTag("v1.2.0")
	if plain != prefixed {
		t.Error("1.2.0 and v1.2.0 are two versions")
	}
}

// newestTag chooses among tags and returns the version with the tag it has.
func newestTag(t *testing.T, constraint string, tags []string) (version, tag string) {
	t.Helper()
	c, err := addr.ParseConstraint(constraint)
	if err != nil {
		t.Fatal(err)
	}
	tagOf := map[addr.Version]string{}
	var versions []addr.Version
	for _, tag := range tags {
		if v, ok := addr.ParseTag(tag); ok {
			tagOf[v] = tag
			versions = append(versions, v)
		}
	}
	newest, _ := addr.Newest(c, versions)
	return newest.String(), tagOf[newest]
}

func FuzzParseTag(f *testing.F) {
	for _, r := range strings.Fields("1.2.0 v1.2.0-rc.1_linux.4 latest 01.2.3 1.2.0_a_b 1.2.0+9 18446744073709551616.0.0 1.2.0--") {
		f.Add(r)
	}
	f.Fuzz(func(t *testing.T, tag string) {
		v, ok := addr.ParseTag(tag)
		if ok == v.IsZero() {
			t.Fatalf("%q: %v, but %q", tag, ok, v)
		}
		if !ok {
			if _, err := addr.ParseVersion(tag); err != nil && err.Error() == "" {
				t.Errorf("%q is refused without a reason", tag)
			}
			return
		}
		if again := parseVersion(t, v.String()); again != v {
			t.Errorf("%q is %s, which is %s", tag, v, again)
		}
		if again, ok := addr.ParseTag(v.Tag()); !ok || again != v {
			t.Errorf("%q is %s, whose tag is %s", tag, v, again)
		}
		if strings.TrimPrefix(tag, "v") != v.Tag() {
			t.Errorf("%q has the tag %q", tag, v.Tag())
		}
		if bare, _, _ := strings.Cut(v.String(), "+"); !semver.IsValid("v" + bare) {
			t.Errorf("%q is %s, which x/mod/semver does not take", tag, v)
		}
	})
}
