package cmd

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/pluginlock/plugins"
)

var errFull = errors.New("no space left")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

// A script must not take half a result for a whole one.
func TestAResultThatCannotBeWrittenIsAFailure(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"version", "--json"}, {"env"}} {
		root := New(Options{Load: func(context.Context) (plugins.Options, error) { return plugins.Options{}, nil }})
		var errOut bytes.Buffer
		root.SetOut(fullDisk{})
		root.SetErr(&errOut)
		root.SetArgs(args)
		err := root.ExecuteContext(t.Context())
		if !errors.Is(err, errFull) || ExitCode(err) != exitFailure {
			t.Errorf("%v: %v, exit code %d", args, err, ExitCode(err))
		}
		if strings.Count(errOut.String(), "o space left") != 1 {
			t.Errorf("%v prints\n%s", args, errOut.String())
		}
	}
	p := printer{out: fullDisk{}, errOut: new(bytes.Buffer)}
	p.result("aws")
	if err := p.finish(nil, &silentError{errOutdated}); !errors.Is(err, errFull) {
		t.Errorf("a difference of which nothing was shown ends with %v", err)
	}
}
