package scripttest

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"
)

// cmdGolden is `golden FILE WANT`: FILE (or stdout, or stderr) must be WANT, a
// file of the script, once addresses are names and the directory is $WORK.
func cmdGolden(ts *testscript.TestScript, neg bool, args []string, dir string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: golden FILE WANT")
	}
	w := worldOf(ts)
	got, want := w.normal(ts.ReadFile(args[0])), w.normal(ts.ReadFile(args[1]))
	if got == want {
		return
	}
	if *update {
		w.rewriteGolden(ts, filepath.Join(dir, ts.Name()+".txtar"), args[1], got)
		return
	}
	ts.Fatalf("%s differs from %s (go test -update rewrites it):\n%s", args[0], args[1], diff.Diff(args[1], []byte(want), args[0], []byte(got)))
}

// normal writes text as scripts have it.
func (w *world) normal(text string) string {
	return strings.ReplaceAll(w.toName.Replace(text), w.dir, "$WORK")
}

// rewriteGolden puts content in the place of a file of the script when the
// script has ended.
func (w *world) rewriteGolden(ts *testscript.TestScript, script, name, content string) {
	if txtar.NeedsQuote([]byte(content)) {
		ts.Fatalf("%s would hold a line like a file marker: rewrite it by hand", name)
	}
	if len(w.updates) == 0 {
		ts.Defer(func() { ts.Check(w.writeScript(script)) })
	}
	relative, err := filepath.Rel(w.dir, ts.MkAbs(name))
	ts.Check(err)
	w.updates[filepath.ToSlash(relative)] = content
}

func (w *world) writeScript(script string) error {
	archive, err := txtar.ParseFile(script)
	if err != nil {
		return err
	}
	for i, f := range archive.Files {
		if content, ok := w.updates[f.Name]; ok {
			archive.Files[i].Data = []byte(content)
		}
	}
	return os.WriteFile(script, txtar.Format(archive), 0o644)
}
