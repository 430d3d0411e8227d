package lock

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// repository is a git repository that knows no configuration but its own.
type repository struct {
	t   *testing.T
	dir string
}

// newRepository commits f as the lock file, on the branch main.
func newRepository(t *testing.T, f *File, options ...string) repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skipf("git is not installed: %v", err)
	}
	r := repository{t, t.TempDir()}
	r.git("init", "-q")
	r.git("symbolic-ref", "HEAD", "refs/heads/main")
	for _, o := range append(options, "user.name=Test", "user.email=test@example.com", "commit.gpgsign=false") {
		key, value, _ := strings.Cut(o, "=")
		r.git("config", key, value)
	}
	r.commit(f)
	return r
}

func (r repository) run(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(r.dir), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C", "HOME="+r.dir)
	cmd.Env = slices.DeleteFunc(cmd.Env, func(v string) bool {
		return strings.HasPrefix(v, "GIT_DIR=") || strings.HasPrefix(v, "GIT_WORK_TREE=") || strings.HasPrefix(v, "GIT_INDEX_FILE=")
	})
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (r repository) git(args ...string) {
	r.t.Helper()
	if out, err := r.run(args...); err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func (r repository) path() string { return filepath.Join(r.dir, FileName) }

func (r repository) commit(f *File) {
	r.t.Helper()
	if _, err := Save(r.path(), f); err != nil {
		r.t.Fatal(err)
	}
	r.git("add", "--all")
	r.git("commit", "-q", "-m", "lock")
}

// merge commits ours on main and theirs on a branch, merges that, and returns
// what the lock file holds then and whether git merged without a conflict.
func (r repository) merge(ours, theirs *File) (src []byte, clean bool) {
	r.t.Helper()
	r.git("checkout", "-q", "-b", "feature")
	r.commit(theirs)
	r.git("checkout", "-q", "main")
	r.commit(ours)
	_, err := r.run("merge", "-q", "--no-edit", "feature")
	return read(r.t, r.path()), err == nil
}

// TestGitMergesUpdatesOfDifferentPlugins without help, into what both wrote.
func TestGitMergesUpdatesOfDifferentPlugins(t *testing.T) {
	platforms := []string{"linux/amd64", "linux/arm64", "darwin/arm64"}
	base := &File{}
	for _, name := range []string{"alpha", "bravo", "charlie", "delta"} {
		base.Set(entry(t, name, "1.0.0", platforms...))
	}
	for name, others := range map[string][2]string{"far apart": {"alpha", "delta"}, "neighbours": {"bravo", "charlie"}} {
		ours, theirs, want := base.Clone(), base.Clone(), base.Clone()
		ours.Set(entry(t, others[0], "1.1.0", platforms...))
		theirs.Set(entry(t, others[1], "2.0.0", platforms...))
		want.Set(entry(t, others[0], "1.1.0", platforms...))
		want.Set(entry(t, others[1], "2.0.0", platforms...))
		src, clean := newRepository(t, base).merge(ours, theirs)
		if !clean || !bytes.Equal(src, want.Bytes()) {
			t.Errorf("%s: clean is %v:\n%s", name, clean, src)
		}
	}
}

// TestC19GitConflictIsTakenApart: two branches add neighbours, and two update
// the same plugin, in every style in which git can write that down.
func TestC19GitConflictIsTakenApart(t *testing.T) {
	platforms := []string{"linux/amd64", "darwin/arm64"}
	base := file(entry(t, "alpha", "1.0.0", platforms...), entry(t, "mike", "1.0.0", platforms...), entry(t, "zulu", "1.0.0", platforms...))
	ours, theirs := base.Clone(), base.Clone()
	ours.Set(entry(t, "bravo", "1.0.0", platforms...))
	theirs.Set(entry(t, "charlie", "1.0.0", "linux/amd64"))
	ours.Set(entry(t, "mike", "1.1.0", platforms...))
	theirs.Set(entry(t, "mike", "2.0.0", platforms...))
	want := file(entry(t, "alpha", "1.0.0", platforms...), entry(t, "bravo", "1.0.0", platforms...),
		entry(t, "charlie", "1.0.0", "linux/amd64"), entry(t, "zulu", "1.0.0", platforms...))

	for _, style := range []string{"merge", "diff3", "zdiff3"} {
		src, clean := newRepository(t, base, "merge.conflictStyle="+style).merge(ours, theirs)
		if _, diags := Parse(src, FileName); clean || !IsConflict(diags) {
			t.Fatalf("%s: no conflict: %v\n%s", style, diags, src)
		}
		left, right, diags := ParseConflicted(src, FileName)
		if diags.HasErrors() || !left.Equal(ours) || !right.Equal(theirs) {
			t.Fatalf("%s: taken apart wrongly: %v\n%s", style, diags, src)
		}
		merged, disagree := Merge(left, right)
		if !merged.Equal(want) || !slices.Equal(disagree, []string{"mike"}) {
			t.Errorf("%s: disagree on %v, merged to\n%s", style, disagree, merged.Bytes())
		}
	}
}

// TestGitCanMixOneEntry: one branch updates a plugin, another adds a platform
// to it, and git reports no conflict. The file is well-formed, so this package
// has nothing to refuse; docs/lock-file.md says what does.
func TestGitCanMixOneEntry(t *testing.T) {
	ours := entry(t, "aws", "1.1.0", "darwin/arm64", "linux/amd64")
	theirs := entry(t, "aws", "1.0.0", "darwin/arm64", "linux/amd64", "windows/amd64")
	src, clean := newRepository(t, file(entry(t, "aws", "1.0.0", "darwin/arm64", "linux/amd64"))).merge(file(ours), file(theirs))
	mixed := ours.sorted()
	mixed.Platforms = append(mixed.Platforms, theirs.Platforms[2])
	if !clean || !parse(t, src).Equal(file(mixed)) {
		t.Errorf("clean is %v:\n%s", clean, src)
	}
}

// TestUnionMergeIsRefused is the reason why docs/lock-file.md warns of it: git
// reports success, and no marker is left to take the sides apart by.
func TestUnionMergeIsRefused(t *testing.T) {
	base := file(entry(t, "aws", "1.0.0", "linux/amd64"))
	r := newRepository(t, base)
	write(t, filepath.Join(r.dir, ".gitattributes"), []byte(FileName+" merge=union\n"))
	r.git("add", "--all")
	r.git("commit", "-q", "-m", "merge=union")
	src, clean := r.merge(file(entry(t, "aws", "1.1.0", "linux/amd64")), file(entry(t, "aws", "1.2.0", "linux/amd64")))
	f, diags := Parse(src, FileName)
	if !clean || f != nil || IsConflict(diags) {
		t.Errorf("clean is %v: %v\n%s", clean, diags, src)
	}
}

// TestTheRemedyForHalfAConflictWorks: git writes the markers again.
func TestTheRemedyForHalfAConflictWorks(t *testing.T) {
	base := file(entry(t, "aws", "1.0.0", "linux/amd64"))
	r := newRepository(t, base)
	src, _ := r.merge(file(entry(t, "aws", "1.1.0", "linux/amd64")), file(entry(t, "aws", "1.2.0", "linux/amd64")))
	write(t, r.path(), bytes.ReplaceAll(src, []byte("<<<<<<< HEAD\n"), nil))
	_, diags := Parse(read(t, r.path()), FileName)
	if len(diags) != 1 || diags[0].Summary != "Incomplete merge conflict" {
		t.Fatal(diags)
	}
	_, command, found := strings.Cut(diags[0].Detail, "\n\n  git ")
	if !found {
		t.Fatalf("no command in %q", diags[0].Detail)
	}
	r.git(strings.Fields(command)...)
	if _, diags := Parse(read(t, r.path()), FileName); !IsConflict(diags) {
		t.Error(diags)
	}
}
