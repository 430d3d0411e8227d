package bench

import (
	"archive/tar"
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/pluginlock/plugins/addr"
)

// pipelineWorkers is how many plugins the command downloads at once.
const pipelineWorkers = 8

// pipeline is the least that a verified and durable download can be: GET, digest,
// decoder, archive, digest, file, fsync. There is no store, no lock file, no
// limit, no retry, and nothing is checked but the digest of the blob.
type pipeline struct {
	base string // "http://host/v2/"
	dir  string
	http *http.Client

	mu                         sync.Mutex
	errs                       []error
	readers, decoders, buffers sync.Pool
}

// pipelineMain is the pipeline as a program: base, directory, and
// REPOSITORY@DIGEST for each blob, in the order in which they are begun.
func pipelineMain(args []string) int {
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 2 * pipelineWorkers}
	p := &pipeline{base: args[0], dir: args[1], http: &http.Client{Transport: transport}}
	slots := make(chan struct{}, pipelineWorkers)
	var all sync.WaitGroup
	for _, blob := range args[2:] {
		slots <- struct{}{}
		all.Go(func() {
			if err := p.fetch(blob); err != nil {
				p.mu.Lock()
				p.errs = append(p.errs, err)
				p.mu.Unlock()
			}
			<-slots
		})
	}
	all.Wait()
	if err := errors.Join(p.errs...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func (p *pipeline) fetch(blob string) error {
	repository, digest, ok := cut(blob)
	if !ok {
		return fmt.Errorf("%q is not REPOSITORY@DIGEST", blob)
	}
	resp, err := p.http.Get(p.base + repository + "/blobs/" + digest)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", blob, resp.Status)
	}
	sum := sha256.New()
	packed, _ := p.readers.Get().(*bufio.Reader)
	if packed == nil {
		packed = bufio.NewReaderSize(nil, 64<<10)
	}
	defer p.readers.Put(packed)
	packed.Reset(io.TeeReader(resp.Body, sum))
	if err := p.unpack(packed, filepath.Join(p.dir, filepath.Base(repository))); err != nil {
		return err
	}
	if got := addr.DigestFrom(sum); string(got) != digest {
		return fmt.Errorf("%s has the digest %s", blob, got)
	}
	return nil
}

func cut(blob string) (repository, digest string, ok bool) {
	i := slices.Index([]byte(blob), '@')
	if i < 0 {
		return "", "", false
	}
	return blob[:i], blob[i+1:], true
}

func (p *pipeline) unpack(packed *bufio.Reader, dir string) error {
	z, _ := p.decoders.Get().(*gzip.Reader)
	var err error
	if z == nil {
		z, err = gzip.NewReader(packed)
	} else {
		err = z.Reset(packed)
	}
	if err != nil {
		return err
	}
	defer p.decoders.Put(z)
	archive := tar.NewReader(z)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if header.Typeflag == tar.TypeReg {
			if err := p.file(filepath.Join(dir, filepath.FromSlash(header.Name)), archive); err != nil {
				return err
			}
		}
	}
	if _, err := io.Copy(io.Discard, z); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, packed)
	return err
}

func (p *pipeline) file(path string, content io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	buffer, _ := p.buffers.Get().(*[]byte)
	if buffer == nil {
		b := make([]byte, 128<<10)
		buffer = &b
	}
	defer p.buffers.Put(buffer)
	sum := sha256.New()
	// Whole buffers, as the product writes them; no method of *os.File may take over.
	_, err = io.CopyBuffer(struct{ io.Writer }{io.MultiWriter(f, sum)}, struct{ io.Reader }{content}, *buffer)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// pipelineCommand runs the pipeline on the layers of plugins, the biggest first.
func pipelineCommand(t testing.TB, host, dir string, plugins []*large) command {
	t.Helper()
	args := []string{testBinary(t), "http://" + host + "/v2/", dir}
	bySize := slices.SortedFunc(slices.Values(plugins), func(a, b *large) int { return int(b.layer.Size - a.layer.Size) })
	for _, l := range bySize {
		args = append(args, l.name+"@"+string(l.layer.Digest))
	}
	return command{Args: args, Dir: dir, Env: environment(dir, roleVariable+"=pipeline")}
}
