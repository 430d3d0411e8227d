package getter

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// partialThreshold is the size, in bytes, from which a blob is worth keeping in
// part: below it a new download is cheaper than writing every byte twice.
const partialThreshold = 32 << 20

// partial is the file that keeps what was got of one blob, for this run and
// the next. It belongs to one process at a time; another one downloads without.
type partial struct {
	path string
	file *os.File
	lock *flock.Flock
}

// claimPartial opens the file of a blob; ok is false where another process has
// it or the directory can't be used, which is no reason to fail.
func claimPartial(dir string, want blobRef) (p *partial, ok bool) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, false
	}
	p = &partial{path: filepath.Join(dir, want.digest.Hex())}
	p.lock = flock.New(p.path+".lock", flock.SetPermissions(0o600))
	if locked, err := p.lock.TryLock(); err != nil || !locked {
		_ = p.lock.Close()
		return nil, false
	}
	// The lock file may have been removed by its last holder between our
	// opening and our locking it; then the lock holds nobody back.
	mine, err1 := p.lock.Stat()
	named, err2 := os.Lstat(p.path + ".lock")
	if err1 != nil || err2 != nil || !os.SameFile(mine, named) {
		_ = p.lock.Close()
		return nil, false
	}
	root, err := os.OpenRoot(dir)
	if err == nil {
		p.file, err = root.OpenFile(want.digest.Hex(), os.O_RDWR|os.O_CREATE, 0o600)
		_ = root.Close()
	}
	if err != nil {
		_ = p.lock.Close()
		return nil, false
	}
	return p, true
}

// keep ends the use of the file and leaves it for the next run.
func (p *partial) keep() {
	_ = p.file.Close()
	_ = p.lock.Close()
}

// remove ends the use of the file for good. The lock file goes first where
// that is possible while it is held, so that nobody locks a name that is gone.
func (p *partial) remove() {
	_ = p.file.Close()
	_ = os.Remove(p.path)
	_ = os.Remove(p.path + ".lock")
	_ = p.lock.Close()
}

// kept returns how many bytes an earlier run left. A file that can't be the
// beginning of the blob counts as nothing.
func (p *partial) kept(want blobRef) int64 {
	info, err := p.file.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > want.size {
		return 0
	}
	return info.Size()
}

// resumed opens a big blob so that what is got of it stays on disk until all
// is there. What an earlier run left is completed and verified before anything
// is given out; if it turns out to be wrong, it is thrown away and the blob
// downloaded anew, once.
func resumed(ctx context.Context, dir string, want blobRef, open func(context.Context, int64) (*blobReader, error)) (io.ReadCloser, error) {
	p, ok := claimPartial(dir, want)
	if !ok {
		return open(ctx, 0)
	}
	if kept := p.kept(want); kept > 0 {
		b, err := open(ctx, kept)
		if err != nil {
			p.keep()
			return nil, err
		}
		err = p.complete(b)
		_ = b.Close()
		if err == nil {
			return p.replay(b)
		}
		if ctx.Err() != nil || errors.Is(err, ErrTruncated) {
			p.keep()
			return nil, err
		}
	}
	b, err := open(ctx, 0)
	if err != nil {
		p.keep()
		return nil, err
	}
	return p.record(b), nil
}

// record gives out b and writes along.
func (p *partial) record(b *blobReader) io.ReadCloser {
	_, err := p.file.Seek(0, io.SeekStart)
	if err != nil || p.file.Truncate(0) != nil {
		p.remove()
		return b
	}
	return &recorder{b, p}
}

// recorder is a blob that is written to a partial file while it is read.
type recorder struct {
	*blobReader
	partial *partial // nil once it is of no more use
}

// Read implements io.Reader. That the file can't be written (a full disk) ends
// the recording and not the download.
func (r *recorder) Read(b []byte) (int, error) {
	n, err := r.blobReader.Read(b)
	if r.partial == nil {
		return n, err
	}
	_, failed := r.partial.file.Write(b[:n])
	if failed != nil || errors.Is(err, io.EOF) || errors.Is(err, ErrDigestMismatch) || errors.Is(err, ErrProtocol) {
		r.partial.remove()
		r.partial = nil
	}
	return n, err
}

// Close implements io.Closer. What was got so far stays for the next run.
func (r *recorder) Close() error {
	if r.partial != nil {
		r.partial.keep()
		r.partial = nil
	}
	return r.blobReader.Close()
}

// complete reads what is on disk, gets the rest, and verifies the whole.
func (p *partial) complete(b *blobReader) error {
	have, err := io.Copy(b.digest, p.file)
	if err != nil {
		return b.failure(ErrDigestMismatch, "the part on disk cannot be read")
	}
	if have != b.pos {
		return b.failure(ErrDigestMismatch, "the part on disk changed while it was read")
	}
	_, err = io.Copy(p.file, b)
	return err
}

// replay gives out a file that is complete. It is verified once more on the
// way: between the two readings lies a disk.
func (p *partial) replay(b *blobReader) (io.ReadCloser, error) {
	if _, err := p.file.Seek(0, io.SeekStart); err != nil {
		p.remove()
		return nil, b.failure(ErrDigestMismatch, "the part on disk cannot be read again")
	}
	again := &blobReader{ctx: b.ctx, place: b.place, want: b.want, retry: Retry{Tries: 1}, clock: b.clock, host: "the file of the partial download"}
	again.open = func(context.Context, int64, bool) (io.ReadCloser, int64, error) {
		return closing{p.file, p.remove}, 0, nil
	}
	return again.start(0)
}

// closing is a reader with something to do at its end.
type closing struct {
	io.Reader
	close func()
}

func (c closing) Close() error {
	c.close()
	return nil
}
