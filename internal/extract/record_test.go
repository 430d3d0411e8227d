package extract_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/extract"
)

func TestContent(t *testing.T) {
	a, b := addr.DigestOf([]byte("a")), addr.DigestOf([]byte("b"))
	records := []extract.Record{
		{Path: "plugin/na me%\n", Digest: a, Size: 1},
		{Path: "plugin/link", Link: "a b\x7f"},
		{Path: "plugin/caf\u00e9", Digest: b, Size: 1, Executable: true},
		{Path: "plugin/aws", Digest: a, Size: 1, Executable: true},
	}
	lines := []string{
		"f - " + a.String() + " plugin/na%20me%25%0A\n",
		"f x " + b.String() + " plugin/caf\u00e9\n",
		"f x " + a.String() + " plugin/aws\n",
		"l a%20b%7F plugin/link\n",
	}
	slices.Sort(lines)
	want := addr.DigestOf([]byte(strings.Join(lines, "")))
	if got := extract.Content(records); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	slices.Reverse(records)
	if got := extract.Content(records); got != want {
		t.Error("the order of records matters")
	}
	for i := range records {
		changed := slices.Clone(records)
		changed[i].Executable, changed[i].Link = !changed[i].Executable && changed[i].Link == "", strings.ToUpper(changed[i].Link)
		if extract.Content(changed) == want {
			t.Errorf("a change of %v is not seen", records[i])
		}
	}
	if got := extract.Content(nil); got != addr.DigestOf(nil) {
		t.Errorf("no records: %s", got)
	}
}

func TestDifferences(t *testing.T) {
	r := func(path, content string) extract.Record {
		return extract.Record{Path: path, Digest: addr.DigestOf([]byte(content))}
	}
	got := extract.Differences([]extract.Record{r("a", "1"), r("b", "1"), r("c", "1")}, []extract.Record{r("d", "1"), r("c", "1"), r("b", "2")})
	want := []extract.Difference{{Path: "a", What: "missing"}, {Path: "b", What: "changed"}, {Path: "d", What: "unexpected"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
