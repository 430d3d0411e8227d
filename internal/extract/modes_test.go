//go:build unix

package extract_test

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/pluginlock/plugins/internal/extract"
	"github.com/pluginlock/plugins/internal/store/tree"
)

// Variables that make the test's program unpack one layer and end.
const (
	envUmask = "EXTRACT_TEST_UMASK"
	envLayer = "EXTRACT_TEST_LAYER"
	envRoot  = "EXTRACT_TEST_ROOT"

	// noSleep spares a process that the race detector built a second at its end.
	noSleep = "GORACE=atexit_sleep_ms=10"
)

func TestMain(m *testing.M) {
	if os.Getenv(envLayer) == "" {
		os.Exit(m.Run())
	}
	if err := unpackAsChild(); err != nil {
		println(err.Error())
		os.Exit(1)
	}
}

// unpackAsChild unpacks a layer under another umask, which is a property of the
// whole process.
func unpackAsChild() error {
	umask, err := strconv.ParseInt(os.Getenv(envUmask), 8, 32)
	if err != nil {
		return err
	}
	syscall.Umask(int(umask))
	blob, err := os.ReadFile(os.Getenv(envLayer))
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(os.Getenv(envRoot))
	if err != nil {
		return err
	}
	desc := descriptor(blob)
	result, err := extract.Payload(context.Background(), verified(blob, desc), desc, root, extract.Limits{})
	if err != nil {
		return err
	}
	receipt, err := tree.Hash(context.Background(), root, nil)
	if err == nil && extract.Differences(result.Records, receipt.Records()) != nil {
		err = errors.New("what was written is not what is there")
	}
	return err
}

func modesLayer(t *testing.T) []byte {
	return layer(t,
		entry{tar.TypeDir, "plugin/", "", 0o700, ""}, entry{tar.TypeDir, "plugin/none", "", 0, ""}, entry{tar.TypeDir, "plugin/sticky", "", 0o1777, ""},
		entry{tar.TypeReg, "plugin/none/set", "", 0o6755, "x"}, entry{tar.TypeReg, "plugin/sticky/wide", "", 0o1777, "x"},
		entry{tar.TypeReg, "plugin/open", "", 0o666, "x"}, entry{tar.TypeReg, "plugin/closed", "", 0, "x"},
		entry{tar.TypeReg, "plugin/run", "", 0o755, "x"}, entry{tar.TypeReg, "plugin/read", "", 0o644, "x"}, entry{tar.TypeReg, "plugin/owner", "", 0o100, "x"},
		hardLink("plugin/again", "plugin/run"))
}

var wantModes = map[string]fs.FileMode{
	"plugin": fs.ModeDir | 0o755, "plugin/none": fs.ModeDir | 0o755, "plugin/sticky": fs.ModeDir | 0o755,
	"plugin/none/set": 0o755, "plugin/sticky/wide": 0o755, "plugin/open": 0o644, "plugin/closed": 0o644,
	"plugin/run": 0o755, "plugin/read": 0o644, "plugin/owner": 0o755, "plugin/again": 0o755,
}

func TestC37Modes(t *testing.T) {
	blob := modesLayer(t)
	for _, umask := range []string{"000", "022", "077", "777"} {
		t.Run("umask "+umask, func(t *testing.T) { unpackInChild(t, blob, umask, nil) })
		t.Run("umask "+umask+" as uid 1001", func(t *testing.T) {
			if os.Geteuid() != 0 {
				t.Skip("only root can become another user")
			}
			unpackInChild(t, blob, umask, &syscall.Credential{Uid: 1001, Gid: 1001})
		})
	}
}

func unpackInChild(t *testing.T, blob []byte, umask string, as *syscall.Credential) {
	dir := t.TempDir()
	root, packed, program := filepath.Join(dir, "root"), filepath.Join(dir, "layer"), filepath.Join(dir, "program")
	must(t, os.Mkdir(root, 0o755))
	must(t, os.WriteFile(packed, blob, 0o644))
	copyProgram(t, program)
	if as != nil {
		must(t, os.Chown(root, int(as.Uid), int(as.Gid)))
		must(t, os.Chmod(filepath.Dir(dir), 0o755))
	}
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(os.Environ(), envUmask+"="+umask, envLayer+"="+packed, envRoot+"="+root, noSleep)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	checkModes(t, root)
}

// copyProgram makes the test's program readable for another user.
func copyProgram(t *testing.T, to string) {
	t.Helper()
	path, err := os.Executable()
	must(t, err)
	from, err := os.Open(path)
	must(t, err)
	defer func() { _ = from.Close() }()
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE, 0o755)
	must(t, err)
	_, err = io.Copy(f, from)
	must(t, errors.Join(err, f.Close()))
}

func checkModes(t *testing.T, root string) {
	t.Helper()
	seen := 0
	must(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path, root+"/")
		if seen++; info.Mode() != wantModes[name] {
			t.Errorf("%s has the mode %v, want %v", name, info.Mode(), wantModes[name])
		}
		return nil
	}))
	if seen != len(wantModes) {
		t.Errorf("%d entries, want %d", seen, len(wantModes))
	}
}

// A set-gid directory hands the bit on to what is made in it.
func TestC37SetGidIsNotInherited(t *testing.T) {
	s := newSite(t)
	must(t, os.Chmod(s.dir, 0o755|fs.ModeSetgid))
	_, err := s.payload(modesLayer(t), extract.Limits{})
	must(t, err)
	checkModes(t, s.dir)
}
