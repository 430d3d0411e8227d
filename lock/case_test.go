package lock

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
)

// TestC19ConflictMarkersAreOneClearMessage: the line, the remedy, and a way for
// a program to tell.
func TestC19ConflictMarkersAreOneClearMessage(t *testing.T) {
	src := read(t, "testdata/conflict_diff3.hcl")
	for name, src := range map[string][]byte{"LF": src, "CRLF": bytes.ReplaceAll(src, []byte("\n"), []byte("\r\n"))} {
		f, diags := Parse(src, "dir/"+FileName)
		if f != nil || len(diags) != 1 || !IsConflict(diags) || IsNewerFormat(diags) {
			t.Fatalf("%s: %v %v", name, f, diags)
		}
		for _, want := range []string{"unresolved merge conflict in .plugins.lock.hcl line 6", "\n  plugins lock --resolve-conflicts"} {
			if !strings.Contains(diags[0].Detail, want) {
				t.Errorf("%s: %q is not in %q", name, want, diags[0].Detail)
			}
		}
		if got := string(diags[0].Subject.SliceBytes(src)); got != "<<<<<<< HEAD" {
			t.Errorf("%s: the range is %q", name, got)
		}
	}
}

// TestC19OnlyWholeHunksAreConflicts: what merely looks like a marker is text.
func TestC19OnlyWholeHunksAreConflicts(t *testing.T) {
	for text, want := range map[string]int{
		"<<<<<<< a\n=======\n>>>>>>> b\n":                                 1,
		"<<<<<<<\n=======\n>>>>>>>\n":                                     1,
		"<<<<<<< a\r\n=======\r\n>>>>>>> b\r\n":                           1,
		"<<<<<<< a\n=======\n>>>>>>> b":                                   1,
		"<<<<<<< a\n||||||| c\n=======\n>>>>>>> b\n":                      1,
		"<<<<<<< a\n||||||| c\n<<<<<<<<< d\n=======\n>>>>>>> b\n":         1, // a conflict in the ancestor has longer markers
		"x\n<<<<<<< a\n=======\n>>>>>>> b\n<<<<<<< a\n=======\n>>>>>>> b": 2,
		"<<<<<<< a\n<<<<<<< a\n=======\n>>>>>>> b\n":                      1,
		"=======\n":                                           0,
		"/*\n=======\n*/\n":                                   0,
		"<<<<<<< a\n>>>>>>> b\n":                              0,
		"<<<<<<< a\n=======\n":                                0,
		"<<<<<<< a\n=======\n=======\n>>>>>>> b\n":            0,
		"<<<<<<< a\n=======\n||||||| c\n>>>>>>> b\n":          0,
		"<<<<<<< a\n||||||| c\n||||||| c\n=======\n>>>>>>> b": 0,
		"=======\n<<<<<<< a\n>>>>>>> b\n":                     0,
		" <<<<<<< a\n=======\n>>>>>>> b\n":                    0,
		"<<<<<<<< a\n=======\n>>>>>>> b\n":                    0,
		"<<<<<<<a\n=======\n>>>>>>> b\n":                      0,
		"<<<<<<< a\n======= \n>>>>>>> b\n":                    0,
		"<<<<<< a\n=======\n>>>>>>> b\n":                      0,
	} {
		if got := len(findHunks(splitLines([]byte(text)))); got != want {
			t.Errorf("%q has %d conflicts, want %d", text, got, want)
		}
	}
}

// TestC19BothSidesAreRebuilt: each side is the whole file, and is where it was.
func TestC19BothSidesAreRebuilt(t *testing.T) {
	base := entry(t, "aws", "1.4.2", "linux/amd64")
	other := entry(t, "zeta", "1.0.0", "linux/amd64")
	src := file(base, other).Bytes()
	for name, hunk := range map[string]string{
		"merge": "<<<<<<< HEAD\n  version = \"1.4.3\"\n=======\n  version = \"1.5.0\"\n>>>>>>> feature\n",
		"diff3": "<<<<<<< HEAD\n  version = \"1.4.3\"\n||||||| 1a2b3c4\n  version = \"é\n=======\n  version = \"1.5.0\"\n>>>>>>> feature\n",
	} {
		conflicted := bytes.Replace(src, []byte("  version = \"1.4.2\"\n"), []byte(hunk), 1)
		ours, theirs, diags := ParseConflicted(conflicted, FileName)
		if diags.HasErrors() {
			t.Fatalf("%s: %v", name, diags)
		}
		for want, f := range map[string]*File{"1.4.3": ours, "1.5.0": theirs} {
			e, ok := f.Entry("aws")
			if !ok || e.Version.String() != want || e.Digest != base.Digest {
				t.Errorf("%s: want %s, have %+v", name, want, e)
			}
			last, ok := f.Entry("zeta")
			if !ok || !last.Equal(other) || string(last.Range.SliceBytes(conflicted)) != `plugin "zeta"` {
				t.Errorf("%s: %+v", name, last)
			}
		}
	}
}

// TestC19BothSidesAreHeldToTheRules: what is wrong on either side is reported
// where it stands, and once where both have it.
func TestC19BothSidesAreHeldToTheRules(t *testing.T) {
	src := string(file(entry(t, "aws", "1.4.2", "linux/amd64")).Bytes())
	src = strings.Replace(src, "  version = \"1.4.2\"\n",
		"<<<<<<< HEAD\n  version = \"v1\"\n=======\n  version = \"v2\"\n>>>>>>> feature\n  colour = 1\n", 1)
	ours, theirs, diags := ParseConflicted([]byte(src), FileName)
	want := []string{"# ERROR: 8:13 Invalid version\n", "# ERROR: 10:13 Invalid version\n", "# ERROR: 12:3 Unknown attribute\n"}
	if got := summaries(diags); ours != nil || theirs != nil || strings.Join(got, "") != strings.Join(want, "") {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestC19AFileWithoutMarkersHasTwoEqualSides(t *testing.T) {
	f := rich(t)
	ours, theirs, diags := ParseConflicted(f.Bytes(), FileName)
	if diags.HasErrors() || !ours.Equal(f) || !theirs.Equal(f) {
		t.Errorf("%v %v %v", ours, theirs, diags)
	}
}

func TestC19MergeKeepsWhatAgrees(t *testing.T) {
	same, moved, newer := entry(t, "same", "1.0.0", "linux/amd64"), entry(t, "moved", "1.0.0", "linux/amd64"), entry(t, "moved", "1.1.0", "linux/amd64")
	left, right := entry(t, "left", "1.0.0", "linux/amd64"), entry(t, "right", "1.0.0", "linux/amd64")
	merged, disagree := Merge(file(same, moved, left), file(same, newer, right))
	if !merged.Equal(file(same, left, right)) {
		t.Errorf("merged to\n%s", merged.Bytes())
	}
	if len(disagree) != 1 || disagree[0] != "moved" {
		t.Errorf("disagree on %v", disagree)
	}
	republished := moved.sorted()
	republished.Platforms[0].Manifest = newer.Platforms[0].Manifest
	if merged, disagree := Merge(file(moved), file(republished)); len(merged.Entries) != 0 || len(disagree) != 1 {
		t.Errorf("one version with two manifests is kept: %v\n%s", disagree, merged.Bytes())
	}
	backward, names := Merge(file(same, newer, right), file(same, moved, left))
	if !backward.Equal(merged) || len(names) != 1 {
		t.Errorf("a side is preferred: %v\n%s", names, backward.Bytes())
	}
}

// TestC21NewerFormatIsRefusedAsAWhole: nothing else in it is judged, and a
// program can tell.
func TestC21NewerFormatIsRefusedAsAWhole(t *testing.T) {
	for _, name := range []string{"format_newer", "format_much_newer", "format_newer_syntax"} {
		_, diags := Parse(read(t, "testdata/"+name+".hcl"), FileName)
		if len(diags) != 1 || !IsNewerFormat(diags) || IsConflict(diags) {
			t.Errorf("%s: %v", name, diags)
		}
	}
	_, diags := Parse(read(t, "testdata/format_newer.hcl"), FileName)
	if want := "lock was written by a newer version (format 2, this tool knows 1)"; !strings.Contains(diags[0].Detail, want) {
		t.Errorf("%q is not in %q", want, diags[0].Detail)
	}
}

// TestC21OtherFormatsAreWrong: 0, -1, "x" and none are nobody's format.
func TestC21OtherFormatsAreWrong(t *testing.T) {
	for _, line := range []string{"lock_format = 0", "lock_format = -1", `lock_format = "x"`, `lock_format = "2"`, "lock_format = null",
		"lock_format = 1.0", "lock_format = 2.5", "lock_format = (2)", "lock_format = [1]", "lock_format = 1e999999999", "lock_format = -2", "", "\n", "\ufeff"} {
		f, diags := Parse([]byte(line), FileName)
		if f != nil || len(diags) != 1 || IsNewerFormat(diags) || !strings.Contains(diags[0].Summary, "lock_format") {
			t.Errorf("%q: %v", line, diags)
		}
		checkDiagnostics(t, diags, []byte(line))
	}
}

// TestC29gWeakDigestsAreRefused: upper case, md5, sha1 and what is cut short,
// in each of the three places.
func TestC29gWeakDigestsAreRefused(t *testing.T) {
	e := entry(t, "aws", "1.4.2", "linux/amd64")
	src := string(file(e).Bytes())
	for _, good := range []string{e.Digest.String(), e.Platforms[0].Manifest.String(), e.Platforms[0].ExecutableDigest.String()} {
		for _, bad := range []string{strings.ToUpper(good), "sha256:" + strings.ToUpper(good[7:]), "md5:" + good[7:39], "sha1:" + good[7:47],
			"sha512:" + good[7:] + good[7:], good[:70], good + "0", good[7:], " " + good, ""} {
			f, diags := Parse([]byte(strings.Replace(src, good, bad, 1)), FileName)
			if f != nil || len(diags) != 1 || diags[0].Summary != "Invalid digest" {
				t.Errorf("%q in the place of %q: %v", bad, good, diags)
			}
		}
	}
}

// TestCRLFAndByteOrderMarkAreRead: editors on Windows add both; the content is
// the same, and positions are those of the file as it is.
func TestCRLFAndByteOrderMarkAreRead(t *testing.T) {
	f := rich(t)
	src := append([]byte("\ufeff"), bytes.ReplaceAll(f.Bytes(), []byte("\n"), []byte("\r\n"))...)
	got := parse(t, src)
	if !got.Equal(f) {
		t.Errorf("read as\n%s", got.Bytes())
	}
	if e, _ := got.Entry("each"); string(e.Range.SliceBytes(src)) != `plugin "each"` || e.Range.Start.Line != 22 {
		t.Errorf("the entry is said to be at %v", e.Range)
	}
}

// TestOrderAndSpacingAreFree: git merges entries out of order; nothing has two
// meanings by that.
func TestOrderAndSpacingAreFree(t *testing.T) {
	for _, name := range []string{"testdata/order.hcl", "testdata/spacing.hcl"} {
		f := parse(t, read(t, name))
		if again := parse(t, f.Bytes()); !again.Equal(f) || len(f.Entries) == 0 {
			t.Errorf("%s: written as\n%s", name, f.Bytes())
		}
	}
	f := parse(t, read(t, "testdata/order.hcl"))
	if f.Entries[0].Name != "alpha" || f.Entries[1].Platforms[0].Platform.OS != "linux" {
		t.Errorf("not sorted: %+v", f.Entries)
	}
}

// TestDeepNestingIsAnError: the parser would end the program. So much is well
// within what it survives, so the summary tells whether it was asked; package
// nesting tests more.
func TestDeepNestingIsAnError(t *testing.T) {
	for _, text := range []string{
		"lock_format = " + strings.Repeat("[", maxNesting+1), strings.Repeat("b {\n", maxNesting+1),
		"lock_format = " + strings.Repeat("]", maxNesting) + strings.Repeat("[", maxNesting+1),
	} {
		_, diags := Parse([]byte(text), FileName)
		if len(diags) != 1 || diags[0].Summary != "Not a lock file" {
			t.Errorf("%.20q: %v", text, diags)
		}
		checkDiagnostics(t, diags, []byte(text))
	}
	many := &File{}
	for i := range 2000 {
		many.Entries = append(many.Entries, entry(t, fmt.Sprintf("p%d", i), "1.0.0-a-b-c-d-e", "linux/amd64", "linux/arm64"))
	}
	commented := slices.Concat([]byte("# not in normal form\n"), many.Bytes())
	if got := parse(t, commented); !got.Equal(many) {
		t.Error("a long file is not read")
	}
}

func TestParseErrorTellsItsReason(t *testing.T) {
	_, diags := Parse(read(t, "testdata/names.hcl"), FileName)
	err := &ParseError{diags}
	if errors.Is(err, ErrConflict) || errors.Is(err, ErrNewerFormat) || !strings.Contains(err.Error(), "Invalid plugin name") {
		t.Error(err)
	}
	if IsConflict(nil) || IsNewerFormat(hcl.Diagnostics{}) {
		t.Error("no diagnostics have a reason")
	}
}
