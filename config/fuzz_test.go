package config

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
)

// seed adds every fixture, and the odd texts given.
func seed(f *testing.F, folders []string, odd ...string) {
	for _, folder := range folders {
		paths, err := filepath.Glob(filepath.Join(testdata, folder, "*"))
		if err != nil || len(paths) == 0 {
			f.Fatal(paths, err)
		}
		for _, path := range paths {
			if src, err := os.ReadFile(path); err == nil && !strings.HasSuffix(path, ".golden") {
				f.Add(src, isJSON(path))
			}
		}
	}
	for _, text := range odd {
		f.Add([]byte(text), false)
		f.Add([]byte(text), true)
	}
}

// FuzzLoad: whatever a file holds, it is either refused with a place for each
// problem, or gives requirements that a host's check accepts too.
func FuzzLoad(f *testing.F) {
	seed(f, []string{"own", "host"}, "", "{}", "[]", "null", `{"required_plugins": null}`, "required_plugins {}", "\ufeff", "\xff")
	f.Fuzz(func(t *testing.T, src []byte, json bool) {
		for _, own := range []bool{true, false} {
			requirements, diags := loadText(t, src, json, own)
			checkPlaces(t, diags, src)
			if diags.HasErrors() {
				continue
			}
			for _, r := range requirements {
				if _, err := r.Check(); err != nil {
					t.Errorf("accepted %+v, but: %v", r, err)
				}
			}
		}
	})
}

// loadText is Load of one file without a disk.
func loadText(t *testing.T, src []byte, json, own bool) ([]Requirement, hcl.Diagnostics) {
	path := FileName
	if json {
		path += ".json"
	}
	l := &loader{config: &Config{Files: map[string]*hcl.File{}}, options: Options{ToolVersion: "0.2.0"}}
	file, diags := parse(src, path)
	s := source{path: path, own: own, text: file.Bytes, diags: diags}
	if file.Body != nil && usable(diags) {
		s.body = file.Body
	}
	checkExcerpt(t, excerpt(file, path).Bytes, file.Bytes)
	l.sources = []source{s}
	l.judge()
	return l.config.Requirements, tidy(l.diags)
}

// checkExcerpt: an excerpt has the positions of the text, and nothing that a
// terminal would obey.
func checkExcerpt(t *testing.T, shown, text []byte) {
	t.Helper()
	if len(shown) != len(text) || bytes.Count(shown, []byte("\n")) != bytes.Count(text, []byte("\n")) {
		t.Errorf("the excerpt %q has other positions than %q", shown, text)
	}
	if !utf8.Valid(shown) || bytes.ContainsAny(shown, "\x00\x1b\x7f\u009b") {
		t.Errorf("the excerpt is not printable: %q", shown)
	}
}

func checkPlaces(t *testing.T, diags hcl.Diagnostics, src []byte) {
	t.Helper()
	for _, d := range diags {
		switch {
		case d.Subject == nil || d.Subject.Filename == "" || d.Subject.Start.Line < 1:
			t.Errorf("no place for %s: %s", d.Summary, d.Detail)
		case d.Subject.Start.Byte > len(src)+1 || d.Subject.End.Byte < d.Subject.Start.Byte:
			t.Errorf("place %#v of %s is not in the file of %d bytes", d.Subject, d.Summary, len(src))
		}
		if strings.ContainsFunc(d.Detail, func(r rune) bool { return r < ' ' && r != '\n' }) {
			t.Errorf("detail has control characters: %q", d.Detail)
		}
	}
}

// FuzzSettings: no panic, and a place for each problem.
func FuzzSettings(f *testing.F) {
	seed(f, []string{"settings"}, "", "registry {}", `{"registry": {"": {}}}`)
	f.Fuzz(func(t *testing.T, src []byte, json bool) {
		name := "settings.hcl"
		if json {
			name += ".json"
		}
		settings, diags := ParseSettings(src, name)
		checkPlaces(t, diags, src)
		if diags.HasErrors() {
			return
		}
		for _, r := range settings.Registries {
			if again, err := ParsePrefix(r.Prefix); err != nil || again != r.Prefix {
				t.Errorf("prefix %q is read back as %q, %v", r.Prefix, again, err)
			}
		}
	})
}
