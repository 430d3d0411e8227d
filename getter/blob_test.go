package getter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/addr"
)

// cut sends the beginning of a body that is announced to be whole, and breaks
// the connection.
func cut(w http.ResponseWriter, status int, whole, part []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(whole)))
	w.WriteHeader(status)
	_, _ = w.Write(part)
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// endEarly sends a part as a chunked body that ends cleanly.
func endEarly(w http.ResponseWriter, part []byte) {
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
	_, _ = w.Write(part)
}

func isBlob(r *http.Request) bool { return strings.Contains(r.URL.Path, "/blobs/") }

// C30: a connection that is cut is taken up again, and what arrives is what
// was asked for or an error that says what happened.
func TestC30CutConnections(t *testing.T) {
	content := noise(8_000_000)
	const third = 3_000_000
	partOf := func(w http.ResponseWriter, from, to int, contentRange string) bool {
		w.Header().Set("Content-Range", contentRange)
		w.Header().Set("Content-Length", strconv.Itoa(to-from))
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write(content[from:to])
		return true
	}
	for name, test := range map[string]struct {
		script   func(w http.ResponseWriter, r *http.Request, n int) bool
		kind     error
		words    string
		requests int
	}{
		"(a) reset once": {func(w http.ResponseWriter, _ *http.Request, n int) bool {
			if n == 1 {
				cut(w, 200, content, content[:third])
			}
			return false
		}, nil, "", 2},
		"(b) clean end, too early": {func(w http.ResponseWriter, _ *http.Request, n int) bool {
			if n == 1 {
				endEarly(w, content[:third])
			}
			return n == 1
		}, nil, "", 2},
		"(c) whole body for a range": {func(w http.ResponseWriter, _ *http.Request, n int) bool {
			if n == 1 {
				cut(w, 200, content, content[:third])
			}
			w.Header().Set("Content-Length", strconv.Itoa(len(content)))
			_, _ = w.Write(content)
			return true
		}, nil, "", 2},
		"(c) wrong range": {func(w http.ResponseWriter, r *http.Request, n int) bool {
			switch n {
			case 1:
				cut(w, 200, content, content[:third])
			case 2:
				return partOf(w, third-5, len(content), fmt.Sprintf("bytes %d-%d/%d", third-5, len(content)-1, len(content)))
			}
			if r.Header.Get("Range") != "" {
				t.Errorf("request %d asks for a range again", n)
			}
			return false
		}, nil, "", 3},
		"(c) range of something else": {func(w http.ResponseWriter, _ *http.Request, n int) bool {
			switch n {
			case 1:
				cut(w, 200, content, content[:third])
			case 2:
				return partOf(w, third, len(content), fmt.Sprintf("bytes %d-%d/%d", third, len(content)-1, len(content)+1))
			}
			return false
		}, nil, "", 3},
		"(c) range without words": {func(w http.ResponseWriter, _ *http.Request, n int) bool {
			switch n {
			case 1:
				cut(w, 200, content, content[:third])
			case 2:
				return partOf(w, third, len(content), "")
			}
			return false
		}, nil, "", 3},
		"(c) lying range": {func(w http.ResponseWriter, _ *http.Request, n int) bool {
			if n == 1 {
				cut(w, 200, content, content[:third])
			}
			return partOf(w, 0, len(content)-third, fmt.Sprintf("bytes %d-%d/%d", third, len(content)-1, len(content)))
		}, ErrDigestMismatch, "whose digest is", 2},
		"416": {func(w http.ResponseWriter, _ *http.Request, n int) bool {
			switch n {
			case 1:
				cut(w, 200, content, content[:third])
			case 2:
				w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
				return true
			}
			return false
		}, nil, "", 3},
		"206 without asking": {func(w http.ResponseWriter, _ *http.Request, _ int) bool {
			return partOf(w, 0, len(content), fmt.Sprintf("bytes 0-%d/%d", len(content)-1, len(content)))
		}, ErrProtocol, "without being asked", 1},
		"(d) cut for good": {func(w http.ResponseWriter, _ *http.Request, _ int) bool {
			cut(w, 200, content, content[:third])
			return true
		}, ErrTruncated, "got 3 of 8 MB", 6},
		"cut for good, in parts": {func(w http.ResponseWriter, r *http.Request, _ int) bool {
			from := 0
			_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from)
			if from == 0 {
				cut(w, 200, content, content[:1_000_000])
			}
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(content)-1, len(content)))
			cut(w, 206, content[from:], content[from:min(from+1_000_000, len(content))])
			return true
		}, nil, "", 8},
		"cut after every byte": {func(w http.ResponseWriter, r *http.Request, _ int) bool {
			from := 0
			_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &from)
			if from == 0 {
				cut(w, 200, content, content[:1])
			}
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, len(content)-1, len(content)))
			cut(w, 206, content[from:], content[from:from+1])
			return true
		}, ErrTruncated, "of 8 MB", 6},
		"(e) longer, announced": {func(w http.ResponseWriter, _ *http.Request, _ int) bool {
			w.Header().Set("Content-Length", strconv.Itoa(len(content)+1))
			_, _ = w.Write(append(bytes.Clone(content), 'x'))
			return true
		}, ErrProtocol, "for a blob of 8 MB", 1},
		"(e) longer, not announced": {func(w http.ResponseWriter, _ *http.Request, _ int) bool {
			endEarly(w, append(bytes.Clone(content), 'x'))
			return true
		}, ErrProtocol, "more than the 8 MB", 1},
		"gone in the middle": {func(w http.ResponseWriter, _ *http.Request, n int) bool {
			if n == 1 {
				cut(w, 200, content, content[:third])
			}
			refuse(w, 404, "BLOB_UNKNOWN", "gone")
			return true
		}, ErrTruncated, "BLOB_UNKNOWN", 2},
		"other content": {func(w http.ResponseWriter, _ *http.Request, _ int) bool {
			_, _ = w.Write(make([]byte, len(content)))
			return true
		}, ErrDigestMismatch, "whose digest is", 1},
		"encoded": {func(w http.ResponseWriter, _ *http.Request, _ int) bool {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(content[:100])
			return true
		}, ErrProtocol, "encoding", 1},
		"gone": {func(w http.ResponseWriter, _ *http.Request, _ int) bool {
			refuse(w, 404, "BLOB_UNKNOWN", "blob unknown to registry")
			return true
		}, ErrDigestNotFound, "BLOB_UNKNOWN", 1},
		"HTML": {func(w http.ResponseWriter, _ *http.Request, _ int) bool {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<html>"))
			return true
		}, ErrTruncated, "of 8 MB", 6},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRegistry(t)
			desc := g.addBlob("plugins/aws", content)
			g.script = func(w http.ResponseWriter, r *http.Request, n int) bool { return isBlob(r) && test.script(w, r, n) }
			r := newRig(t, Options{}).repository(t, g.source("plugins/aws"))
			got, err := readBlob(context.Background(), r, desc)
			if !errors.Is(err, test.kind) {
				t.Fatalf("got %v, want %v", err, test.kind)
			}
			if err == nil && !bytes.Equal(got, content) {
				t.Error("other bytes than were put in")
			}
			if n := len(g.requests()); n > test.requests || err == nil && n < test.requests {
				t.Errorf("%d requests, want %d", n, test.requests)
			}
			if err == nil {
				return
			}
			for _, part := range []string{g.source("plugins/aws").String(), test.words} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q lacks %q", err, part)
				}
			}
			if errors.Is(err, ErrTruncated) && errors.Is(err, ErrDigestMismatch) {
				t.Errorf("%v is taken for tampering", err)
			}
		})
	}
}

// Descriptors carry addresses and data of their own; neither counts (C41 c).
func TestC41DescriptorURLsAndDataAreIgnored(t *testing.T) {
	other := newRegistry(t)
	g := newRegistry(t)
	desc := g.addBlob("plugins/aws", noise(100))
	desc.URLs = []string{other.URL + "/x"}
	desc.Data = []byte("something else")
	got, err := readBlob(context.Background(), newRig(t, Options{}).repository(t, g.source("plugins/aws")), desc)
	if err != nil || !bytes.Equal(got, noise(100)) || len(other.requests()) != 0 {
		t.Errorf("got %d bytes, %v, other host asked %q", len(got), err, other.requests())
	}
}

func TestBlobDescriptorsThatCannotBe(t *testing.T) {
	g := newRegistry(t)
	r := newRig(t, Options{}).repository(t, g.source("plugins/aws"))
	for _, desc := range []ocispec.Descriptor{{}, {Digest: "sha256:../../etc"}, {Digest: "sha512:00"}, {Digest: d2(addr.DigestOf(nil)), Size: -1}} {
		if _, err := r.Blob(context.Background(), desc); !errors.Is(err, ErrProtocol) {
			t.Errorf("%+v: got %v", desc, err)
		}
	}
	empty := g.addBlob("plugins/aws", nil)
	if got, err := readBlob(context.Background(), r, empty); err != nil || len(got) != 0 {
		t.Errorf("an empty blob: %q, %v", got, err)
	}
}

// A reader that is closed or cancelled in the middle ends at once.
func TestBlobCancelledInTheMiddle(t *testing.T) {
	g := newRegistry(t)
	content := noise(1_000_000)
	desc := g.addBlob("plugins/aws", content)
	g.script = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		w.Header().Set("Content-Length", strconv.Itoa(len(content)))
		_, _ = w.Write(content[:10])
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		return true
	}
	ctx, cancel := context.WithCancel(context.Background())
	body, err := newRig(t, Options{}).repository(t, g.source("plugins/aws")).Blob(ctx, desc)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close() //nolint:errcheck // only read
	if _, err := io.ReadFull(body, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := io.ReadAll(body); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A blob that stalls is resumed like one that is cut.
func TestBlobStalls(t *testing.T) {
	g := newRegistry(t)
	content := noise(300_000)
	desc := g.addBlob("plugins/aws", content)
	g.script = func(w http.ResponseWriter, r *http.Request, n int) bool {
		if n > 1 {
			return false
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(content)))
		_, _ = w.Write(content[:100_000])
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		return true
	}
	c := newRig(t, Options{Retry: Retry{Stall: 50 * time.Millisecond}})
	got, err := readBlob(context.Background(), c.repository(t, g.source("plugins/aws")), desc)
	if err != nil || !bytes.Equal(got, content) {
		t.Fatalf("got %d bytes, %v", len(got), err)
	}
	if got := g.logged()[1].header.Get("Range"); got != "bytes=100000-" {
		t.Errorf("Range %q", got)
	}
}

// interrupted leaves a part of a big blob in dir, as a killed run does.
func interrupted(t *testing.T, g *registry, dir string, desc ocispec.Descriptor, n int64) {
	t.Helper()
	body, err := newRig(t, Options{PartialDir: dir}).repository(t, g.source("plugins/aws")).Blob(context.Background(), desc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(io.Discard, body, n); err != nil {
		t.Fatal(err)
	}
	if err := body.Close(); err != nil {
		t.Fatal(err)
	}
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// What one run got of a big blob, the next does not get again.
func TestResumeAcrossRuns(t *testing.T) {
	content := noise(testThreshold + 5)
	const half = testThreshold / 2
	for name, test := range map[string]struct {
		spoil    func(path string) error
		requests []string // the Range of each request of the second run
	}{
		"as it was left":   {func(string) error { return nil }, []string{fmt.Sprintf("bytes=%d-", half)}},
		"spoilt":           {func(path string) error { return overwrite(path, 100, "spoilt") }, []string{fmt.Sprintf("bytes=%d-", half), ""}},
		"too long":         {func(path string) error { return os.Truncate(path, int64(len(content))+1) }, []string{""}},
		"empty":            {func(path string) error { return os.Truncate(path, 0) }, []string{""}},
		"complete":         {func(path string) error { return os.WriteFile(path, content, 0o600) }, nil},
		"complete, spoilt": {func(path string) error { return os.Truncate(path, int64(len(content))) }, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRegistry(t)
			desc := g.addBlob("plugins/aws", content)
			dir := filepath.Join(t.TempDir(), "partial")
			interrupted(t, g, dir, desc, half)
			file := filepath.Join(dir, addr.Digest(desc.Digest).Hex())
			if err := test.spoil(file); err != nil {
				t.Fatal(err)
			}
			g.forget()
			got, err := readBlob(context.Background(), newRig(t, Options{PartialDir: dir}).repository(t, g.source("plugins/aws")), desc)
			if err != nil || !bytes.Equal(got, content) {
				t.Fatalf("got %d bytes, %v", len(got), err)
			}
			var ranges []string
			for _, l := range g.logged() {
				ranges = append(ranges, l.header.Get("Range"))
			}
			if fmt.Sprint(ranges) != fmt.Sprint(test.requests) {
				t.Errorf("asked for %q, want %q", ranges, test.requests)
			}
			if left := files(t, dir); len(left) != 0 {
				t.Errorf("left over: %q", left)
			}
		})
	}
}

func overwrite(path string, at int64, what string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(what), at)
	return errors.Join(err, f.Close())
}

// A resumed download that is cut again keeps what both runs got.
func TestResumeIsCutAgain(t *testing.T) {
	content := noise(testThreshold + 5)
	g := newRegistry(t)
	desc := g.addBlob("plugins/aws", content)
	dir := t.TempDir()
	interrupted(t, g, dir, desc, 300_000)
	g.script = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if r.Header.Get("Range") != "bytes=300000-" {
			refuse(w, 404, "BLOB_UNKNOWN", "gone")
			return true
		}
		w.Header().Set("Content-Range", fmt.Sprintf("bytes 300000-%d/%d", len(content)-1, len(content)))
		cut(w, 206, content[300_000:], content[300_000:700_000])
		return true
	}
	_, err := newRig(t, Options{PartialDir: dir}).repository(t, g.source("plugins/aws")).Blob(context.Background(), desc)
	if !errors.Is(err, ErrTruncated) || !strings.Contains(err.Error(), "got 0.7 of 1 MB") {
		t.Fatalf("got %v", err)
	}
	kept, err := os.ReadFile(filepath.Join(dir, addr.Digest(desc.Digest).Hex()))
	if err != nil || !bytes.Equal(kept, content[:700_000]) {
		t.Errorf("kept %d bytes, %v", len(kept), err)
	}
}

// Two who want the same blob at once do not share its file: one records, the
// other downloads without.
func TestPartialFileIsExclusive(t *testing.T) {
	content := noise(testThreshold + 5)
	g := newRegistry(t)
	desc := g.addBlob("plugins/aws", content)
	dir := t.TempDir()
	var bodies []io.ReadCloser
	for range 3 {
		body, err := newRig(t, Options{PartialDir: dir}).repository(t, g.source("plugins/aws")).Blob(context.Background(), desc)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, body)
	}
	for i, body := range bodies {
		got, err := io.ReadAll(body)
		if err != nil || !bytes.Equal(got, content) {
			t.Errorf("reader %d: %d bytes, %v", i, len(got), err)
		}
		if err := body.Close(); err != nil {
			t.Error(err)
		}
	}
	if left := files(t, dir); len(left) != 0 {
		t.Errorf("left over: %q", left)
	}
}

// Below the threshold, and where the directory can't be used, nothing is kept
// and everything works.
func TestPartialDirectoryThatCannotBe(t *testing.T) {
	g := newRegistry(t)
	small, big := g.addBlob("plugins/aws", noise(100)), g.addBlob("plugins/aws", noise(testThreshold))
	notADir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(notADir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, test := range []struct {
		dir  string
		desc ocispec.Descriptor
	}{{dir, small}, {notADir, big}} {
		body, err := newRig(t, Options{PartialDir: test.dir}).repository(t, g.source("plugins/aws")).Blob(context.Background(), test.desc)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, body); err != nil || n != test.desc.Size {
			t.Errorf("%d bytes, %v", n, err)
		}
		if err := body.Close(); err != nil {
			t.Error(err)
		}
	}
	if left := files(t, dir); len(left) != 0 {
		t.Errorf("kept of a small blob: %q", left)
	}
}

func TestSizes(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 999: "999 bytes", 1500: "1.5 kB", 8_000_000: "8 MB", 1 << 30: "1.1 GB"} {
		if got := size(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	for want, n := range map[string][2]int64{
		"3 of 8 MB":                  {3_000_000, 8_000_000},
		"8 of 8 MB":                  {8_000_000, 8_000_000},
		"39983 of 40000.3 kB":        {39_983_040, 40_000_269},
		"40000268 of 40000269 bytes": {40_000_268, 40_000_269},
	} {
		if got := sizeOf(n[0], n[1]); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A partial file has one owner, until that gives it back.
func TestPartialFileHasOneOwner(t *testing.T) {
	dir, want := t.TempDir(), blobRef{addr.DigestOf(nil), 1}
	first, ok := claimPartial(dir, want)
	if !ok {
		t.Fatal("nobody can have it")
	}
	if _, ok := claimPartial(dir, want); ok {
		t.Fatal("two have it")
	}
	first.keep()
	second, ok := claimPartial(dir, want)
	if !ok {
		t.Fatal("it was given back and nobody can have it")
	}
	second.remove()
	if left := files(t, dir); len(left) != 0 {
		t.Errorf("left over: %q", left)
	}
}
