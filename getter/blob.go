package getter

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strconv"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/addr"
)

// progress is how many bytes a connection must bring for the tries to be
// counted anew: enough that a registry which cuts after every byte is given up.
const progress = 64 << 10

// blobRef is what of a descriptor counts. URLs and data that it may carry are
// not looked at.
type blobRef struct {
	digest addr.Digest
	size   int64
}

// Blob opens a layer or a config. The reader gives exactly the bytes of the
// descriptor's size and digest: other bytes end in an error instead of io.EOF,
// so nothing that was read may be used before that. A connection that breaks
// is taken up again where it broke. The descriptor's urls and data are ignored.
//
// A big blob that an earlier run got a part of (see [Options].PartialDir) is
// completed on disk and verified before Blob returns.
//
// Errors: [*Error], of the reader also of kind [ErrTruncated] and
// [ErrDigestMismatch].
func (r *Repository) Blob(ctx context.Context, desc ocispec.Descriptor) (io.ReadCloser, error) {
	digest, err := addr.ParseDigest(string(desc.Digest))
	if err != nil || desc.Size < 0 {
		return nil, &Error{Kind: ErrProtocol, Source: r.src, Op: "get a blob",
			Detail: fmt.Sprintf("a descriptor without a proper digest and size (%d bytes)", desc.Size)}
	}
	want := blobRef{digest, desc.Size}
	open := func(ctx context.Context, offset int64) (*blobReader, error) {
		return ask(ctx, r, "get blob "+string(digest), string(digest), true, func(p place) (*blobReader, error) {
			return p.blob(ctx, want, offset)
		})
	}
	if r.client.partialDir == "" || want.size < r.client.partialFrom {
		return open(ctx, 0)
	}
	return resumed(ctx, r.client.partialDir, want, open)
}

// blobReader reads a blob over as many connections as it takes.
type blobReader struct {
	ctx   context.Context // of the one download that the reader is
	place place
	want  blobRef
	retry Retry
	clock clock
	host  string
	open  opener

	body    io.ReadCloser // nil while there is no connection
	skip    int64         // bytes of body that were read before
	pos     int64         // bytes given out
	digest  hash.Hash
	tries   int   // in a row that brought little
	mark    int64 // pos at the last time they were counted anew
	noRange bool  // the registry gets ranges wrong
	err     error // what every further Read returns
}

// opener opens the blob from offset on, or from the beginning where ranged is
// false or the registry prefers that; skip is how much of body was read before.
type opener func(ctx context.Context, offset int64, ranged bool) (body io.ReadCloser, skip int64, err error)

// errWrongRange means that a registry answered with another part than it was
// asked for.
var errWrongRange = errors.New("the registry answered with another range than it was asked for")

// start opens the first connection, so that a blob which is not there is an
// error at once. What lies before offset must be written to b.digest by the
// caller.
func (b *blobReader) start(offset int64) (*blobReader, error) {
	b.digest, b.pos, b.mark = sha256.New(), offset, offset
	if offset > 0 && offset == b.want.size {
		return b, nil
	}
	body, skip, err := b.open(b.ctx, offset, true)
	if errors.Is(err, errWrongRange) {
		b.noRange = true
		body, skip, err = b.open(b.ctx, offset, false)
	}
	if err != nil {
		return nil, err
	}
	b.body, b.skip = body, skip
	return b, nil
}

// Read implements io.Reader.
func (b *blobReader) Read(p []byte) (int, error) {
	for b.err == nil {
		switch {
		case b.pos == b.want.size:
			b.err = b.finish()
		case b.body == nil:
			b.reopen()
		case b.skip > 0:
			n, err := io.CopyN(io.Discard, b.body, b.skip)
			if b.skip -= n; err != nil {
				b.lost(err)
			}
		default:
			n, err := b.body.Read(p[:min(int64(len(p)), b.want.size-b.pos)])
			b.digest.Write(p[:n])
			b.pos += int64(n)
			if err != nil && b.pos < b.want.size {
				b.lost(err)
			}
			if n > 0 || len(p) == 0 {
				return n, nil
			}
		}
	}
	return 0, b.err
}

// Close ends the download, wherever it is.
func (b *blobReader) Close() error {
	if b.err == nil {
		b.err = errors.New("the blob is closed")
	}
	if b.body == nil {
		return nil
	}
	return b.body.Close()
}

// finish checks that the end is the end, and the digest.
func (b *blobReader) finish() error {
	if b.body != nil {
		if n, _ := io.ReadAtLeast(b.body, make([]byte, 1), 1); n > 0 {
			return b.failure(ErrProtocol, "%s sends more than the %s that the blob should have", b.host, size(b.want.size))
		}
	}
	if got := addr.DigestFrom(b.digest); got != b.want.digest {
		return b.failure(ErrDigestMismatch, "%s sent %s whose digest is %s", b.host, size(b.want.size), got)
	}
	return io.EOF
}

// lost deals with a connection that broke: another try after a wait, or none.
func (b *blobReader) lost(err error) {
	if b.body != nil {
		_ = b.body.Close()
		b.body = nil
	}
	if ctxErr := b.ctx.Err(); ctxErr != nil {
		b.err = ctxErr
		return
	}
	if b.pos-b.mark >= progress {
		b.tries, b.mark = 0, b.pos
	}
	b.tries++
	if errors.Is(err, errStalled) {
		b.tries++ // one that falls silent costs more time than one that breaks
	}
	if b.tries >= b.retry.Tries {
		b.err = b.truncated(err, b.afterTries())
		return
	}
	b.err = b.clock.Sleep(b.ctx, b.retry.backOff(b.tries), nil)
}

// reopen takes the download up where it broke.
func (b *blobReader) reopen() {
	body, skip, err := b.open(b.ctx, b.pos, !b.noRange)
	switch {
	case errors.Is(err, errWrongRange):
		b.noRange = true
		b.lost(err)
	case err != nil && b.ctx.Err() != nil:
		b.err = b.ctx.Err()
	case err != nil:
		b.err = b.truncated(err, "")
	default:
		b.body, b.skip = body, skip
	}
}

func (b *blobReader) afterTries() string {
	if b.tries == 1 {
		return ""
	}
	return fmt.Sprintf(" (%d tries without progress)", b.tries)
}

func (b *blobReader) truncated(cause error, more string) error {
	if errors.Is(cause, io.EOF) {
		cause = io.ErrUnexpectedEOF
	}
	e := b.failure(ErrTruncated, "got %s from %s%s: %v", sizeOf(b.pos, b.want.size), b.host, more, words(cause))
	var failure *Error
	errors.As(e, &failure)
	failure.Err = cause
	return failure
}

func (b *blobReader) failure(kind error, format string, args ...any) error {
	return during(fail(kind, b.host, format, args...), "get blob "+string(b.want.digest), b.place, string(b.want.digest))
}

func (r *remote) blob(ctx context.Context, want blobRef, offset int64) (*blobReader, error) {
	c := r.endpoint.client
	b := &blobReader{ctx: ctx, place: r, want: want, retry: c.retry, clock: c.clock, host: r.endpoint.base.Host}
	b.open = func(ctx context.Context, offset int64, ranged bool) (io.ReadCloser, int64, error) {
		return r.openBlob(ctx, want, offset, ranged)
	}
	return b.start(offset)
}

// openBlob is one GET of a blob.
func (r *remote) openBlob(ctx context.Context, want blobRef, offset int64, ranged bool) (io.ReadCloser, int64, error) {
	u := r.url("blobs", string(want.digest))
	req, err := http.NewRequestWithContext(forBlob(ctx), http.MethodGet, "", http.NoBody)
	if err != nil {
		return nil, 0, err
	}
	req.URL, req.Host = u, u.Host
	req.Header.Set("Accept-Encoding", "identity")
	ranged = ranged && offset > 0
	if ranged {
		req.Header.Set("Range", "bytes="+strconv.FormatInt(offset, 10)+"-")
	}
	resp, err := r.endpoint.do(req, r.repo, "pull")
	if err != nil {
		return nil, 0, err
	}
	skip, err := checkBlobAnswer(resp, want, offset, ranged)
	if err != nil {
		if errors.Is(err, errNoBlob) {
			return nil, 0, refusedBlob(newAnswer(resp, r.endpoint.client.secrets))
		}
		_ = resp.Body.Close()
		return nil, 0, err
	}
	return resp.Body, skip, nil
}

var errNoBlob = errors.New("not a blob")

// checkBlobAnswer says how much of an answer has to be skipped, if it is one
// that can be used.
func checkBlobAnswer(resp *http.Response, want blobRef, offset int64, ranged bool) (skip int64, err error) {
	host := resp.Request.URL.Host
	switch {
	case resp.StatusCode == http.StatusOK && resp.ContentLength > want.size:
		return 0, fail(ErrProtocol, host, "%s announces %s for a blob of %s", host, size(resp.ContentLength), size(want.size))
	case resp.StatusCode == http.StatusOK && encoded(resp.Header):
		return 0, fail(ErrProtocol, host, "%s sends the blob in an encoding that was not asked for", host)
	case resp.StatusCode == http.StatusOK:
		return offset, nil
	case resp.StatusCode == http.StatusPartialContent && ranged && rightRange(resp.Header.Get("Content-Range"), offset, want.size):
		return 0, nil
	case resp.StatusCode == http.StatusPartialContent && !ranged:
		return 0, fail(ErrProtocol, host, "%s answered with a part of the blob without being asked for one", host)
	case resp.StatusCode == http.StatusPartialContent, ranged && resp.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		return 0, errWrongRange
	}
	return 0, errNoBlob
}

func encoded(h http.Header) bool {
	e := h.Get("Content-Encoding")
	return e != "" && !strings.EqualFold(e, "identity")
}

// rightRange reports whether Content-Range says that the part begins at offset
// and belongs to something of the right size.
func rightRange(header string, offset, total int64) bool {
	rest, ok := strings.CutPrefix(header, "bytes ")
	first, rest, dash := strings.Cut(rest, "-")
	last, whole, slash := strings.Cut(rest, "/")
	if !ok || !dash || !slash || strings.TrimSpace(first) != strconv.FormatInt(offset, 10) {
		return false
	}
	end, err := strconv.ParseInt(last, 10, 64)
	return err == nil && end >= offset && end < total && (whole == "*" || whole == strconv.FormatInt(total, 10))
}

// refusedBlob says what a status means for a blob.
func refusedBlob(a answer) *Error {
	switch {
	case a.status == http.StatusNotFound && a.has("NAME_UNKNOWN"):
		return a.error(ErrRepositoryNotFound)
	case a.status == http.StatusNotFound:
		return a.error(ErrDigestNotFound)
	}
	return a.error(kindOfStatus(a.status))
}
