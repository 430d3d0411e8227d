package config

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"

	"github.com/pluginlock/plugins/addr"
)

func parseHost(t *testing.T, name, text string) hcl.Body {
	t.Helper()
	parse := func() (*hcl.File, hcl.Diagnostics) { return hclsyntax.ParseConfig([]byte(text), name, hcl.InitialPos) }
	if isJSON(name) {
		parse = func() (*hcl.File, hcl.Diagnostics) { return json.Parse([]byte(text), name) }
	}
	file, diags := parse()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return file.Body
}

func TestDecodeLeavesTheRest(t *testing.T) {
	for name, text := range map[string]string{
		"host.hcl": `
concurrency = 4
required_plugins {
  b = { source = "x.example/b", version = "1.0.0" }
}
runner "x" {}
required_plugins {
  a = { source = "x.example/a", version = "~> 1" }
  b = { source = "x.example/b", version = "1.0.0" }
}
`,
		"host.json": `{
  "concurrency": 4, "runner": {"x": {}},
  "required_plugins": [
    {"b": {"source": "x.example/b", "version": "1.0.0"}},
    {"a": {"source": "x.example/a", "version": "~> 1"}, "b": {"source": "x.example/b", "version": "1.0.0"}}
  ]
}`,
	} {
		requirements, rest, diags := Decode(parseHost(t, name, text))
		if diags != nil || len(requirements) != 2 || requirements[0].Name != "a" || requirements[1].Name != "b" {
			t.Fatalf("%s: %v %v", name, requirements, diags)
		}
		content, diags := rest.Content(&hcl.BodySchema{
			Attributes: []hcl.AttributeSchema{{Name: "concurrency", Required: true}},
			Blocks:     []hcl.BlockHeaderSchema{{Type: "runner", LabelNames: []string{"name"}}},
		})
		if diags.HasErrors() || len(content.Blocks) != 1 {
			t.Errorf("%s: the rest: %v", name, diags)
		}
	}
}

func TestDecodeReports(t *testing.T) {
	_, rest, diags := Decode(parseHost(t, "host.hcl", `
required_plugins {
  b = { source = "x.example/b", version = "1.0.0" }
}
required_plugins {
  b = { source = "x.example/b", version = "1.0.1" }
}
`))
	if rest == nil {
		t.Error("no rest")
	}
	wantOne(t, diags, "host.hcl:6,3-4", "Plugin required twice", "host.hcl:3,3-4")

	requirements, _, diags := Decoder{DefaultPrefix: "x.example"}.Decode(parseHost(t, "host.hcl", "required_plugins {\n  b = { source = \"b\", version = \"1.0.0\" }\n}\n"))
	if diags != nil || requirements[0].Source != "x.example/b" {
		t.Errorf("with a prefix: %v %v", requirements, diags)
	}
}

// A host may hand over a body that wraps HCL's own.
func TestDecodeWrappedBody(t *testing.T) {
	a := parseHost(t, "a.hcl", required("a", "x.example/a", "1.0.0"))
	b := parseHost(t, "b.json", `{"required_plugins": {"b": {"source": "x.example/b", "version": "${v}"}}}`)
	requirements, _, diags := Decode(hcl.MergeBodies([]hcl.Body{a, b}))
	wantOne(t, diags, "b.json:1,65-71", "Value is not a literal", "version", "template")
	if len(requirements) != 2 {
		t.Errorf("requirements: %v", requirements)
	}
}

func TestCheck(t *testing.T) {
	linux, mac := addr.Platform{OS: "linux", Arch: "amd64"}, addr.Platform{OS: "darwin", Arch: "arm64", Variant: "v8"}
	checked, err := Requirement{
		Name: "aws", Source: "Docker.io/aws", Version: "~>1.2", Protocols: []int{6, 5}, Platforms: []addr.Platform{linux, mac},
		Executable: addr.Executable{ByPlatform: map[addr.Platform]string{linux: "/a", mac: "/b"}},
	}.Check()
	if err != nil {
		t.Fatal(err)
	}
	normal := addr.Platform{OS: "darwin", Arch: "arm64"}
	if checked.Source.String() != "docker.io/library/aws" || checked.Constraint.String() != "~> 1.2" || !slices.Equal(checked.Protocols, []int{5, 6}) ||
		!slices.Equal(checked.Platforms, []addr.Platform{normal, linux}) || checked.Executable.For(normal) != "/b" || checked.Requirement.Name != "aws" {
		t.Errorf("%+v", checked)
	}
}

func TestCheckRefuses(t *testing.T) {
	good := func() Requirement { return Requirement{Name: "aws", Source: "x.example/y", Version: "1.0.0"} }
	linux := addr.Platform{OS: "linux", Arch: "amd64"}
	for _, test := range []struct {
		attribute, word string
		change          func(*Requirement)
	}{
		{"name", "needs a name", func(r *Requirement) { r.Name = "" }},
		{"name", "device", func(r *Requirement) { r.Name = "nul" }},
		{"source", "host", func(r *Requirement) { r.Source = "" }},
		{"version", "empty", func(r *Requirement) { r.Version = "" }},
		{"version", "1.2", func(r *Requirement) { r.Version = "1.2" }},
		{"protocols", "from 1 to", func(r *Requirement) { r.Protocols = []int{0} }},
		{"protocols", "twice", func(r *Requirement) { r.Protocols = []int{5, 6, 5} }},
		{"platforms", "platform", func(r *Requirement) { r.Platforms = []addr.Platform{{}} }},
		{"platforms", "twice", func(r *Requirement) { r.Platforms = []addr.Platform{linux, linux} }},
		{"executable", "root of the image", func(r *Requirement) { r.Executable.Path = "x" }},
		{"executable", "one path", func(r *Requirement) {
			r.Executable = addr.Executable{Path: "/x", ByPlatform: map[addr.Platform]string{linux: "/x"}}
		}},
		{"executable", "no path for linux/amd64", func(r *Requirement) {
			r.Platforms = []addr.Platform{linux}
			r.Executable.ByPlatform = map[addr.Platform]string{{OS: "linux", Arch: "arm64"}: "/x"}
		}},
		{"executable", "names no file", func(r *Requirement) { r.Executable.ByPlatform = map[addr.Platform]string{linux: ""} }},
		{"executable", "twice", func(r *Requirement) {
			r.Executable.ByPlatform = map[addr.Platform]string{{OS: "linux", Arch: "arm64"}: "/x", {OS: "linux", Arch: "arm64", Variant: "v8"}: "/y"}
		}},
	} {
		r := good()
		test.change(&r)
		_, err := r.Check()
		var typed *RequirementError
		if !errors.As(err, &typed) || typed.Attribute != test.attribute || !strings.Contains(typed.Detail, test.word) {
			t.Errorf("%s with %q: %v", test.attribute, test.word, err)
		}
	}
	_, err := Requirement{}.Check()
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) || len(joined.Unwrap()) != 3 {
		t.Errorf("an empty requirement has three faults: %v", err)
	}
}

func TestCheckName(t *testing.T) {
	for name, valid := range map[string]bool{
		"a": true, "aws": true, "a-b_9": true, strings.Repeat("a", 64): true, "com": true, "com10": true, "console": true,
		"": false, "9a": false, "-a": false, "A": false, "a.b": false, "a/b": false, "..": false, "ä": false, "a\x00": false,
		"con": false, "prn": false, "aux": false, "nul": false, "com0": false, "lpt9": false, strings.Repeat("a", 65): false,
	} {
		var typed *RequirementError
		err := CheckName(name)
		if (err == nil) != valid || err != nil && !errors.As(err, &typed) {
			t.Errorf("%q: %v", name, err)
		}
	}
}
