package extract

import (
	"archive/tar"
	"errors"
	"io"
	"slices"
	"strings"
)

const (
	// maxGuesses bounds how often one layer may change where a program is
	// thought to be; what is missed is found by reading the layer again.
	maxGuesses = 64
	// maxIndexBytes bounds the memory for the names of an image's files.
	maxIndexBytes = 64 << 20
)

// pass is one reading of one foreign layer. It notes the layer's entries in the
// view if asked to, and writes the files that guess names, the last of each name.
type pass struct {
	*search
	index   bool
	guess   func() map[string]string // from a file of the layer to the wanted name
	in      *stream
	taken   []capture
	guesses int
}

// capture is a file that was written because it may turn out to be the program.
// Its record's path is the wanted name.
type capture struct {
	path   string // in its layer
	stale  bool   // a later entry stands in its place
	record Record
}

// take returns what was captured of a file under a wanted name, if it is still
// what the layer has, and leaves it out of what discard removes.
func (p *pass) take(wanted, file string) *Record {
	for i, c := range p.taken {
		if !c.stale && c.record.Path == wanted && c.path == file {
			p.taken = slices.Delete(p.taken, i, i+1)
			return &c.record
		}
	}
	return nil
}

// discard removes the files that were captured.
func (p *pass) discard() error {
	var errs []error
	for _, c := range p.taken {
		errs = append(errs, p.to.root.Remove(c.record.Path))
	}
	p.taken = nil
	return errors.Join(errs...)
}

func (p *pass) run() error {
	files := p.guess()
	err := p.in.entries(p.lim.LayerEntries, func(h *tar.Header, content io.Reader) error {
		name, ok := p.view.name(h.Name)
		if !ok {
			return nil
		}
		if p.note(name, h) && leadsTo(files, name) && p.guesses < maxGuesses {
			p.guesses++
			files = p.guess()
		}
		if err := p.consider(h, name, files[name], content); err != nil {
			return err
		}
		return p.view.check(h.Name)
	})
	if err != nil {
		return err
	}
	if err := p.in.drain(-1); err != nil {
		return &readError{err}
	}
	return nil
}

// check reports what an image demands too much of.
func (v *view) check(entry string) error {
	switch {
	case v.cost > maxIndexBytes:
		return exceeds(limitIndex, maxIndexBytes, entry)
	case v.work > maxWork:
		return exceeds(limitWork, maxWork, entry)
	}
	return nil
}

func (p *pass) note(name string, h *tar.Header) (changed bool) {
	return p.index && p.view.add(name, h)
}

// leadsTo reports whether what stands at name bears on how one of files is found.
func leadsTo(files map[string]string, name string) bool {
	for file := range files {
		if file == name || strings.HasPrefix(file, name+"/") {
			return true
		}
	}
	return false
}

// consider takes an entry if it is a file that is looked for under the name
// wanted, and drops an earlier one that it replaces.
func (p *pass) consider(h *tar.Header, name, wanted string, content io.Reader) error {
	for i := range p.taken {
		p.taken[i].stale = p.taken[i].stale || p.taken[i].path == name
	}
	switch {
	case wanted == "":
		return nil
	case h.Typeflag == tar.TypeGNUSparse, h.Typeflag == tar.TypeReg && isSparse(h):
		return refuse(KindType, h.Name, "is a sparse file")
	case h.Typeflag != tar.TypeReg:
		return nil
	case h.Size > p.lim.FileBytes:
		return exceeds(limitFileBytes, p.lim.FileBytes, h.Name)
	}
	if err := p.makeParents(wanted); err != nil {
		return err
	}
	// What was captured under this name before is unlinked by this.
	p.taken = slices.DeleteFunc(p.taken, func(c capture) bool { return c.record.Path == wanted })
	digest, err := p.to.file(wanted, content, h.Size, true)
	if err != nil {
		return shortened(err, h)
	}
	p.taken = append(p.taken, capture{path: name, record: Record{Path: wanted, Digest: digest, Size: h.Size, Executable: true}})
	return nil
}

func (p *pass) makeParents(wanted string) error {
	for i, c := range wanted {
		if c == '/' {
			if err := p.to.directory(wanted[:i]); err != nil {
				return err
			}
		}
	}
	return nil
}
