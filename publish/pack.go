package publish

import (
	"archive/tar"
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path"
	"sync"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	digestpkg "github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/extract"
	"github.com/pluginlock/plugins/internal/image"
)

// Compression is how payloads are compressed.
type Compression string

// The compressions. Every client reads gzip; zstd installs faster but old
// registries and container engines do not know it.
const (
	Gzip Compression = "gzip"
	Zstd Compression = "zstd"
)

// gzipLevel of the encoder used here gives the size of gzip -6, give or take two
// percent, in two thirds of its time.
const gzipLevel = 7

func (c Compression) mediaType() (string, error) {
	switch c {
	case "", Gzip:
		return image.MediaTypeOCILayerGzip, nil
	case Zstd:
		return image.MediaTypeOCILayerZstd, nil
	}
	return "", fmt.Errorf("compression %q is neither %s nor %s", string(c), Gzip, Zstd)
}

// writer returns a compressor whose output depends on its input only: one
// goroutine, no name and no time in a header.
func (c Compression) writer(w io.Writer) (io.WriteCloser, error) {
	if c == Zstd {
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault))
	}
	return gzip.NewWriterLevel(w, gzipLevel)
}

// packed is the layer of one platform.
type packed struct {
	layer   ocispec.Descriptor
	diffID  digestpkg.Digest
	records []extract.Record
	size    int64 // bytes of the files
}

// packer writes one payload into a layer.
type packer struct {
	ctx    context.Context
	tar    *tar.Writer
	report func(n int64) // bytes that were packed
}

// pack writes the payload's layer into the layout: files stream from disk
// through the compressor to disk.
func pack(ctx context.Context, to *layoutWriter, p payload, c Compression, report func(int64)) (packed, error) {
	mediaType, err := c.mediaType()
	if err != nil {
		return packed{}, err
	}
	blob, err := to.newBlob()
	if err != nil {
		return packed{}, err
	}
	defer func() { _ = blob.file.Close() }() // commit closes it where its error matters
	buffered := bufio.NewWriterSize(blob, chunk)
	compressed, err := c.writer(buffered)
	if err != nil {
		return packed{}, err
	}
	plain := &meter{w: compressed, hash: sha256.New(), packed: &blob.size}
	one := &packer{ctx, tar.NewWriter(plain), report}
	result := packed{}
	if result.records, result.size, err = one.entries(p.entries); err != nil {
		return packed{}, err
	}
	if err := errors.Join(one.tar.Close(), compressed.Close(), buffered.Flush()); err != nil {
		return packed{}, err
	}
	if result.layer, err = blob.commit(mediaType); err != nil {
		return packed{}, err
	}
	result.layer.Annotations = map[string]string{image.AnnotationRole: image.RolePayload}
	result.diffID = digestpkg.NewDigest(digestpkg.SHA256, plain.hash)
	if plain.suspicious() {
		return result, to.inspect(ctx, result.layer)
	}
	return result, nil
}

// inspect reads a layer as an installer does. It serves where the limit of the
// ratio may be exceeded, which depends on how far a decoder has come.
func (l *layout) inspect(ctx context.Context, d ocispec.Descriptor) error {
	f, err := os.Open(l.blobPath(addr.Digest(d.Digest)))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // opened for reading: closing loses nothing
	_, err = extract.Inspect(ctx, f, d, extract.Limits{})
	return err
}

// meter hashes what passes and notes how well it is compressed.
type meter struct {
	w      io.Writer
	hash   hash.Hash
	n      int64
	packed *int64
	peak   int64 // the highest ratio seen
}

func (m *meter) Write(p []byte) (int, error) {
	n, err := m.w.Write(p)
	m.hash.Write(p[:n])
	m.n += int64(n)
	if m.n > extract.RatioFrom {
		m.peak = max(m.peak, m.n/max(*m.packed, 1))
	}
	return n, err
}

// suspicious leaves room for what the compressor held back when the ratio was
// taken.
func (m *meter) suspicious() bool { return m.peak > extract.MaxRatio/2 }

func (p *packer) entries(entries []entry) (records []extract.Record, size int64, err error) {
	for _, e := range entries {
		if err := p.tar.WriteHeader(header(e)); err != nil {
			return nil, 0, fmt.Errorf("%s: %w", e.label, err)
		}
		r := extract.Record{Path: e.path, Link: e.target, Executable: e.executable}
		switch {
		case e.kind.IsDir():
			continue
		case e.isFile():
			r.Size = e.size
			size += e.size
			if r.Digest, err = p.content(e); err != nil {
				return nil, 0, err
			}
		}
		records = append(records, r)
	}
	return records, size, nil
}

// header holds what is the same wherever the entry is packed: no owner, no
// time, one of two modes.
func header(e entry) *tar.Header {
	h := &tar.Header{Name: e.path, ModTime: time.Unix(0, 0)}
	switch {
	case e.kind.IsDir():
		h.Typeflag, h.Name, h.Mode = tar.TypeDir, e.path+"/", 0o755
	case e.isFile() && e.executable:
		h.Typeflag, h.Mode, h.Size = tar.TypeReg, 0o755, e.size
	case e.isFile():
		h.Typeflag, h.Mode, h.Size = tar.TypeReg, 0o644, e.size
	default:
		h.Typeflag, h.Mode, h.Linkname = tar.TypeSymlink, 0o777, e.target
	}
	return h
}

// content packs a file. It must still have the size that it had when the input
// was looked at.
func (p *packer) content(e entry) (addr.Digest, error) {
	f, err := os.Open(e.disk)
	if err != nil {
		return "", fmt.Errorf("%s: %w", e.label, withoutPath(err))
	}
	defer func() { _ = f.Close() }() // opened for reading: closing loses nothing
	digest := sha256.New()
	var n int64
	buffer := chunks.Get().(*[]byte)
	defer chunks.Put(buffer)
	for {
		if err := p.ctx.Err(); err != nil {
			return "", err
		}
		k, err := io.ReadFull(f, *buffer)
		n += int64(k)
		if n > e.size {
			break
		}
		digest.Write((*buffer)[:k])
		if _, err := p.tar.Write((*buffer)[:k]); err != nil {
			return "", fmt.Errorf("%s: %w", e.label, err)
		}
		p.report(int64(k))
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", e.label, withoutPath(err))
		}
	}
	if n != e.size {
		return "", fmt.Errorf("%s: was changed while it was packed", e.label)
	}
	return addr.DigestFrom(digest), nil
}

// chunk is how many bytes are read, compressed and written at a time.
const chunk = 256 << 10

var chunks = sync.Pool{New: func() any { b := make([]byte, chunk); return &b }}

// titleOf is the name of an image whose author gave none: that of its
// executable.
func titleOf(p payload) string {
	name := path.Base(p.entries[p.executable].path)
	if p.platform.OS == "windows" && path.Ext(name) == ".exe" {
		return name[:len(name)-len(".exe")]
	}
	return name
}
