package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pluginlock/plugins/internal/store"
)

func init() { roles["overlay"] = overlay }

// A store that came with a container's image: its directories cannot be
// renamed, its garbage is replaced all the same.
func TestContainerImage(t *testing.T) {
	base := t.TempDir()
	for _, dir := range []string{"upper", "work", "merged", "lower"} {
		if err := os.Mkdir(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, filepath.Join(base, "lower"))
	for _, seed := range []string{"sound", "damaged", "discarded", "pruned"} {
		makePlugin(seed).mustPut(t, s)
	}
	cut := filepath.Join(entryDir(filepath.Join(base, "lower"), makePlugin("damaged")), filepath.FromSlash("root/"+program))
	if err := os.Truncate(cut, 0); err != nil {
		t.Fatal(err)
	}
	cmd := process("overlay", base)
	cmd.SysProcAttr = namespace()
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

// namespace gives a process mounts of its own.
func namespace() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if uid := os.Geteuid(); uid != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{HostID: uid, Size: 1}} // root inside, who may mount
	}
	return attr
}

// overlay is the process of TestContainerImage.
func overlay(base string) error {
	dir := filepath.Join(base, "merged")
	options := fmt.Sprintf("lowerdir=%[1]s/lower,upperdir=%[1]s/upper,workdir=%[1]s/work,redirect_dir=off", base)
	if err := errors.Join(
		syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""),
		syscall.Mount("overlay", dir, "overlay", 0, options),
	); err != nil {
		fmt.Printf("skip: no overlay: %v", err)
		return nil
	}
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		return err
	}
	probe := filepath.Join(dir, "v1", "sha256", makePlugin("sound").key.Manifest.Hex())
	if err := os.Rename(probe, probe+"-moved"); !errors.Is(err, syscall.EXDEV) {
		fmt.Printf("skip: directories of the image can be renamed: %v", err)
		return nil
	}
	sound, damaged := makePlugin("sound"), makePlugin("damaged")
	check := func(p plugin) error {
		entry, err := s.Lookup(p.key)
		if err != nil {
			return err
		}
		return entry.Check(context.Background(), p.want)
	}
	if err := check(sound); err != nil {
		return err
	}
	if _, err := damaged.put(s); err != nil {
		return err
	}
	if err := errors.Join(check(damaged), s.Discard(context.Background(), makePlugin("discarded").key)); err != nil {
		return err
	}
	removed, err := s.Prune(context.Background(), store.PruneOptions{Now: someTime.AddDate(100, 0, 0), Keep: func(context.Context) (store.Kept, error) {
		return store.Kept{Entries: []store.Key{sound.key, damaged.key}}, nil
	}})
	if err != nil || len(removed) != 1 {
		return fmt.Errorf("prune: removed %v, %w", removed, err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "v1", "sha256")); err != nil || len(left) != 2 {
		return fmt.Errorf("left: %v, %w", left, err)
	}
	return nil
}
