package bench

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWarmTouchesNothing counts what a warm init asks of the system: it reads
// configuration, lock file and fingerprint, looks at files, and that is all.
func TestWarmTouchesNothing(t *testing.T) {
	strace := findStrace(t)
	p, r, done := warmProject(t, 10)
	defer done()
	seen := trace(t, strace, p, p.command("init"))
	seen.expect(t, 0)
	if asked := r.requests(); len(asked) > 0 {
		t.Errorf("requests: %q", asked)
	}
	if seen.opened == 0 {
		t.Error("no file was opened: this test sees nothing")
	}
	// Directories on the way among them: as many for ten plugins as for one.
	if most := 15; seen.opened > most {
		t.Errorf("%d files were opened, more than %d: the project was not recognised", seen.opened, most)
	}
}

// TestColdIsSeen holds the test above to what it claims to see: a cold init does
// everything that a warm one does not.
func TestColdIsSeen(t *testing.T) {
	strace := findStrace(t)
	r, dir := newRegistry(t), fresh(t)
	defer remove(t, dir, r.dir)
	p := newProject(t, dir, r.host, smallPlugins(t, r, 1))
	seen := trace(t, strace, p, p.command("init"))
	for what, calls := range seen.calls {
		if len(calls) == 0 && what != "processes" {
			t.Errorf("a cold init made no %s", what)
		}
	}
}

func findStrace(t *testing.T) string {
	t.Helper()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed: system calls cannot be counted")
	}
	if out, err := exec.Command(strace, "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("strace may not trace here: %v %s", err, out)
	}
	return strace
}

// calls are the system calls of one run that a warm init must not make.
type calls struct {
	calls  map[string][]string
	opened int // files of project and store that were opened for reading
}

// The kinds of calls, and the names of system calls that are always of the kind.
var kinds = []struct {
	name  string
	calls *regexp.Regexp
}{
	{"fsyncs", regexp.MustCompile(`^(fsync|fdatasync|syncfs|sync|sync_file_range|msync)\(`)},
	{"changes of files", regexp.MustCompile(`^(rename|unlink|mkdir|rmdir|link|symlink|f?chmod|f?chown|lchown|utime|f?truncate|mknod)\w*\(`)},
	{"locks", regexp.MustCompile(`^(flock\(|fcntl\(.*F_(OFD_)?SETLKW?)`)},
	{"requests", regexp.MustCompile(`^(connect|sendto|bind)\(`)},
	{"processes", regexp.MustCompile(`^(v?fork|clone3?)\(`)}, // threads are left out, see note
}

var (
	opening = regexp.MustCompile(`^open(?:at|at2)?\(.*?(O_[A-Z_|]+).* = \d+<([^>]*)>`)
	writing = regexp.MustCompile(`^p?write(?:v|64)?\(\d+<([^>]*)>`)
	reading = regexp.MustCompile(`^(?:p?read(?:v|64)?\(\d+|mmap\([^<]*)<([^>]*)>`)
)

// trace runs a command of a project under strace.
func trace(t *testing.T, strace string, p *project, c command) *calls {
	t.Helper()
	out := filepath.Join(fresh(t), "trace")
	defer remove(t, filepath.Dir(out))
	cmd := exec.Command(strace, append([]string{"-f", "-qq", "-y", "-s", "0", "-e", "signal=none", "-o", out, "--"}, c.Args...)...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	content, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return classify(content, filepath.Dir(p.dir))
}

// classify sorts the calls that touch what is below dir, or the network.
func classify(trace []byte, dir string) *calls {
	c := &calls{calls: map[string][]string{"writes": nil, "files opened for writing": nil, "reads of plugins' files": nil}}
	for _, kind := range kinds {
		c.calls[kind.name] = nil
	}
	begun := map[string]string{} // by thread: the call that another one interrupted
	for _, line := range bytes.Split(trace, []byte("\n")) {
		thread, call, _ := strings.Cut(string(line), " ")
		call = strings.TrimSpace(call)
		if start, unfinished := strings.CutSuffix(call, " <unfinished ...>"); unfinished {
			begun[thread] = start
			continue
		}
		if _, rest, resumed := strings.Cut(call, " resumed>"); resumed && strings.HasPrefix(call, "<... ") {
			call = begun[thread] + rest
		}
		c.note(call, dir)
	}
	return c
}

func (c *calls) note(call, dir string) {
	for _, kind := range kinds {
		if kind.calls.MatchString(call) && !strings.Contains(call, "CLONE_THREAD") {
			c.add(kind.name, call)
		}
	}
	if m := opening.FindStringSubmatch(call); m != nil && strings.HasPrefix(m[2], dir) {
		c.opened++
		if strings.Contains(m[1], "O_WRONLY") || strings.Contains(m[1], "O_RDWR") || strings.Contains(m[1], "O_CREAT") {
			c.add("files opened for writing", call)
		}
	}
	if m := writing.FindStringSubmatch(call); m != nil && strings.HasPrefix(m[1], dir) {
		c.add("writes", call)
	}
	if m := reading.FindStringSubmatch(call); m != nil && strings.HasPrefix(m[1], dir) && strings.Contains(m[1], "/root/") {
		c.add("reads of plugins' files", call)
	}
}

func (c *calls) add(what, call string) { c.calls[what] = append(c.calls[what], call) }

func (c *calls) expect(t *testing.T, want int) {
	t.Helper()
	for what, found := range c.calls {
		if len(found) != want {
			t.Errorf("%d %s:\n%s", len(found), what, strings.Join(found, "\n"))
		}
	}
}
