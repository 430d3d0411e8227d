package config

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/pluginlock/plugins/addr"
)

// load writes files into an empty project and loads it.
func load(t *testing.T, files map[string]string) (*Config, hcl.Diagnostics) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		write(t, name, text)
	}
	config, diags := Load(Options{})
	left, err := os.ReadDir(".")
	if err != nil || len(left) != len(files) {
		t.Errorf("loading left %d files of %d, %v", len(left), len(files), err)
	}
	return config, diags
}

func required(name, source, version string) string {
	return fmt.Sprintf("required_plugins {\n  %s = { source = %q, version = %q }\n}\n", name, source, version)
}

// Requirements may be spread over blocks and files; a name has one meaning.
func TestC01BlocksMerge(t *testing.T) {
	aws := required("aws", "127.0.0.1:5000/plugins/aws", "~> 1.2")
	gcp := required("gcp", "127.0.0.1:5000/plugins/gcp", "~> 2.0")
	for _, files := range []map[string]string{
		{"a.plugins.hcl": aws, "b.plugins.hcl": gcp},
		{"a.plugins.hcl": gcp, "b.plugins.hcl": aws},
		{"plugins.hcl": gcp + aws},
		{"plugins.hcl": gcp + aws, "z.plugins.hcl": aws},
	} {
		config, diags := load(t, files)
		if diags != nil {
			t.Fatalf("%v: %v", files, diags)
		}
		var names []string
		for _, r := range config.Requirements {
			names = append(names, r.Name+" "+r.Version)
		}
		if want := []string{"aws ~> 1.2", "gcp ~> 2.0"}; !slices.Equal(names, want) {
			t.Errorf("%v: %v, want %v", files, names, want)
		}
	}
}

func TestC01SameNameTwice(t *testing.T) {
	first := required("aws", "127.0.0.1:5000/plugins/aws", "~> 1.2")
	second := required("aws", "127.0.0.1:5000/plugins/aws", "~> 2.0")
	_, diags := load(t, map[string]string{"a.plugins.hcl": first, "b.plugins.hcl": second})
	wantOne(t, diags, "b.plugins.hcl:2,3-6", "Plugin required twice", "a.plugins.hcl:2,3-6", "version")

	_, diags = load(t, map[string]string{"plugins.hcl": "required_plugins {\n  aws = {}\n  aws = {}\n}\n"})
	if len(diags) == 0 || diags[len(diags)-1].Summary != "Attribute redefined" {
		t.Fatalf("the same key in one block: %v", diags)
	}
	wantOne(t, diags[len(diags)-1:], "plugins.hcl:3,3-6", "Attribute redefined", "plugins.hcl:2,3-6")
}

// wantOne checks the only problem: its place, its summary, and words in its detail.
func wantOne(t *testing.T, diags hcl.Diagnostics, place, summary string, words ...string) {
	t.Helper()
	if len(diags) != 1 {
		t.Fatalf("%d problems, want one: %v", len(diags), diags)
	}
	d := diags[0]
	if d.Subject.String() != place || d.Summary != summary {
		t.Errorf("%s: %s, want %s: %s", d.Subject, d.Summary, place, summary)
	}
	for _, word := range words {
		if !strings.Contains(d.Detail, word) {
			t.Errorf("detail %q lacks %q", d.Detail, word)
		}
	}
}

// A requirement that is not understood is an error at the text that is wrong;
// no constraint is ever dropped.
func TestC03Misspelt(t *testing.T) {
	entry := func(attributes string) string {
		return "required_plugins {\n  aws = { " + attributes + " }\n}\n"
	}
	const source = `source = "127.0.0.1:5000/plugins/aws"`
	for _, test := range []struct {
		name, text, place, summary string
		words                      []string
	}{
		{"variable", entry(source + ", version = var.aws_version"), "plugins.hcl:2,60-75", "Value is not a literal",
			[]string{"version", "aws", "variable"}},
		{"template", entry(`source = "${REGISTRY}/plugins/aws", version = "1.0.0"`), "plugins.hcl:2,20-45", "Value is not a literal",
			[]string{"source", "aws", "${x}"}},
		{"misspelt", entry(source + `, versoin = "~> 1.2"`), "plugins.hcl:2,50-57", "Unknown attribute", //nolint:misspell // it is the case
			[]string{"versoin", `Did you mean "version"?`}}, //nolint:misspell // it is the case
		{"number", entry(source + ", version = 1.2"), "plugins.hcl:2,60-63", "Value of the wrong type",
			[]string{"version", "non-empty string"}},
		{"empty", entry(source + `, version = ""`), "plugins.hcl:2,60-62", "Value of the wrong type",
			[]string{"version", "non-empty string"}},
		{"block", "required_plugins {\n  aws {\n  }\n}\n", "plugins.hcl:2,3-6", "Attribute written as a block",
			[]string{"aws", "equals sign", "aws = {"}},
		{"unclosed brace", "required_plugins {\n  aws = {\n  " + source + "\n}\n", "plugins.hcl:1,18-19", "Unclosed configuration block",
			[]string{"closing brace"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, diags := load(t, map[string]string{"plugins.hcl": test.text})
			wantOne(t, diags, test.place, test.summary, test.words...)
		})
	}
}

// Each kind of source that is none has its own reason, in both syntaxes and in
// the check for hosts, and no password is shown.
func TestC04Sources(t *testing.T) {
	reasons := map[string]string{}
	for _, source := range []string{
		"127.0.0.1:5000/plugins/../admin/aws", "127.0.0.1:5000/plugins//aws", "127.0.0.1:5000/Plugins/AWS",
		"https://127.0.0.1:5000/plugins/aws", "127.0.0.1:5000/plugins/aws:1.2.0",
		"127.0.0.1:5000/plugins/aws@sha256:" + strings.Repeat("a", 64),
		"user:secret@127.0.0.1:5000/plugins/aws", "127.0.0.1:5000/plugins/aws?x=1", "127.0.0.1:5000/plugins/aws#f",
		"127.0.0.1:5000", "plugins/aws", "127.0.0.1:5000/a\x00b", "127.0.0.1:5000/a\nb", "127.0.0.1:5000/a\x1bb",
		"127.0.0.1:5000/" + strings.Repeat("x", 5000),
	} {
		quoted := jsonString(source)
		reason := refusedSource(t, map[string]string{"plugins.hcl": "required_plugins {\n aws = { source = " + quoted + ", version = \"1.0.0\" }\n}\n"})
		if other, seen := reasons[reason]; seen {
			t.Errorf("%q and %q are refused with the same words: %s", source, other, reason)
		}
		reasons[reason] = source
		again := refusedSource(t, map[string]string{"plugins.hcl.json": `{"required_plugins": {"aws": {"source": ` + quoted + `, "version": "1.0.0"}}}`})
		if again != reason {
			t.Errorf("%q: JSON says %q, HCL %q", source, again, reason)
		}
		_, err := Requirement{Name: "aws", Source: source, Version: "1.0.0"}.Check()
		var typed *addr.SourceError
		if !errors.As(err, &typed) || typed.Reason != reason {
			t.Errorf("%q: Check says %v", source, err)
		}
	}
	// An argument that looks like an option is no host.
	refusedSource(t, map[string]string{"plugins.hcl": required("aws", "--output=/x", "1.0.0")})
}

func jsonString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if r < ' ' {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	b.WriteByte('"')
	return b.String()
}

// refusedSource loads a project whose one problem is its source, and returns
// the reason.
func refusedSource(t *testing.T, files map[string]string) string {
	t.Helper()
	config, diags := load(t, files)
	if len(diags) != 1 || diags[0].Summary != "Invalid plugin source" {
		t.Fatalf("%v: %v", files, diags)
	}
	if out := render(t, config.Files, diags, 100); strings.Contains(out, "secret") || strings.ContainsAny(out, "\x00\x1b") {
		t.Errorf("output shows what it must not: %q", out)
	}
	typed, ok := diags[0].Extra.(*addr.SourceError)
	if !ok {
		t.Fatalf("Extra is %T", diags[0].Extra)
	}
	return typed.Reason
}
