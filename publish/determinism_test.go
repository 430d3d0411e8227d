package publish

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pluginlock/plugins/addr"
)

var update = flag.Bool("update", false, "rewrite testdata")

// TestMain runs other parts of this package's tests in processes of their own.
func TestMain(m *testing.M) {
	switch os.Getenv("PUBLISH_TEST_HELPER") {
	case "package":
		helperPackage()
	case "push":
		helperPush()
	}
	os.Exit(m.Run())
}

// helperPackage packs a directory and prints the digest.
func helperPackage() {
	r, err := Package(context.Background(), PackageOptions{Dir: os.Args[1], Output: os.Args[2]})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(r.Digest)
	os.Exit(0)
}

// helper runs this program again, below a shell that sets things up.
func helper(t testing.TB, what, setUp string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), "/bin/sh", append([]string{"-c", setUp + `; exec "$0" "$@"`, self}, args...)...)
	const noSleep = "GORACE=atexit_sleep_ms=10" // else the race detector lets each process sleep a second at its end
	cmd.Env = append(os.Environ(), append(env, "PUBLISH_TEST_HELPER="+what, noSleep)...)
	return cmd
}

// TestPackageIsDeterministic is C56 (a).
func TestPackageIsDeterministic(t *testing.T) {
	files := fourPlatforms(t)
	files["linux/amd64/b/c/d.txt"], files["linux/amd64/b.txt"], files["linux/amd64/b-c"] = "d", "b", "bc"
	files["linux/amd64/"+strings.Repeat("long/", 30)+"name"] = "a name that USTAR cannot hold"
	files["linux/amd64/\u00fc.txt"] = "a name that is not ASCII"
	files["linux/amd64/script.sh*"] = "#!/bin/sh\n"
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	tree := func(dir string, reverse bool, at time.Time) string {
		if reverse {
			slices.Reverse(names) // the order in which directories list their entries
			defer slices.Reverse(names)
		}
		for _, name := range names {
			write(t, dir, map[string]string{name: files[name]})
		}
		must(t, os.Symlink("b/c/d.txt", filepath.Join(dir, "linux/amd64/link")))
		must(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			must(t, err)
			if path == filepath.Join(dir, "linux/amd64/link") {
				return nil
			}
			return os.Chtimes(path, at, at)
		}))
		return dir
	}
	base := tree(t.TempDir(), false, time.Unix(1, 0))
	deep := tree(filepath.Join(t.TempDir(), "some other", "checkout path"), true, time.Unix(1<<31, 999))
	if os.Getuid() == 0 {
		must(t, filepath.WalkDir(deep, func(path string, _ os.DirEntry, err error) error {
			must(t, err)
			return os.Lchown(path, 12345, 54321)
		}))
	}
	strict := tree(t.TempDir(), false, time.Unix(1e9, 0))
	must(t, filepath.WalkDir(strict, func(path string, e os.DirEntry, err error) error {
		must(t, err)
		info, err := e.Info()
		must(t, err)
		if !info.IsDir() && info.Mode().IsRegular() {
			return os.Chmod(path, info.Mode().Perm()&0o700|os.ModeSetuid|os.ModeSetgid)
		}
		return nil
	}))
	tests := map[string]struct {
		dir, setUp string
		env        []string
	}{
		"plain":          {base, "umask 022", nil},
		"other checkout": {deep, "umask 077", []string{"TZ=Asia/Tokyo", "GOMAXPROCS=1"}},
		"other modes":    {strict, "umask 000", []string{"TZ=America/Lima", "GOMAXPROCS=7", "LC_ALL=tr_TR.UTF-8"}},
		"relative path":  {".", "cd '" + base + "'", []string{"SOURCE_DATE_EPOCH=12345"}},
	}
	var want string
	for name, test := range tests {
		out, err := helper(t, "package", test.setUp, test.env, test.dir, filepath.Join(t.TempDir(), "layout")).Output()
		must(t, err)
		if want == "" {
			want = string(out)
		}
		if string(out) != want || want == "" {
			t.Errorf("%s: digest is %s, want %s", name, out, want)
		}
	}
}

// TestPackageGolden pins the bytes that this version makes. They may change with
// the compressor, never by accident.
func TestPackageGolden(t *testing.T) {
	dir := write(t, t.TempDir(), fourPlatforms(t))
	got := map[string]any{}
	for _, compression := range []Compression{Gzip, Zstd} {
		r := packed1(t, PackageOptions{Dir: dir, Compression: compression, Created: time.Unix(1700000000, 0)})
		one := map[string]string{"index": r.Digest.String()}
		for _, p := range r.Platforms {
			one[p.Platform.String()] = p.Manifest.String()
			one[p.Platform.String()+" config"] = string(manifestOf(t, r, p).Config.Digest)
			one[p.Platform.String()+" content"] = p.Content.String()
		}
		got[string(compression)] = one
	}
	raw, err := json.MarshalIndent(got, "", "  ")
	must(t, err)
	raw = append(raw, '\n')
	const golden = "testdata/digests.json"
	if *update {
		must(t, os.MkdirAll("testdata", 0o755))
		must(t, os.WriteFile(golden, raw, 0o644))
	}
	want, err := os.ReadFile(golden)
	must(t, err)
	if string(raw) != string(want) {
		t.Errorf("digests are\n%s, want those in %s; run with -update after a change that is meant", raw, golden)
	}
}

// TestPackageDependsOnContent is the other half of determinism.
func TestPackageDependsOnContent(t *testing.T) {
	seen := map[addr.Digest]string{}
	for name, change := range map[string]func(map[string]string){
		"base": func(map[string]string) {},
		"byte": func(f map[string]string) { f["common/LICENSE"] += "." },
		"name": func(f map[string]string) { f["common/LICENCE"] = f["common/LICENSE"]; delete(f, "common/LICENSE") },
		"mode": func(f map[string]string) {
			f["common/LICENSE*"] = f["common/LICENSE"]
			delete(f, "common/LICENSE")
			f["package.hcl"] += "executable = \"aws\"\n"
		},
		"platform":        func(f map[string]string) { delete(f, "linux/arm64/aws*") },
		"metadata":        func(f map[string]string) { f["package.hcl"] += "vendor = \"x\"\n" },
		"empty directory": func(f map[string]string) { f["common/empty/"] = "" },
	} {
		files := fourPlatforms(t)
		change(files)
		r := packed1(t, PackageOptions{Dir: write(t, t.TempDir(), files)})
		if other, ok := seen[r.Digest]; ok {
			t.Errorf("%s and %s give one digest", name, other)
		}
		seen[r.Digest] = name
	}
}
