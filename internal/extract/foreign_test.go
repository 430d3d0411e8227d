package extract_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/extract"
	"github.com/pluginlock/plugins/internal/hostile"
)

// foreignImage serves layers, the lowest first, and notes which were opened.
type foreignImage struct {
	blobs  [][]byte
	opened []int
}

func (f *foreignImage) layers() (all []ocispec.Descriptor) {
	for _, b := range f.blobs {
		all = append(all, descriptor(b))
	}
	return all
}

func (f *foreignImage) open(_ context.Context, desc ocispec.Descriptor) (io.ReadCloser, error) {
	for i, b := range f.blobs {
		if descriptor(b).Digest == desc.Digest {
			f.opened = append(f.opened, i)
			return io.NopCloser(verified(b, desc)), nil
		}
	}
	return nil, errors.New("no such blob")
}

func TestForeignExecutable(t *testing.T) {
	opaque := file("app/.wh..wh..opq", "")
	old := []entry{dir("app"), file("app/run", "old")}
	tests := map[string]struct {
		layers  [][]entry // the lowest first
		name    string    // "/app/run" where empty
		windows bool
		want    string // content; "" where not found
		path    string // where it is written; name where empty
		opened  []int
	}{
		"one layer":                    {layers: [][]entry{old}, want: "old", opened: []int{0}},
		"topmost wins":                 {layers: [][]entry{old, {file("app/run", "new")}}, want: "new", opened: []int{1}},
		"only in a lower layer":        {layers: [][]entry{old, {dir("etc"), file("etc/x", "x")}}, want: "old", opened: []int{1, 0}},
		"absolute and dotted names":    {layers: [][]entry{{file("/app/./run", "abs")}}, want: "abs", opened: []int{0}},
		"the last of two wins":         {layers: [][]entry{{file("app/run", "first"), file("app/run", "second")}}, want: "second", opened: []int{0}},
		"whiteout":                     {layers: [][]entry{old, {file("app/.wh.run", "")}}, opened: []int{1}},
		"whiteout of a parent":         {layers: [][]entry{old, {file(".wh.app", "")}}, opened: []int{1}},
		"opaque parent":                {layers: [][]entry{old, {dir("app"), opaque, file("app/x", "x")}}, opened: []int{1}},
		"opaque root":                  {layers: [][]entry{old, {file(".wh..wh..opq", "")}}, opened: []int{1}},
		"opaque, but there again":      {layers: [][]entry{old, {opaque, file("app/run", "new")}}, want: "new", opened: []int{1}},
		"whiteout beside the new one":  {layers: [][]entry{old, {file("app/run", "new"), file("app/.wh.run", "")}}, want: "new", opened: []int{1}},
		"whiteout above a whiteout":    {layers: [][]entry{old, {file("app/.wh.run", "")}, {file("app/run", "again")}}, want: "again", opened: []int{2}},
		"whiteout of something else":   {layers: [][]entry{old, {file("app/.wh.runner", "")}}, want: "old", opened: []int{1, 0}},
		"AUFS bookkeeping":             {layers: [][]entry{old, {file("app/.wh..wh.plnk", "")}}, want: "old", opened: []int{1, 0}},
		"parent replaced by a file":    {layers: [][]entry{old, {file("app", "file")}}, opened: []int{1}},
		"parent is a link":             {layers: [][]entry{{link("app", "usr/app"), file("usr/app/run", "usr")}}, want: "usr", opened: []int{0}},
		"parent is a link, after":      {layers: [][]entry{{file("usr/app/run", "usr"), link("app", "usr/app")}}, want: "usr", opened: []int{0, 0}},
		"link to a file":               {layers: [][]entry{{link("app/run", "run-1.2"), file("app/run-1.2", "1.2")}}, want: "1.2", opened: []int{0}},
		"absolute link":                {layers: [][]entry{{link("app/run", "/opt/run"), file("opt/run", "opt")}}, want: "opt", opened: []int{0}},
		"link above the root":          {layers: [][]entry{{link("app/run", "../../../../opt/run"), file("opt/run", "opt")}}, want: "opt", opened: []int{0}},
		"links over links":             {layers: [][]entry{{link("app", "a"), link("a", "/b"), link("b/run", "../c/d"), file("c/d", "end")}}, want: "end", opened: []int{0}},
		"link into a lower layer":      {layers: [][]entry{{file("opt/run", "low")}, {link("app/run", "/opt/run")}}, want: "low", opened: []int{1, 0}},
		"link from a lower layer":      {layers: [][]entry{{link("app", "opt")}, {dir("opt"), file("opt/run", "up")}}, want: "up", opened: []int{1, 0, 1}},
		"link after link":              {layers: [][]entry{{file("x/run", "x")}, {link("opt", "x")}, {link("app", "opt")}}, want: "x", opened: []int{2, 1, 0}},
		"links in a circle":            {layers: [][]entry{{link("app", "b"), link("b", "app")}}, opened: []int{0}},
		"link to itself":               {layers: [][]entry{{link("app/run", "run")}}, opened: []int{0}},
		"link to nothing":              {layers: [][]entry{{link("app/run", "x")}}, opened: []int{0}},
		"hard link":                    {layers: [][]entry{{file("opt/x", "hard"), hardLink("app/run", "opt/x")}}, want: "hard", opened: []int{0, 0}},
		"hard link, absolute":          {layers: [][]entry{{file("opt/x", "hard"), hardLink("app/run", "/opt/x")}}, want: "hard", opened: []int{0, 0}},
		"hard link into a lower layer": {layers: [][]entry{{file("opt/x", "hard")}, {hardLink("app/run", "opt/x")}}, want: "hard", opened: []int{1, 0}},
		"hard link to itself":          {layers: [][]entry{{hardLink("app/run", "app/run")}}, opened: []int{0}},
		"file replaced by a link":      {layers: [][]entry{{file("app/run", "stale"), link("app/run", "x"), file("app/x", "x")}}, want: "x", opened: []int{0}},
		"replaced and replaced again":  {layers: [][]entry{{file("app/run", "stale"), link("app/run", "x"), file("app/run", "last")}}, want: "last", opened: []int{0, 0}},
		"a directory of that name":     {layers: [][]entry{{dir("app/run"), file("app/run/x", "x")}}, opened: []int{0}},
		"a device of that name":        {layers: [][]entry{old, {{tar.TypeChar, "app/run", "", 0o666, ""}}}, opened: []int{1}},
		"odd company":                  {layers: [][]entry{{{tar.TypeChar, "dev/null", "", 0o666, ""}, {tar.TypeFifo, "f", "", 0o666, ""}, file("../x", "x"), file("a:b", "x"), file("app/run", "ok")}}, want: "ok", opened: []int{0}},
		"implied directory above":      {layers: [][]entry{old, {file("app/other", "x")}}, want: "old", opened: []int{1, 0}},
		"implied over a link":          {layers: [][]entry{{link("bin", "usr/bin"), file("usr/bin/sh", "sh")}, {file("bin/tool", "tool")}}, name: "/bin/sh", want: "sh", opened: []int{1, 0}},
		"implied and found":            {layers: [][]entry{{link("bin", "usr/bin")}, {file("bin/tool", "tool")}}, name: "/bin/tool", want: "tool", opened: []int{1}},
		"name is cleaned":              {layers: [][]entry{old}, name: "//app/../app/./run", want: "old", path: "app/run", opened: []int{0}},
		"on Windows below Files":       {layers: [][]entry{{dir("Files"), dir("Hives"), file("Files/app/run.exe", "exe")}}, windows: true, want: "exe", path: "app/run.exe", opened: []int{0}},
		"on Windows without Files":     {layers: [][]entry{{file("app/run.exe", "exe")}}, windows: true, want: "exe", path: "app/run.exe", opened: []int{0}},
		"on Windows, named with .exe":  {layers: [][]entry{{file("Files/app/run.exe", "exe")}}, name: "/app/run.exe", windows: true, want: "exe", opened: []int{0}},
		"on Windows, as it is":         {layers: [][]entry{{file("Files/app/run", "bare")}}, windows: true, want: "bare", opened: []int{0}},
		"on Windows, whiteout":         {layers: [][]entry{{file("Files/app/run.exe", "exe")}, {file("Files/app/.wh.run.exe", ""), file("Files/app/.wh.run", "")}}, windows: true, opened: []int{1}},
		"on Windows, one of each":      {layers: [][]entry{{file("Files/app/run", "bare"), file("Files/app/run.exe", "exe")}}, windows: true, want: "bare", opened: []int{0}},
		"no Files elsewhere":           {layers: [][]entry{{file("Files/app/run", "exe")}}, opened: []int{0}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			image := &foreignImage{}
			for _, l := range test.layers {
				image.blobs = append(image.blobs, layer(t, l...))
			}
			if test.name == "" {
				test.name = "/app/run"
			}
			if test.path == "" {
				test.path = strings.TrimPrefix(test.name, "/")
			}
			s := newSite(t)
			platform := addr.Platform{OS: "linux", Arch: "amd64"}
			if test.windows {
				platform.OS = "windows"
			}
			result, err := extract.Executable(t.Context(), image.layers(), image.open, test.name, platform, s.root, extract.Limits{})
			s.checkAround()
			if !slices.Equal(image.opened, test.opened) {
				t.Errorf("opened %v, want %v", image.opened, test.opened)
			}
			if test.want == "" {
				if _, ok := errors.AsType[*extract.NotFoundError](err); !ok {
					t.Errorf("got %v, %v, want a NotFoundError", result, err)
				}
				if size := diskUse(t, s.dir); size != 0 {
					t.Errorf("%d bytes are left behind", size)
				}
				return
			}
			must(t, err)
			checkSingle(t, s, result, test.path, test.want)
		})
	}
}

// checkSingle asserts that the root has the program and nothing else.
func checkSingle(t *testing.T, s *site, result extract.Result, path, content string) {
	t.Helper()
	want := []extract.Record{{Path: path, Digest: addr.DigestOf([]byte(content)), Size: int64(len(content)), Executable: true}}
	if !slices.Equal(result.Records, want) {
		t.Errorf("got %v, want %v", result.Records, want)
	}
	if onDisk := s.records(result.Records); !slices.Equal(onDisk, want) {
		t.Errorf("on disk are %v, want %v", onDisk, want)
	}
}

func TestForeignNotFoundSaysWhatIsThere(t *testing.T) {
	image := &foreignImage{blobs: [][]byte{
		layer(t, file("plugins/velero-plugin-for-aws", "x"), file("plugins/LICENSE", "x"), file("plugins/hidden", "x")),
		layer(t, file("plugins/.wh.hidden", ""), file("plugins/sub/y", "x")),
	}}
	_, err := extract.Executable(t.Context(), image.layers(), image.open, "/plugins/velero-plugin-aws", addr.Platform{OS: "linux", Arch: "amd64"}, newSite(t).root, extract.Limits{})
	want := `the image has no file "/plugins/velero-plugin-aws": there is no usable "velero-plugin-aws" in its directory "/plugins", which has "velero-plugin-for-aws", "sub", "LICENSE"`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	_, err = extract.Executable(t.Context(), image.layers(), image.open, "/plugin/aws", addr.Platform{OS: "linux", Arch: "amd64"}, newSite(t).root, extract.Limits{})
	want = `the image has no file "/plugin/aws": there is no usable "plugin" in its directory "/", which has "plugins"`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// The layers of the corpus are no foreign images, but whatever they are, the
// search ends, writes only the one file, and does not panic.
func TestForeignHostileLayers(t *testing.T) {
	for _, a := range hostile.Archives() {
		t.Run(a.Name, func(t *testing.T) {
			s := newSite(t)
			image := &foreignImage{blobs: [][]byte{a.Layer}}
			result, err := extract.Executable(t.Context(), image.layers(), image.open, "/plugin/x", addr.Platform{OS: "linux", Arch: "amd64"}, s.root, cheap)
			s.checkAround()
			if err == nil && (len(result.Records) != 1 || result.Records[0].Path != "plugin/x") {
				t.Errorf("got %v", result.Records)
			}
			if size := diskUse(t, s.dir); size > 1<<20 {
				t.Errorf("%d bytes were written", size)
			}
		})
	}
}

func TestForeignLimits(t *testing.T) {
	blob := layer(t, file("a", "12345"), file("app/run", "12345"), file("z", strings.Repeat("z", 10_000)))
	for name, lim := range map[string]extract.Limits{
		"entries": {LayerEntries: 2}, "file": {FileBytes: 4}, "unpacked": {LayerBytes: 4096}, "ratio": {Ratio: 2, RatioFrom: 1024},
	} {
		image := &foreignImage{blobs: [][]byte{blob}}
		s := newSite(t)
		_, err := extract.Executable(t.Context(), image.layers(), image.open, "/app/run", addr.Platform{OS: "linux", Arch: "amd64"}, s.root, lim)
		if extract.KindOf(err) != extract.KindLimit {
			t.Errorf("%s: %v", name, err)
		}
		if size := diskUse(t, s.dir); size != 0 {
			t.Errorf("%s: %d bytes are left behind", name, size)
		}
	}
}

// Links that multiply must not keep the search busy.
func TestForeignWorkIsBounded(t *testing.T) {
	deep := strings.TrimSuffix(strings.Repeat("d/", 120), "/")
	var low, top []entry
	for i := range 39 {
		low = append(low, link(fmt.Sprintf("l%d", i), strings.Repeat(deep+"/"+strings.Repeat("../", 120), 6)+fmt.Sprintf("l%d", i+1)))
	}
	for i := range 200 {
		top = append(top, file(deep+fmt.Sprintf("/%d", i), ""))
	}
	image := &foreignImage{blobs: slices.Repeat([][]byte{layer(t, append(top, low...)...)}, 20)}
	_, err := extract.Executable(t.Context(), image.layers(), image.open, "/l0/run", addr.Platform{OS: "linux", Arch: "amd64"}, newSite(t).root, extract.Limits{})
	if limit, ok := errors.AsType[*extract.LimitError](err); !ok || limit.Limit != "steps in following links" {
		t.Errorf("got %v", err)
	}
}

func TestForeignNameIsChecked(t *testing.T) {
	image := &foreignImage{blobs: [][]byte{layer(t, file("app/run", "x"))}}
	for _, name := range []string{"", "/", `/app\run`, "/app/a:b", "/app/CON", "/app/run.", "/a\x00b"} {
		_, err := extract.Executable(t.Context(), image.layers(), image.open, name, addr.Platform{OS: "linux", Arch: "amd64"}, newSite(t).root, extract.Limits{})
		if extract.KindOf(err) != extract.KindName {
			t.Errorf("%q: %v", name, err)
		}
	}
	if len(image.opened) != 0 {
		t.Errorf("layers were read for a bad name: %v", image.opened)
	}
}

// A layer that decides that the program is absent, or shadowed, is verified too.
func TestForeignDigestMismatch(t *testing.T) {
	low, top := layer(t, file("app/run", "x")), layer(t, file("etc/passwd", "x"))
	for bad := range 2 {
		image := &foreignImage{blobs: [][]byte{low, top}}
		layers := image.layers()
		open := func(ctx context.Context, desc ocispec.Descriptor) (io.ReadCloser, error) {
			r, err := image.open(ctx, desc)
			if err == nil && desc.Digest == layers[bad].Digest {
				wrong := bytes.Clone(image.blobs[bad])
				wrong[len(wrong)-1] ^= 1
				r = io.NopCloser(verified(wrong, desc))
			}
			return r, err
		}
		_, err := extract.Executable(t.Context(), layers, open, "/app/run", addr.Platform{OS: "linux", Arch: "amd64"}, newSite(t).root, extract.Limits{})
		if !errors.Is(err, errMismatch) || !strings.Contains(fmt.Sprint(err), string(layers[bad].Digest)) {
			t.Errorf("layer %d: %v", bad, err)
		}
	}
}

func TestForeignModeAndPlace(t *testing.T) {
	s := newSite(t)
	image := &foreignImage{blobs: [][]byte{layer(t, entry{tar.TypeReg, "app/run", "", 0o4600, "x"})}}
	_, err := extract.Executable(t.Context(), image.layers(), image.open, "/app/run", addr.Platform{OS: "linux", Arch: "amd64"}, s.root, extract.Limits{})
	must(t, err)
	info, err := os.Stat(filepath.Join(s.dir, "app", "run"))
	must(t, err)
	if info.Mode() != 0o755 {
		t.Errorf("mode %v", info.Mode())
	}
}
