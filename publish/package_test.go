package publish

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/extract"
	"github.com/pluginlock/plugins/internal/image"
)

func TestPackageRoundTrip(t *testing.T) {
	for _, compression := range []Compression{"", Gzip, Zstd} {
		t.Run(string(compression), func(t *testing.T) {
			files := fourPlatforms(t)
			files["linux/amd64/lib/helper.sh*"] = "#!/bin/sh\n"
			files["linux/amd64/aws-latest"] = ""
			dir := write(t, t.TempDir(), files)
			must(t, os.Remove(filepath.Join(dir, "linux/amd64/aws-latest")))
			must(t, os.Symlink("lib/helper.sh", filepath.Join(dir, "linux/amd64/aws-latest")))
			r := packed1(t, PackageOptions{Dir: dir, Compression: compression})
			if len(r.Platforms) != 4 || len(r.Warnings) != 0 {
				t.Fatalf("platforms %v, warnings %v", r.Platforms, r.Warnings)
			}
			for _, p := range r.Platforms {
				layer := manifestOf(t, r, p).Layers[0]
				root, err := os.OpenRoot(t.TempDir())
				must(t, err)
				got, err := extract.Payload(context.Background(), bytes.NewReader(blob(t, r.Layout, p.Layer)), layer, root, extract.Limits{})
				must(t, err)
				if extract.Content(got.Records) != p.Content || len(got.Records) != p.Files {
					t.Errorf("%s: installed content differs from what is declared: %v", p.Platform, got.Records)
				}
				f, err := root.Open(p.Executable)
				must(t, err)
				info, err := f.Stat()
				must(t, err)
				if info.Mode().Perm() != 0o755 {
					t.Errorf("%s: executable has mode %v", p.Platform, info.Mode())
				}
				must(t, extract.CheckExecutable(f, info.Size(), p.Platform))
				must(t, f.Close())
				inspected, err := extract.Inspect(context.Background(), bytes.NewReader(blob(t, r.Layout, p.Layer)), layer, extract.Limits{})
				must(t, err)
				if diffIDs := configOf(t, r, p).RootFS.DiffIDs; len(diffIDs) != 1 || string(diffIDs[0]) != inspected.DiffID.String() {
					t.Errorf("%s: diff_ids %v, want %s", p.Platform, diffIDs, inspected.DiffID)
				}
			}
		})
	}
}

func TestPackageAnnotations(t *testing.T) {
	dir := write(t, t.TempDir(), fourPlatforms(t))
	write(t, dir, map[string]string{"package.hcl": `
name        = "aws"
version     = "1.4.2-rc.1+build.7"
description = "Scales instances on AWS"
licenses    = "MIT"
source      = "https://git.example.com/fleeting/aws"
vendor      = "Example"
revision    = "0123abc"
publish_to  = "Registry.Example.com:443/fleeting/aws"
protocols   = [6, 5]
`})
	r := packed1(t, PackageOptions{Dir: dir, Created: time.Unix(1700000000, 0)})
	want := map[string]string{
		"dev.pluginlock.format":                "1",
		"dev.pluginlock.protocols":             "5,6",
		"org.opencontainers.image.title":       "aws",
		"org.opencontainers.image.version":     "1.4.2-rc.1+build.7",
		"org.opencontainers.image.description": "Scales instances on AWS",
		"org.opencontainers.image.licenses":    "MIT",
		"org.opencontainers.image.source":      "https://git.example.com/fleeting/aws",
		"org.opencontainers.image.vendor":      "Example",
		"org.opencontainers.image.revision":    "0123abc",
		"org.opencontainers.image.created":     "2023-11-14T22:13:20Z",
	}
	for _, p := range r.Platforms {
		full := map[string]string{}
		for k, v := range want {
			full[k] = v
		}
		full["dev.pluginlock.executable.path"] = "plugin/aws"
		if p.Platform.OS == "windows" {
			full["dev.pluginlock.executable.path"] = "plugin/aws.exe"
		}
		full["dev.pluginlock.executable.digest"] = string(addr.DigestOf([]byte(native(t, p.Platform.String()))))
		full["dev.pluginlock.content"] = p.Content.String()
		m := manifestOf(t, r, p)
		if !reflect.DeepEqual(m.Annotations, full) {
			t.Errorf("%s: annotations\n%v, want\n%v", p.Platform, m.Annotations, full)
		}
		if got := m.Layers[len(m.Layers)-1].Annotations; !reflect.DeepEqual(got, map[string]string{"dev.pluginlock.role": "payload"}) {
			t.Errorf("%s: annotations of the layer are %v", p.Platform, got)
		}
		c := configOf(t, r, p)
		labels := map[string]string{"dev.pluginlock.executable.path": full["dev.pluginlock.executable.path"], "dev.pluginlock.protocols": "5,6"}
		user := map[bool]string{true: "65532:65532"}[p.Platform.OS == "linux"]
		if !reflect.DeepEqual(c.Config.Labels, labels) || c.Config.User != user || !slices.Equal(c.Config.Entrypoint, []string{"/" + full["dev.pluginlock.executable.path"]}) {
			t.Errorf("%s: config is %+v", p.Platform, c.Config)
		}
		if c.OS != p.Platform.OS || c.Architecture != p.Platform.Arch || c.Variant != p.Platform.Variant {
			t.Errorf("%s: config is for %+v", p.Platform, c.Platform)
		}
	}
	want["dev.pluginlock.source"] = "registry.example.com/fleeting/aws"
	if got := indexOf(t, r).Annotations; !reflect.DeepEqual(got, want) {
		t.Errorf("annotations of the index\n%v, want\n%v", got, want)
	}
	doc, err := image.Parse("", blob(t, r.Layout, r.Digest))
	must(t, err)
	offers, err := doc.Index.Offers()
	must(t, err)
	if len(offers) != 4 {
		t.Errorf("offers %v", offers)
	}
}

// TestPackageWithoutMetadata has no annotation that says nothing.
func TestPackageWithoutMetadata(t *testing.T) {
	dir := write(t, t.TempDir(), map[string]string{"linux/amd64/aws*": native(t, "linux/amd64")})
	r := packed1(t, PackageOptions{Dir: dir})
	want := map[string]string{"dev.pluginlock.format": "1", "org.opencontainers.image.title": "aws"}
	if got := indexOf(t, r).Annotations; !reflect.DeepEqual(got, want) {
		t.Errorf("annotations are %v", got)
	}
}

func TestPackageExecutable(t *testing.T) {
	linux := native(t, "linux/amd64")
	script := "#!/bin/sh\n"
	tests := map[string]struct {
		files   map[string]string
		options Metadata
		noModes bool
		want    string // or what the error says
	}{
		"only executable file":     {files: map[string]string{"run*": linux, "aws": linux}, want: "plugin/run"},
		"named among several":      {files: map[string]string{"run*": linux, "aws*": linux}, options: Metadata{Name: "aws"}, want: "plugin/aws"},
		"option":                   {files: map[string]string{"run*": linux, "bin/aws": linux}, options: Metadata{Executable: "bin/aws"}, want: "plugin/bin/aws"},
		"only file":                {files: map[string]string{"aws": linux}, want: "plugin/aws"},
		"only program":             {files: map[string]string{"aws": linux, "README": "text"}, want: "plugin/aws"},
		"name without bit":         {files: map[string]string{"run": linux, "aws": linux}, options: Metadata{Name: "aws"}, want: "plugin/aws"},
		"no modes":                 {files: map[string]string{"run*": script, "aws": linux}, options: Metadata{Name: "aws"}, noModes: true, want: "plugin/aws"},
		"several":                  {files: map[string]string{"run*": linux, "aws*": linux}, want: "it may be any of aws, run"},
		"several, another name":    {files: map[string]string{"run*": linux, "aws*": linux}, options: Metadata{Name: "x"}, want: `no file is named "x"`},
		"only file, no program":    {files: map[string]string{"README": "text"}, want: "no program that is known"},
		"none":                     {files: map[string]string{"README": "text", "LICENSE": "text"}, want: "none of its files has an executable bit"},
		"option names no file":     {files: map[string]string{"aws*": linux}, options: Metadata{Executable: "run"}, want: `there is no file "run"`},
		"another machine":          {files: map[string]string{"aws*": native(t, "linux/arm64")}, want: "declared for linux/amd64, but is linux/arm64"},
		"another system":           {files: map[string]string{"aws*": native(t, "darwin/amd64")}, want: "declared for linux/amd64, but is darwin/amd64"},
		"empty":                    {files: map[string]string{"aws*": ""}, want: "an empty file"},
		"no program":               {files: map[string]string{"aws*": "hello, world"}, want: "no program that is known"},
		"script, no interpreter":   {files: map[string]string{"aws*": "#!\necho\n"}, want: "no program that is known"},
		"excluded":                 {files: map[string]string{"aws*": linux}, options: Metadata{Exclude: []string{"aws"}}, want: "no file for it"},
		"executable is in exclude": {files: map[string]string{"aws*": linux, "a": "a", "b": "b"}, options: Metadata{Exclude: []string{"aws"}}, want: "no executable"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, content := range test.files {
				write(t, dir, map[string]string{"linux/amd64/" + file: content})
			}
			out := filepath.Join(t.TempDir(), "layout")
			r, err := packageWith(context.Background(), PackageOptions{Dir: dir, Metadata: test.options, Output: out}, !test.noModes)
			if err != nil {
				if !strings.Contains(err.Error(), test.want) {
					t.Errorf("error is %v, want %q", err, test.want)
				}
				return
			}
			if got := r.Platforms[0].Executable; got != test.want {
				t.Errorf("executable is %s, want %s", got, test.want)
			}
		})
	}
}
