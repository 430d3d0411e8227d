package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// roleVariable makes the test binary be something else than a test: the
// launcher or the bare pipeline.
const roleVariable = "PLUGINS_BENCH_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "launcher":
		os.Exit(launcher(os.Stdin, os.Stdout))
	case "pipeline":
		os.Exit(pipelineMain(os.Args[1:]))
	}
	code := m.Run()
	results.print(os.Stdout)
	if work.dir != "" {
		if err := os.RemoveAll(work.dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// work is the folder for what several benchmarks share. It is removed at the end.
var work struct {
	once sync.Once
	dir  string
	err  error
}

func workDir(t testing.TB) string {
	t.Helper()
	work.once.Do(func() { work.dir, work.err = os.MkdirTemp("", "plugins-bench-") })
	if work.err != nil {
		t.Fatal(work.err)
	}
	return work.dir
}

// fresh makes an empty folder that the caller removes as early as it can: what
// the benchmarks write is big.
func fresh(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp(workDir(t), "run-")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func remove(t testing.TB, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
}

// programs are the two that every benchmark needs, built once.
type programs struct {
	plugins string // the command
	empty   string // func main() {}
}

var (
	buildOnce sync.Once
	built     programs
	buildErr  error
)

func build(t testing.TB) programs {
	t.Helper()
	dir := workDir(t)
	buildOnce.Do(func() {
		built = programs{filepath.Join(dir, "plugins"), filepath.Join(dir, "empty")}
		source := filepath.Join(dir, "empty.go")
		buildErr = os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o644)
		for output, what := range map[string]string{built.plugins: "github.com/pluginlock/plugins/cmd/plugins", built.empty: source} {
			if buildErr == nil {
				buildErr = goBuild(output, what)
			}
		}
	})
	if buildErr != nil {
		t.Fatal(buildErr)
	}
	return built
}

// goBuild builds as "make build" does, without cgo, and copies what it gets, as
// whoever installs a program does: what the linker has just written starts up to
// a sixth slower, for the page cache has it in smaller pieces.
func goBuild(output, what string) error {
	linked := output + ".linked"
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", linked, what)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", what, err, out)
	}
	program, err := os.ReadFile(linked)
	if err != nil {
		return err
	}
	return os.WriteFile(output, program, 0o755)
}
