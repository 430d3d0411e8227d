package lock

import (
	"bytes"
	"reflect"
	"testing"
)

// TestNormalForm reads what is in normal form in the short way, and sees that
// the long one agrees, ranges included. Whatever a byte is replaced by, both must
// agree, or the short way must leave it to the other.
func TestNormalForm(t *testing.T) {
	for _, name := range fixtures(t, "testdata/golden/*.hcl") {
		src := read(t, name)
		if _, ok := parseNormal(src, name); ok == bytes.Contains(src, []byte("executable = {")) {
			t.Errorf("%s: read in the short way: %v", name, ok)
		}
		sameAsHCL(t, src)
	}
	short := (&File{Entries: []Entry{
		entry(t, "aws", "1.2.3", "linux/amd64", "linux/arm64"), entry(t, "gcp", "1.2.3", "linux/amd64"),
	}}).Bytes()
	sameAsHCL(t, short)
	for i := range short {
		for _, c := range []byte("a1\"\n #}") {
			changed := bytes.Clone(short)
			changed[i] = c
			sameAsHCL(t, changed)
		}
		sameAsHCL(t, short[:i])
	}
}

// TestNormalFormOrder: what only order or repetition sets apart from the normal
// form is for the long way.
func TestNormalFormOrder(t *testing.T) {
	aws, gcp := entry(t, "aws", "1.2.3", "linux/amd64"), entry(t, "gcp", "1.2.3", "linux/amd64")
	one, other := (&File{Entries: []Entry{aws}}).Bytes(), (&File{Entries: []Entry{gcp}}).Bytes()
	body := func(src []byte) []byte {
		_, block, _ := bytes.Cut(src, []byte("\nplugin"))
		return append([]byte("\nplugin"), block...)
	}
	for _, src := range [][]byte{
		append(bytes.Clone(other), body(one)...),
		append(bytes.Clone(one), body(one)...),
		append(bytes.Clone(one), "# the end\n"...),
		bytes.ReplaceAll(one, []byte("\n"), []byte("\r\n")),
		append([]byte("\ufeff"), one...),
	} {
		if _, ok := parseNormal(src, FileName); ok {
			t.Errorf("read in the short way:\n%s", src)
		}
		sameAsHCL(t, src)
	}
}

// sameAsHCL sees that the short way, if it takes src, and HCL's parser give the
// same.
func sameAsHCL(t *testing.T, src []byte) {
	t.Helper()
	got, ok := parseNormal(src, FileName)
	if !ok {
		return
	}
	want, diags := parseAny(src, FileName)
	if diags.HasErrors() || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v, %v\nof\n%s", got, want, diags, src)
	}
}
