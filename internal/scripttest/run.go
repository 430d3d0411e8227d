package scripttest

import (
	"errors"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdPlugins runs the command; "!" asks for a failure of any kind.
func cmdPlugins(ts *testscript.TestScript, neg bool, args []string) {
	if !neg {
		if code := runPlugins(ts, args); code != 0 {
			ts.Fatalf("plugins exits %d, want 0", code)
		}
		return
	}
	requireNothingDone(ts, func() {
		if runPlugins(ts, args) == 0 {
			ts.Fatalf("plugins exits 0, want a failure")
		}
	})
}

// cmdExits is `exits [-changes] CODE plugins ARG...`: the exit code must be that
// one. After any but 0 the script's directory must be as before, the cache
// excepted, unless -changes says that a change is right.
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	changes := len(args) > 0 && args[0] == "-changes"
	if changes {
		args = args[1:]
	}
	if neg || len(args) < 2 || args[1] != "plugins" {
		ts.Fatalf("usage: exits [-changes] CODE plugins ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	run := func() {
		if code := runPlugins(ts, args[2:]); code != want {
			ts.Fatalf("plugins exits %d, want %d", code, want)
		}
	}
	if want == 0 || changes {
		run()
		return
	}
	requireNothingDone(ts, run)
}

// requireNothingDone holds a run that fails to the invariants of CASES.md: the
// script's directory is as it was, the cache excepted, and `list` shows the same.
func requireNothingDone(ts *testscript.TestScript, run func()) {
	files, listed := takeTree(ts), listing(ts)
	run()
	requireSame(ts, files, takeTree(ts), false)
	if now := listing(ts); now != listed {
		ts.Fatalf("plugins list --json showed\n%s\nand now shows\n%s", listed, now)
	}
}

// runPlugins runs the command and leaves its output, with names in the place of
// addresses, to stdout, stderr and golden.
func runPlugins(ts *testscript.TestScript, args []string) int {
	w := worldOf(ts)
	real := make([]string, len(args))
	for i, arg := range args {
		real[i] = w.toAddress.Replace(arg)
	}
	code := 0
	if err := ts.Exec("plugins", real...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("plugins: %v", err)
		}
		code = exit.ExitCode()
	}
	stdout, stderr := ts.ReadFile("stdout"), ts.ReadFile("stderr")
	w.requireClean(ts, stdout+stderr)
	_, err1 := ts.Stdout().Write([]byte(w.toName.Replace(stdout)))
	_, err2 := ts.Stderr().Write([]byte(w.toName.Replace(stderr)))
	ts.Check(errors.Join(err1, err2))
	return code
}

// requireClean holds every run to two invariants of CASES.md: no secret and no
// stack trace in any output.
func (w *world) requireClean(ts *testscript.TestScript, output string) {
	for _, secret := range w.secrets {
		if strings.Contains(output, secret) {
			ts.Fatalf("the output contains the secret %q", secret)
		}
	}
	for _, trace := range []string{"panic: ", "fatal error: ", "\ngoroutine ", "WARNING: DATA RACE"} {
		if strings.Contains(output, trace) {
			ts.Fatalf("the output contains %q", trace)
		}
	}
}

// cmdExecutes is `executes NAME [TEXT]`: the installed plugin must print TEXT.
func cmdExecutes(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 1 || len(args) > 2 || neg && len(args) == 2 {
		ts.Fatalf("usage: executes NAME TEXT, or ! executes NAME")
	}
	name := args[0]
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	err := ts.Exec(ts.MkAbs(filepath.Join(".plugins", "bin", name)))
	if neg {
		if err == nil {
			ts.Fatalf("%s runs", args[0])
		}
		return
	}
	ts.Check(err)
	if got := strings.TrimSuffix(ts.ReadFile("stdout"), "\n"); len(args) == 2 && got != args[1] {
		ts.Fatalf("%s prints %q, want %q", args[0], got, args[1])
	}
}
