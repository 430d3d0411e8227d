package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/pluginlock/plugins/internal/imagetest"
)

// hostPlatform is what `plugins` installs here, where images of the tests offer
// it.
func hostPlatform(t *testing.T) string {
	t.Helper()
	platform := runtime.GOOS + "/" + runtime.GOARCH
	if !slices.Contains(imagetest.DefaultPlatforms, platform) || runtime.GOOS == "windows" {
		t.Skipf("the images of the tests have no script for %s", platform)
	}
	return platform
}

// The same three plugins, one of them foreign and one private, give the same
// lock file from every kind of registry, and the programs of this platform.
func TestInitFromEveryRegistry(t *testing.T) {
	platform := hostPlatform(t)
	plugin := imagetest.Plugin{Name: "aws", Version: "1.2.0", Protocols: []int{5, 6}}.Build(t)
	secret := imagetest.Plugin{Name: "vault", Version: "0.3.1"}.Build(t)
	foreign := imagetest.Foreign{Name: "velero", Version: "1.9.0", Docker: true, Linked: true}.Build(t)

	var first string
	var from string
	forEach(t, func(t *testing.T, open, private server) {
		servers := []server{open, private}
		pushWith(t, "oras", plugin, open, "plugins/aws", "1.2.0")
		pushWith(t, "crane", secret, private, "team/vault", "v0.3.1")
		open.push(t, foreign, "velero/velero", "1.9.0", "latest")

		p := newProject(t, servers, fmt.Sprintf(`required_plugins {
  aws = {
    source  = "%[1]s/plugins/aws"
    version = "~> 1.2"
  }
  vault = {
    source  = "%[2]s/team/vault"
    version = "~> 0.3.0"
  }
  velero = {
    source     = "%[1]s/velero/velero"
    version    = "1.9.0"
    executable = "/plugins/velero"
  }
}
`, open.Host, private.Host))
		p.run(t, "init")
		lock := p.read(t, ".plugins.lock.hcl")
		for _, im := range []*imagetest.Image{plugin, secret, foreign} {
			if !strings.Contains(lock, im.Digest().String()) {
				t.Errorf("the lock has no digest %s:\n%s", im.Digest(), lock)
			}
		}
		if !strings.Contains(lock, plugin.ExecutableDigest("darwin/arm64").String()) {
			t.Errorf("the lock has no executable for darwin/arm64:\n%s", lock)
		}
		p.requireProgram(t, "aws", imagetest.Text("aws", "1.2.0", platform))
		p.requireProgram(t, "vault", imagetest.Text("vault", "0.3.1", platform))
		p.requireProgram(t, "velero", imagetest.Text("velero", "1.9.0", platform))

		if first == "" {
			first, from = lock, t.Name()
		} else if lock != first {
			t.Errorf("the lock differs from that of %s:\n%s\nand here:\n%s", from, first, lock)
		}

		// A colleague with the lock and nothing else gets the same.
		colleague := newProject(t, servers, p.read(t, "plugins.hcl"))
		colleague.write(t, ".plugins.lock.hcl", lock)
		colleague.run(t, "init", "--locked")
		colleague.requireProgram(t, "velero", imagetest.Text("velero", "1.9.0", platform))
		if now := colleague.read(t, ".plugins.lock.hcl"); now != lock {
			t.Errorf("init --locked changed the lock to\n%s", now)
		}
	})
}

// Without credentials, or with false ones, the private plugin fails by name;
// nothing is left and no secret is shown.
func TestInitWithoutCredentials(t *testing.T) {
	secret := imagetest.Plugin{Name: "vault", Version: "0.3.1"}.Build(t)
	forEach(t, func(t *testing.T, _, private server) {
		private.push(t, secret, "team/vault", "0.3.1")
		stale := server{Host: private.Host, Username: username, Password: "st4le-pw"}
		for name, known := range map[string][]server{"none": nil, "stale": {stale}} {
			t.Run(name, func(t *testing.T) {
				p := newProject(t, known, fmt.Sprintf("required_plugins {\n  vault = {\n    source  = %q\n    version = \"0.3.1\"\n  }\n}\n", private.Host+"/team/vault"))
				out, err := p.command(t, "init").CombinedOutput()
				said := string(out)
				if err == nil || !strings.Contains(said, "vault") || !strings.Contains(said, private.Host) {
					t.Errorf("%v, and the message is:\n%s", err, said)
				}
				if strings.Contains(said, stale.Password) {
					t.Errorf("the message has the password:\n%s", said)
				}
				for _, name := range []string{".plugins.lock.hcl", ".plugins"} {
					if _, err := os.Lstat(filepath.Join(p.dir, name)); err == nil {
						t.Errorf("%s was made", name)
					}
				}
			})
		}
	})
}

// pushWith sends an image by way of a layout and a real client.
func pushWith(t *testing.T, client string, im *imagetest.Image, to server, repository, tag string) {
	t.Helper()
	layout := t.TempDir()
	if err := im.WriteLayout(layout, tag); err != nil {
		t.Fatal(err)
	}
	args := []string{"push", layout, to.Host + "/" + repository + ":" + tag}
	if client == "oras" {
		args = []string{"cp", "--from-oci-layout", layout + ":" + tag, "--to-plain-http", to.Host + "/" + repository + ":" + tag}
	}
	output(t, command(t, []server{to}, tool(t, client), args...))
}

// project is a directory with a configuration, a cache and a home of its own.
type project struct {
	dir string
	env []string
}

func newProject(t *testing.T, servers []server, configuration string) project {
	t.Helper()
	p := project{dir: t.TempDir(), env: command(t, servers, "plugins").Env}
	p.env = append(p.env, "PLUGINS_CACHE_DIR="+t.TempDir())
	p.write(t, "plugins.hcl", configuration)
	return p
}

func (p project) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := bounded(t, tool(t, "plugins"), args...)
	cmd.Dir, cmd.Env = p.dir, p.env
	return cmd
}

func (p project) run(t *testing.T, args ...string) {
	t.Helper()
	output(t, p.command(t, args...))
}

func (p project) requireProgram(t *testing.T, name, want string) {
	t.Helper()
	cmd := bounded(t, filepath.Join(p.dir, ".plugins", "bin", name))
	if got := strings.TrimSpace(output(t, cmd)); got != want {
		t.Errorf("%s prints %q, want %q", name, got, want)
	}
}

func (p project) read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func (p project) write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
