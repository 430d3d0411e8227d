package cmd

import (
	"sync"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/publish"
)

// uploads shows blobs on their way: bars on a terminal, a line for each
// elsewhere, nothing with --quiet.
type uploads struct {
	printer *printer
	mu      sync.Mutex
	bars    *mpb.Progress
	byBlob  map[addr.Digest]*mpb.Bar
}

func newUploads(p *printer) *uploads {
	return &uploads{printer: p, byBlob: map[addr.Digest]*mpb.Bar{}}
}

// event shows how far a blob is.
func (u *uploads) event(e publish.Progress) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.printer.quiet:
	case u.printer.terminal && (e.Status == publish.BlobSending || e.Status == publish.BlobSent):
		u.bar(e).SetCurrent(e.Done)
	case e.Status == publish.BlobSent:
		u.printer.note("%s sent (%s)", shortDigest(e.Digest.String()), size(e.Total))
	}
}

func (u *uploads) bar(e publish.Progress) *mpb.Bar {
	if u.bars == nil {
		u.bars = mpb.New(mpb.WithOutput(u.printer.errOut), mpb.WithWidth(40))
	}
	bar := u.byBlob[e.Digest]
	if bar == nil {
		bar = u.bars.AddBar(e.Total, mpb.PrependDecorators(decor.Name(shortDigest(e.Digest.String()), decor.WCSyncSpaceR)),
			mpb.AppendDecorators(decor.CountersKibiByte("% .1f / % .1f")))
		u.byBlob[e.Digest] = bar
	}
	return bar
}

// close ends the display; what is unfinished stays as it is.
func (u *uploads) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.bars == nil {
		return
	}
	for _, bar := range u.byBlob {
		bar.Abort(false)
	}
	u.bars.Wait()
}
