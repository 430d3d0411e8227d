package e2e

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// builds are the programs that are built here: clients, which the tool lines of
// go.mod pin, and the one under test, from its own module.
var builds = map[string]struct{ module, pkg string }{
	"crane":   {".", "github.com/google/go-containerregistry/cmd/crane"},
	"oras":    {".", "oras.land/oras/cmd/oras"},
	"plugins": {"..", "github.com/pluginlock/plugins/cmd/plugins"},
}

// binDir has the programs that were built; TestMain removes it.
var binDir string

func TestMain(m *testing.M) {
	var err error
	if binDir, err = os.MkdirTemp("", "plugins-e2e"); err != nil {
		panic(err)
	}
	code := m.Run()
	if err := os.RemoveAll(binDir); err != nil {
		code = max(code, 1)
	}
	os.Exit(code)
}

var building sync.Mutex

// tool returns the path of a program of builds, which it builds the first time.
func tool(t *testing.T, name string) string {
	t.Helper()
	building.Lock()
	defer building.Unlock()
	program := filepath.Join(binDir, name)
	if _, err := os.Stat(program); err == nil {
		return program
	}
	// The checkout may belong to another user, whose git would refuse to answer.
	build := exec.CommandContext(t.Context(), "go", "build", "-C", builds[name].module, "-buildvcs=false", "-o", program, builds[name].pkg)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", build, err, out)
	}
	return program
}

// debian returns the path of a program that is a Debian package's.
func debian(t *testing.T, name, pkg string) string {
	t.Helper()
	program, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed (Debian: apt-get install %s)", name, pkg)
	}
	return program
}

// longest is how long a command may run, on a machine that has much else to do.
const longest = 3 * time.Minute

// bounded prepares a program that is killed, by its id, when it runs too long or
// the test ends.
func bounded(t *testing.T, program string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.WaitDelay = 5 * time.Second // children of the program may hold its output
	return cmd
}

// command prepares a program that knows the credentials of private registries
// and nothing else of this machine's user.
func command(t *testing.T, servers []server, program string, args ...string) *exec.Cmd {
	t.Helper()
	home := t.TempDir()
	writeCredentials(t, filepath.Join(home, ".docker"), servers)
	cmd := bounded(t, program, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "DOCKER_CONFIG=" + filepath.Join(home, ".docker"),
		"REGISTRY_AUTH_FILE=" + filepath.Join(home, ".docker", "config.json")}
	cmd.Dir = home
	return cmd
}

// output runs a command that must succeed and returns its standard output.
func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("%s: %v\n%s%s", cmd, err, out, exit.Stderr)
		}
		t.Fatalf("%s: %v", cmd, err)
	}
	return string(out)
}

func writeCredentials(t *testing.T, dir string, servers []server) {
	t.Helper()
	type entry struct {
		Auth string `json:"auth"`
	}
	auths := map[string]entry{}
	for _, s := range servers {
		if s.Username != "" {
			auths[s.Host] = entry{base64.StdEncoding.EncodeToString([]byte(s.Username + ":" + s.Password))}
		}
	}
	content, err := json.Marshal(map[string]any{"auths": auths})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), content, 0o600); err != nil {
		t.Fatal(err)
	}
}
