package plugins_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pluginlock/plugins"
	"github.com/pluginlock/plugins/internal/extract"
	"github.com/pluginlock/plugins/internal/hostile"
	"github.com/pluginlock/plugins/internal/imagetest"
	"github.com/pluginlock/plugins/internal/registrytest"
	"github.com/pluginlock/plugins/lock"
)

// C33 C35 C36 C37 C39 from end to end: whatever a publisher packs, nothing is
// written outside of store and project, and a refused plugin leaves no lock
// file, no install directory and no entry in the store.
func TestHostileArchivesEndToEnd(t *testing.T) {
	for _, archive := range hostile.Small() {
		if archive.Want == extract.KindNone {
			continue
		}
		t.Run(strings.ReplaceAll(archive.Name, "/", "_"), func(t *testing.T) {
			p := newProject(t, registrytest.Options{})
			p.registry.MustAdd(t, "plugins/aws", imagetest.Plugin{
				Name: "aws", Version: "1.0.0", Platforms: []string{"linux/amd64"},
				Edit: imagetest.Edit{Layer: func(string, []byte) []byte { return archive.Layer }},
			}.Build(t), "1.0.0")
			p.require("aws", "~> 1.0")
			canary := canaryTree(t, p.dir, p.options.CacheDir)
			_, err := plugins.Init(context.Background(), p.options)
			if got := extract.KindOf(err); got != archive.Want {
				t.Errorf("refused as %q, want %q: %v", got, archive.Want, err)
			}
			if now := canaryTree(t, p.dir, p.options.CacheDir); now != canary {
				t.Errorf("outside of store and project %q became %q", canary, now)
			}
			for _, path := range []string{
				filepath.Join(p.dir, lock.FileName), filepath.Join(p.dir, plugins.InstallDirName),
			} {
				if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s is there", path)
				}
			}
			if entries, _ := filepath.Glob(filepath.Join(p.options.CacheDir, "v1", "sha256", "*")); len(entries) > 0 {
				t.Errorf("the store has %v", entries)
			}
			if staged, _ := filepath.Glob(filepath.Join(p.options.CacheDir, "v1", "staging", "*")); len(staged) > 0 {
				t.Errorf("staging has %v", staged)
			}
		})
	}
}

// canaryTree lists everything around the project and the store.
func canaryTree(t *testing.T, project, cache string) string {
	t.Helper()
	var b strings.Builder
	for _, root := range []string{filepath.Dir(project), filepath.Dir(cache)} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || path == cache {
				return errors.Join(err, fs.SkipDir)
			}
			b.WriteString(strings.TrimPrefix(path, root) + " " + d.Type().String() + "\n")
			return nil
		})
		if err != nil && !errors.Is(err, fs.SkipDir) {
			t.Fatal(err)
		}
	}
	return b.String()
}
