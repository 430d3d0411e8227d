package config

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestMessagesAreShown holds every summary in this package to a fixture that
// produces it: from their golden files the reference of messages is made. The
// list of summaries with their fixtures is a golden file itself.
func TestMessagesAreShown(t *testing.T) {
	shown := map[string][]string{}
	for _, kind := range []string{"own", "host", "settings"} {
		for _, f := range loadFixtures(t, kind) {
			for _, d := range f.diags {
				if !slices.Contains(shown[d.Summary], f.name) {
					shown[d.Summary] = append(shown[d.Summary], f.name)
				}
			}
		}
	}
	for _, f := range storyFixtures(t) {
		for _, d := range f.diags {
			shown[d.Summary] = append(shown[d.Summary], f.name)
		}
		golden(t, filepath.Join(testdata, f.name+".golden"), f.rendered)
	}
	var listing strings.Builder
	for _, summary := range slices.Sorted(keys(shown)) {
		listing.WriteString(summary + ": " + strings.Join(shown[summary], ", ") + "\n")
	}
	golden(t, filepath.Join(testdata, "messages.golden"), listing.String())
	for _, summary := range summaries(t) {
		if shown[summary] == nil {
			t.Errorf("no fixture shows the message %q", summary)
		}
	}
}

func keys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for key := range m {
			if !yield(key) {
				return
			}
		}
	}
}

// storyFixtures are the problems that no text in a file can show.
func storyFixtures(t *testing.T) []fixture {
	t.Helper()
	root := t.TempDir()
	run := func(name string, o Options) fixture {
		config, diags := Load(o)
		rendered := strings.ReplaceAll(render(t, config.Files, diags, 0), root, "/project")
		return fixture{name: "story/" + name, diags: diags, rendered: rendered}
	}
	if err := os.Mkdir(filepath.Join(root, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(root)
	write(t, FileName, "")
	all := []fixture{run("no-files", Options{Dir: "sub"})}
	all = append(all, run("missing-file", Options{Files: []string{"missing.hcl"}}))
	all = append(all, run("two-directories", Options{Files: []string{"a/host.hcl", "b/host.hcl"}}))
	write(t, "latin1.hcl", "# gr\xfc\xdfe\n")
	all = append(all, run("not-utf8", Options{Files: []string{"latin1.hcl"}}))
	write(t, "deep.hcl", "x = "+strings.Repeat("[", maxDepth+1)+"\n")
	deep := run("too-deep", Options{Files: []string{"deep.hcl"}})
	deep.rendered = strings.ReplaceAll(deep.rendered, strings.Repeat("[", maxDepth+1), "[[[…")
	return append(all, deep)
}

// summaries collects the summaries from the source text: the first argument of
// problem and report, and the field Summary.
func summaries(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(filepath.Dir(testdata), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	add := func(expr ast.Expr) {
		if literal, ok := expr.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			text, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, text)
		}
	}
	visit := func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.CallExpr:
			if name := callee(n); len(n.Args) > 0 && (name == "problem" || name == "report") {
				add(n.Args[0])
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Summary" {
				add(n.Value)
			}
		}
		return true
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, visit)
	}
	if len(found) < 20 {
		t.Fatalf("found only %v", found)
	}
	return found
}

func callee(call *ast.CallExpr) string {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		return fun.Sel.Name
	}
	return ""
}
