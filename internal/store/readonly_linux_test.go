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

func init() { roles["read"] = readOnly }

// C48: on a disk that cannot be written everything that is there is served.
func TestReadOnlyDisk(t *testing.T) {
	cache := t.TempDir()
	s := open(t, cache)
	makePlugin("a").mustPut(t, s)
	touched := makePlugin("touched")
	entry := touched.mustPut(t, s)
	if err := os.Chtimes(filepath.Join(entry.Root(), filepath.FromSlash(program)), someTime, someTime); err != nil {
		t.Fatal(err)
	}
	before := stamps(t, cache)
	cmd := process("read", cache)
	cmd.SysProcAttr = namespace()
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState == nil {
		t.Skipf("no process in a mount namespace of its own: %v", err)
	}
	if reason, skip := strings.CutPrefix(string(out), "skip: "); skip {
		t.Skip(reason)
	}
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if after := stamps(t, cache); after != before {
		t.Error("the store was changed")
	}
}

// readOnly is the process of TestReadOnlyDisk.
func readOnly(dir string) error {
	mounts := errors.Join(
		syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""),
		syscall.Mount(dir, dir, "", syscall.MS_BIND, ""),
		syscall.Mount("none", dir, "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY, ""),
	)
	if mounts != nil {
		fmt.Printf("skip: no read-only mount: %v", mounts)
		return nil
	}
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		return err
	}
	var errs []error
	for _, p := range []plugin{makePlugin("a"), makePlugin("touched")} {
		entry, err := s.Lookup(p.key)
		if err != nil {
			return err
		}
		errs = append(errs, entry.Check(context.Background(), p.want), entry.Verify(context.Background(), p.want))
	}
	release, err := s.Use(context.Background())
	if err != nil {
		return err
	}
	release()
	missing := makePlugin("missing")
	_, put := missing.put(s)
	_, prune := s.Prune(context.Background(), store.PruneOptions{Keep: keepNothing})
	for what, err := range map[string]error{
		"Put": put, "Prune": prune, "AddRoot": s.AddRoot("/project/lock"), "PutDocument": s.PutDocument(source("example.com/x"), []byte("{}")),
		"Discard": s.Discard(context.Background(), makePlugin("a").key),
	} {
		var refused *store.ReadOnlyError
		if !errors.As(err, &refused) || refused.Path != dir || !errors.Is(err, syscall.EROFS) {
			errs = append(errs, fmt.Errorf("%s on a read-only disk: %w", what, err))
		}
	}
	return errors.Join(errs...)
}
