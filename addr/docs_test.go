package addr_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pluginlock/plugins/addr"
)

// row is one row of a table of docs/versions.md.
type row struct {
	line  int
	cells []string
}

// documented returns the rows of all tables of docs/versions.md that have the
// header given.
func documented(t *testing.T, header ...string) []row {
	t.Helper()
	raw, err := os.ReadFile("../docs/versions.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	inside := false
	for i, line := range strings.Split(string(raw), "\n") {
		cells := cellsOf(line)
		switch {
		case cells == nil:
			inside = false
		case slices.Equal(cells, header):
			inside = true
		case inside && !strings.HasPrefix(cells[0], "---"):
			rows = append(rows, row{i + 1, cells})
		}
	}
	return rows
}

// cellsOf splits a line of a table; nil for any other line.
func cellsOf(line string) []string {
	if !strings.HasPrefix(line, "| ") || !strings.HasSuffix(line, "|") {
		return nil
	}
	line = strings.ReplaceAll(line[1:len(line)-1], `\|`, "\x00")
	cells := strings.Split(line, "|")
	for i, cell := range cells {
		cells[i] = strings.ReplaceAll(strings.TrimSpace(cell), "\x00", "|")
	}
	return cells
}

// spans returns the texts between backquotes.
func spans(cell string) []string {
	var all []string
	for i, part := range strings.Split(cell, "`") {
		if i%2 == 1 {
			all = append(all, part)
		}
	}
	return all
}

func TestDocumentedTags(t *testing.T) {
	rows := documented(t, "tag", "version")
	if len(rows) < 30 {
		t.Fatalf("only %d rows were found", len(rows))
	}
	for _, r := range rows {
		tag := spans(r.cells[0])[0]
		got := "no"
		if v, ok := addr.ParseTag(tag); ok {
			got = "`" + v.String() + "`"
		}
		want, _, _ := strings.Cut(r.cells[1], ":")
		if got != want {
			t.Errorf("docs/versions.md:%d: tag %q gives %s, the document says %s", r.line, tag, got, r.cells[1])
		}
	}
}

// The table of choices is the specification of constraints: each row is tried
// with the tags in both orders, and the whole third cell is compared.
func TestDocumentedChoices(t *testing.T) {
	rows := documented(t, "constraint", "tags in the registry", "choice")
	if len(rows) < 60 {
		t.Fatalf("only %d rows were found", len(rows))
	}
	for _, r := range rows {
		constraint, tags := spans(r.cells[0])[0], spans(r.cells[1])
		for range 2 {
			if got := choice(constraint, tags); got != r.cells[2] {
				t.Errorf("docs/versions.md:%d: %q among %q gives\n%s, the document says\n%s", r.line, constraint, tags, got, r.cells[2])
			}
			slices.Reverse(tags)
		}
	}
}

// The rows that must not get lost when somebody tidies the document.
func TestDocumentedChoicesAreComplete(t *testing.T) {
	var have []string
	for _, r := range documented(t, "constraint", "tags in the registry", "choice") {
		have = append(have, strings.Join(r.cells, " | "))
	}
	for _, want := range []string{
		"`~> 1` | `2.0.0` | none",
		"`>= 1.0.0, != 1.3.0-beta.2` | `1.3.0-beta.1` `1.3.0-beta.3` | none",
		"`< 2.0.0-rc.1` | `2.0.0-alpha.1` `2.0.0-beta.1` | none",
		"`>= 1.0.0-rc.1, < 2.0.0` | `1.0.0-rc.1` `1.0.0-rc.2` | `1.0.0-rc.2`",
		"`1.2` |  | error",
		"`1.0.0` | `1.0.0_9` `1.0.0_10` | none",
		"`~> 1.0.0-rc.1` | `1.0.0` `1.0.5` `1.1.0` | `1.0.5`",
		"`>= 1.0.0-0` | `1.0.0-rc.1` `1.0.0-rc.1.hotfix` | `1.0.0-rc.1.hotfix`",
	} {
		if !slices.ContainsFunc(have, func(r string) bool { return strings.HasPrefix(r, want) }) {
			t.Errorf("docs/versions.md has no row %s", want)
		}
	}
}

// choice is what the third cell must say.
func choice(constraint string, tags []string) string {
	c, err := addr.ParseConstraint(constraint)
	var refused *addr.ConstraintError
	if errors.As(err, &refused) {
		return refusal(refused)
	}
	var versions []addr.Version
	for _, tag := range tags {
		if v, ok := addr.ParseTag(tag); ok {
			versions = append(versions, v)
		}
	}
	newest, found := addr.Newest(c, versions)
	if !found {
		return "none: " + nothing(c, versions)
	}
	if slices.Contains(tags, newest.Tag()) {
		return "`" + newest.String() + "`"
	}
	return "`" + newest.String() + "` (tag `v" + newest.Tag() + "`)"
}

// refusal shows an error as the document does.
func refusal(e *addr.ConstraintError) string {
	text := "error: "
	if e.Term != "" && e.Term != e.Input {
		text += "`" + e.Term + "` "
	}
	text += e.Reason
	if len(e.Suggestions) > 0 {
		text += "; write `" + strings.Join(e.Suggestions, "` or `") + "`"
	}
	return text
}

// nothing says why no version is admitted.
func nothing(c addr.Constraint, versions []addr.Version) string {
	verdicts := map[addr.Verdict]bool{}
	for _, v := range versions {
		verdicts[c.Judge(v)] = true
	}
	switch {
	case len(versions) == 0:
		return "no tag is a release"
	case verdicts[addr.Prerelease] && verdicts[addr.Build]:
		return "only pre-releases and builds in the range"
	case verdicts[addr.Prerelease]:
		return "only pre-releases in the range"
	case verdicts[addr.Build]:
		return "only builds in the range"
	}
	return "nothing in the range"
}
