package bench

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/pluginlock/plugins/addr"
)

// coldRounds is how often each side of a download is measured.
const coldRounds = 9

// content is ten plugins of 21 to 31 MB in a registry, made once.
type content struct {
	registry *registry
	plugins  []*large
	names    []string
	lock     []byte // the lock file of a project that requires all
}

var (
	contentOnce sync.Once
	tenLarge    *content
)

func largePlugins(t testing.TB) *content {
	t.Helper()
	build(t) // fails early, if it does
	contentOnce.Do(func() {
		c := &content{registry: newRegistry(t)}
		c.plugins = makeLarge(t, c.registry.dir, 10)
		for _, l := range c.plugins {
			c.names = append(c.names, l.name)
			c.registry.add(t, l.name, l.image(t, version, hostPlatform), version)
			c.registry.add(t, l.name, l.orasImage(t), "oras")
		}
		c.lock = lockOf(t, c)
		tenLarge = c
	})
	if tenLarge == nil {
		t.Fatal("the plugins could not be made, see above")
	}
	return tenLarge
}

// makeLarge writes the layers, one on each core.
func makeLarge(t testing.TB, dir string, number int) []*large {
	t.Helper()
	plugins, errs := make([]*large, number), make([]error, number)
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var all sync.WaitGroup
	for i := range number {
		slots <- struct{}{}
		all.Go(func() {
			piece := make([]byte, (21+i*10/max(1, number-1))<<20)
			_, _ = newCode(uint64(i)).Read(piece)
			plugins[i], errs[i] = writeLarge(dir, fmt.Sprintf("large%02d", i), hostPlatform, piece, 1)
			<-slots
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return plugins
}

// lockOf locks all of c in a project that is thrown away.
func lockOf(t testing.TB, c *content) []byte {
	t.Helper()
	dir := fresh(t)
	defer remove(t, dir)
	p := newProject(t, dir, c.registry.host, c.names)
	launch(t, 1, p.command("init"))
	return p.lockFile(t)
}

// project is one in which nothing is installed yet, in an empty folder; locked
// says whether it has its lock file.
func (c *content) project(t testing.TB, dir string, locked bool) *project {
	t.Helper()
	p := newProject(t, dir, c.registry.host, c.names)
	if locked {
		p.write(t, ".plugins.lock.hcl", c.lock)
	}
	return p
}

// BenchmarkCold installs ten plugins from nothing: with a lock file, against the
// bare pipeline, without a lock file, and with oras.
func BenchmarkCold(b *testing.B) {
	c := largePlugins(b)
	oras, err := exec.LookPath("oras")
	var locked, unlocked, bare, pulled side
	requests := 0
	sides := []func(dir string){
		func(dir string) { bare.add(launch(b, 1, pipelineCommand(b, c.registry.host, dir, c.plugins))) },
		func(dir string) {
			c.registry.requests()
			locked.add(launch(b, 1, c.project(b, dir, true).command("init", "--locked")))
			requests = len(c.registry.requests())
		},
		func(dir string) { unlocked.add(launch(b, 1, c.project(b, dir, false).command("init"))) },
	}
	if err == nil {
		sides = append(sides, func(dir string) { pulled.add(launch(b, 4, c.orasPulls(oras, dir)...)) })
	}
	for round := range coldRounds {
		// Each side comes first in turn: what one leaves to the disk, another has to wait for.
		for i := range sides {
			in(b, sides[(round+i)%len(sides)])
		}
	}
	ratio(b, "x-pipeline", "cold, locked / bare pipeline", 1.15, locked, bare)
	ratio(b, "x-unlocked", "cold, locked / without a lock file", 1.05, locked, unlocked) // never slower, as far as equal work measures equal
	if err != nil {
		results.add("cold, locked / four oras pull", "skipped", "", true, "oras is not installed; the aim is <= 0.90")
	} else {
		ratio(b, "x-oras", "cold, locked / four oras pull", 0.9, locked, pulled)
	}
	count(b, "requests", "requests of a locked, cold init of ten", 3*len(c.plugins), requests, "index, manifest and layer of each")
}

// in calls do with an empty folder and removes it.
func in(t testing.TB, do func(dir string)) {
	t.Helper()
	dir := fresh(t)
	defer remove(t, dir)
	do(dir)
}

// orasPulls gets the same layers with one process for each, to be run four at a
// time.
func (c *content) orasPulls(oras, dir string) (commands []command) {
	for _, l := range c.plugins {
		to := filepath.Join(dir, l.name)
		commands = append(commands, command{
			Args: []string{oras, "pull", "--plain-http", "--no-tty", "-o", to, c.registry.host + "/" + l.name + ":oras"},
			Env:  environment(dir),
		})
	}
	return commands
}

// TestSidesUnpackTheSame makes sure that the other sides of the cold benchmark
// do their work: what they unpack has the digest of the plugin.
func TestSidesUnpackTheSame(t *testing.T) {
	r := newRegistry(t)
	defer remove(t, r.dir)
	piece := make([]byte, 100<<10)
	_, _ = newCode(1).Read(piece)
	l, err := writeLarge(r.dir, "small", hostPlatform, piece, 3)
	if err != nil {
		t.Fatal(err)
	}
	c := &content{registry: r, plugins: []*large{l}, names: []string{l.name}}
	r.add(t, l.name, l.image(t, version, hostPlatform), version)
	r.add(t, l.name, l.orasImage(t), "oras")
	t.Run("pipeline", func(t *testing.T) {
		dir := fresh(t)
		defer remove(t, dir)
		launch(t, 1, pipelineCommand(t, r.host, dir, c.plugins))
		sameFile(t, filepath.Join(dir, l.name, filepath.FromSlash(l.path())), l)
	})
	t.Run("plugins", func(t *testing.T) {
		dir := fresh(t)
		defer remove(t, dir)
		p := c.project(t, dir, false)
		launch(t, 1, p.command("init"))
		sameFile(t, filepath.Join(p.dir, ".plugins", "bin", l.name), l)
	})
	t.Run("oras", func(t *testing.T) {
		oras, err := exec.LookPath("oras")
		if err != nil {
			t.Skip("oras is not installed")
		}
		dir := fresh(t)
		defer remove(t, dir)
		launch(t, 1, c.orasPulls(oras, dir)...)
		sameFile(t, filepath.Join(dir, l.name, filepath.FromSlash(l.path())), l)
	})
}

func sameFile(t *testing.T, path string, want *large) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := addr.DigestOf(content); got != want.file {
		t.Errorf("%s has the digest %s, want %s", strings.TrimPrefix(path, os.TempDir()), got, want.file)
	}
}
