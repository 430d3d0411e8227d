package extract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/text"
)

// OpenLayer opens the blob of a layer. The reader must verify the blob, as that
// of [Payload] must.
type OpenLayer func(ctx context.Context, layer ocispec.Descriptor) (io.ReadCloser, error)

// Executable takes one program out of a foreign image: the file that a
// container of the image would find at the path name, after all layers were laid
// over each other and links were followed inside the image. layers are in the
// manifest's order, the lowest first; they are read from the top, each to its
// end, and only as many as are needed. A layer is opened a second time only
// where a link stands behind the file it names.
//
// On platforms of Windows, what lies below "Files/" in a layer is looked up from
// the root too, and name is also tried with ".exe".
//
// The program, and nothing else, is written to root at its name, cleaned and
// without the leading slash, with the mode 0755. The result holds one record.
//
// Errors: those of [Payload], [*NotFoundError], those of open.
func Executable(ctx context.Context, layers []ocispec.Descriptor, open OpenLayer, name string, platform addr.Platform, root *os.Root, lim Limits) (Result, error) {
	lim = lim.withDefaults()
	s := &search{ctx: ctx, open: open, lim: lim, to: disk{root}}
	for _, candidate := range candidates(name, platform) {
		clean := strings.TrimPrefix(path.Clean("/"+candidate), "/")
		if _, err := checkName(clean, false, lim); err != nil {
			return Result{}, err
		}
		s.wanted = append(s.wanted, clean)
	}
	s.view.windows = platform.OS == "windows"
	for i, layer := range slices.Backward(layers) {
		record, err := s.layer(layer, i == 0)
		if err != nil {
			return Result{}, fmt.Errorf("layer %s: %w", layer.Digest, err)
		}
		if record != nil {
			return Result{Records: []Record{*record}}, nil
		}
		if !s.undecided() {
			break
		}
	}
	if err := s.view.check(name); err != nil {
		return Result{}, err
	}
	return Result{}, s.notFound()
}

// candidates lists the names to look for, the preferred one first.
func candidates(name string, platform addr.Platform) []string {
	if platform.OS == "windows" && !strings.HasSuffix(strings.ToLower(name), ".exe") {
		return []string{name, name + ".exe"}
	}
	return []string{name}
}

// search looks for a program from the top layer down.
type search struct {
	ctx    context.Context
	open   OpenLayer
	lim    Limits
	to     disk
	wanted []string             // clean paths, the preferred one first
	layers []ocispec.Descriptor // as in view
	view   view
}

// layer reads one more layer; the record is nil where the program is not, or
// not certainly, in the layers read so far.
func (s *search) layer(desc ocispec.Descriptor, lowest bool) (*Record, error) {
	s.layers = append(s.layers, desc)
	s.view.push()
	p := &pass{search: s, index: true, guess: s.guess}
	if err := s.scan(desc, p); err != nil {
		return nil, err
	}
	s.view.complete = lowest
	for _, wanted := range s.wanted {
		at := s.view.resolve(wanted)
		if at.outcome != found {
			continue
		}
		if taken := p.take(wanted, at.path); taken != nil && at.layer == len(s.layers)-1 {
			return taken, p.discard()
		}
		if err := p.discard(); err != nil {
			return nil, err
		}
		return s.again(s.layers[at.layer], wanted, at.path)
	}
	return nil, p.discard()
}

// again takes a file from a layer that was read already: the link that leads to
// it stood behind it, or in a lower layer.
func (s *search) again(desc ocispec.Descriptor, wanted, file string) (*Record, error) {
	p := &pass{search: s, guess: func() map[string]string { return map[string]string{file: wanted} }}
	if err := s.scan(desc, p); err != nil {
		return nil, err
	}
	taken := p.take(wanted, file)
	if taken == nil {
		return nil, &ArchiveError{Reason: fmt.Sprintf("the layer was read twice and had %q only once", text.Clip(file))}
	}
	return taken, nil
}

// guess names the files that are the program if the layer being read holds
// them, going by what was read so far, and for each the wanted name that leads
// there.
func (s *search) guess() map[string]string {
	files := map[string]string{}
	for _, wanted := range slices.Backward(s.wanted) {
		if at := s.view.resolve(wanted); at.outcome != absent {
			files[at.path] = wanted
		}
	}
	return files
}

// undecided reports whether a lower layer may have the program.
func (s *search) undecided() bool {
	return slices.ContainsFunc(s.wanted, func(w string) bool { return s.view.resolve(w).outcome == below })
}

// scan makes one pass over a layer, to its end.
func (s *search) scan(desc ocispec.Descriptor, p *pass) error {
	blob, err := s.open(s.ctx, desc)
	if err != nil {
		return err
	}
	defer func() { _ = blob.Close() }()
	src := &source{ctx: s.ctx, r: blob, size: desc.Size}
	if p.in, err = openStream(s.ctx, src, s.lim, s.lim.LayerBytes); err != nil {
		return src.verdict(err, "")
	}
	defer p.in.close()
	err = p.run()
	if err == nil {
		return nil
	}
	_ = p.discard() // the first error tells more; the caller removes the rest
	if read, ok := errors.AsType[*readError](err); ok {
		return p.in.verdict(read.err)
	}
	return err
}
