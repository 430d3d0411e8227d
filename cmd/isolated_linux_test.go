package cmd_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pluginlock/plugins/internal/scripttest"
)

func init() { commands["isolated"] = isolated }

// notIsolated is the exit code of a process that cannot be isolated.
const notIsolated = 77

// isolated makes directories read-only for itself and becomes another program:
//
//	isolated DIRECTORY... -- PROGRAM ARGUMENT...
//
// It runs in namespaces of its own, so nobody else sees the mounts.
func isolated() int {
	directories, program := os.Args[1:], []string(nil)
	for i, arg := range directories {
		if arg == "--" {
			directories, program = directories[:i], directories[i+1:]
			break
		}
	}
	err := syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "")
	for _, dir := range directories {
		err = errors.Join(err,
			syscall.Mount(dir, dir, "", syscall.MS_BIND, ""),
			syscall.Mount("none", dir, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "no read-only mount:", err)
		return notIsolated
	}
	if err := checkIsolation(directories); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	path, err := exec.LookPath(program[0])
	if err == nil {
		err = syscall.Exec(path, program, os.Environ())
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// checkIsolation makes sure that there is something to be shown.
func checkIsolation(directories []string) error {
	for _, dir := range directories {
		if err := os.WriteFile(filepath.Join(dir, "probe"), nil, 0o644); !errors.Is(err, syscall.EROFS) {
			return errors.Join(fmt.Errorf("%s is not read-only", dir), err) // err may be nil
		}
	}
	interfaces, err := net.Interfaces()
	for _, i := range interfaces {
		if i.Flags&net.FlagUp != 0 {
			return fmt.Errorf("interface %s is up", i.Name)
		}
	}
	return err
}

// isolate runs plugins where project and cache cannot be written and there is
// no network, and without HOME.
func (w *world) isolate(dir string, args ...string) (stdout, stderr string, code int) {
	w.t.Helper()
	c := exec.CommandContext(w.t.Context(), "isolated", append([]string{dir, w.cache, "--", "plugins"}, args...)...)
	c.Dir = dir
	c.Env = []string{scripttest.NoSleep, "PATH=" + os.Getenv("PATH"), "PLUGINS_CACHE_DIR=" + w.cache}
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWNET}
	if id := os.Geteuid(); id != 0 {
		c.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		c.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: id, Size: 1}}
		c.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	var out, errOut strings.Builder
	c.Stdout, c.Stderr = &out, &errOut
	err := c.Run()
	switch {
	case c.ProcessState == nil:
		w.t.Skipf("no namespaces for a process here: %v", err)
	case c.ProcessState.ExitCode() == notIsolated:
		w.t.Skip(errOut.String())
	}
	return out.String(), errOut.String(), c.ProcessState.ExitCode()
}

// C48: with lock file and cache in place everything works on a read-only disk,
// without HOME and without any network interface.
func TestC48ReadOnlyAndWithoutNetwork(t *testing.T) {
	w := newWorld(t, 3, 0)
	dir := w.project("p0", "p1")
	w.must(dir, "init")
	before := w.stamps(dir)
	for _, args := range [][]string{{"init"}, {"init", "--locked"}, {"lock", "--check"}, {"list"}, {"verify"}, {"which", "p0"}, {"env"}} {
		stdout, stderr, code := w.isolate(dir, args...)
		if code != 0 || stderr != "" {
			t.Errorf("plugins %s exits %d\n%s%s", strings.Join(args, " "), code, stdout, stderr)
		}
	}
	if w.stamps(dir) != before {
		t.Error("something was written")
	}
}

// C48: what is missing from a cache that cannot be written is an error that
// names the path and how to set another one.
func TestC48ReadOnlyCacheLacksSomething(t *testing.T) {
	w := newWorld(t, 2, 0)
	dir := w.project("p0")
	w.must(dir, "init")
	if err := os.RemoveAll(filepath.Join(w.cache, "v1", "sha256")); err != nil {
		t.Fatal(err)
	}
	before := w.stamps(dir)
	_, stderr, code := w.isolate(dir, "init")
	if code != 1 {
		t.Errorf("it exits %d", code)
	}
	for _, want := range []string{w.cache, "--cache-dir"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("no %q in\n%s", want, stderr)
		}
	}
	if w.stamps(dir) != before {
		t.Error("something was written")
	}
}

// stamps lists every file of project and cache with its state.
func (w *world) stamps(dir string) string {
	w.t.Helper()
	var b strings.Builder
	for _, root := range []string{dir, w.cache} {
		err := filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
			if err == nil {
				s := info.Sys().(*syscall.Stat_t)
				fmt.Fprintln(&b, path, info.Mode(), s.Ino, s.Ctim, s.Mtim)
			}
			return err
		})
		if err != nil {
			w.t.Fatal(err)
		}
	}
	return b.String()
}
