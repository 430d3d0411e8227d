package config

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/pluginlock/plugins/addr"
)

func TestLoadSettings(t *testing.T) {
	src, err := os.ReadFile(filepath.Join(testdata, "settings/valid.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, "settings.hcl", string(src))
	want := Settings{
		Registries: []Registry{
			{Prefix: "docker.io", Mirror: "mirror.example.com/docker", Fallback: true, FallbackTags: true},
			{Prefix: "lab.example.com", PlainHTTP: true, CAFile: filepath.Join(dir, "lab.pem")},
			{Prefix: "registry.example.com:8443/team", Mirror: filepath.Join(dir, "layouts", "team")},
		},
		Allow:  []string{"docker.io", "registry.example.com:8443/team"},
		Limits: Limits{Bytes: 4 << 30, Entries: 50000, Ratio: 500},
	}
	for _, path := range []string{"settings.hcl", filepath.Join(dir, "settings.hcl")} {
		settings, diags := LoadSettings(path)
		if diags != nil || !reflect.DeepEqual(settings, want) {
			t.Errorf("%s:\n%+v\nwant\n%+v\n%v", path, settings, want, diags)
		}
	}
}

func TestLimitsHaveAllAttributes(t *testing.T) {
	settings, diags := ParseSettings([]byte(`limits {
  entries       = 1
  bytes         = 2
  file_bytes    = "3KiB"
  path_bytes    = 4
  depth         = 5
  ratio         = 6
  ratio_from    = "7 MiB"
  zstd_window   = "8MiB"
  layer_entries = 9
  layer_bytes   = "1024GiB"
}
`), "settings.hcl")
	want := Limits{1, 2, 3 << 10, 4, 5, 6, 7 << 20, 8 << 20, 9, 1 << 40}
	if diags != nil || settings.Limits != want {
		t.Errorf("%+v, want %+v; %v", settings.Limits, want, diags)
	}
}

func TestSettingsNotExist(t *testing.T) {
	_, diags := LoadSettings(filepath.Join(t.TempDir(), "settings.hcl"))
	if len(diags) != 1 || !NotExist(diags) {
		t.Errorf("a missing file: %v", diags)
	}
	_, diags = LoadSettings(t.TempDir())
	if len(diags) != 1 || NotExist(diags) {
		t.Errorf("a directory: %v", diags)
	}
	if settings, diags := ParseSettings(nil, "settings.hcl"); diags != nil || !reflect.DeepEqual(settings, Settings{}) {
		t.Errorf("an empty file: %+v %v", settings, diags)
	}
	if Excerpt(t.TempDir()) != nil {
		t.Error("an excerpt of a directory")
	}
}

func TestAllows(t *testing.T) {
	settings := Settings{Allow: []string{"x.example", "y.example/team"}}
	for source, want := range map[string]bool{
		"x.example/a": true, "x.example:5000/a": false, "y.example/team/a": true, "y.example/team": true,
		"y.example/teams/a": false, "y.example/a": false, "z.example/a": false,
	} {
		parsed, err := addr.ParseSource(source)
		if err != nil {
			t.Fatal(err)
		}
		if settings.Allows(parsed) != want {
			t.Errorf("%s: %t, want %t", source, !want, want)
		}
		if !(Settings{}).Allows(parsed) {
			t.Errorf("no settings refuse %s", source)
		}
	}
}

func TestParsePrefix(t *testing.T) {
	for written, want := range map[string]string{
		"docker.io": "docker.io", "index.docker.io": "docker.io", "docker.io/velero": "docker.io/velero", "X.example:443": "x.example",
		"localhost:5000/a/b": "localhost:5000/a/b", "[::1]:5000": "[::1]:5000",
		"": "", "x": "", "x.example/": "", "https://x.example": "", "x.example/A": "", "x.example/a:1": "", "x.example//a": "",
	} {
		got, err := ParsePrefix(written)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v; want %q", written, got, err, want)
		}
	}
}
