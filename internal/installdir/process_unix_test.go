//go:build unix

package installdir

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"github.com/pluginlock/plugins/addr"
)

// The test binary runs itself as a process that applies a Desired and is
// killed at a certain step, or runs to its end.
const (
	envDir    = "INSTALLDIR_TEST_DIR"
	envWanted = "INSTALLDIR_TEST_WANTED"
	envKillAt = "INSTALLDIR_TEST_KILL_AT"

	envOverlay = "INSTALLDIR_TEST_OVERLAY"

	// noSleep spares a process that the race detector built a second at its end.
	noSleep = "GORACE=atexit_sleep_ms=10"
)

// overlayRole is set where overlayfs exists.
var overlayRole func(base string) error

func TestMain(m *testing.M) {
	if base := os.Getenv(envOverlay); base != "" {
		if err := overlayRole(base); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if dir := os.Getenv(envDir); dir != "" {
		os.Exit(applyAndDie(dir))
	}
	os.Exit(m.Run())
}

func applyAndDie(dir string) int {
	var d Desired
	encoded, err := os.ReadFile(os.Getenv(envWanted))
	if err == nil {
		err = json.Unmarshal(encoded, &d)
	}
	killAt, convErr := strconv.Atoi(os.Getenv(envKillAt))
	if err != nil || convErr != nil {
		fmt.Fprintln(os.Stderr, err, convErr)
		return 2
	}
	steps := 0
	_, err = Apply(context.Background(), dir, d, Options{step: func(string) error {
		if steps++; steps == killAt {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// applyInProcess reports whether the process came to its end.
func applyInProcess(t *testing.T, dir string, d Desired, killAt int) bool {
	t.Helper()
	d.Plugins = slices.Clone(d.Plugins)
	for i := range d.Plugins { // these are not JSON
		d.Plugins[i].Version, d.Plugins[i].Source = addr.Version{}, addr.Source{}
	}
	encoded, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	wanted := filepath.Join(t.TempDir(), "wanted.json")
	if err := os.WriteFile(wanted, encoded, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envDir+"="+dir, envWanted+"="+wanted, envKillAt+"="+strconv.Itoa(killAt), noSleep)
	out, err := cmd.CombinedOutput()
	if err == nil {
		return true
	}
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() || status.Signal() != syscall.SIGKILL {
		t.Fatalf("step %d: %v: %s", killAt, err, out)
	}
	return false
}

// C51: killed at each step on the way, from and to either mode, and then asked
// for the new state, for the old one, or for nothing, the directory comes to it
// and holds nothing else.
func TestKilled(t *testing.T) {
	aws1, aws2 := makePlugin(t, "aws", "1.0.0"), makePlugin(t, "aws", "2.0.0")
	gcp, azure := makePlugin(t, "gcp", "1.0.0"), makePlugin(t, "azure", "1.0.0")
	nothing := desire(Symlink)
	for n, modes := range [][2]LinkMode{{Symlink, Symlink}, {Symlink, Copy}, {Copy, Symlink}, {Copy, Copy}} {
		from, to := desire(modes[0], aws1, gcp), desire(modes[1], aws2, azure)
		kills := 0
		for step := 1; ; step++ {
			dir := filepath.Join(t.TempDir(), ".plugins")
			mustApply(t, dir, from)
			if applyInProcess(t, dir, to, step) {
				break
			}
			kills++
			then := []Desired{to, from, nothing}[(step+n)%3]
			mustApply(t, dir, then)
			requireExact(t, dir, then)
		}
		if kills < 10 {
			t.Errorf("%v: killed %d times only", modes, kills)
		}
	}
}

// A run that is killed after it has come to its end owns nothing any more: what
// somebody puts in a place that it has left is theirs.
func TestKilledAtLast(t *testing.T) {
	aws, gcp := makePlugin(t, "aws", "1.0.0"), makePlugin(t, "gcp", "1.0.0")
	to := desire(Symlink, aws)
	var dir string
	for step := 1; ; step++ {
		next := filepath.Join(t.TempDir(), ".plugins")
		mustApply(t, next, desire(Symlink, aws, gcp))
		if applyInProcess(t, next, to, step) {
			break
		}
		dir = next // of the last step that there was to be killed at
	}
	mine := filepath.Join(dir, "bin", "gcp")
	if err := os.Symlink("/mine", mine); err != nil {
		t.Fatal(err)
	}
	mustApply(t, dir, to)
	if target, err := os.Readlink(mine); err != nil || target != "/mine" {
		t.Errorf("%s, %v", target, err)
	}
	requireNames(t, dir, []string{".gitignore", "bin", "installed.json", "plugins"})
}

// A first run that is killed leaves nothing in the way of the next.
func TestKilledAtFirst(t *testing.T) {
	d := desire(Copy, makePlugin(t, "aws", "1.0.0"))
	dir := filepath.Join(t.TempDir(), ".plugins")
	kills := 0
	for step := 1; !applyInProcess(t, dir, d, step); step++ {
		kills++
	}
	if kills < 4 {
		t.Errorf("killed %d times only", kills)
	}
	mustApply(t, dir, d)
	requireExact(t, dir, d)
}

func TestUmask(t *testing.T) {
	for _, mask := range []int{0, 0o002, 0o022, 0o077} {
		for _, mode := range []LinkMode{Symlink, Copy} {
			old := syscall.Umask(mask)
			dir := filepath.Join(t.TempDir(), ".plugins")
			d := desire(mode, makePlugin(t, "aws", "1.0.0"))
			_, err := Apply(context.Background(), dir, d, Options{})
			syscall.Umask(old)
			if err != nil {
				t.Fatal(err)
			}
			if mode == Copy {
				requireExact(t, dir, d)
				info, err := os.Stat(filepath.Join(dir, "plugins", "aws", "plugin", "aws"))
				if err != nil || info.Mode().Perm() != 0o755 {
					t.Errorf("umask %03o: %v, %v", mask, info.Mode(), err)
				}
			}
			info, err := os.Stat(filepath.Join(dir, "installed.json"))
			if err != nil || int(info.Mode().Perm())&mask != 0 || info.Mode()&0o022 != 0 {
				t.Errorf("umask %03o: installed.json %v, %v", mask, info.Mode(), err)
			}
		}
	}
}
