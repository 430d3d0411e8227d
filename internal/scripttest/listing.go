package scripttest

import (
	"os/exec"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"
)

// listing is what `plugins list --json` prints for the script's project, which a
// command that fails must not change. It leaves the script's stdout and stderr
// alone.
func listing(ts *testscript.TestScript) string {
	program, err := lookPath(ts, "plugins")
	ts.Check(err)
	list := exec.Command(program, "list", "--json")
	list.Dir = ts.MkAbs(".")
	for _, name := range []string{homeVariable(), "PATH", "PLUGINS_CACHE_DIR", "PLUGINS_SETTINGS_FILE", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "GORACE"} {
		list.Env = append(list.Env, name+"="+ts.Getenv(name))
	}
	out, _ := list.Output() // a project that cannot be read prints so, before and after
	return string(out)
}

// lookPath finds a command in the script's PATH.
func lookPath(ts *testscript.TestScript, name string) (string, error) {
	var err error
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		var found string
		if found, err = exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found, nil
		}
	}
	return "", err
}
