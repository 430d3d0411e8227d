package cmd

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

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

// Thousands of problems in a long file are told within seconds.
func TestNotEveryProblemHasAnExcerpt(t *testing.T) {
	src := []byte(strings.Repeat("x = 1\n", 50))
	at := hcl.Range{Filename: "plugins.hcl", Start: hcl.Pos{Line: 50, Column: 1, Byte: 294}, End: hcl.Pos{Line: 50, Column: 2, Byte: 295}}
	var diags hcl.Diagnostics
	for range mostExcerpts + 5 {
		diags = append(diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Wrong", Detail: "It is wrong.", Subject: &at})
	}
	var errOut bytes.Buffer
	p := printer{errOut: &errOut}
	p.diagnostics(diags, map[string]*hcl.File{"plugins.hcl": {Bytes: src}})
	if got := strings.Count(errOut.String(), "x = 1"); got != mostExcerpts {
		t.Errorf("%d excerpts", got)
	}
	if got := strings.Count(errOut.String(), "plugins.hcl line 50"); got != len(diags) {
		t.Errorf("%d of %d problems say where they are", got, len(diags))
	}
}
