package imagetest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/pluginlock/plugins/addr"
)

// File is one entry of a layer. With only Path it is an empty file; a Path that
// ends in "/" is a directory.
type File struct {
	Path       string `json:"path"` // from the image's root: "plugin/aws"
	Body       string `json:"body,omitempty"`
	Executable bool   `json:"executable,omitempty"` // mode 0755 in place of 0644
	Link       string `json:"link,omitempty"`       // the target of a symbolic link

	// Header, where set, is written as it is but for its empty Name and Size,
	// for entries that no honest tool writes.
	Header *tar.Header `json:"-"`
}

func (f File) header() *tar.Header {
	if f.Header != nil {
		h := *f.Header
		if h.Name == "" {
			h.Name = f.Path
		}
		if h.Size == 0 && h.Typeflag != tar.TypeLink && h.Typeflag != tar.TypeSymlink {
			h.Size = int64(len(f.Body))
		}
		return &h
	}
	h := &tar.Header{Name: f.Path, Mode: 0o644, Size: int64(len(f.Body)), Typeflag: tar.TypeReg}
	switch {
	case f.Link != "":
		h.Typeflag, h.Linkname, h.Mode = tar.TypeSymlink, f.Link, 0o777
	case strings.HasSuffix(f.Path, "/"):
		h.Typeflag, h.Mode = tar.TypeDir, 0o755
	case f.Executable:
		h.Mode = 0o755
	}
	return h
}

// Tar packs files in the order given, without times or owners.
func Tar(files ...File) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		h := f.header()
		if err := w.WriteHeader(h); err != nil {
			return nil, fmt.Errorf("entry %q: %w", h.Name, err)
		}
		if _, err := w.Write([]byte(f.Body)); err != nil {
			return nil, fmt.Errorf("entry %q: %w", h.Name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Gzip compresses with the standard library's encoder and an empty header.
func Gzip(content []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(content) // a bytes.Buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

// Zstd compresses with one encoder, so that the bytes do not depend on timing.
func Zstd(content []byte) []byte {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(fmt.Sprintf("imagetest: %v", err)) // only options of ours
	}
	defer func() { _ = w.Close() }() // nothing was streamed
	return w.EncodeAll(content, nil)
}

// Content is the digest of the records of files: what a plugin image's
// annotation dev.pluginlock.content promises. It is written from the format's
// description alone, see package extract.
func Content(files []File) addr.Digest {
	byPath := map[string]File{}
	for _, f := range files {
		byPath[path.Clean(f.header().Name)] = f
	}
	var lines []string
	for p, f := range byPath {
		h := f.header()
		switch h.Typeflag {
		case tar.TypeDir:
			continue
		case tar.TypeSymlink:
			lines = append(lines, "l "+escape(h.Linkname)+" "+escape(p)+"\n")
			continue
		case tar.TypeLink: // counts as the file that it names
			f = byPath[path.Clean(h.Linkname)]
			h = f.header()
		}
		mode := "-"
		if h.Mode&0o111 != 0 {
			mode = "x"
		}
		lines = append(lines, fmt.Sprintf("f %s %s %s\n", mode, sha256Of(f.Body), escape(p)))
	}
	slices.Sort(lines)
	return addr.Digest(sha256Of(strings.Join(lines, "")))
}

func escape(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c <= 0x20 || c == 0x7f || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

func sha256Of(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "sha256:" + hex.EncodeToString(sum[:])
}
