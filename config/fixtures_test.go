package config

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// testdata stays the same when a test changes the working directory.
var testdata = func() string {
	dir, err := filepath.Abs("testdata")
	if err != nil {
		panic(err)
	}
	return dir
}()

// Each file in testdata is one configuration. What it must give stands in it as
// comments, "# ERROR: line:column summary", or, for JSON, in a file beside it
// with the suffix .errors. The golden file beside it is how a user sees it.

// A fixture is one of them, loaded.
type fixture struct {
	name     string // such as own/literals.hcl
	want     []string
	diags    hcl.Diagnostics
	rendered string
}

func TestOwnFiles(t *testing.T) { checkFixtures(t, loadFixtures(t, "own")) }

func TestHostFiles(t *testing.T) { checkFixtures(t, loadFixtures(t, "host")) }

func TestSettingsFiles(t *testing.T) { checkFixtures(t, loadFixtures(t, "settings")) }

func checkFixtures(t *testing.T, fixtures []fixture) {
	for _, f := range fixtures {
		t.Run(f.name, func(t *testing.T) {
			if got := positions(f.diags); !slices.Equal(got, f.want) {
				t.Errorf("problems:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(f.want, "\n"))
			}
			golden(t, filepath.Join(testdata, f.name+".golden"), f.rendered)
		})
	}
}

// loadFixtures loads each file of a folder as the only one of a project.
func loadFixtures(t *testing.T, kind string) []fixture {
	t.Helper()
	var fixtures []fixture
	for _, pattern := range []string{"*.hcl", "*.json"} {
		paths, err := filepath.Glob(filepath.Join(testdata, kind, pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no fixtures %s/%s: %v", kind, pattern, err)
		}
		for _, path := range paths {
			fixtures = append(fixtures, loadFixture(t, kind, path))
		}
	}
	return fixtures
}

func loadFixture(t *testing.T, kind, path string) fixture {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f := fixture{name: kind + "/" + filepath.Base(path), want: expected(t, path, src)}
	t.Chdir(t.TempDir())
	var files map[string]*hcl.File
	switch kind {
	case "own":
		name := fixtureName(path, FileName)
		write(t, name, string(src))
		config, diags := Load(Options{ToolVersion: "0.2.0"})
		files, f.diags = config.Files, diags
	case "host":
		name := fixtureName(path, "host.hcl")
		write(t, name, string(src))
		config, diags := Load(Options{Files: []string{name}, ToolVersion: "0.2.0"})
		files, f.diags = config.Files, diags
	case "settings":
		name := fixtureName(path, "settings.hcl")
		write(t, name, string(src))
		_, f.diags = LoadSettings(name)
		files = map[string]*hcl.File{name: Excerpt(name)}
	}
	f.rendered = render(t, files, f.diags, 100)
	return f
}

// fixtureName is the name under which a fixture is loaded.
func fixtureName(path, name string) string {
	if isJSON(path) {
		return name + ".json"
	}
	return name
}

// expected reads the problems that a fixture announces.
func expected(t *testing.T, path string, src []byte) []string {
	t.Helper()
	if isJSON(path) {
		want, err := os.ReadFile(path + ".errors")
		if err != nil {
			t.Fatal(err)
		}
		return strings.FieldsFunc(string(want), func(r rune) bool { return r == '\n' })
	}
	var want []string
	for _, match := range regexp.MustCompile(`(?m)# ERROR: (.*?)\r?$`).FindAllSubmatch(src, -1) {
		want = append(want, string(match[1]))
	}
	return want
}

func positions(diags hcl.Diagnostics) []string {
	var all []string
	for _, d := range diags {
		if d.Subject == nil {
			all = append(all, "nowhere "+d.Summary)
			continue
		}
		all = append(all, fmt.Sprintf("%d:%d %s", d.Subject.Start.Line, d.Subject.Start.Column, d.Summary))
	}
	return all
}

// render gives the text that a terminal of that many columns would show.
func render(t *testing.T, files map[string]*hcl.File, diags hcl.Diagnostics, width uint) string {
	t.Helper()
	var out bytes.Buffer
	if err := hcl.NewDiagnosticTextWriter(&out, files, width, false).WriteDiagnostics(diags); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		write(t, path, got)
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test -update rewrites it); it is now:\n%s", path, got)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
