package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// command is one process to be started.
type command struct {
	Args []string
	Dir  string
	Env  []string
}

// spec is what the launcher is given: commands, so many of them at once.
type spec struct {
	Commands []command
	Parallel int
}

// outcome is what became of one command.
type outcome struct {
	Wall   time.Duration
	CPU    time.Duration // of user and system, all its threads
	Peak   int64         // the most memory it had, in bytes; 0 where the system does not say
	Failed string
}

// report is what the launcher answers.
type report struct {
	Outcomes []outcome // in the order of the commands
	Total    time.Duration
}

// launcher reads a spec, runs its commands and writes a report.
//
// It is a process of its own because Linux counts the memory of the process that
// starts another into the other's peak, up to the moment at which the program is
// loaded. The benchmark's own process holds big buffers, this one does not.
func launcher(in io.Reader, out io.Writer) int {
	var s spec
	if err := json.NewDecoder(in).Decode(&s); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	r := report{Outcomes: make([]outcome, len(s.Commands))}
	slots := make(chan struct{}, max(1, s.Parallel))
	var all sync.WaitGroup
	start := time.Now()
	for i, c := range s.Commands {
		slots <- struct{}{}
		all.Go(func() {
			r.Outcomes[i] = run(c)
			<-slots
		})
	}
	all.Wait()
	r.Total = time.Since(start)
	if err := json.NewEncoder(out).Encode(r); err != nil {
		return 1
	}
	return 0
}

// run runs one command. Its output goes to a file of its folder, so that no pipe
// has to be served meanwhile.
func run(c command) outcome {
	log := os.DevNull
	if c.Dir != "" {
		log = filepath.Join(c.Dir, "output.log")
	}
	output, err := os.OpenFile(log, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return outcome{Failed: err.Error()}
	}
	defer func() { _ = output.Close() }() // only read where something failed
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = c.Dir, c.Env, output, output
	start := time.Now()
	err = cmd.Run()
	o := outcome{Wall: time.Since(start)}
	if cmd.ProcessState != nil {
		o.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		o.Peak = peakOf(cmd.ProcessState)
	}
	if err != nil {
		said, _ := os.ReadFile(log)
		o.Failed = fmt.Sprintf("%v: %v\n%s", c.Args, err, said)
	}
	return o
}

// launch has the launcher run commands; one that fails ends the benchmark.
func launch(t testing.TB, parallel int, commands ...command) report {
	t.Helper()
	input, err := json.Marshal(spec{commands, parallel})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(testBinary(t))
	cmd.Env = append(os.Environ(), roleVariable+"=launcher")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = stdin.Write(input) // a launcher that does not read answers nothing
		_ = stdin.Close()
	}()
	cmd.Stderr = os.Stderr
	answer, err := cmd.Output()
	if err != nil {
		t.Fatalf("launcher: %v", err)
	}
	var r report
	if err := json.Unmarshal(answer, &r); err != nil {
		t.Fatalf("launcher: %v", err)
	}
	for _, o := range r.Outcomes {
		if o.Failed != "" {
			t.Fatal(o.Failed)
		}
	}
	return r
}

func testBinary(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// environment is what measured processes see: no credentials, no settings and no
// proxies of whoever runs the benchmark.
func environment(home string, more ...string) []string {
	return append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()}, more...)
}
