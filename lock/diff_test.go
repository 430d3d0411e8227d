package lock

import (
	"slices"
	"strings"
	"testing"

	"github.com/pluginlock/plugins/addr"
)

func TestDiffIsOneLineAnEntry(t *testing.T) {
	const amd, arm = "linux/amd64", "linux/arm64"
	base := entry(t, "aws", "1.4.2", amd)
	change := func(f func(*Entry)) *File {
		e := base.sorted()
		f(&e)
		return file(e)
	}
	d := func(s string) string { return digest(s).String() }
	for name, c := range map[string]struct {
		before, after *File
		want          string
	}{
		"nothing":     {file(base), file(base), ""},
		"no file yet": {nil, file(base), "+ aws 1.4.2"},
		"gone":        {file(base), &File{}, "- aws 1.4.2"},
		"renamed":     {file(base), change(func(e *Entry) { e.Name = "amazon" }), "+ amazon 1.4.2\n- aws 1.4.2"},
		"newer":       {file(base), file(entry(t, "aws", "1.5.0", amd)), "~ aws 1.4.2 -> 1.5.0"},
		"newer, with a platform": {file(base), file(entry(t, "aws", "1.5.0", amd, arm)),
			"~ aws 1.4.2 -> 1.5.0, with linux/arm64"},
		"republished": {file(base), change(func(e *Entry) { e.Digest = digest("x") }),
			"~ aws 1.4.2: digest " + d("aws1.4.2") + " -> " + d("x")},
		"platforms": {file(base), change(func(e *Entry) { e.Platforms[0].Platform = platform(t, arm) }),
			"~ aws 1.4.2: without linux/amd64, with linux/arm64"},
		"manifest": {file(base), change(func(e *Entry) { e.Platforms[0].Manifest = digest("x") }),
			"~ aws 1.4.2: other manifest for linux/amd64"},
		"executable": {file(base), change(func(e *Entry) { e.Platforms[0].ExecutableDigest = digest("x") }),
			"~ aws 1.4.2: other executable for linux/amd64"},
		"tag":       {file(base), change(func(e *Entry) { e.Tag = "v1.4.2" }), "~ aws 1.4.2: tag 1.4.2 -> v1.4.2"},
		"protocols": {file(base), change(func(e *Entry) { e.Protocols = []int{6, 5} }), "~ aws 1.4.2: protocols none -> 5,6"},
		"path": {file(base), change(func(e *Entry) { e.Executable.Path = "/x" }),
			"~ aws 1.4.2: executable none -> /x"},
		"paths": {file(base), change(func(e *Entry) {
			e.Executable.ByPlatform = map[addr.Platform]string{platform(t, amd): "/x", platform(t, arm): "/y"}
		}), "~ aws 1.4.2: executable none -> linux/amd64=/x linux/arm64=/y"},
		"source": {file(base), change(func(e *Entry) { e.Source = entry(t, "gcp", "1.0.0").Source }),
			"~ aws 1.4.2: source registry.example.com/plugins/aws -> registry.example.com/plugins/gcp"},
	} {
		var lines []string
		for _, change := range Diff(c.before, c.after) {
			lines = append(lines, change.String())
		}
		if got := strings.Join(lines, "\n"); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.want)
		}
		if equal := c.want == "" || c.before == nil; equal != (c.before == nil || c.before.Equal(c.after)) {
			t.Errorf("%s: Equal disagrees with Diff", name)
		}
	}
}

func TestSetKeepsOrderAndSharesNothing(t *testing.T) {
	f := file(entry(t, "b", "1.0.0", "linux/amd64"), entry(t, "a", "1.0.0", "linux/amd64"))
	e := entry(t, "c", "1.0.0", "windows/amd64", "linux/amd64")
	e.Protocols = []int{6, 5}
	e.Executable.ByPlatform = map[addr.Platform]string{platform(t, "linux/amd64"): "/x", platform(t, "windows/amd64"): "/y"}
	f.Set(e)
	before := f.Clone()
	e.Protocols[0], e.Platforms[0].Manifest = 9, digest("x")
	e.Executable.ByPlatform[platform(t, "linux/amd64")] = "/z"
	if !f.Equal(before) {
		t.Error("Set shares memory with its argument")
	}
	got, ok := f.Entry("c")
	if !ok || !slices.Equal(got.Protocols, []int{5, 6}) || got.Platforms[0].Platform.OS != "linux" {
		t.Errorf("not sorted: %+v", got)
	}
	got.Executable.ByPlatform[platform(t, "linux/amd64")] = "/w"
	if f.Equal(before) {
		t.Error("Clone shares memory, or Equal does not compare executables")
	}
	if !f.Remove("b") || f.Remove("b") || len(f.Entries) != 2 {
		t.Errorf("after Remove: %+v", f.Entries)
	}
	if _, ok := f.Entry("b"); ok {
		t.Error("b is still there")
	}
}

func TestEntryPlatformMatchesExactly(t *testing.T) {
	e := entry(t, "a", "1.0.0", "linux/arm/v6", "linux/amd64")
	if p, ok := e.Platform(platform(t, "linux/arm/v6")); !ok || p.Manifest.IsZero() {
		t.Errorf("%v %v", p, ok)
	}
	if p, ok := e.Platform(platform(t, "linux/arm/v7")); ok {
		t.Errorf("another platform's: %v", p)
	}
	e.Tag = "v1.0.0"
	if e.TagName() != "v1.0.0" || entry(t, "a", "1.0.0+b").TagName() != "1.0.0_b" {
		t.Error("TagName")
	}
}
