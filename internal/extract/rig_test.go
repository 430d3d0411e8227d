package extract_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/extract"
	"github.com/pluginlock/plugins/internal/store/tree"
)

var errMismatch = errors.New("the digest does not match")

// verified is the reader that extraction is promised: it gives an error in
// place of io.EOF where the bytes are not those of the descriptor.
func verified(blob []byte, desc ocispec.Descriptor) io.Reader {
	return io.MultiReader(bytes.NewReader(blob), readerFunc(func([]byte) (int, error) {
		if addr.DigestOf(blob).String() != string(desc.Digest) {
			return 0, errMismatch
		}
		return 0, io.EOF
	}))
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func descriptor(blob []byte) ocispec.Descriptor {
	return ocispec.Descriptor{Digest: digest.Digest(addr.DigestOf(blob)), Size: int64(len(blob))}
}

// site is a root with canaries around it, at the places where archives that
// escape would write.
type site struct {
	t      *testing.T
	outer  string
	dir    string
	root   *os.Root
	before string
}

func newSite(t *testing.T) *site {
	t.Helper()
	outer := t.TempDir()
	s := &site{t: t, outer: outer, dir: filepath.Join(outer, "cache", "staging", "root")}
	must(t, os.MkdirAll(s.dir, 0o755))
	for _, name := range []string{"canary", "escape", "cache/escape", "cache/staging/x", "cache/staging/escape"} {
		must(t, os.WriteFile(filepath.Join(outer, name), []byte(name), 0o644))
	}
	root, err := os.OpenRoot(s.dir)
	must(t, err)
	t.Cleanup(func() { _ = root.Close() })
	s.root, s.before = root, s.around()
	return s
}

// around describes everything but the root.
func (s *site) around() string { return describe(s.t, s.outer, s.dir) }

func (s *site) checkAround() {
	s.t.Helper()
	if after := s.around(); after != s.before {
		s.t.Errorf("outside of the root:\n%s\nbefore:\n%s", after, s.before)
	}
}

func (s *site) payload(layer []byte, lim extract.Limits) (extract.Result, error) {
	desc := descriptor(layer)
	return extract.Payload(s.t.Context(), verified(layer, desc), desc, s.root, lim)
}

// records reads back what is in the root. written says which files are
// executable where the file system does not.
func (s *site) records(written []extract.Record) []extract.Record {
	s.t.Helper()
	receipt, err := tree.Hash(s.t.Context(), s.root, tree.Executables(written))
	must(s.t, err)
	return receipt.Records()
}

// describe lists paths, modes, links and digests below dir, but for skip.
func describe(t *testing.T, dir, skip string) string {
	t.Helper()
	var b strings.Builder
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path == skip {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		fmt.Fprintf(&b, "%s %s", filepath.ToSlash(rel), info.Mode())
		switch {
		case info.Mode().IsRegular():
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %x", sha256.Sum256(content))
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			b.WriteString(" -> " + target)
		}
		b.WriteByte('\n')
		return nil
	}))
	return b.String()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// layer packs entries as a gzip layer; the content of files is their body.
func layer(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, e := range entries {
		h := &tar.Header{Typeflag: e.kind, Name: e.name, Linkname: e.target, Mode: e.mode, Size: int64(len(e.body))}
		must(t, w.WriteHeader(h))
		_, err := io.WriteString(w, e.body)
		must(t, err)
	}
	must(t, w.Close())
	must(t, z.Close())
	return b.Bytes()
}

type entry struct {
	kind         byte
	name, target string
	mode         int64
	body         string
}

func file(name, body string) entry       { return entry{tar.TypeReg, name, "", 0o755, body} }
func dir(name string) entry              { return entry{tar.TypeDir, name, "", 0o755, ""} }
func link(name, target string) entry     { return entry{tar.TypeSymlink, name, target, 0o777, ""} }
func hardLink(name, target string) entry { return entry{tar.TypeLink, name, target, 0o755, ""} }
