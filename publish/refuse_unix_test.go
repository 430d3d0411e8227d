//go:build unix

package publish

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestPackageRefusesAllAtOnce is C56 (d): every problem, with its file, and
// nothing written.
func TestPackageRefusesAllAtOnce(t *testing.T) {
	dir := write(t, t.TempDir(), map[string]string{
		"linux/amd64/aws*":        native(t, "linux/amd64"),
		"linux/amd64/.git/config": "secret",
		"linux/amd64/empty":       "",
		"linux/amd64/Readme":      "a",
		"linux/amd64/README":      "b",
		"linux/amd64/caf\u00e9":   "a",
		"linux/amd64/cafe\u0301":  "b",
		"linux/amd64/CON":         "a",
		"linux/amd64/aux.txt":     "a",
		"linux/amd64/a:b":         "a",
		"linux/amd64/run.":        "a",
		"linux/amd64/back\\slash": "a",
		"linux/amd64/.wh.x":       "a",
		"linux/arm64/aws*":        native(t, "linux/amd64"),
	})
	for link, target := range map[string]string{"out": "../../../etc/passwd", "abs": "/etc/passwd", "gone": "nothing", "circle": "circle"} {
		must(t, os.Symlink(target, filepath.Join(dir, "linux/amd64", link)))
	}
	special(t, filepath.Join(dir, "linux/amd64"))
	err := packageError(t, PackageOptions{Dir: dir})
	var input *InputError
	if !errors.As(err, &input) {
		t.Fatalf("error is %T: %v", err, err)
	}
	var files []string
	for _, p := range input.Problems {
		files = append(files, p.Platform.String()+" "+strings.TrimPrefix(p.File, p.Platform.String()+"/"))
	}
	want := []string{
		"linux/amd64 .wh.x", "linux/amd64 CON", "linux/amd64 Readme", "linux/amd64 a:b", "linux/amd64 abs", "linux/amd64 aux.txt",
		"linux/amd64 back\\slash", "linux/amd64 café", "linux/amd64 circle", "linux/amd64 fifo", "linux/amd64 gone", "linux/amd64 out",
		"linux/amd64 run.", "linux/amd64 socket", "linux/arm64 aws",
	}
	if !slices.Equal(files, want) {
		t.Errorf("problems are\n%v, want\n%v\n%v", files, want, err)
	}
	for _, names := range []string{"plugin/README", "plugin/Readme", "plugin/cafe\u0301"} {
		if !strings.Contains(err.Error(), names) {
			t.Errorf("the error does not name %s", names)
		}
	}
	if strings.Contains(err.Error(), ".git") {
		t.Errorf(".git is excluded by rule, not a problem: %v", err)
	}
}

// special makes the files that cannot be packed.
func special(t testing.TB, dir string) {
	t.Helper()
	must(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644))
	old, err := os.Getwd()
	must(t, err)
	must(t, os.Chdir(dir)) // the path of a socket is short
	defer func() { must(t, os.Chdir(old)) }()
	l, err := net.Listen("unix", "socket")
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
}
