package tree_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/extract"
	"github.com/pluginlock/plugins/internal/store/tree"
)

func makeTree(t *testing.T) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	if err := errors.Join(
		root.MkdirAll("plugin/a b", 0o755), root.Mkdir("-odd", 0o755), root.Chmod(".", 0o755),
		root.WriteFile("plugin/aws", []byte("program"), 0o755), root.WriteFile("plugin/a b/%é", nil, 0o644),
		root.Symlink("a b", "plugin/link"),
	); err != nil {
		t.Fatal(err)
	}
	return root
}

var records = []extract.Record{
	{Path: "plugin/a b/%é", Digest: addr.DigestOf(nil)},
	{Path: "plugin/aws", Digest: addr.DigestOf([]byte("program")), Size: 7, Executable: true},
	{Path: "plugin/link", Link: "a b"},
}

func isAWS(path string) bool { return path == "plugin/aws" }

func TestHash(t *testing.T) {
	root := makeTree(t)
	r, err := tree.Hash(context.Background(), root, isAWS)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Records(); !reflect.DeepEqual(got, records) {
		t.Errorf("got %v, want %v", got, records)
	}
	if changed := r.Changed(root.Name()); changed != "" {
		t.Errorf("changed: %s", changed)
	}
	encoded, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := tree.Decode(encoded)
	if err != nil || !reflect.DeepEqual(decoded, r) {
		t.Errorf("decoded %+v, %v, want %+v", decoded, err, r)
	}
	survey, err := tree.Survey(context.Background(), root, isAWS)
	if err != nil {
		t.Fatal(err)
	}
	if err := survey.Adopt(records); err != nil || !reflect.DeepEqual(survey, r) {
		t.Errorf("surveyed %+v, %v, want %+v", survey, err, r)
	}
}

func TestAdoptRefuses(t *testing.T) {
	root := makeTree(t)
	size := append([]extract.Record{}, records...)
	size[1].Size = 6
	for name, written := range map[string][]extract.Record{"size": size, "missing": records[:2], "more": append(records[:3:3], extract.Record{Path: "x"})} {
		survey, err := tree.Survey(context.Background(), root, isAWS)
		if err != nil {
			t.Fatal(err)
		}
		if err := survey.Adopt(written); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestChanged(t *testing.T) {
	for want, change := range map[string]func(root *os.Root) error{
		"plugin/aws":    func(root *os.Root) error { return root.WriteFile("plugin/aws", []byte("PROGRAM"), 0) },
		"plugin/a b":    func(root *os.Root) error { return root.WriteFile("plugin/a b/more", nil, 0o644) },
		"plugin":        func(root *os.Root) error { return root.Rename("plugin/link", "plugin/other") },
		".":             func(root *os.Root) error { return root.Mkdir("more", 0o755) },
		"plugin/a b/%é": func(root *os.Root) error { return root.Chmod("plugin/a b/%é", 0o600) },
	} {
		root := makeTree(t)
		r, err := tree.Hash(context.Background(), root, isAWS)
		if err != nil {
			t.Fatal(err)
		}
		if err := change(root); err != nil {
			t.Fatal(err)
		}
		if got := r.Changed(root.Name()); got != want {
			t.Errorf("changed %q, want %q", got, want)
		}
	}
}

func TestHashRefuses(t *testing.T) {
	for name, change := range map[string]func(root *os.Root) error{
		"separator": func(root *os.Root) error { return root.WriteFile("plugin/a|b", nil, 0o644) },
		"target":    func(root *os.Root) error { return root.Symlink("a|b", "plugin/other") },
	} {
		root := makeTree(t)
		if err := change(root); err != nil {
			t.Skipf("%s: %v", name, err)
		}
		var problem *tree.Problem
		if _, err := tree.Hash(context.Background(), root, isAWS); !errors.As(err, &problem) || !strings.HasPrefix(problem.Path, "plugin/") {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := tree.Hash(ctx, makeTree(t), isAWS); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// What is read as a receipt names nothing outside of the tree and is written
// as it was read.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"format":1,"files":["0755|1|2|3|f|x|7|` + addr.DigestOf(nil).String() + `|plugin/aws","0777|1|2|3|l|aws|plugin/link"],"directories":["0755|1|2|3|.","0755|1|2|3|plugin"]}`))
	f.Add([]byte(`{"format":1,"directories":["0755|1|2|3|."],"files":["0755|1|2|3|l|x|../x"]}`))
	f.Fuzz(func(t *testing.T, encoded []byte) {
		r, err := tree.Decode(encoded)
		if err != nil {
			return
		}
		for _, file := range r.Files {
			if !filepath.IsLocal(filepath.FromSlash(file.Path)) {
				t.Errorf("%q leads out", file.Path)
			}
		}
		once, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := tree.Decode(once)
		if err != nil {
			t.Fatalf("%v: %s", err, once)
		}
		if twice, err := again.Encode(); err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%s\n%s\n%v", once, twice, err)
		}
	})
}
