package scripttest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// tree is what lies in a script's directory, by path relative to it.
type tree map[string]node

// node is one file: what it holds, and by which a file that was written anew
// with the same content is told from one that was left alone.
type node struct {
	content string // mode, and target or digest
	info    fs.FileInfo
}

// same reports whether nothing happened to a file. Of a directory the time does
// not count: a temporary file that came and went is nobody's business.
func (n node) same(m node) bool {
	if n.content != m.content || !os.SameFile(n.info, m.info) {
		return false
	}
	return !n.info.Mode().IsRegular() || n.info.ModTime().Equal(m.info.ModTime())
}

// takeTree reads the script's whole directory, testscript's own part excepted.
func takeTree(ts *testscript.TestScript) tree {
	t := tree{}
	root := worldOf(ts).dir
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, name)
		switch {
		case err != nil:
			return err
		case relative == tempDir:
			return fs.SkipDir
		}
		t[filepath.ToSlash(relative)], err = read(name, entry)
		return err
	})
	ts.Check(err)
	return t
}

func read(name string, entry fs.DirEntry) (node, error) {
	info, err := entry.Info()
	if err != nil {
		return node{}, err
	}
	n := node{content: info.Mode().String(), info: info}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(name)
		n.content += " -> " + target
		return n, err
	case info.Mode().IsRegular():
		content, err := os.ReadFile(name)
		sum := sha256.Sum256(content)
		n.content += " sha256:" + hex.EncodeToString(sum[:])
		return n, err
	}
	return n, nil
}

// difference lists what changed between two trees, one line each.
func difference(before, after tree) []string {
	var lines []string
	for name, b := range before {
		switch a, there := after[name]; {
		case !there:
			lines = append(lines, name+": removed")
		case b.content != a.content:
			lines = append(lines, fmt.Sprintf("%s: %s became %s", name, b.content, a.content))
		case !b.same(a):
			lines = append(lines, name+": written again with the same content")
		}
	}
	for name := range after {
		if _, there := before[name]; !there {
			lines = append(lines, name+": added")
		}
	}
	slices.Sort(lines)
	return lines
}

// below keeps of a tree what lies at or under one of some paths.
func (t tree) below(paths []string) tree {
	kept := maps.Clone(t)
	maps.DeleteFunc(kept, func(name string, _ node) bool {
		return !slices.ContainsFunc(paths, func(p string) bool { return p == "." || name == p || strings.HasPrefix(name, p+"/") })
	})
	return kept
}

// withoutCache drops the cache, which may gain from runs that fail.
func (t tree) withoutCache() tree {
	kept := maps.Clone(t)
	maps.DeleteFunc(kept, func(name string, _ node) bool {
		return name == cacheDir || strings.HasPrefix(name, cacheDir+"/")
	})
	return kept
}

func requireSame(ts *testscript.TestScript, before, after tree, cacheToo bool) {
	if !cacheToo {
		before, after = before.withoutCache(), after.withoutCache()
	}
	if changed := difference(before, after); len(changed) > 0 {
		ts.Fatalf("changed:\n\t%s", strings.Join(changed, "\n\t"))
	}
}

func cmdSnapshot(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: snapshot")
	}
	worldOf(ts).before = takeTree(ts)
}

// cmdUnchanged is `[!] unchanged [-cache] [PATH...]`: since the last snapshot
// nothing was added, removed or written, also not with the same content.
func cmdUnchanged(ts *testscript.TestScript, neg bool, args []string) {
	w := worldOf(ts)
	if w.before == nil {
		ts.Fatalf("unchanged: there was no snapshot")
	}
	cacheToo := len(args) > 0 && args[0] == "-cache"
	if cacheToo {
		args = args[1:]
	}
	before, after := w.before, takeTree(ts)
	if len(args) > 0 {
		var paths []string
		for _, arg := range args {
			relative, err := filepath.Rel(w.dir, ts.MkAbs(arg))
			ts.Check(err)
			paths = append(paths, filepath.ToSlash(relative))
		}
		before, after, cacheToo = before.below(paths), after.below(paths), true
	}
	if !neg {
		requireSame(ts, before, after, cacheToo)
		return
	}
	if !cacheToo {
		before, after = before.withoutCache(), after.withoutCache()
	}
	if len(difference(before, after)) == 0 {
		ts.Fatalf("nothing changed")
	}
}
