package tree

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/extract"
)

// Encode returns the receipt as JSON.
func (r *Receipt) Encode() ([]byte, error) {
	encoded, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	return append(encoded, '\n'), nil
}

// Decode reads what [Receipt.Encode] wrote and refuses what it would not have
// written: the paths of a receipt are opened later.
func Decode(encoded []byte) (*Receipt, error) {
	var r Receipt
	if err := json.Unmarshal(encoded, &r); err != nil {
		return nil, err
	}
	return &r, r.Validate()
}

// Validate checks a receipt that was read as part of something bigger.
func (r *Receipt) Validate() error {
	if r.Format != Format {
		return fmt.Errorf("format %d is not known, only %d is", r.Format, Format)
	}
	if len(r.Directories) == 0 || r.Directories[0].Path != "." {
		return fmt.Errorf("the tree itself is not described")
	}
	last := ""
	for _, d := range r.Directories[1:] {
		if !fs.ValidPath(d.Path) || d.Path <= last {
			return fmt.Errorf("directory %q is out of place", d.Path)
		}
		last = d.Path
	}
	last = ""
	for _, f := range r.Files {
		if !fs.ValidPath(f.Path) || f.Path == "." || f.Path <= last {
			return fmt.Errorf("file %q is out of place", f.Path)
		}
		last = f.Path
		if f.Link != "" {
			continue
		}
		if _, err := addr.ParseDigest(f.Digest.String()); err != nil {
			return fmt.Errorf("file %q: %w", f.Path, err)
		}
	}
	return nil
}

// Adopt gives the files of a fresh [Survey] the digests that were computed
// while they were written. What was written and what is there must be the same
// files.
func (r *Receipt) Adopt(written []extract.Record) error {
	digests := make(map[string]extract.Record, len(written))
	for _, w := range written {
		digests[w.Path] = w
	}
	for i := range r.Files {
		f := &r.Files[i]
		w, ok := digests[f.Path]
		if ok && w.Link == "" && f.Size != w.Size {
			return &Problem{f.Path, fmt.Sprintf("has %d bytes, %d were written", f.Size, w.Size)}
		}
		f.Digest = w.Digest
	}
	if difference := Difference(r.Records(), written); difference != "" {
		return fmt.Errorf("%s", difference)
	}
	return nil
}

// sorted puts files and directories in order of their paths. "." comes before
// every name but those that begin with a character below it, which is why it
// is moved to the front by hand.
func (r *Receipt) sorted() *Receipt {
	slices.SortFunc(r.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(r.Directories, func(a, b Directory) int {
		switch {
		case a.Path == ".":
			return -1
		case b.Path == ".":
			return 1
		}
		return strings.Compare(a.Path, b.Path)
	})
	return r
}
