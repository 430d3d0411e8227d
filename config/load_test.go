package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/pluginlock/plugins/addr"
)

func TestLoadReadsOwnNamesOnly(t *testing.T) {
	one := func(name string) string { return required(name, "x.example/"+name, "1.0.0") }
	files := map[string]string{
		"plugins.hcl": one("a"), "b.plugins.hcl": one("b"), "plugins.hcl.json": `{"required_plugins": {}}`,
		"c.plugins.hcl.json": `{"required_plugins": {"c": {"source": "x.example/c", "version": "1.0.0"}}}`,
		".plugins.lock.hcl":  "nothing of ours", ".d.plugins.hcl": one("d"), "main.hcl": "other {", "plugins.hcl.orig": "x",
		"xplugins.hcl": one("e"), "plugins.json": "x",
	}
	config, diags := load(t, files)
	if diags != nil {
		t.Fatal(diags)
	}
	want := []string{"b.plugins.hcl", "c.plugins.hcl.json", "plugins.hcl", "plugins.hcl.json"}
	if !slices.Equal(config.Paths, want) {
		t.Errorf("read %v, want %v", config.Paths, want)
	}
	if len(config.Requirements) != 3 {
		t.Errorf("requirements: %v", config.Requirements)
	}
	if config.Dir != "." {
		t.Errorf("project directory %q", config.Dir)
	}
}

func TestLoadWithoutRequirements(t *testing.T) {
	config, diags := load(t, map[string]string{"plugins.hcl": ""})
	if diags != nil || len(config.Requirements) != 0 {
		t.Errorf("%v, %v", config.Requirements, diags)
	}
}

func TestLoadValues(t *testing.T) {
	src, err := os.ReadFile(filepath.Join(testdata, "own/valid.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	config, diags := load(t, map[string]string{"plugins.hcl": string(src)})
	if diags != nil {
		t.Fatal(diags)
	}
	if got := names(config.Platforms); got != "darwin/arm64, linux/amd64 and linux/arm64" {
		t.Errorf("platforms %s", got)
	}
	var all []string
	for _, r := range config.Requirements {
		all = append(all, r.Name)
	}
	if want := []string{"aws", "aws-again", "by-platform", "velero_aws"}; !slices.Equal(all, want) {
		t.Fatalf("requirements %v, want %v", all, want)
	}
	aws, velero := config.Requirements[0], config.Requirements[3]
	if !slices.Equal(aws.Protocols, []int{5, 6}) || aws.Source != "registry.example.com/fleeting/aws" || aws.Version != "~> 1.2" {
		t.Errorf("%+v", aws)
	}
	for _, r := range []struct{ got, want string }{
		{aws.Range.String(), "plugins.hcl:7,3-6"},
		{aws.SourceRange.String(), "plugins.hcl:8,17-52"},
		{aws.VersionRange.String(), "plugins.hcl:9,17-25"},
	} {
		if r.got != r.want {
			t.Errorf("range %s, want %s", r.got, r.want)
		}
	}
	if velero.Executable.Path != "/plugins/velero-plugin-for-aws" || names(velero.Platforms) != "linux/amd64 and linux/arm64" {
		t.Errorf("%+v", velero)
	}
	if got := config.Requirements[2].Executable.For(addr.Platform{OS: "linux", Arch: "arm64"}); got != "/plugins/x-arm" {
		t.Errorf("executable for linux/arm64: %q", got)
	}
}

func TestLoadNoFiles(t *testing.T) {
	root := t.TempDir()
	below := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(filepath.Join(below, FileName), 0o755); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(below, "c")
	if err := os.Mkdir(empty, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "x.plugins.hcl"), "")
	config, diags := Load(Options{Dir: empty})
	if config == nil || len(diags) != 1 || diags[0].Subject == nil {
		t.Fatal(config, diags)
	}
	missing, ok := diags[0].Extra.(*NoFilesError)
	if !ok || missing.Nearest != root || missing.Dir != empty {
		t.Fatalf("%#v; the nearest with a file is %s, a directory of that name is none", diags[0].Extra, root)
	}
	for _, name := range append(missing.Names, root, "--dir "+root) {
		if !strings.Contains(diags[0].Detail, name) {
			t.Errorf("detail %q lacks %q", diags[0].Detail, name)
		}
	}
}

func TestLoadNoFilesAnywhere(t *testing.T) {
	_, diags := load(t, nil)
	if len(diags) != 1 {
		t.Fatal(diags)
	}
	if missing, ok := diags[0].Extra.(*NoFilesError); ok && missing.Nearest != "" {
		t.Skipf("the directory of temporary files lies below %s, which has a configuration file", missing.Nearest)
	}
	wantOne(t, diags, "plugins.hcl:1,1-1", "No configuration file", "--config FILE")
}

func TestExcerptIsPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\r\n": "a\tb\r\n", "a\rb": "a?b", "\x1b[31m": "?[31m", "\u009b": "??", "\u202e": "???", "\xff": "?", "größe": "größe",
		`s = "user:pw@x" # @` + "\n@": `s = "*******@x"***@` + "\n@", `"https://u@x"`: `"https://*@x"`, `"x@sha256:1"`: `"x@sha256:1"`,
		`"a@b@c"`: `"***@c"`, `@ "x"`: `@ "x"`,
	} {
		if got := excerpt(&hcl.File{Bytes: []byte(text)}, FileName).Bytes; string(got) != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

func TestLoadUnreadable(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("dir", 0o755); err != nil {
		t.Fatal(err)
	}
	big := strings.Repeat("#\n", MaxFileSize/2+1)
	write(t, "big.hcl", big)
	write(t, "full.hcl", big[:MaxFileSize])
	for _, test := range []struct {
		file, word string
		notExist   bool
	}{
		{"missing.hcl", "no such file", true},
		{"dir", "directory", false},
		{"big.hcl", "larger than 1 MiB", false},
		{os.DevNull, "device", false},
	} {
		_, diags := Load(Options{Files: []string{test.file}, Dir: "."})
		var typed *FileError
		if len(diags) != 1 || diags[0].Subject.Filename != test.file || !strings.Contains(diags[0].Detail, test.word) {
			t.Errorf("%s: %v", test.file, diags)
			continue
		}
		if err, ok := diags[0].Extra.(error); !ok || !errors.As(err, &typed) || errors.Is(typed, fs.ErrNotExist) != test.notExist {
			t.Errorf("%s: Extra is %v", test.file, diags[0].Extra)
		}
	}
	if _, diags := Load(Options{Files: []string{"full.hcl"}}); diags != nil {
		t.Errorf("a file of the size allowed: %v", diags)
	}
	if _, diags := Load(Options{Dir: "nowhere"}); len(diags) != 1 || diags[0].Summary != "File can't be read" {
		t.Errorf("a directory that is missing: %v", diags)
	}
}

// A directory with one of our names is refused, not passed over.
func TestLoadDirectoryInPlaceOfFile(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir(FileName, 0o755); err != nil {
		t.Fatal(err)
	}
	_, diags := Load(Options{})
	wantOne(t, diags, "plugins.hcl:1,1-1", "File can't be read", "directory")
}

func TestLoadEncodings(t *testing.T) {
	good := required("aws", "x.example/y", "1.0.0")
	for name, text := range map[string]string{
		"byte order mark": "\ufeff" + good,
		"CRLF":            strings.ReplaceAll(good, "\n", "\r\n"),
		"both":            "\ufeff" + strings.ReplaceAll(good, "\n", "\r\n"),
		"no last newline": strings.TrimSuffix(good, "\n"),
	} {
		config, diags := load(t, map[string]string{FileName: text})
		if diags != nil || len(config.Requirements) != 1 || config.Requirements[0].SourceRange.String() != "plugins.hcl:2,20-33" {
			t.Errorf("%s: %v %v", name, config.Requirements, diags)
		}
	}
	config, diags := load(t, map[string]string{"plugins.hcl.json": "\ufeff{\r\n\"required_plugins\": {\"aws\": 1}}"})
	if len(diags) != 1 || diags[0].Subject.String() != "plugins.hcl.json:2,29-30" {
		t.Errorf("JSON with a byte order mark: %v", diags)
	}
	if out := render(t, config.Files, diags, 100); !strings.Contains(out, `2: "required_plugins"`) {
		t.Errorf("excerpt: %s", out)
	}
	_, diags = load(t, map[string]string{FileName: "# one\n# zwei \xfc\n"})
	wantOne(t, diags, "plugins.hcl:2,8-9", "File is not UTF-8", "Save the file as UTF-8")
	_, diags = load(t, map[string]string{FileName: "\xff\xfep\x00"})
	wantOne(t, diags, "plugins.hcl:1,1-2", "File is not UTF-8", "UTF-16")
}

// What HCL's parser can't survive never reaches it; package nesting tests more.
func TestLoadDeepNesting(t *testing.T) {
	deep := strings.Repeat("[", 1<<17)
	for name, text := range map[string]string{"plugins.hcl": "x = " + deep, "plugins.hcl.json": `{"a": "\"[[", "b":` + deep} {
		_, diags := load(t, map[string]string{name: text})
		if len(diags) != 1 || diags[0].Summary != "File nested too deeply" || diags[0].Subject.Start.Column < maxDepth {
			t.Errorf("%s: %.200v", name, diags)
		}
	}
	wide := "required_plugins {\n" + strings.Repeat("  # [{(\n", 1000) + "  a = { source = \"" + strings.Repeat("{", 10) + "\" }\n}\n"
	_, diags := load(t, map[string]string{FileName: wide})
	if len(diags) != 2 || diags[0].Summary == "File nested too deeply" {
		t.Errorf("brackets in comments and texts: %v", diags)
	}
	json := `{"//": "` + strings.Repeat("[", 1000) + `", "required_plugins": [` + strings.Repeat("{},", 1000) + `{}]}`
	if _, diags = load(t, map[string]string{"plugins.hcl.json": json}); diags != nil {
		t.Errorf("many brackets in JSON, none deep: %v", diags)
	}
}

func TestLoadAllProblemsInOrder(t *testing.T) {
	_, diags := load(t, map[string]string{
		"c.plugins.hcl": "required_plugins {\n  x = {\n",
		"a.plugins.hcl": required("b", "nohost", "1.0.0") + required("A", "x.example/y", "1.2"),
		"b.plugins.hcl": "plugin {}\n",
	})
	var got []string
	for _, d := range diags {
		got = append(got, d.Subject.String()+" "+d.Summary)
	}
	want := []string{
		"a.plugins.hcl:2,18-26 Invalid plugin source",
		"a.plugins.hcl:5,3-4 Invalid plugin name",
		"a.plugins.hcl:5,43-48 Invalid version constraint",
		"b.plugins.hcl:1,1-7 Unsupported block type",
		"c.plugins.hcl:3,1-1 Missing expression",
	}
	if !slices.Equal(got, want) {
		t.Errorf("problems:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestLoadGivenFiles(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	for _, dir := range []string{"a", "b"} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, dir+".hcl"), "runner = f(x)\n"+required(dir, "x.example/"+dir, "1.0.0"))
	}
	a, b := filepath.Join("a", "a.hcl"), filepath.Join("b", "b.hcl")
	config, diags := Load(Options{Files: []string{a, "./" + a, filepath.Join(root, a)}})
	if diags != nil || config.Dir != "a" || len(config.Paths) != 2 || len(config.Requirements) != 1 {
		t.Errorf("one file under three names: %+v %v", config, diags)
	}
	_, diags = Load(Options{Files: []string{a, b}})
	if len(diags) != 1 || diags[0].Summary != "Project directory not clear" {
		t.Errorf("files of two directories: %v", diags)
	}
	config, diags = Load(Options{Files: []string{a, b}, Dir: "b"})
	if diags != nil || config.Dir != "b" || len(config.Requirements) != 2 {
		t.Errorf("with a directory: %+v %v", config, diags)
	}
}

func TestRequiredVersion(t *testing.T) {
	for _, test := range []struct {
		tool, constraint string
		fits, unchecked  bool
	}{
		{"0.2.0", ">= 0.1.0", true, false},
		{"v0.2.0", ">= 0.1.0", true, false},
		{"0.1.0", ">= 0.2.0", false, false},
		{"0.2.0-rc.1", ">= 0.2.0", true, false},
		{"0.2.0-rc.1", ">= 0.2.0-rc.2", true, false},
		{"0.1.1-0.20260102030405-0123456789ab", "~> 0.1.0", true, false},
		{"v0.1.0+dirty", "0.1.0", true, false},
		{"1.0.0", "~> 0.1", false, false},
		{"", ">= 99.0.0", true, true},
		{"(devel)", ">= 99.0.0", true, true},
		{"v0.0.0-20260102030405-0123456789ab", ">= 99.0.0", true, true},
		{"today", ">= 99.0.0", true, true},
	} {
		t.Chdir(t.TempDir())
		write(t, FileName, "plugins {\n  required_version = \""+test.constraint+"\"\n}\n")
		config, diags := Load(Options{ToolVersion: test.tool})
		if diags.HasErrors() == test.fits || (config.RequiredVersion.Unchecked != "") != test.unchecked {
			t.Errorf("%q against %q: %v, unchecked %q", test.tool, test.constraint, diags, config.RequiredVersion.Unchecked)
		}
		if config.RequiredVersion.Constraint.IsZero() || config.RequiredVersion.Range.String() != "plugins.hcl:2,22-"+column(24+len(test.constraint)) {
			t.Errorf("recorded %v", config.RequiredVersion)
		}
	}
}

func column(n int) string {
	return strings.TrimPrefix(hcl.Range{Start: hcl.Pos{Line: 1, Column: 1}, End: hcl.Pos{Line: 1, Column: n}}.String(), ":1,1-")
}

// A second file, not the one with the fault, may be what asks for a newer tool.
func TestRequiredVersionBeforeAllElse(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "a.plugins.hcl", "new syntax => {\n")
	write(t, "b.plugins.hcl.json", `{"plugins": [{"required_version": ">= 0.1.0"}, {"required_version": ">= 2.0.0", "new": 1}]}`)
	_, diags := Load(Options{ToolVersion: "1.0.0"})
	wantOne(t, diags, "b.plugins.hcl.json:1,69-79", "Another version of the tool required", ">= 2.0.0", "1.0.0")
	_, diags = Load(Options{ToolVersion: "2.0.0"})
	if len(diags) < 2 {
		t.Errorf("a tool that is new enough reports what it finds: %v", diags)
	}
}

func TestDefaultPrefix(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, FileName, "required_plugins {\n  a = { source = \"aws\", version = \"1.0.0\" }\n  b = { source = \"team/b\", version = \"1.0.0\" }\n  c = { source = \"x.example/c\", version = \"1.0.0\" }\n}\n")
	config, diags := Load(Options{DefaultPrefix: "registry.example.com/plugins/"})
	if diags != nil {
		t.Fatal(diags)
	}
	for i, want := range []string{"registry.example.com/plugins/aws", "registry.example.com/plugins/team/b", "x.example/c"} {
		if got := config.Requirements[i].Source; got != want {
			t.Errorf("source %q, want %q", got, want)
		}
	}
}
