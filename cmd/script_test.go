package cmd_test

import (
	"os"
	"testing"

	"github.com/pluginlock/plugins/cmd"
	"github.com/pluginlock/plugins/internal/scripttest"
)

// commands are what this test binary stands in for, by the name under which it
// is started.
var commands = map[string]func() int{
	"plugins": func() int { return cmd.Main(os.Args[1:]) },
}

func TestMain(m *testing.M) { scripttest.Main(m, commands) }

// TestScripts runs the scripts of testdata/script, each named by its case or by
// what it shows.
func TestScripts(t *testing.T) {
	scripttest.Run(t, "../testdata/script")
}
