package lock

import (
	"bytes"
	"testing"
)

// FuzzParse: what is accepted is written in a form that reads back the same
// and stays the same; what is refused is refused with ranges in the file; the
// same holds for both sides of a conflict.
func FuzzParse(f *testing.F) {
	for _, name := range append(fixtures(f, "testdata/*.hcl"), fixtures(f, "testdata/golden/*.hcl")...) {
		src := read(f, name)
		f.Add(src)
		f.Add(bytes.ReplaceAll(src, []byte("\n"), []byte("\r\n")))
	}
	f.Add([]byte("\ufeff<<<<<<< a\n|||||||\n=======\nlock_format = 1\n>>>>>>> b"))
	f.Add([]byte("<<<<<<< a\nlock_format = 1\n=======\nlock_format = 2\n>>>>>>> b\n=======\n<<<<<<< \n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		got, diags := Parse(src, FileName)
		if (got == nil) != diags.HasErrors() {
			t.Fatalf("file %v, diagnostics %v", got, diags)
		}
		checkDiagnostics(t, diags, src)
		sameAsHCL(t, src)
		if got != nil {
			fixpoint(t, got)
		}
		ours, theirs, diags := ParseConflicted(src, FileName)
		if (ours == nil || theirs == nil) != diags.HasErrors() {
			t.Fatalf("files %v %v, diagnostics %v", ours, theirs, diags)
		}
		checkDiagnostics(t, diags, src)
		if ours != nil {
			merged, _ := Merge(ours, theirs)
			fixpoint(t, merged)
		}
	})
}

func fixpoint(t *testing.T, f *File) {
	t.Helper()
	src := f.Bytes()
	back := parse(t, src)
	if !back.Equal(f) {
		t.Fatalf("read back as something else:\n%s", src)
	}
	if again := back.Bytes(); !bytes.Equal(again, src) {
		t.Fatalf("written again as\n%s\nafter\n%s", again, src)
	}
}
