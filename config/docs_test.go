package config

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/pluginlock/plugins/addr"
)

func manual(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(testdata)), "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Every fenced example of the manual is loaded in the way that the word behind
// its language says.
func TestManualExamples(t *testing.T) {
	kinds := map[string]int{}
	for _, example := range regexp.MustCompile("(?ms)^```([^\n]*)\n(.*?)^```$").FindAllStringSubmatch(manual(t), -1) {
		kind, text := example[1], example[2]
		kinds[kind]++
		t.Chdir(t.TempDir())
		var diags hcl.Diagnostics
		switch kind {
		case "hcl":
			write(t, FileName, text)
			_, diags = Load(Options{ToolVersion: "0.1.0"})
		case "json":
			write(t, FileName+".json", text)
			_, diags = Load(Options{})
		case "hcl host":
			write(t, "host.hcl", text)
			var config *Config
			config, diags = Load(Options{Files: []string{"host.hcl"}})
			if len(config.Requirements) != 1 {
				t.Errorf("requirements of the host: %v", config.Requirements)
			}
		case "hcl settings":
			_, diags = ParseSettings([]byte(text), "settings.hcl")
		default:
			t.Errorf("example of unknown kind %q", kind)
		}
		if diags != nil {
			t.Errorf("%s\n%v", text, diags)
		}
	}
	if kinds["hcl"] == 0 || kinds["json"] == 0 || kinds["hcl host"] == 0 || kinds["hcl settings"] == 0 {
		t.Errorf("examples: %v", kinds)
	}
}

// The manual's tables name every attribute there is, and no other.
func TestManualTables(t *testing.T) {
	text := manual(t)
	section := func(heading string) []string {
		_, after, found := strings.Cut(text, "\n"+heading+"\n")
		if !found {
			t.Fatalf("no section %q", heading)
		}
		after, _, _ = strings.Cut(after, "\n#")
		var names []string
		for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(after, -1) {
			names = append(names, row[1])
		}
		slices.Sort(names)
		return names
	}
	attributes := func(schema *hcl.BodySchema) []string {
		var names []string
		for _, a := range schema.Attributes {
			names = append(names, a.Name)
		}
		return names
	}
	var limits []string
	for _, l := range new(Limits).attributes() {
		limits = append(limits, l.name)
	}
	for heading, want := range map[string][]string{
		"## The block `plugins`":          attributes(pluginsSchema()),
		"## The block `required_plugins`": entryAttributes(),
		"### `registry \"PREFIX\"`":       attributes(registrySchema()),
		"### `limits`":                    limits,
	} {
		slices.Sort(want)
		if got := section(heading); !slices.Equal(got, want) {
			t.Errorf("%s names %v; there are %v", heading, got, want)
		}
	}
}

// The manual's table of sources says what the parser does.
func TestManualSources(t *testing.T) {
	_, table, _ := strings.Cut(manual(t), "\n## Sources\n")
	table, _, _ = strings.Cut(table, "\n## ")
	rows := 0
	for _, row := range regexp.MustCompile(`(?m)^\| (.*?) \| (.*?) ?\|$`).FindAllStringSubmatch(table, -1) {
		for _, written := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			if strings.Contains(written[1], "…") {
				continue
			}
			rows++
			source, err := addr.ParseSource(written[1])
			if refused := strings.HasPrefix(row[2], "refused"); (err != nil) != refused {
				t.Errorf("%s: %v; the manual says %q", written[1], err, row[2])
			}
			if same, found := strings.CutPrefix(row[2], "is `"); found && source.String() != strings.Trim(same, "`") {
				t.Errorf("%s is %s; the manual says %q", written[1], source, row[2])
			}
		}
	}
	if rows < 8 {
		t.Errorf("found only %d sources", rows)
	}
}
