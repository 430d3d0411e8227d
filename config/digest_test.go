package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pluginlock/plugins/addr"
)

func TestDigest(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	digest := func(o Options) addr.Digest {
		t.Helper()
		loaded, _ := Load(o)
		in, got, diags := Digest(o)
		if got != loaded.Digest || in != loaded.Dir || diags.HasErrors() != got.IsZero() {
			t.Errorf("%+v: %q of %s with %v, loaded %q of %s", o, got, in, diags, loaded.Digest, loaded.Dir)
		}
		return got
	}
	here := Options{Dir: dir}
	if got := digest(here); !got.IsZero() {
		t.Errorf("without a file: %s", got)
	}
	seen := map[addr.Digest]string{}
	differs := func(what string, o Options) {
		t.Helper()
		got := digest(o)
		if other, ok := seen[got]; ok || got.IsZero() {
			t.Errorf("%s: %q, as with %q", what, got, other)
		}
		seen[got] = what
	}
	write("plugins.hcl", "required_plugins {}\n")
	differs("one file", here)
	write("plugins.hcl", "required_plugins {} # x\n")
	differs("a comment", here)
	write("a.plugins.hcl", "# y\n")
	differs("two files", here)
	if err := os.Rename(filepath.Join(dir, "a.plugins.hcl"), filepath.Join(dir, "b.plugins.hcl")); err != nil {
		t.Fatal(err)
	}
	differs("another name", here)
	write("plugins.hcl", "required_plugins {} # x\n# y\n")
	write("b.plugins.hcl", "")
	differs("a line in the other file", here)
	differs("one file by its name", Options{Files: []string{filepath.Join(dir, "plugins.hcl")}})
	write("c.plugins.hcl", "this is no HCL {")
	differs("a file that does not parse", here)
	if err := os.Mkdir(filepath.Join(dir, "d.plugins.hcl"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := digest(here); !got.IsZero() {
		t.Errorf("with a file that cannot be read: %s", got)
	}
}
