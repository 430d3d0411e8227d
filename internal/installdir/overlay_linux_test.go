package installdir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func init() { overlayRole = applyOnOverlay }

// Copies that came with a container's image are replaced, although their
// directories cannot be renamed there; and come back when a step fails.
func TestContainerImage(t *testing.T) {
	base := t.TempDir()
	for _, dir := range []string{"upper", "work", "merged", "lower"} {
		if err := os.Mkdir(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	from, to := makePlugin(t, "aws", "1.0.0"), makePlugin(t, "aws", "2.0.0")
	mustApply(t, filepath.Join(base, "lower", ".plugins"), desire(Copy, from))
	encoded, err := json.Marshal([]Desired{desire(Copy, from), desire(Copy, to)}) // without versions
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(base, "wanted.json"), encoded, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envOverlay+"="+base, noSleep)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if uid := os.Geteuid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: uid, Size: 1}} // root inside, who may mount
	}
	out, err := cmd.Output()
	if reason, skip := strings.CutPrefix(string(out), "skip: "); skip {
		t.Skip(reason)
	}
	if err != nil && cmd.ProcessState == nil {
		t.Skipf("no process in a mount namespace of its own: %v", err)
	}
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func applyOnOverlay(base string) error {
	merged := filepath.Join(base, "merged")
	options := fmt.Sprintf("lowerdir=%[1]s/lower,upperdir=%[1]s/upper,workdir=%[1]s/work,redirect_dir=off", base)
	if err := errors.Join(
		syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""),
		syscall.Mount("overlay", merged, "overlay", 0, options),
	); err != nil {
		fmt.Printf("skip: no overlay: %v", err)
		return nil
	}
	dir := filepath.Join(merged, ".plugins")
	if err := os.Rename(filepath.Join(dir, "plugins", "aws"), filepath.Join(dir, "plugins", "moved")); !errors.Is(err, syscall.EXDEV) {
		fmt.Printf("skip: directories of the image can be renamed: %v", err)
		return nil
	}
	encoded, err := os.ReadFile(filepath.Join(base, "wanted.json"))
	if err != nil {
		return err
	}
	var wanted []Desired
	if err := json.Unmarshal(encoded, &wanted); err != nil {
		return err
	}
	boom := errors.New("boom")
	fail := Options{step: func(name string) error {
		if name == "installed" {
			return boom
		}
		return nil
	}}
	if _, err := Apply(context.Background(), dir, wanted[1], fail); !errors.Is(err, boom) {
		return fmt.Errorf("failing: %w", err)
	}
	if got, err := run(filepath.Join(dir, "bin", "aws")); got != "aws 1.0.0\n" {
		return fmt.Errorf("after failing: %q, %w", got, err)
	}
	if _, err := Apply(context.Background(), dir, wanted[1], Options{}); err != nil {
		return err
	}
	if got, err := run(filepath.Join(dir, "bin", "aws")); got != "aws 2.0.0\n" {
		return fmt.Errorf("after: %q, %w", got, err)
	}
	plan, err := Check(context.Background(), dir, wanted[1])
	if err != nil || !plan.done() {
		return fmt.Errorf("not exact: %+v, %w", plan, err)
	}
	return nil
}
