package installer

import (
	"context"
	"io"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// observed returns a repository whose blobs report their progress.
func (in *Installer) observed(repo Repository, f fetch) Repository {
	if in.OnEvent == nil {
		return repo
	}
	return observedRepository{repo, in, f}
}

type observedRepository struct {
	Repository
	in *Installer
	f  fetch
}

func (o observedRepository) Blob(ctx context.Context, d ocispec.Descriptor) (io.ReadCloser, error) {
	blob, err := o.Repository.Blob(ctx, d)
	if err != nil {
		return nil, err
	}
	return &observedBlob{ReadCloser: blob, o: o, total: d.Size}, nil
}

// progressInterval keeps a fast download from reporting every few kilobytes.
const progressInterval = 100 * time.Millisecond

type observedBlob struct {
	io.ReadCloser
	o           observedRepository
	done, total int64
	last        time.Time
}

func (b *observedBlob) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.done += int64(n)
	if now := time.Now(); err != nil || now.Sub(b.last) >= progressInterval {
		b.last = now
		f := b.o.f
		b.o.in.emit(Event{Kind: EventDownloading, Plugin: f.plugin, Source: f.source, Version: f.version.String(),
			Platform: f.platform, Done: b.done, Total: b.total})
	}
	return n, err
}
