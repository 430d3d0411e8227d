package publish

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/pluginlock/plugins/internal/extract"
)

func platformsOf(r *Result) string {
	var all []string
	for _, p := range r.Platforms {
		all = append(all, p.Platform.String()+" "+p.Executable)
	}
	return strings.Join(all, "; ")
}

func TestGoreleaser(t *testing.T) {
	const list = `[
 {"name":"aws","path":"dist/aws_linux_amd64_v1/aws","goos":"linux","goarch":"amd64","goamd64":"v1","type":"Binary"},
 {"name":"aws","path":"dist/aws_linux_amd64_v3/aws","goos":"linux","goarch":"amd64","goamd64":"v3","type":"Binary"},
 {"name":"aws","path":"dist/aws_linux_arm64_v8.0/aws","goos":"linux","goarch":"arm64","goarm64":"v8.0","type":"Binary"},
 {"name":"aws","path":"dist/aws_linux_arm_6/aws","goos":"linux","goarch":"arm","goarm":"6","type":"Binary"},
 {"name":"aws.exe","path":"dist/aws_windows_amd64_v1/aws.exe","goos":"windows","goarch":"amd64","goamd64":"v1","type":"Binary"},
 {"name":"aws","path":"dist/aws_darwin_all/aws","goos":"darwin","goarch":"all","type":"Universal Binary"},
 {"name":"aws.tar.gz","path":"dist/aws.tar.gz","goos":"linux","goarch":"amd64","type":"Archive"},
 {"name":"checksums.txt","path":"dist/checksums.txt","type":"Checksum"}]`
	universal := "\xca\xfe\xba\xbe\x00\x00\x00\x02" + "\x01\x00\x00\x07" + strings.Repeat("\x00", 16) + "\x01\x00\x00\x0c" + strings.Repeat("\x00", 16)
	files := map[string]string{
		"dist/artifacts.json":               list,
		"dist/aws_linux_amd64_v1/aws*":      native(t, "linux/amd64"),
		"dist/aws_linux_amd64_v3/aws*":      native(t, "linux/amd64"),
		"dist/aws_linux_arm64_v8.0/aws*":    native(t, "linux/arm64"),
		"dist/aws_linux_arm_6/aws*":         native(t, "linux/arm"),
		"dist/aws_windows_amd64_v1/aws.exe": native(t, "windows/amd64"),
		"dist/aws_darwin_all/aws*":          universal,
		"dist/aws.tar.gz":                   "an archive",
		"main.go":                           "package main",
	}
	dir := write(t, t.TempDir(), files)
	const want = "darwin/amd64 plugin/aws; darwin/arm64 plugin/aws; linux/amd64 plugin/aws; linux/amd64/v3 plugin/aws; linux/arm/v6 plugin/aws; linux/arm64 plugin/aws; windows/amd64 plugin/aws.exe"
	for _, at := range []string{dir, filepath.Join(dir, "dist")} {
		r := packed1(t, PackageOptions{Dir: at})
		if got := platformsOf(r); got != want {
			t.Errorf("from %s: %s\nwant %s", at, got, want)
		}
	}
	must(t, os.Remove(filepath.Join(dir, "dist/aws_linux_arm_6/aws")))
	if err := packageError(t, PackageOptions{Dir: dir}); !strings.Contains(err.Error(), "linux/arm/v6: dist/aws_linux_arm_6/aws: is listed in") {
		t.Errorf("of a file that is gone: %v", err)
	}
	must(t, os.WriteFile(filepath.Join(dir, "dist/artifacts.json"), []byte(`[{"path":"dist/aws.tar.gz","type":"Archive"}]`), 0o644))
	if err := packageError(t, PackageOptions{Dir: dir}); !errors.Is(err, ErrNoInput) {
		t.Errorf("of a list without programs: %v", err)
	}
}

func TestGoreleaserStaysInside(t *testing.T) {
	dir := write(t, t.TempDir(), map[string]string{"secret*": native(t, "linux/amd64"), "dist/x/artifacts.json": `[{"path":"../../secret","goos":"linux","goarch":"amd64","type":"Binary"}]`})
	if err := packageError(t, PackageOptions{Dir: filepath.Join(dir, "dist/x")}); !strings.Contains(err.Error(), "is listed in") {
		t.Errorf("error is %v", err)
	}
}

func TestTree(t *testing.T) {
	arm := native(t, "linux/arm")
	tests := map[string]struct {
		files map[string]string
		want  string // platforms, or what the error says
	}{
		"variants":           {map[string]string{"linux/arm/v6/aws*": arm, "linux/arm/v7/aws*": arm, "linux/armv5/aws*": arm}, "linux/arm/v5 plugin/aws; linux/arm/v6 plugin/aws; linux/arm/v7 plugin/aws"},
		"arm alone":          {map[string]string{"linux/arm/aws*": arm}, "linux/arm/v7 plugin/aws"},
		"arm64v8":            {map[string]string{"linux/arm64v8/aws*": native(t, "linux/arm64")}, "linux/arm64 plugin/aws"},
		"a directory v1":     {map[string]string{"linux/riscv64/aws*": native(t, "linux/riscv64"), "linux/riscv64/v1/api.json": "{}"}, "linux/riscv64 plugin/aws"},
		"own output":         {map[string]string{"linux/arm/aws*": arm, "image/oci-layout": "{}", "image/blobs/x": ""}, "linux/arm/v7 plugin/aws"},
		"variant and files":  {map[string]string{"linux/arm/v6/aws*": arm, "linux/arm/aws*": arm}, "directories of variants (v6) beside other files (aws)"},
		"twice":              {map[string]string{"linux/armv7/aws*": arm, "linux/arm/aws*": arm}, "second directory for the platform"},
		"unknown system":     {map[string]string{"linux/arm/aws*": arm, "macos/arm64/aws*": arm}, `did you mean "darwin"`},
		"unknown arch":       {map[string]string{"linux/x86_64/aws*": arm}, `did you mean "amd64"`},
		"unknown variant":    {map[string]string{"linux/armv9/aws*": arm}, `variant "v9" is not known`},
		"file in a system":   {map[string]string{"linux/arm/aws*": arm, "linux/notes": ""}, "linux/notes: is a file where the directory of an architecture is expected"},
		"nothing":            {map[string]string{"README": ""}, "nothing to pack"},
		"empty platform":     {map[string]string{"linux/arm/": ""}, "there is no file for it"},
		"empty system":       {map[string]string{"linux/": "", "linux/arm/aws*": arm, "darwin/": ""}, "is an empty directory"},
		"common collides":    {map[string]string{"linux/arm/aws*": arm, "common/aws": ""}, `common/aws: would be packed as "plugin/aws", and so would linux/arm/aws`},
		"common differs":     {map[string]string{"linux/arm/aws*": arm, "common/AWS": ""}, "is on some systems the same as"},
		"directory and file": {map[string]string{"linux/arm/aws*": arm, "linux/arm/doc/x": "", "common/doc": ""}, `would be packed as "plugin/doc"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "layout")
			r, err := Package(context.Background(), PackageOptions{Dir: write(t, t.TempDir(), test.files), Output: out})
			if err != nil {
				if !strings.Contains(err.Error(), test.want) {
					t.Errorf("error is %v, want %q", err, test.want)
				}
				return
			}
			if got := platformsOf(r); got != test.want {
				t.Errorf("platforms are %s, want %s", got, test.want)
			}
		})
	}
}

func TestTreeIgnoresFilesAtTheTopOnce(t *testing.T) {
	dir := write(t, t.TempDir(), map[string]string{"linux/amd64/aws*": native(t, "linux/amd64"), "README": "", "SHA256SUMS": "", "package.hcl": ""})
	r := packed1(t, PackageOptions{Dir: dir, Metadata: Metadata{Version: "1.0.0"}})
	if len(r.Warnings) != 1 || r.Warnings[0].Kind != WarnIgnored || !strings.HasSuffix(r.Warnings[0].Text, ": README, SHA256SUMS") {
		t.Errorf("warnings are %v", r.Warnings)
	}
}

func TestNamedFiles(t *testing.T) {
	dir := write(t, t.TempDir(), map[string]string{"a/aws*": native(t, "linux/amd64"), "b/aws*": native(t, "linux/arm64"), "doc/x.txt": "x", "doc/y/z.txt": "z"})
	var files []File
	for _, s := range []string{"linux/amd64=a/aws", "linux/amd64=doc", "linux/arm64/v8=b/aws"} {
		f, err := ParseFile(s)
		must(t, err)
		f.Path = filepath.Join(dir, f.Path)
		files = append(files, f)
	}
	r := packed1(t, PackageOptions{Files: files})
	if platformsOf(r) != "linux/amd64 plugin/aws; linux/arm64 plugin/aws" || r.Platforms[0].Files != 3 || r.Platforms[1].Files != 1 {
		t.Errorf("%+v", r.Platforms)
	}
	files = append(files, File{files[0].Platform, filepath.Join(dir, "b/aws")}, File{files[0].Platform, filepath.Join(dir, "gone")})
	err := packageError(t, PackageOptions{Files: files})
	if !strings.Contains(err.Error(), "gone: no such file") {
		t.Errorf("error is %v", err)
	}
	for _, s := range []string{"", "linux/amd64", "linux/amd64=", "linux/amd46=x", "=x"} {
		if _, err := ParseFile(s); err == nil {
			t.Errorf("%q is accepted", s)
		}
	}
}

func TestIncludeAndExclude(t *testing.T) {
	files := map[string]string{"linux/amd64/aws*": native(t, "linux/amd64"), "linux/amd64/doc/a.md": "", "linux/amd64/doc/deep/b.md": "", "linux/amd64/doc/c.txt": "", "linux/amd64/x.md": "", "common/LICENSE": ""}
	tests := []struct {
		include, exclude []string
		want             int // files
	}{
		{nil, nil, 6}, {nil, []string{"*.md"}, 3}, {nil, []string{"doc"}, 3}, {nil, []string{"doc/*.md"}, 5}, {nil, []string{"doc/**"}, 3},
		{nil, []string{"**/*.md"}, 3}, {nil, []string{"doc/**/b.md"}, 5}, {nil, []string{"doc/", "LICENSE"}, 2},
		{[]string{"aws"}, nil, 1}, {[]string{"aws", "doc"}, []string{"*.txt"}, 3}, {[]string{"aws", "L*"}, nil, 2},
	}
	for _, test := range tests {
		r := packed1(t, PackageOptions{Dir: write(t, t.TempDir(), files), Metadata: Metadata{Include: test.include, Exclude: test.exclude}})
		if got := r.Platforms[0].Files; got != test.want {
			t.Errorf("include %q, exclude %q: %d files, want %d", test.include, test.exclude, got, test.want)
		}
	}
	for _, pattern := range []string{"", "[", "/x", "../x", "a/../b", "./a"} {
		if checkPatterns([]string{pattern}) == nil {
			t.Errorf("%q is accepted", pattern)
		}
	}
}

func TestMetadataFile(t *testing.T) {
	const file = "package.hcl"
	tests := map[string]string{ // text → first diagnostic as line:column summary; "" where there is none
		"":                                          "",
		"name = \"aws\"\n":                          "",
		"\ufeffname = \"aws\"\r\n":                  "",
		"protocols = [5, 6]\n":                      "",
		"naem = \"aws\"\n":                          "1:1 Unknown attribute",
		"name = aws\n":                              "1:8 Value is not a literal",
		"name = \"${x}\"\n":                         "1:8 Value is not a literal",
		"name = 5\n":                                "1:8 Value of the wrong type",
		"name = \"\"\n":                             "1:8 Value of the wrong type",
		"name = null\n":                             "1:8 Value of the wrong type",
		"name = \"a/b\"\n":                          "1:8 Invalid value",
		"version = \"1.2\"\n":                       "1:11 Invalid value",
		"version = \"git\"\n":                       "",
		"protocols = 5\n":                           "1:13 Value of the wrong type",
		"protocols = [5, 5]\n":                      "1:17 Protocol written twice",
		"protocols = [0]\n":                         "1:14 Value of the wrong type",
		"protocols = [1.5]\n":                       "1:14 Value of the wrong type",
		"protocols = []\n":                          "1:13 Value of the wrong type",
		"include = [\"*.md\", 1]\n":                 "1:20 Value of the wrong type",
		"exclude = [\"[\"]\n":                       "1:11 Invalid value",
		"executable = \"../x\"\n":                   "1:14 Invalid value",
		"publish_to = \"aws\"\n":                    "1:14 Invalid value",
		"source = \"https://u:p@h/x\"\n":            "1:10 Invalid value",
		"description = \"a\\nb\"\n":                 "1:15 Invalid value",
		"plugin \"x\" {}\n":                         "1:1 Unexpected block",
		"name = \"a\"\nname = \"b\"\n":              "2:1 Attribute redefined",
		"name = \n":                                 "1:8 Invalid expression",
		"]" + strings.Repeat("[", 100000) + "\n":    "1:102 File nested too deeply",
		"a = " + strings.Repeat("-", 100000) + "\n": "1:10005 File nested too deeply",
	}
	for text, want := range tests {
		_, diags := ParseMetadata([]byte(text), file)
		got := ""
		if len(diags) > 0 {
			got = diags[0].Subject.String()
			got = strings.TrimPrefix(got[:strings.IndexAny(got, "-")], file+":")
			got = strings.ReplaceAll(got, ",", ":") + " " + diags[0].Summary
			if diags[0].Severity != hcl.DiagError {
				t.Errorf("%q: not an error", text)
			}
		}
		if len(text) > 50 {
			text = text[:50]
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	for word, want := range map[string]string{"license": "licenses", "title": "name", "protocol": "protocols", "publish-to": "publish_to", "desciption": "description"} {
		if got := didYouMean(word); !strings.Contains(got, `"`+want+`"`) {
			t.Errorf("%s: %s", word, got)
		}
	}
}

func FuzzParseMetadata(f *testing.F) {
	f.Add([]byte("name = \"aws\"\nprotocols = [5, 6]\n"))
	f.Add([]byte("plugin {}\n[[["))
	f.Fuzz(func(t *testing.T, src []byte) {
		m, diags := ParseMetadata(src, "package.hcl")
		for _, d := range diags {
			if d.Subject == nil {
				t.Errorf("a diagnostic without a range: %v", d)
			}
		}
		if len(diags) == 0 && len(m.check()) != 0 {
			t.Errorf("what was accepted is refused: %v", m.check())
		}
	})
}

func TestMetadataOptionsWin(t *testing.T) {
	dir := write(t, t.TempDir(), map[string]string{"linux/amd64/aws*": native(t, "linux/amd64"), "package.hcl": "version = \"1.0.0\"\nvendor = \"file\"\nprotocols = [1]\n"})
	r := packed1(t, PackageOptions{Dir: dir, Metadata: Metadata{Version: "2.0.0", Protocols: []int{7, 6, 7}}})
	a := indexOf(t, r).Annotations
	if a["org.opencontainers.image.version"] != "2.0.0" || a["org.opencontainers.image.vendor"] != "file" || a["dev.pluginlock.protocols"] != "6,7" {
		t.Errorf("annotations are %v", a)
	}
	var wrong *MetadataError
	err := packageError(t, PackageOptions{Dir: dir, Metadata: Metadata{Version: "2", Protocols: []int{0}}})
	if !errors.As(err, &wrong) || wrong.Attribute != "version" || !strings.Contains(err.Error(), "protocols") {
		t.Errorf("error is %v", err)
	}
	var diags hcl.Diagnostics
	if err := packageError(t, PackageOptions{Dir: dir, MetadataFile: filepath.Join(dir, "gone.hcl")}); !errors.As(err, &diags) {
		t.Errorf("of a file that is not there: %v", err)
	}
}

// TestExaminesExecutables compiles no program: it builds the few bytes that tell.
func TestExaminesExecutables(t *testing.T) {
	dynamic := "\x7fELF\x02\x01\x01\x00" + strings.Repeat("\x00", 8) + "\x02\x00\x3e\x00\x01\x00\x00\x00" + strings.Repeat("\x00", 8) +
		"\x40" + strings.Repeat("\x00", 7) + strings.Repeat("\x00", 8) + "\x00\x00\x00\x00\x40\x00\x38\x00\x01\x00\x40\x00\x00\x00\x00\x00" +
		"\x03\x00\x00\x00\x04\x00\x00\x00\x78" + strings.Repeat("\x00", 7) + strings.Repeat("\x00", 16) + "\x0b" + strings.Repeat("\x00", 7) + "\x0b" + strings.Repeat("\x00", 15) +
		"/lib/ld.so\x00"
	tests := map[string]struct {
		platform, content string
		kind              WarningKind
		text              string
	}{
		"static":          {"linux/amd64", native(t, "linux/amd64"), "", ""},
		"dynamic":         {"linux/amd64", dynamic, WarnDynamic, "/lib/ld.so"},
		"script":          {"linux/amd64", "#!/bin/sh -e\n", WarnInterpreter, "/bin/sh"},
		"env":             {"linux/amd64", "#! /usr/bin/env python3\n", WarnInterpreter, "/usr/bin/env python3"},
		"script, darwin":  {"darwin/arm64", "#!/bin/sh\n", "", ""},
		"script, windows": {"windows/amd64", "#!/bin/sh\n", WarnInterpreter, "Windows does not start it"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := packed1(t, PackageOptions{Dir: write(t, t.TempDir(), map[string]string{test.platform + "/aws*": test.content}), Metadata: Metadata{Version: "1.0.0"}})
			switch {
			case test.kind == "" && len(r.Warnings) == 0:
			case len(r.Warnings) != 1 || r.Warnings[0].Kind != test.kind || !strings.Contains(r.Warnings[0].Text, test.text):
				t.Errorf("warnings are %v", r.Warnings)
			}
		})
	}
	r := packed1(t, PackageOptions{Dir: write(t, t.TempDir(), map[string]string{"linux/amd64/aws": native(t, "linux/amd64")}), Metadata: Metadata{Version: "1.0.0"}})
	if len(r.Warnings) != 1 || r.Warnings[0].Kind != WarnMode {
		t.Errorf("of a missing bit: %v", r.Warnings)
	}
}

func TestWarnsOfAMissingVersion(t *testing.T) {
	dir := write(t, t.TempDir(), map[string]string{"linux/amd64/aws*": native(t, "linux/amd64")})
	r := packed1(t, PackageOptions{Dir: dir})
	if len(r.Warnings) != 1 || r.Warnings[0].Kind != WarnVersion {
		t.Errorf("warnings are %v", r.Warnings)
	}
}

func TestGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := write(t, t.TempDir(), map[string]string{"linux/amd64/aws*": native(t, "linux/amd64")})
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=u", "-c", "user.email=u@example.com"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE=2023-11-14T22:13:20Z", "GIT_AUTHOR_DATE=2001-01-01T00:00:00Z", "GIT_CONFIG_GLOBAL=/dev/null")
		out, err := cmd.Output()
		must(t, err)
		return strings.TrimSpace(string(out))
	}
	o := PackageOptions{Dir: dir, Metadata: Metadata{Version: VersionFromGit}}
	run("init", "-q")
	if err := packageError(t, o); !strings.Contains(err.Error(), "no tag to take the version from") {
		t.Errorf("without a commit: %v", err)
	}
	packed1(t, PackageOptions{Dir: dir}) // without a commit there is no time, and no error
	run("commit", "-q", "--allow-empty", "-m", "x")
	if err := packageError(t, o); !strings.Contains(err.Error(), "no tag to take the version from") {
		t.Errorf("without a tag: %v", err)
	}
	run("tag", "nightly")
	if err := packageError(t, o); !strings.Contains(err.Error(), "no versions: nightly") {
		t.Errorf("with another tag: %v", err)
	}
	run("tag", "v1.4.2+build.1")
	o.Metadata.Revision = VersionFromGit
	r := packed1(t, o)
	a := indexOf(t, r).Annotations
	if a["org.opencontainers.image.version"] != "1.4.2+build.1" || a["org.opencontainers.image.revision"] != run("rev-parse", "HEAD") ||
		a["org.opencontainers.image.created"] != "2023-11-14T22:13:20Z" {
		t.Errorf("annotations are %v", a)
	}
	run("tag", "1.4.3")
	if err := packageError(t, o); !strings.Contains(err.Error(), "two versions") {
		t.Errorf("with two versions: %v", err)
	}
	run("commit", "-q", "--allow-empty", "-m", "y")
	if err := packageError(t, o); !strings.Contains(err.Error(), "no tag") {
		t.Errorf("after the tag: %v", err)
	}
}

func TestPackageIntoLayouts(t *testing.T) {
	dir := write(t, t.TempDir(), fourPlatforms(t))
	out := filepath.Join(t.TempDir(), "layout")
	first := packed1(t, PackageOptions{Dir: dir, Output: out})
	again := packed1(t, PackageOptions{Dir: dir, Output: out})
	other := packed1(t, PackageOptions{Dir: dir, Output: out, Metadata: Metadata{Version: "1.5.0"}})
	l, err := openLayout(out)
	must(t, err)
	if first.Digest != again.Digest || len(l.index.Manifests) != 2 {
		t.Errorf("entry points are %v", l.index.Manifests)
	}
	for tag, want := range map[string]*Result{"1.4.2": first, "1.5.0": other} {
		if got, err := l.choose(tag); err != nil || got != want.Digest {
			t.Errorf("%s is %s, %v", tag, got, err)
		}
	}
	left, err := os.ReadDir(out)
	must(t, err)
	var names []string
	for _, e := range left {
		names = append(names, e.Name())
	}
	if !slices.Equal(names, []string{"blobs", "index.json", "oci-layout"}) {
		t.Errorf("the layout holds %v", names)
	}
	full := write(t, t.TempDir(), map[string]string{"precious": "data"})
	var layout *LayoutError
	if _, err := Package(context.Background(), PackageOptions{Dir: dir, Output: full}); !errors.As(err, &layout) {
		t.Errorf("into a directory of something else: %v", err)
	}
}

func TestPackageCancelled(t *testing.T) {
	dir := write(t, t.TempDir(), map[string]string{"linux/amd64/aws*": native(t, "linux/amd64") + strings.Repeat("x", 10<<20)})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	out := filepath.Join(t.TempDir(), "layout")
	_, err := Package(ctx, PackageOptions{Dir: dir, Output: out, OnProgress: func(done int64) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	if _, err := os.Lstat(out); !os.IsNotExist(err) {
		t.Error("the output is there after an error")
	}
}

// TestPackageRatio refuses what decoders take for a bomb, as installers do.
func TestPackageRatio(t *testing.T) {
	dir := write(t, t.TempDir(), map[string]string{"linux/amd64/aws*": native(t, "linux/amd64"), "linux/amd64/zeros": ""})
	must(t, os.Truncate(filepath.Join(dir, "linux/amd64/zeros"), extract.RatioFrom+1<<20))
	if err := packageError(t, PackageOptions{Dir: dir, Compression: Zstd}); !strings.Contains(err.Error(), "unpacked bytes for each packed one") {
		t.Errorf("error is %v", err)
	}
}

func TestPackageExcludesByRule(t *testing.T) {
	dir := write(t, t.TempDir(), map[string]string{
		"linux/amd64/aws*": native(t, "linux/amd64"), "linux/amd64/.git/config": "secret", "linux/amd64/sub/.git": "gitdir: elsewhere",
		"linux/amd64/.DS_Store": "", "common/.git/HEAD": "", "linux/.DS_Store": "", ".git/HEAD": "", "linux/amd64/.gitignore": "*"})
	r := packed1(t, PackageOptions{Dir: dir})
	if r.Platforms[0].Files != 2 || len(r.Platforms) != 1 {
		t.Errorf("%+v, want aws and .gitignore", r.Platforms)
	}
}
