package extract_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/extract"
	"github.com/pluginlock/plugins/internal/hostile"
)

// fuzzLimits keep one input cheap, and are low enough to be exceeded.
var fuzzLimits = extract.Limits{Entries: 200, Bytes: 1 << 20, FileBytes: 1 << 19, Ratio: 200, RatioFrom: 1 << 16, ZstdWindow: 8 << 20,
	LayerEntries: 1000, LayerBytes: 1 << 20}

// seeds adds the corpus, and moves the roots to memory where there is some: a
// sync to disk takes longer than all the rest.
func seeds(f *testing.F) {
	if _, err := os.Stat("/dev/shm"); err == nil && os.Getenv("TMPDIR") == "" {
		f.Setenv("TMPDIR", "/dev/shm")
	}
	for _, a := range append(hostile.Small(), hostile.Honest()...) {
		f.Add(a.Layer)
	}
}

// FuzzPayload unpacks anything: plain tar, gzip or zstd. Nothing outside of the
// root changes, limits hold, and what was accepted is on disk as it was said.
func FuzzPayload(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, blob []byte) {
		s := newSite(t)
		var result extract.Result
		var err error
		allocated := allocatedBy(func() { result, err = s.payload(blob, fuzzLimits) })
		s.checkAround()
		if size := diskUse(t, s.dir); size > fuzzLimits.Bytes {
			t.Errorf("%d bytes were written", size)
		}
		if allocated > 64<<20 {
			t.Errorf("%d bytes were allocated", allocated)
		}
		if err != nil {
			return
		}
		onDisk := s.records(result.Records)
		if d := extract.Differences(result.Records, onDisk); d != nil || len(onDisk) > fuzzLimits.Entries {
			t.Errorf("on disk: %v", d)
		}
		for _, r := range onDisk {
			at, err := filepath.EvalSymlinks(filepath.Join(s.dir, filepath.FromSlash(r.Path)))
			must(t, err)
			if real, _ := filepath.EvalSymlinks(s.dir); at != real && !strings.HasPrefix(at, real+string(os.PathSeparator)) {
				t.Errorf("%s leads to %s", r.Path, at)
			}
		}
	})
}

// FuzzForeign looks for a program in anything: at most that one file is written.
func FuzzForeign(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, blob []byte) {
		s := newSite(t)
		image := &foreignImage{blobs: [][]byte{blob, blob}}
		result, err := extract.Executable(t.Context(), image.layers(), image.open, "/plugin/run", addr.Platform{OS: "linux", Arch: "amd64"}, s.root, fuzzLimits)
		s.checkAround()
		if len(image.opened) > 3 {
			t.Errorf("layers opened: %v", image.opened)
		}
		if err != nil {
			return
		}
		onDisk := s.records(result.Records)
		if d := extract.Differences(result.Records, onDisk); d != nil || len(onDisk) != 1 || onDisk[0].Path != "plugin/run" {
			t.Errorf("got %v, on disk %v", result.Records, onDisk)
		}
	})
}
