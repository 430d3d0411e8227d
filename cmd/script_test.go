package cmd_test

import (
	"os"
	"testing"

	"github.com/pluginlock/plugins/cmd"
	"github.com/pluginlock/plugins/internal/scripttest"
)

func TestMain(m *testing.M) {
	scripttest.Main(m, map[string]func() int{
		"plugins": func() int { return cmd.Main(os.Args[1:]) },
	})
}

// TestScripts runs the scripts of testdata/script, each named by its case or by
// what it shows.
func TestScripts(t *testing.T) {
	scripttest.Run(t, "../testdata/script")
}
