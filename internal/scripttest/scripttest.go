// Package scripttest runs the scripts of testdata/script: text archives in which
// a folder _registry/ becomes a live registry and each line is a command, with
// what `plugins` has to print and to leave behind. It is testscript
// (https://pkg.go.dev/github.com/rogpeppe/go-internal/testscript) with the
// commands that testdata/script/README.md lists; that file is for those who
// write scripts, this comment for those who change the package.
//
// The address of a registry changes with each run, and goldens must not. So a
// script always says oci.example.com, and the package translates: the files of
// the script and the arguments of `plugins` into the address, what `plugins`
// prints and what `golden` compares back into the name. Both have 15
// characters, so that the columns in messages are those of the script.
//
// Start at [Run] and [Main].
package scripttest

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the goldens of scripts to what was found")

// NoSleep spares a process that the race detector built the second that it else
// sleeps at its end; it is for the environment of processes under test.
const NoSleep = "GORACE=atexit_sleep_ms=10"

// cacheDir and homeDir lie in the work directory of each script.
const (
	cacheDir = ".cache"
	homeDir  = ".home"
	tempDir  = ".tmp" // testscript's
)

// Main makes the test binary stand in for the commands under test: started
// under the name of one, it is that command and exits with what its function
// returns; started by `go test`, it runs the tests with the commands in PATH.
// It does not return.
func Main(m testscript.TestingM, commands map[string]func() int) {
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	if command := commands[name]; command != nil {
		os.Exit(command())
	}
	code, err := runTests(m, commands)
	if err != nil {
		fmt.Fprintln(os.Stderr, "scripttest:", err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m testscript.TestingM, commands map[string]func() int) (code int, err error) {
	bin, err := os.MkdirTemp("", "scripttest")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(bin)) }()
	self, err := os.Executable()
	if err != nil {
		return 1, err
	}
	for name := range commands {
		if runtime.GOOS == "windows" {
			name += ".exe"
		}
		if err := linkOrCopy(self, filepath.Join(bin, name)); err != nil {
			return 1, err
		}
	}
	if err := os.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH")); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// linkOrCopy makes the file at from known as to. A symbolic link would do for
// neither: os.Executable of the command would give the test binary.
func linkOrCopy(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }() // only read
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}

// Run runs every script of dir as a subtest. With the flag -update, commands
// `golden` that fail rewrite the script.
func Run(t *testing.T, dir string) {
	t.Helper()
	testscript.Run(t, Params(dir))
}

// Params are the parameters with which [Run] calls testscript.
func Params(dir string) testscript.Params {
	return testscript.Params{
		Dir:                dir,
		Setup:              setup,
		RequireUniqueNames: true,
		Condition:          condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"plugins":   cmdPlugins,
			"exits":     cmdExits,
			"executes":  cmdExecutes,
			"golden":    func(ts *testscript.TestScript, neg bool, args []string) { cmdGolden(ts, neg, args, dir) },
			"snapshot":  cmdSnapshot,
			"unchanged": cmdUnchanged,
			"requests":  cmdRequests,
			"registry":  cmdRegistry,
			"publish":   cmdPublish,
			"retag":     cmdRetag,
			"unpublish": cmdUnpublish,
			"rule":      cmdRule,
		},
	}
}

// condition knows [root]: whether the test runs as the superuser, to whom
// permissions mean nothing.
func condition(name string) (bool, error) {
	if name == "root" {
		return os.Geteuid() == 0, nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}

// setup starts the registries of a script and lays out its directories.
func setup(env *testscript.Env) error {
	w, err := newWorld(env.WorkDir)
	if err != nil {
		return err
	}
	env.Defer(w.close)
	env.Values[worldKey{}] = w
	for i, r := range w.registries {
		env.Setenv(variable(i), r.Host())
	}
	home := filepath.Join(env.WorkDir, homeDir)
	env.Setenv(homeVariable(), home)
	env.Setenv("PLATFORM", runtime.GOOS+"/"+runtime.GOARCH)
	env.Setenv("PLUGINS_CACHE_DIR", filepath.Join(env.WorkDir, cacheDir))
	if env.Getenv("GORACE") == "" {
		env.Vars = append(env.Vars, NoSleep)
	}
	return os.MkdirAll(home, 0o755)
}

func homeVariable() string {
	if runtime.GOOS == "windows" {
		return "USERPROFILE"
	}
	return "HOME"
}
