package installer

import (
	"context"
	"io"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// observed returns a repository whose blobs report their progress together,
// since a foreign image may need several of its layers; total is their size in
// bytes.
func (in *Installer) observed(repo Repository, f fetch, total int64) Repository {
	if in.OnEvent == nil {
		return repo
	}
	return &observedRepository{Repository: repo, in: in, f: f, total: total}
}

// observedRepository reads one blob after the other.
type observedRepository struct {
	Repository
	in          *Installer
	f           fetch
	done, total int64     // bytes of all blobs
	last        time.Time // of the last report
}

func (o *observedRepository) Blob(ctx context.Context, d ocispec.Descriptor) (io.ReadCloser, error) {
	blob, err := o.Repository.Blob(ctx, d)
	if err != nil {
		return nil, err
	}
	return &observedBlob{blob, o}, nil
}

// progressInterval keeps a fast download from reporting every few kilobytes.
const progressInterval = 100 * time.Millisecond

type observedBlob struct {
	io.ReadCloser
	of *observedRepository
}

func (b *observedBlob) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	o := b.of
	o.done += int64(n)
	if now := time.Now(); err != nil || now.Sub(o.last) >= progressInterval {
		o.last = now
		f := &o.f
		o.in.emit(Event{Kind: EventDownloading, Plugin: f.plugin, Source: f.source, Version: f.version.String(),
			Platform: f.platform, Done: o.done, Total: o.total})
	}
	return n, err
}
