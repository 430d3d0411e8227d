package installdir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/extract"
)

var linux = addr.Platform{OS: "linux", Arch: "amd64"}

// makePlugin makes a plugin's files, as the store has them, and describes it.
func makePlugin(t *testing.T, name, version string) Plugin {
	t.Helper()
	root := t.TempDir()
	files := map[string]string{
		"plugin/" + name:   "#!/bin/sh\necho " + name + " " + version + "\n",
		"plugin/share/doc": "about " + version,
	}
	var records []extract.Record
	for path, content := range files {
		mode := fs.FileMode(0o644)
		if path == "plugin/"+name {
			mode = 0o755
		}
		full := filepath.Join(root, filepath.FromSlash(path))
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, []byte(content), mode)); err != nil {
			t.Fatal(err)
		}
		records = append(records, extract.Record{Path: path, Digest: addr.DigestOf([]byte(content)), Size: int64(len(content)), Executable: mode == 0o755})
	}
	if err := os.Symlink(name, filepath.Join(root, "plugin", "latest")); err != nil {
		t.Fatal(err)
	}
	records = append(records, extract.Record{Path: "plugin/latest", Link: name})
	v, err := addr.ParseVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	source, err := addr.ParseSource("registry.example.com/fleeting/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return Plugin{
		Name: name,
		Description: Description{
			Version: v, Source: source, Digest: addr.DigestOf([]byte("index " + name + version)),
			Manifest: addr.DigestOf([]byte("manifest " + name + version)), Protocols: []int{5, 6},
			Executable: "plugin/" + name, ExecutableDigest: addr.DigestOf([]byte(files["plugin/"+name])),
		},
		StoreRoot: root, Records: records,
	}
}

func desire(mode LinkMode, plugins ...Plugin) Desired {
	return Desired{Platform: linux, LinkMode: mode, Plugins: plugins}
}

func mustApply(t *testing.T, dir string, d Desired) Plan {
	t.Helper()
	plan, err := Apply(context.Background(), dir, d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func mustCheck(t *testing.T, dir string, d Desired) Plan {
	t.Helper()
	plan, err := Check(context.Background(), dir, d)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// content describes what is in dir: kinds, modes, links, bytes. With times it
// also tells a file that was written from one that was not.
func content(t *testing.T, dir string, times bool) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		link, _ := os.Readlink(path)
		var bytes []byte
		if info.Mode().IsRegular() {
			if bytes, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		name, err := filepath.Rel(dir, path)
		fmt.Fprintf(&b, "%s %v %s %q", filepath.ToSlash(name), info.Mode(), link, bytes)
		if times {
			fmt.Fprintf(&b, " %d", info.ModTime().UnixNano())
		}
		b.WriteByte('\n')
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return b.String()
}

func firstDifference(before, after string) string {
	b, a := strings.Split(before, "\n"), strings.Split(after, "\n")
	for i := range b {
		if i >= len(a) || a[i] != b[i] {
			return b[i] + "\n" + strings.Join(a[min(i, len(a)):min(i+1, len(a))], "")
		}
	}
	return "more"
}

// requireExact fails unless dir holds what d says, runs, and nothing else.
func requireExact(t *testing.T, dir string, d Desired) {
	t.Helper()
	if plan := mustCheck(t, dir, d); !plan.Empty() || plan.Untidy {
		t.Errorf("not exact: %+v", plan)
	}
	state, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	wantBin, wantPlugins := []string{}, []string{}
	for _, p := range d.Plugins {
		wantBin = append(wantBin, binName(p.Name, d.Platform))
		wantPlugins = append(wantPlugins, p.Name)
		path, ok := state.Executable(dir, p.Name)
		if !ok {
			t.Errorf("%s is not in installed.json", p.Name)
		}
		for _, program := range []string{path, filepath.Join(dir, "bin", binName(p.Name, d.Platform))} {
			if got, err := run(program); err != nil || got != p.Name+" "+p.Version.String()+"\n" {
				t.Errorf("%s: %q, %v", program, got, err)
			}
		}
	}
	requireNames(t, filepath.Join(dir, "bin"), wantBin)
	requireNames(t, filepath.Join(dir, "plugins"), wantPlugins)
	requireNames(t, dir, []string{".gitignore", "bin", "installed.json", "plugins"})
}

func requireNames(t *testing.T, dir string, want []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	sortStrings(want)
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%s holds %q, want %q", dir, got, want)
	}
}
