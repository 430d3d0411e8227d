package scripttest_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/pluginlock/plugins/internal/scripttest"
)

const scriptsVariable = "SCRIPTTEST_DIR"

// runSelf runs the scripts of dir with -update in a process of its own.
func runSelf(t *testing.T, dir string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-update", "-test.run=^TestScriptsOfVariable$")
	cmd.Env = append(os.Environ(), scriptsVariable+"="+dir, scripttest.NoSleep)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestScriptsOfVariable is the other half of runSelf.
func TestScriptsOfVariable(t *testing.T) {
	dir := os.Getenv(scriptsVariable)
	if dir == "" {
		t.Skip("only run by TestUpdateRewritesTheScript")
	}
	scripttest.Run(t, dir)
}
