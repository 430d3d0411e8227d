package extract_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"unicode"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/extract"
	"github.com/pluginlock/plugins/internal/hostile"
)

func TestC33Names(t *testing.T)       { corpus(t, "C33") }
func TestC35Links(t *testing.T)       { corpus(t, "C35") }
func TestC36Bombs(t *testing.T)       { corpus(t, "C36") }
func TestC39Collisions(t *testing.T)  { corpus(t, "C39") }
func TestTypesRefused(t *testing.T)   { corpus(t, "types") }
func TestBrokenArchives(t *testing.T) { corpus(t, "broken") }

// corpus runs all archives of one case, hostile and honest.
func corpus(t *testing.T, of string) {
	ran := 0
	for _, a := range append(hostile.Archives(), hostile.Honest()...) {
		if a.Case != of {
			continue
		}
		ran++
		t.Run(a.Name, func(t *testing.T) {
			if a.Want == extract.KindNone {
				installs(t, a)
				return
			}
			refused(t, a)
		})
	}
	if ran == 0 {
		t.Fatalf("no archive of %s", of)
	}
}

// cheap refuses what packs too well sooner than the default, which unpacks so
// much before that one test of it is enough.
var cheap = extract.Limits{RatioFrom: 4 << 20}

func refused(t *testing.T, a hostile.Archive) {
	s := newSite(t)
	_, err := s.payload(a.Layer, extract.Limits{})
	if got := extract.KindOf(err); got != a.Want {
		t.Errorf("%s: got %q (%v), want %q", a.About, got, err, a.Want)
	}
	if err != nil && strings.ContainsFunc(err.Error(), func(r rune) bool { return !unicode.IsPrint(r) }) {
		t.Errorf("a message with bytes of the archive's: %q", err)
	}
	s.checkAround()
	if size := diskUse(t, s.dir); size > extract.RatioFrom+1<<20 {
		t.Errorf("%d bytes were written", size)
	}
	if _, err := extract.Inspect(t.Context(), bytes.NewReader(a.Layer), descriptor(a.Layer), cheap); extract.KindOf(err) != a.Want {
		t.Errorf("Inspect: %v, want %q", err, a.Want)
	}
}

// installs checks that the tree on disk is what the result says, that both say
// what Inspect says, and that every link can be opened from within.
func installs(t *testing.T, a hostile.Archive) {
	s := newSite(t)
	result, err := s.payload(a.Layer, extract.Limits{})
	must(t, err)
	s.checkAround()
	if d := extract.Differences(result.Records, s.records(result.Records)); d != nil {
		t.Errorf("on disk: %v", d)
	}
	inspected, err := extract.Inspect(t.Context(), bytes.NewReader(a.Layer), descriptor(a.Layer), extract.Limits{})
	must(t, err)
	if !slices.Equal(inspected.Records, result.Records) {
		t.Errorf("Inspect found %v, Payload wrote %v", inspected.Records, result.Records)
	}
	if len(result.Records) == 0 {
		t.Error("nothing was installed")
	}
	for _, r := range result.Records {
		if _, err := s.root.Stat(r.Path); err != nil {
			t.Error(err)
		}
	}
}

func diskUse(t *testing.T, dir string) (size int64) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return err
	}))
	return size
}

func TestC33SpellingsInstallAsOne(t *testing.T) {
	s := newSite(t)
	result, err := s.payload(layer(t, file("./plugin/bin/run", "run"), file("plugin/a/./b", "b")), extract.Limits{})
	must(t, err)
	want := []extract.Record{
		{Path: "plugin/a/b", Digest: addr.DigestOf([]byte("b")), Size: 1, Executable: true},
		{Path: "plugin/bin/run", Digest: addr.DigestOf([]byte("run")), Size: 3, Executable: true},
	}
	if !slices.Equal(result.Records, want) {
		t.Errorf("got %v, want %v", result.Records, want)
	}
}

func TestC35HonestLinksInAnyOrder(t *testing.T) {
	entries := []entry{
		link("plugin/current", "55.1"), link("plugin/pkg.inc", "current/pkg.inc"),
		file("plugin/55.1/pkg.inc", "pkg"), file("plugin/..v1/config", "config"), link("plugin/..data", "..v1"),
	}
	s := newSite(t)
	permutations(entries, func(order []entry) {
		if _, err := s.payload(layer(t, order...), extract.Limits{}); err != nil {
			t.Fatalf("%v: %v", order, err)
		}
		for name, want := range map[string]string{"pkg.inc": "pkg", "current/pkg.inc": "pkg", "..data/config": "config"} {
			got, err := s.root.ReadFile("plugin/" + name)
			if err != nil || string(got) != want {
				t.Fatalf("%v: %s is %q, %v", order, name, got, err)
			}
		}
		must(t, s.root.RemoveAll("plugin"))
	})
}

func permutations(entries []entry, visit func([]entry)) {
	var permute func(int)
	permute = func(k int) {
		if k == len(entries) {
			visit(entries)
			return
		}
		for i := k; i < len(entries); i++ {
			entries[k], entries[i] = entries[i], entries[k]
			permute(k + 1)
			entries[k], entries[i] = entries[i], entries[k]
		}
	}
	permute(0)
}

// What is in the root already must not be written through or into.
func TestC35LeftoversAreUnlinked(t *testing.T) {
	s := newSite(t)
	outside := filepath.Join(s.outer, "canary")
	must(t, os.Symlink(s.outer, filepath.Join(s.dir, "plugin")))
	if _, err := s.payload(layer(t, file("plugin/escape", "x")), extract.Limits{}); err != nil {
		t.Fatal(err)
	}
	s.checkAround()
	must(t, os.Remove(filepath.Join(s.dir, "plugin/escape")))
	must(t, os.Link(outside, filepath.Join(s.dir, "plugin/escape")))
	must(t, os.Mkdir(filepath.Join(s.dir, "plugin/l"), 0o755))
	if _, err := s.payload(layer(t, file("plugin/escape", "x"), link("plugin/l", "escape")), extract.Limits{}); err != nil {
		t.Fatal(err)
	}
	s.checkAround()
	if got, err := os.ReadFile(filepath.Join(s.dir, "plugin/l")); err != nil || string(got) != "x" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestC36Limits(t *testing.T) {
	small := layer(t, file("plugin/a", "12345"), file("plugin/b/c", "12345"), hardLink("plugin/d", "plugin/a"))
	tests := map[string]struct {
		lim  extract.Limits
		want extract.LimitError
	}{
		"entries":       {extract.Limits{Entries: 4}, extract.LimitError{Limit: "entries", Value: 4, Entry: "plugin/d"}},
		"bytes":         {extract.Limits{Bytes: 14}, extract.LimitError{Limit: "bytes written", Value: 14, Entry: "plugin/d"}},
		"file":          {extract.Limits{FileBytes: 4}, extract.LimitError{Limit: "bytes of one file", Value: 4, Entry: "plugin/a"}},
		"path":          {extract.Limits{PathBytes: 9}, extract.LimitError{Limit: "bytes of a path", Value: 9, Entry: "plugin/b/c"}},
		"depth":         {extract.Limits{Depth: 2}, extract.LimitError{Limit: "directories in a path", Value: 2, Entry: "plugin/b/c"}},
		"ratio":         {extract.Limits{Ratio: 1, RatioFrom: 1}, extract.LimitError{Limit: "unpacked bytes for each packed one", Value: 1}},
		"none exceeded": {extract.Limits{Entries: 5, Bytes: 15, FileBytes: 5, PathBytes: 14, Depth: 3, Ratio: 40, RatioFrom: 1}, extract.LimitError{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := newSite(t).payload(small, test.lim)
			var got extract.LimitError
			if limit, ok := errors.AsType[*extract.LimitError](err); ok {
				got = *limit
			} else if err != nil {
				t.Fatal(err)
			}
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

// plain is a tar of one file, made while it is read.
func plain(t testing.TB, size int64) (io.Reader, int64) {
	t.Helper()
	whole := hostile.OneFile("plugin/big", size)
	return whole.Reader(), whole.Size
}

func TestC36LargeHonestPlugin(t *testing.T) {
	const size = 300 << 20
	blob, total := plain(t, size)
	desc := descriptor(nil)
	desc.Size = total
	var result extract.Result
	allocated := allocatedBy(func() {
		var err error
		result, err = extract.Inspect(t.Context(), blob, desc, extract.Limits{})
		must(t, err)
	})
	if len(result.Records) != 1 || result.Records[0].Size != size {
		t.Errorf("got %v", result.Records)
	}
	if allocated > 8<<20 {
		t.Errorf("%d bytes of memory for a plugin of %d", allocated, size)
	}
}

// The digest is the reader's to verify, at its end; nothing counts before.
func TestDigestMismatch(t *testing.T) {
	good := layer(t, file("plugin/a", strings.Repeat("abc", 1000)))
	for i := range good {
		blob := slices.Clone(good)
		blob[i] ^= 0x10
		_, err := extract.Inspect(t.Context(), verified(blob, descriptor(good)), descriptor(good), extract.Limits{})
		if !errors.Is(err, errMismatch) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
	}
}

func TestSizeMismatch(t *testing.T) {
	blob := layer(t, file("plugin/a", "a"))
	for _, off := range []int64{-1, 1} {
		desc := descriptor(blob)
		desc.Size += off
		_, err := extract.Payload(t.Context(), bytes.NewReader(blob), desc, newSite(t).root, extract.Limits{})
		if _, ok := errors.AsType[*extract.SizeError](err); !ok {
			t.Errorf("size off by %d: %v", off, err)
		}
	}
}

func TestBlobLargerThanItMayUnpackTo(t *testing.T) {
	desc := descriptor(nil)
	desc.Size = extract.MaxBytes * 2
	unread := iotest.ErrReader(errors.New("the blob was read"))
	_, err := extract.Payload(t.Context(), unread, desc, newSite(t).root, extract.Limits{})
	if extract.KindOf(err) != extract.KindLimit {
		t.Errorf("got %v", err)
	}
}

// Decoders and buffers are shared between extractions; an archive that fails
// must not spoil one that comes after it or runs beside it.
func TestConcurrent(t *testing.T) {
	archives := append(hostile.Small(), hostile.Honest()...)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for _, a := range archives {
				_, err := extract.Inspect(t.Context(), bytes.NewReader(a.Layer), descriptor(a.Layer), extract.Limits{})
				if extract.KindOf(err) != a.Want || a.Want == extract.KindNone && err != nil {
					t.Errorf("%s: %v", a.Name, err)
				}
			}
		})
	}
	group.Wait()
}

func TestReaderErrorsComeThrough(t *testing.T) {
	blob := layer(t, file("plugin/a", strings.Repeat("abc", 1000)))
	gone := errors.New("connection reset")
	for n := range blob {
		r := io.MultiReader(bytes.NewReader(blob[:n]), iotest.ErrReader(gone))
		_, err := extract.Inspect(t.Context(), r, descriptor(blob), extract.Limits{})
		if !errors.Is(err, gone) || extract.KindOf(err) != extract.KindNone {
			t.Fatalf("cut after %d bytes: %v", n, err)
		}
	}
}

func TestOneByteAtATime(t *testing.T) {
	for _, a := range hostile.Honest() {
		r := iotest.OneByteReader(verified(a.Layer, descriptor(a.Layer)))
		if _, err := extract.Inspect(t.Context(), r, descriptor(a.Layer), extract.Limits{}); err != nil {
			t.Errorf("%s: %v", a.Name, err)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	blob, total := plain(t, 1<<30)
	desc := descriptor(nil)
	desc.Size = total
	read := int64(0)
	counted := readerFunc(func(p []byte) (int, error) {
		n, err := blob.Read(p)
		if read += int64(n); read > 1<<20 {
			cancel()
		}
		return n, err
	})
	if _, err := extract.Inspect(ctx, counted, desc, extract.Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if read > 4<<20 {
		t.Errorf("%d bytes were read after the context ended", read)
	}
}

func TestInspectDiffID(t *testing.T) {
	for _, a := range hostile.Honest() {
		if a.Name != "plain" {
			continue
		}
		result, err := extract.Inspect(t.Context(), bytes.NewReader(a.Layer), descriptor(a.Layer), extract.Limits{})
		if err != nil || result.DiffID != addr.DigestOf(a.Layer) {
			t.Errorf("a plain layer's DiffID is its digest; got %s, %v", result.DiffID, err)
		}
		return
	}
	t.Fatal("no plain archive")
}
