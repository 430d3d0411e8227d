package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/pluginlock/plugins/internal/imagetest"
)

// version is what every plugin here has.
const version = "1.2.3"

// hostPlatform is what images are made for, in any case.
var hostPlatform = runtime.GOOS + "/" + runtime.GOARCH

// project is a folder with a configuration, and what a run of the command needs.
type project struct {
	plugins string // the command
	dir     string
	cache   string
}

// newProject requires names of host in dir/project; the store is dir/cache.
func newProject(t testing.TB, dir, host string, names []string) *project {
	t.Helper()
	p := &project{plugins: build(t).plugins, dir: filepath.Join(dir, "project"), cache: filepath.Join(dir, "cache")}
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var config strings.Builder
	config.WriteString("required_plugins {\n")
	for _, name := range names {
		fmt.Fprintf(&config, "  %s = {\n    source  = %q\n    version = \"~> 1.2\"\n  }\n", name, host+"/"+name)
	}
	config.WriteString("}\n")
	p.write(t, "plugins.hcl", []byte(config.String()))
	return p
}

func (p *project) write(t testing.TB, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), content, 0o644); err != nil {
		t.Fatal(err)
	}
}

func (p *project) lockFile(t testing.TB) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(p.dir, ".plugins.lock.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// command runs the command in the project.
func (p *project) command(args ...string) command {
	return command{
		Args: append([]string{p.plugins, "--cache-dir", p.cache}, args...),
		Dir:  p.dir, Env: environment(filepath.Join(p.dir, "home-that-is-not-there")),
	}
}

// smallPlugins adds plugins whose content does not matter; their indexes and lock
// entries are those of any plugin for the usual platforms.
func smallPlugins(t testing.TB, r *registry, number int) (names []string) {
	t.Helper()
	platforms := imagetest.DefaultPlatforms
	if !strings.Contains(strings.Join(platforms, " "), hostPlatform) {
		platforms = append(platforms[:len(platforms):len(platforms)], hostPlatform)
	}
	for i := range number {
		name := fmt.Sprintf("plugin%04d", i)
		names = append(names, name)
		r.add(t, name, imagetest.Plugin{Name: name, Version: version, Protocols: []int{5}, Platforms: platforms}.Build(t), version)
	}
	return names
}
