package addr_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	goversion "github.com/hashicorp/go-version"

	"github.com/pluginlock/plugins/addr"
)

// parseConstraint parses a constraint that must be right.
func parseConstraint(t *testing.T, s string) addr.Constraint {
	t.Helper()
	c, err := addr.ParseConstraint(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// refuseConstraint parses a constraint that must be wrong.
func refuseConstraint(t *testing.T, s string) *addr.ConstraintError {
	t.Helper()
	c, err := addr.ParseConstraint(s)
	var refused *addr.ConstraintError
	if !errors.As(err, &refused) {
		t.Fatalf("ParseConstraint(%q) = %q, %v; want a ConstraintError", s, c, err)
	}
	if !c.IsZero() {
		t.Errorf("ParseConstraint(%q) returned %q beside its error", s, c)
	}
	return refused
}

func TestConstraintCanonicalText(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"1.2.3", "1.2.3"},
		{"=1.2.3", "1.2.3"},
		{" =\t1.2.3 ", "1.2.3"},
		{"=1.2.3-rc.1+9", "1.2.3-rc.1+9"},
		{"!=1.2.3", "!= 1.2.3"},
		{">1", "> 1.0.0"},
		{">=1.2", ">= 1.2.0"},
		{"<   2", "< 2.0.0"},
		{"<=2.0.0-rc.1", "<= 2.0.0-rc.1"},
		{"~>1", "~> 1"},
		{"~>1.2", "~> 1.2"},
		{"~>1.2.0", "~> 1.2.0"},
		{"~>1.2.0-rc.1", "~> 1.2.0-rc.1"},
		{">=1.0.0,<2.0.0", ">= 1.0.0, < 2.0.0"},
		{"< 2 ,>= 1", "< 2.0.0, >= 1.0.0"},
		{">= 1, >= 1", ">= 1.0.0, >= 1.0.0"},
	} {
		c := parseConstraint(t, test.in)
		if c.String() != test.want {
			t.Errorf("ParseConstraint(%q) is %q, want %q", test.in, c, test.want)
		}
		if !parseConstraint(t, c.String()).Equal(c) {
			t.Errorf("%q does not read back equal", c)
		}
	}
}

func TestConstraintEqual(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"1.2.3", "= 1.2.3", true},
		{">= 1", ">=1.0.0", true},
		{"~> 1.2", "~> 1.2.0", false},
		{"~> 1", "~> 1.0", false}, // both mean below 2.0.0, in two texts
		{"1.2.3", "1.2.3+9", false},
		{">= 1, < 2", "< 2, >= 1", false},
		{">= 1", "> 1", false},
	} {
		if got := parseConstraint(t, test.a).Equal(parseConstraint(t, test.b)); got != test.want {
			t.Errorf("%q equal to %q: %v", test.a, test.b, got)
		}
	}
}

func TestConstraintZeroAdmitsNothing(t *testing.T) {
	var zero addr.Constraint
	if !zero.IsZero() || zero.String() != "" || zero.Allows(parseVersion(t, "1.0.0")) {
		t.Error("no constraint must admit nothing")
	}
	if parseConstraint(t, ">= 0.0.0").Allows(addr.Version{}) {
		t.Error("no version was admitted")
	}
}

func TestConstraintExact(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"1.4.2", "1.4.2"},
		{"= 1.4.2", "1.4.2"},
		{"1.4.2-rc.1", "1.4.2-rc.1"},
		{"1.4.2+9", "1.4.2+9"},
		{">= 1.0.0, 1.4.2", "1.4.2"},
		{"1.4.2, 1.4.2", "1.4.2"},
		{"1.4.2, 1.4.3", ""},
		{"1.4.2, > 2.0.0", ""},
		{"1.4.2, != 1.4.2", ""},
		{"1.4.2, 1.4.2+9", ""},
		{"~> 1.4.2", ""},
		{">= 1.4.2, <= 1.4.2", ""},
	} {
		v, ok := parseConstraint(t, test.in).Exact()
		if v.String() != test.want || ok != (test.want != "") {
			t.Errorf("%q is exactly %q, %v; want %q", test.in, v, ok, test.want)
		}
	}
}

// Case C06: pre-releases, by number and only when asked for.
func TestC06PrereleasesAreAskedFor(t *testing.T) {
	tags := strings.Fields("1.1.0 1.2.0 1.3.0-beta.1 1.3.0-beta.11 1.3.0-beta.2 2.0.0-rc.1")
	for constraint, want := range map[string]string{
		">= 1.0.0":           "1.2.0",
		"~> 1.2":             "1.2.0",
		"< 2.0.0":            "1.2.0",
		">= 1.3.0-beta.1":    "1.3.0-beta.11",
		"~> 1.3.0-beta.1":    "1.3.0-beta.11",
		"1.3.0-beta.2":       "1.3.0-beta.2",
		">= 1.0.0, != 1.2.0": "1.1.0",
	} {
		if version, _ := newestTag(t, constraint, tags); version != want {
			t.Errorf("%q chooses %q, want %q", constraint, version, want)
		}
	}
}

func TestC06OnlyPrereleasesAreToldApart(t *testing.T) {
	c := parseConstraint(t, ">= 0.0.1")
	for version, want := range map[string]addr.Verdict{
		"0.1.0-alpha.1":   addr.Prerelease,
		"0.0.1-alpha.1":   addr.Outside,
		"0.1.0+9":         addr.Build,
		"0.1.0-alpha.1+9": addr.Build,
		"0.1.0":           addr.Admitted,
	} {
		if got := c.Judge(parseVersion(t, version)); got != want {
			t.Errorf("%q says %d of %s, want %d", c, got, version, want)
		}
	}
}

func TestConstraintErrorText(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"", `version constraint "" is empty; it must say which versions are accepted, such as "~> 1.2"`},
		{"1.2", `version constraint "1.2" needs all three numbers, MAJOR.MINOR.PATCH; write "~> 1.2.0" or "1.2.0"`},
		{" 1.2 ", `version constraint " 1.2 " needs all three numbers, MAJOR.MINOR.PATCH; write "~> 1.2.0" or "1.2.0"`},
		{">= 1, 1.2", `version constraint ">= 1, 1.2": "1.2" needs all three numbers, MAJOR.MINOR.PATCH; write ">= 1.0.0, ~> 1.2.0" or ">= 1.0.0, 1.2.0"`},
		{"1.0.0,", `version constraint "1.0.0," has an empty term; there is a comma too many, or a term is missing; write "1.0.0"`},
		{",", `version constraint "," has an empty term; there is a comma too many, or a term is missing`},
		{"1.2.3\x1b[2J", `version constraint "1.2.3\x1b[2J" has "3\x1b[2J" where a number must be`},
	} {
		if got := refuseConstraint(t, test.in).Error(); got != test.want {
			t.Errorf("ParseConstraint(%q)\n got %s\nwant %s", test.in, got, test.want)
		}
	}
}

// The first wrong term is explained, and the suggestion repairs them all; where
// one cannot be repaired there is no suggestion.
func TestConstraintSuggestionsAreWhole(t *testing.T) {
	for _, test := range []struct {
		in, term    string
		suggestions []string
	}{
		{"v1.2, ^2.1", "v1.2", []string{"~> 1.2.0, ~> 2.1", "1.2.0, ~> 2.1"}},
		{"^1.2, 1.3", "^1.2", []string{"~> 1.2, ~> 1.3.0", "~> 1.2, 1.3.0"}},
		{"1.2, 1.3, 1.4", "1.2", []string{"~> 1.2.0, ~> 1.3.0, ~> 1.4.0", "1.2.0, ~> 1.3.0, ~> 1.4.0"}},
		{"1.2, stable", "1.2", nil},
		{"stable, 1.2", "stable", nil},
		{"^18446744073709551615.0.0", "^18446744073709551615.0.0", nil},
		{">= 1.0.0 1.2.0", ">= 1.0.0 1.2.0", nil},
		{"1.*.*", "1.*.*", []string{"~> 1.0"}},
		{"~> 1.2.3.*", "~> 1.2.3.*", nil},
		{">= 1.2_3", ">= 1.2_3", []string{">= 1.2.0"}},
	} {
		e := refuseConstraint(t, test.in)
		if e.Term != test.term || !slices.Equal(e.Suggestions, test.suggestions) {
			t.Errorf("ParseConstraint(%q): %q, %q; want %q, %q", test.in, e.Term, e.Suggestions, test.term, test.suggestions)
		}
	}
}

func TestConstraintLength(t *testing.T) {
	e := refuseConstraint(t, strings.Repeat("1.2,", 100_000))
	if e.Reason != "is longer than 1024 characters" || len(e.Error()) > 400 {
		t.Errorf("%s", e)
	}
}

// Where the rules of hashicorp/go-version are meant to be the same (releases
// of three numbers, no pre-release named, ~> with at least two numbers), they
// are: see docs/adr/0002-version-order.md for where they are not.
func TestConstraintAgreesWithGoVersion(t *testing.T) {
	small := []string{"0", "1", "2"}
	var releases []string
	for _, a := range small {
		for _, b := range small {
			for _, c := range small {
				releases = append(releases, a+"."+b+"."+c)
			}
		}
	}
	for _, operator := range []string{"", "=", "!=", ">", ">=", "<", "<=", "~>"} {
		for _, release := range releases {
			texts := []string{operator + " " + release, fmt.Sprintf("%s %s, < 2.1.0, != 1.1.1", operator, release)}
			if operator != "" && operator != "=" && operator != "!=" {
				texts = append(texts, operator+" "+release[:3])
			}
			for _, text := range texts {
				compareWithGoVersion(t, text, releases)
			}
		}
	}
}

func compareWithGoVersion(t *testing.T, text string, releases []string) {
	t.Helper()
	ours := parseConstraint(t, text)
	theirs, err := goversion.NewConstraint(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, release := range releases {
		version, err := goversion.NewVersion(release)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := ours.Allows(parseVersion(t, release)), theirs.Check(version); got != want {
			t.Errorf("%q admits %s: %v, go-version says %v", text, release, got, want)
		}
	}
}

func FuzzParseConstraint(f *testing.F) {
	for _, s := range []string{
		"1.2.3", "~> 1", "~> 1.2.3-rc.1", ">=1,<2", "!= 1.2", "v1.2", "1.x", "1.2.*", "^1.2.3", "^v1", "latest", "1.0.0_9", ">= 1.0.0+9",
		">= 1.0.0 < 2.0.0", "1.0.0 - 2.0.0", "1 - 2 - 3", "1.0.0 || 2.0.0", "1.2,", ",", "01.02-rc+1", "~> 18446744073709551615.0.0", "v*x.X",
	} {
		f.Add(s, "1.2.3-rc.1+9")
	}
	f.Fuzz(func(t *testing.T, s, version string) {
		c, err := addr.ParseConstraint(s)
		if err != nil {
			checkConstraintError(t, refuseConstraint(t, s))
			return
		}
		again := parseConstraint(t, c.String())
		if !again.Equal(c) || again.String() != c.String() {
			t.Errorf("%q is %q, which is %q", s, c, again)
		}
		if v, ok := c.Exact(); ok && !c.Allows(v) {
			t.Errorf("%q is exactly %s and does not admit it", s, v)
		}
		if v, err := addr.ParseVersion(version); err == nil && c.Judge(v) != again.Judge(v) {
			t.Errorf("%q and %q differ on %s", c, again, v)
		}
	})
}

func checkConstraintError(t *testing.T, e *addr.ConstraintError) {
	t.Helper()
	if e.Reason == "" || e.Error() == "" {
		t.Errorf("%q is refused without a reason", e.Input)
	}
	for _, s := range e.Suggestions {
		if c := parseConstraint(t, s); c.String() != s {
			t.Errorf("%q: the suggestion %q is not canonical, but %q", e.Input, s, c)
		}
	}
}
