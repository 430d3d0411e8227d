package cmd_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pluginlock/plugins/internal/imagetest"
	"github.com/pluginlock/plugins/internal/registrytest"
	"github.com/pluginlock/plugins/internal/scripttest"
	"github.com/pluginlock/plugins/lock"
)

// world is a registry with some plugins, and a cache for many projects.
type world struct {
	t        *testing.T
	registry *registrytest.Registry
	cache    string
	layers   map[string]string // plugin → digest of its layer for linux/amd64
}

const worldPlatform = "linux/amd64"

// newWorld publishes plugins p0, p1, … of some megabytes.
func newWorld(t *testing.T, count, padding int) *world {
	t.Helper()
	w := &world{t: t, registry: registrytest.New(t, registrytest.Options{}), cache: filepath.Join(t.TempDir(), "cache"), layers: map[string]string{}}
	for i := range count {
		name := fmt.Sprintf("p%d", i)
		image := imagetest.Plugin{Name: name, Version: "1.0.0", Platforms: []string{worldPlatform}, Padding: padding}.Build(t)
		w.registry.MustAdd(t, "plugins/"+name, image, "1.0.0")
		w.layers[name] = image.Payload(worldPlatform).String()
	}
	return w
}

// project makes a directory that requires the named plugins.
func (w *world) project(names ...string) string {
	w.t.Helper()
	dir := w.t.TempDir()
	var b strings.Builder
	b.WriteString("required_plugins {\n")
	for _, name := range names {
		fmt.Fprintf(&b, "  %s = {\n    source = \"%s/plugins/%s\"\n    version = \"~> 1.0\"\n  }\n", name, w.registry.Host(), name)
	}
	b.WriteString("}\n")
	if err := os.WriteFile(filepath.Join(dir, "plugins.hcl"), []byte(b.String()), 0o644); err != nil {
		w.t.Fatal(err)
	}
	return dir
}

// command prepares a real process.
func (w *world) command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, "plugins", args...)
	c.Dir = dir
	c.Env = []string{scripttest.NoSleep, "PATH=" + os.Getenv("PATH"), "HOME=" + dir, "PLUGINS_CACHE_DIR=" + w.cache}
	return c
}

func (w *world) must(dir string, args ...string) string {
	w.t.Helper()
	output, err := w.command(w.t.Context(), dir, args...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("plugins %s: %v\n%s", strings.Join(args, " "), err, output)
	}
	return string(output)
}

// C49: many processes with overlapping needs share one cold cache; every one
// succeeds and each blob is fetched once.
func TestC49ManyProcessesOneColdCache(t *testing.T) {
	w := newWorld(t, 5, 1<<20)
	const processes = 12
	var all sync.WaitGroup
	for i := range processes {
		dir := w.project(fmt.Sprintf("p%d", i%5), fmt.Sprintf("p%d", (i+1)%5), fmt.Sprintf("p%d", (i+2)%5))
		all.Go(func() {
			args := []string{"init", "--platform", worldPlatform}
			if output, err := w.command(t.Context(), dir, args...).CombinedOutput(); err != nil {
				t.Errorf("process %d: %v\n%s", i, err, output)
				return
			}
			bin := filepath.Join(dir, ".plugins", "bin", fmt.Sprintf("p%d", i%5))
			if output, err := exec.Command(bin).CombinedOutput(); err != nil || !strings.HasPrefix(string(output), "p") {
				t.Errorf("process %d: its plugin: %v %q", i, err, output)
			}
		})
	}
	all.Wait()
	for name, digest := range w.layers {
		if n := w.registry.Front.Count("GET", "*/blobs/"+digest); n != 1 {
			t.Errorf("the layer of %s was requested %d times", name, n)
		}
	}
}

// C49: several runs in one project end in one of the valid results.
func TestC49ManyProcessesOneProject(t *testing.T) {
	w := newWorld(t, 3, 0)
	dir := w.project("p0", "p1", "p2")
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if output, err := w.command(t.Context(), dir, "init", "--platform", worldPlatform).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, output)
			}
		})
	}
	all.Wait()
	if output := w.must(dir, "verify"); !strings.Contains(output, "3 of 3") {
		t.Errorf("verify: %s", output)
	}
	w.must(dir, "init", "--locked", "--platform", worldPlatform)
}

// C51: a run that is killed at any time leaves the old state or the new one,
// and the next run needs no help.
func TestC51KilledAtRandomTimes(t *testing.T) {
	if testing.Short() {
		t.Skip("kills thirty processes: not with -short")
	}
	w := newWorld(t, 3, 2<<20)
	dir := w.project("p0", "p1", "p2")
	random := rand.New(rand.NewPCG(51, 51))
	begun := time.Now()
	w.must(dir, "init", "--platform", worldPlatform)
	whole := time.Since(begun)
	locked := mustRead(t, filepath.Join(dir, lock.FileName))
	for round := range 30 {
		signal := []syscall.Signal{syscall.SIGKILL, syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT}[round%4]
		if round%2 == 0 {
			removeAll(t, w.cache, filepath.Join(dir, ".plugins"), filepath.Join(dir, lock.FileName))
		} else {
			removeAll(t, w.cache)
		}
		c := w.command(t.Context(), dir, "init", "--platform", worldPlatform)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.Int64N(int64(whole))))
		_ = c.Process.Signal(signal)
		if err := c.Wait(); err != nil && signal != syscall.SIGKILL {
			// -1: it was ended by the signal before it could listen for it.
			if code := c.ProcessState.ExitCode(); code != 128+int(signal) && code != -1 {
				t.Errorf("round %d: %v: exit code %d", round, signal, code)
			}
		}
		if now, err := os.ReadFile(filepath.Join(dir, lock.FileName)); !errors.Is(err, fs.ErrNotExist) && string(now) != locked {
			t.Fatalf("round %d: the lock file is neither the old nor the new one: %v\n%s", round, err, now)
		}
		w.must(dir, "list")
		w.must(dir, "init", "--platform", worldPlatform)
		w.must(dir, "verify")
	}
	// What killed runs have left is cleared away by the next one that stores
	// something.
	removeAll(t, filepath.Join(w.cache, "v1", "sha256"))
	w.must(dir, "init", "--platform", worldPlatform)
	left, err := os.ReadDir(filepath.Join(w.cache, "v1", "staging"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) || len(left) > 0 {
		t.Errorf("%d leftovers in staging: %v, %v", len(left), left, err)
	}
}

// C51: what was planted in the store is found and replaced, never run.
func TestC51PlantedDamage(t *testing.T) {
	damages := map[string]func(t *testing.T, entry string){
		"an empty directory": func(t *testing.T, entry string) {
			removeAll(t, entry)
			if err := os.Mkdir(entry, 0o755); err != nil {
				t.Fatal(err)
			}
		},
		"an empty program": func(t *testing.T, entry string) { mustWrite(t, filepath.Join(entry, "root", "plugin", "p0"), "") },
		"another program": func(t *testing.T, entry string) {
			mustWrite(t, filepath.Join(entry, "root", "plugin", "p0"), "#!/bin/sh\necho evil\n")
		},
		"only the receipt":     func(t *testing.T, entry string) { removeAll(t, filepath.Join(entry, "root")) },
		"an additional file":   func(t *testing.T, entry string) { mustWrite(t, filepath.Join(entry, "root", "plugin", "more"), "x") },
		"a set-uid bit":        func(t *testing.T, entry string) { mustChmod(t, filepath.Join(entry, "root", "plugin", "p0")) },
		"a missing receipt":    func(t *testing.T, entry string) { removeAll(t, filepath.Join(entry, "receipt.json")) },
		"a different manifest": func(t *testing.T, entry string) { mustWrite(t, filepath.Join(entry, "manifest.json"), "{}") },
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 1, 0)
			dir := w.project("p0")
			w.must(dir, "init", "--platform", worldPlatform)
			entries, err := filepath.Glob(filepath.Join(w.cache, "v1", "sha256", "*"))
			if err != nil || len(entries) != 1 {
				t.Fatalf("entries %v, %v", entries, err)
			}
			damage(t, entries[0])
			verify := w.command(t.Context(), dir, "verify")
			output, _ := verify.CombinedOutput()
			if code := verify.ProcessState.ExitCode(); code != 3 || !strings.Contains(string(output), "p0") {
				t.Errorf("verify exited %d:\n%s", code, output)
			}
			w.must(dir, "init", "--locked", "--platform", worldPlatform)
			w.must(dir, "verify")
			got, err := exec.Command(filepath.Join(dir, ".plugins", "bin", "p0")).Output()
			if want := imagetest.Text("p0", "1.0.0", worldPlatform) + "\n"; err != nil || string(got) != want {
				t.Errorf("it printed %q, %v", got, err)
			}
		})
	}
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func mustWrite(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}

func mustChmod(t *testing.T, path string) {
	t.Helper()
	if err := os.Chmod(path, 0o755|fs.ModeSetuid); err != nil {
		t.Fatal(err)
	}
}

func removeAll(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
}
