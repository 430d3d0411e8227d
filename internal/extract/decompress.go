package extract

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"errors"
	"hash"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/pluginlock/plugins/internal/text"
)

// stream is the unpacked content of a blob, held to the limits of its kind.
type stream struct {
	ctx    context.Context
	src    *source
	packed *bufio.Reader
	plain  io.Reader
	lim    Limits
	max    int64     // unpacked bytes that are allowed
	n      int64     // unpacked bytes so far
	last   string    // the entry last read, escaped
	digest hash.Hash // of the unpacked bytes; nil where nobody wants it
	err    error     // a limit that was exceeded; not the decoder's
	free   func()    // gives the decoder back
}

// openStream tells the compression of a blob by its first bytes. The caller
// must close the stream, also after an error of reading. A blob that is larger
// than what it may unpack to is not begun.
func openStream(ctx context.Context, src *source, lim Limits, max int64) (*stream, error) {
	if src.size > max {
		return nil, exceeds(limitPacked, max, "")
	}
	s := &stream{ctx: ctx, src: src, lim: lim, max: max, free: func() {}}
	s.packed = readers.Get().(*bufio.Reader)
	s.packed.Reset(src)
	err := s.detect()
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *stream) close() {
	s.free()
	s.packed.Reset(nil)
	readers.Put(s.packed)
}

// Magic numbers of what a layer may be, and of what is not supported.
var (
	magicGzip      = []byte{0x1f, 0x8b}
	magicZstd      = []byte{0x28, 0xb5, 0x2f, 0xfd}
	magicSkippable = []byte{0x2a, 0x4d, 0x18} // after one byte 0x5?
	magicXZ        = []byte{0xfd, '7', 'z', 'X', 'Z'}
	magicBzip2     = []byte("BZh")
	magicZip       = []byte("PK\x03\x04")
)

func (s *stream) detect() error {
	head, err := s.packed.Peek(8)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch {
	case len(head) == 0:
		return &ArchiveError{Reason: "the layer is empty"}
	case bytes.HasPrefix(head, magicGzip):
		return s.openGzip()
	case bytes.HasPrefix(head, magicZstd), head[0]&0xf0 == 0x50 && bytes.HasPrefix(head[1:], magicSkippable):
		return s.openZstd()
	}
	if name := unsupported(head); name != "" {
		return &ArchiveError{Reason: "the layer is " + name + ": only tar is supported, plain or with gzip or zstd"}
	}
	s.plain = s.packed
	return nil
}

func unsupported(head []byte) string {
	switch {
	case bytes.HasPrefix(head, magicXZ):
		return "compressed with xz"
	case bytes.HasPrefix(head, magicBzip2):
		return "compressed with bzip2"
	case bytes.HasPrefix(head, magicZip):
		return "a zip archive"
	}
	return ""
}

var gzipReaders, zstdDecoders sync.Pool

func (s *stream) openGzip() error {
	var err error
	z, ok := gzipReaders.Get().(*gzip.Reader)
	if ok {
		err = z.Reset(s.packed)
	} else {
		z, err = gzip.NewReader(s.packed)
	}
	if err != nil {
		return &ArchiveError{Reason: "the layer is not proper gzip", Err: err}
	}
	s.plain = z
	s.free = func() { gzipReaders.Put(z) }
	return nil
}

// openZstd makes a decoder that works in the caller's goroutine. Only those
// with the default window go back to the pool: the limit is fixed when made.
func (s *stream) openZstd() error {
	pooled := s.lim.ZstdWindow == MaxZstdWindow
	var err error
	var d *zstd.Decoder
	if pooled {
		d, _ = zstdDecoders.Get().(*zstd.Decoder)
	}
	if d != nil {
		err = d.Reset(s.packed)
	} else {
		d, err = zstd.NewReader(s.packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(uint64(s.lim.ZstdWindow)))
	}
	if err != nil {
		return &ArchiveError{Reason: "the layer is not proper zstd", Err: err}
	}
	s.plain = d
	s.free = func() {
		if pooled && d.Reset(nil) == nil {
			zstdDecoders.Put(d)
			return
		}
		d.Close()
	}
	return nil
}

// Read gives unpacked bytes until a limit is exceeded.
func (s *stream) Read(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.plain.Read(p)
	s.n += int64(n)
	if s.digest != nil {
		s.digest.Write(p[:n])
	}
	packed := s.src.n - int64(s.packed.Buffered())
	switch {
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		s.err = exceeds(limitWindow, s.lim.ZstdWindow, "")
	case s.n > s.max:
		s.err = exceeds(limitUnpacked, s.max, "")
	case s.n > s.lim.RatioFrom && s.n/s.lim.Ratio > packed:
		s.err = exceeds(limitRatio, s.lim.Ratio, "")
	default:
		return n, err
	}
	return 0, s.err
}

// entries visits the entries of the tar archive that the stream holds, at most so
// many. content is that of the one entry and of no use after visit.
//
// Errors: those of visit; [*LimitError]; a *readError.
func (s *stream) entries(most int, visit func(h *tar.Header, content io.Reader) error) error {
	archive := tar.NewReader(s)
	for n := 0; ; n++ {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) { // names are judged by our own rules
			return &readError{err}
		}
		s.last = text.Clip(h.Name)
		if n == most {
			return exceeds(limitEntries, int64(most), h.Name)
		}
		if err := visit(h, archive); err != nil {
			return err
		}
	}
}

// drain reads to the end of the blob, so that its reader has verified it.
// What comes must be zeros, at most limit of them; a negative limit allows
// anything.
func (s *stream) drain(limit int64) error {
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	var n int64
	for {
		k, err := s.Read(*buffer)
		if n += int64(k); limit >= 0 && (n > limit || !allZero((*buffer)[:k])) {
			return &ArchiveError{Reason: "there is trailing data after the end of the archive"}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	if k, err := io.Copy(io.Discard, s.packed); err != nil || (k > 0 && limit >= 0) {
		return &ArchiveError{Reason: "there is trailing data after the compressed archive", Err: err}
	}
	return nil
}

// allZero compares b with itself, one byte on: many bytes at once.
func allZero(b []byte) bool {
	return len(b) == 0 || b[0] == 0 && bytes.Equal(b[1:], b[:len(b)-1])
}

// verdict explains why reading stopped with err. A limit or an error of the
// blob's reader is the cause of whatever the decoder made of it. Where the bytes
// themselves are bad, the rest of the blob is read first: a digest that does not
// match explains them better.
func (s *stream) verdict(err error) error {
	if cause := s.ctx.Err(); cause != nil {
		return cause
	}
	if s.err != nil {
		if limit, ok := errors.AsType[*LimitError](s.err); ok && limit.Entry == "" {
			limit.Entry = s.last
		}
		return s.err
	}
	return s.src.verdict(err, s.last)
}

func (s *source) verdict(err error, after string) error {
	kind := KindOf(err)
	if s.err == nil && (kind == KindNone || kind == KindArchive || kind == KindSize) {
		_, _ = io.Copy(io.Discard, s) // its error is in s.err
	}
	if s.err != nil {
		return s.err
	}
	if kind == KindNone {
		return &ArchiveError{Reason: "the layer is not a whole archive", After: after, Err: err}
	}
	if archive, ok := errors.AsType[*ArchiveError](err); ok {
		archive.After = after
	}
	return err
}
