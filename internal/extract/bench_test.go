package extract_test

import (
	"archive/tar"
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/pluginlock/plugins/internal/extract"
)

// BenchmarkPayload compares Payload with a pipeline of the same steps and no
// checks: digest of the blob, decompress, untar, digest of the file, write, sync.
// The ratio of "payload" to "bare" is what counts; see section 13 of the design.
func BenchmarkPayload(b *testing.B) {
	for _, compression := range []string{"gzip", "zstd"} {
		blob, size := largeLayer(b, compression)
		desc := descriptor(blob)
		b.Run(compression+"/payload", func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				root, err := os.OpenRoot(b.TempDir())
				must(b, err)
				digest := sha256.New()
				_, err = extract.Payload(b.Context(), io.TeeReader(bytes.NewReader(blob), digest), desc, root, extract.Limits{})
				must(b, err)
				must(b, root.Close())
			}
		})
		b.Run(compression+"/bare", func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				must(b, bare(blob, compression, b.TempDir()))
			}
		})
	}
}

// largeLayer has one file of 24 MiB that packs about as well as a Go program.
func largeLayer(tb testing.TB, compression string) (blob []byte, size int64) {
	tb.Helper()
	content := make([]byte, 24<<20)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range content {
		content[i] = byte(random.ExpFloat64() * 12)
	}
	var packed bytes.Buffer
	var z io.WriteCloser = gzip.NewWriter(&packed)
	if compression == "zstd" {
		var err error
		z, err = zstd.NewWriter(&packed)
		must(tb, err)
	}
	w := tar.NewWriter(z)
	must(tb, w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "plugin/run", Mode: 0o755, Size: int64(len(content))}))
	_, err := w.Write(content)
	must(tb, err)
	must(tb, w.Close())
	must(tb, z.Close())
	return packed.Bytes(), int64(len(content))
}

func bare(blob []byte, compression, dir string) error {
	blobDigest, fileDigest := sha256.New(), sha256.New()
	var plain io.Reader
	var err error
	packed := bufio.NewReaderSize(io.TeeReader(bytes.NewReader(blob), blobDigest), 64<<10)
	if compression == "zstd" {
		var d *zstd.Decoder
		if d, err = zstd.NewReader(packed, zstd.WithDecoderConcurrency(1)); err == nil {
			defer d.Close()
		}
		plain = d
	} else {
		plain, err = gzip.NewReader(packed)
	}
	if err != nil {
		return err
	}
	archive := tar.NewReader(plain)
	if _, err = archive.Next(); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, "run"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if _, err = io.CopyBuffer(io.MultiWriter(f, fileDigest), archive, make([]byte, 128<<10)); err != nil {
		return err
	}
	if _, err = io.Copy(io.Discard, plain); err != nil {
		return err
	}
	if sum := fmt.Sprintf("%x%x", blobDigest.Sum(nil), fileDigest.Sum(nil)); len(sum) != 128 {
		return fmt.Errorf("digests %q", sum)
	}
	return f.Sync()
}
