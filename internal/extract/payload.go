package extract

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/image"
	"github.com/pluginlock/plugins/internal/text"
)

// Result is what was found in, or written from, an archive.
type Result struct {
	Records []Record    // ordered by path
	DiffID  addr.Digest // of the unpacked layer; only [Inspect] computes it
}

// Payload unpacks the payload layer of a plugin image into root, which should
// be empty: what stands in the way of an entry is removed. The blob is read once
// and to its end. It must be verified by its reader, which gives an error in
// place of io.EOF where the bytes do not have the digest of desc; Payload checks
// their number only. Every file is synced, directories are not.
//
// Errors: [*EntryError], [*LimitError], [*ArchiveError], [*SizeError]; errors of
// the reader, of the context and of the file system as they are, wrapped at most.
func Payload(ctx context.Context, blob io.Reader, desc ocispec.Descriptor, root *os.Root, lim Limits) (Result, error) {
	return unpack(ctx, blob, desc, disk{root}, lim, false)
}

// Inspect does what [Payload] does, all its checks included, but writes nothing
// and also computes the layer's DiffID.
func Inspect(ctx context.Context, blob io.Reader, desc ocispec.Descriptor, lim Limits) (Result, error) {
	return unpack(ctx, blob, desc, nowhere{}, lim, true)
}

func unpack(ctx context.Context, blob io.Reader, desc ocispec.Descriptor, to sink, lim Limits, diffID bool) (Result, error) {
	lim = lim.withDefaults()
	src := &source{ctx: ctx, r: blob, size: desc.Size}
	in, err := openStream(ctx, src, lim, lim.Bytes+maxOverhead)
	if err != nil {
		return Result{}, src.verdict(err, "")
	}
	defer in.close()
	if diffID {
		in.digest = sha256.New()
	}
	u := &unpacker{in: in, to: to, lim: lim, tree: newTree(lim.Entries)}
	if err := u.run(); err != nil {
		return Result{}, u.explain(err)
	}
	result := Result{Records: u.records}
	slices.SortFunc(result.Records, func(a, b Record) int { return strings.Compare(a.Path, b.Path) })
	if diffID {
		result.DiffID = addr.DigestFrom(in.digest)
	}
	return result, nil
}

// unpacker is one payload on its way from a stream to a sink.
type unpacker struct {
	in      *stream
	to      sink
	lim     Limits
	tree    *tree
	made    []bool // by node: the directory was made
	records []Record
	written int64 // bytes of files, copies for hard links among them
}

func (u *unpacker) run() error {
	if err := u.in.entries(u.lim.Entries, u.entry); err != nil {
		return err
	}
	if err := u.in.drain(MaxPadding); err != nil {
		return &readError{err}
	}
	return u.links()
}

// explain tells an error of the archive from one of the place written to.
func (u *unpacker) explain(err error) error {
	if read, ok := errors.AsType[*readError](err); ok {
		return u.in.verdict(read.err)
	}
	return err
}

func (u *unpacker) entry(h *tar.Header, content io.Reader) error {
	if err := checkHeader(h); err != nil {
		return err
	}
	isDir := h.Typeflag == tar.TypeDir
	components, err := checkName(h.Name, isDir, u.lim)
	if err != nil {
		return err
	}
	if err := checkPlace(h.Name, components, isDir); err != nil {
		return err
	}
	switch h.Typeflag {
	case tar.TypeDir:
		return u.directory(h, components)
	case tar.TypeSymlink:
		return u.symlink(h, components)
	case tar.TypeLink:
		return u.hardLink(h, components)
	default:
		return u.file(h, components, content)
	}
}

// checkHeader refuses entries by their type, and by what their header says
// beside the name.
func checkHeader(h *tar.Header) error {
	switch h.Typeflag {
	case tar.TypeReg:
	case tar.TypeDir, tar.TypeSymlink, tar.TypeLink:
		if h.Size != 0 {
			return refuse(KindSize, h.Name, "has a size of %d bytes, but its type has no content", h.Size)
		}
	case tar.TypeXGlobalHeader:
		return refuse(KindType, h.Name, "is a global PAX header, which would change later entries")
	case tar.TypeGNUSparse:
		return refuse(KindType, h.Name, "is a sparse file")
	case tar.TypeChar, tar.TypeBlock:
		return refuse(KindType, h.Name, "is a device")
	case tar.TypeFifo:
		return refuse(KindType, h.Name, "is a FIFO")
	default:
		return refuse(KindType, h.Name, "has the unknown type %q", h.Typeflag)
	}
	if isSparse(h) {
		return refuse(KindType, h.Name, "is a sparse file")
	}
	return nil
}

// isSparse reports whether a regular file is a sparse one in a PAX format.
func isSparse(h *tar.Header) bool {
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// checkPlace holds a payload to its one directory.
func checkPlace(entry string, components []string, isDir bool) error {
	for _, c := range components {
		if strings.HasPrefix(c, whiteout) {
			return refuse(KindPlace, entry, "is a whiteout, which a payload may not hold")
		}
	}
	if len(components) == 0 {
		return nil
	}
	if components[0] != image.PayloadDir || (len(components) == 1 && !isDir) {
		return refuse(KindPlace, entry, "is outside of the directory %s/", image.PayloadDir)
	}
	return nil
}

// place adds an entry to the tree and makes the directories above it.
func (u *unpacker) place(h *tar.Header, components []string, n node) (int, error) {
	id, err := u.tree.add(h.Name, components, n)
	if err != nil {
		return 0, err
	}
	return id, u.makeParents(u.tree.nodes[id].parent)
}

func (u *unpacker) makeParents(id int) error {
	for len(u.made) < len(u.tree.nodes) {
		u.made = append(u.made, false)
	}
	if id == 0 || u.made[id] {
		return nil
	}
	if err := u.makeParents(u.tree.nodes[id].parent); err != nil {
		return err
	}
	u.made[id] = true
	return u.to.directory(u.tree.path(id))
}

func (u *unpacker) directory(h *tar.Header, components []string) error {
	id, err := u.place(h, components, node{kind: kindDir, record: -1})
	if err != nil {
		return err
	}
	return u.makeParents(id)
}

// symlink only notes a link; it is made when the tree is complete.
func (u *unpacker) symlink(h *tar.Header, components []string) error {
	if err := checkTarget(h.Name, h.Linkname, len(components)-1, u.lim); err != nil {
		return err
	}
	_, err := u.place(h, components, node{kind: kindLink, record: -1, target: h.Linkname})
	return err
}

func (u *unpacker) file(h *tar.Header, components []string, content io.Reader) error {
	if err := u.account(h, h.Size); err != nil {
		return err
	}
	id, err := u.place(h, components, node{kind: kindFile, record: len(u.records)})
	if err != nil {
		return err
	}
	r := Record{Path: u.tree.path(id), Size: h.Size, Executable: h.Mode&0o111 != 0}
	if r.Digest, err = u.to.file(r.Path, content, h.Size, r.Executable); err != nil {
		return shortened(err, h)
	}
	u.records = append(u.records, r)
	return nil
}

// shortened names the entry whose content ends before its header says so.
func shortened(err error, h *tar.Header) error {
	if read, ok := errors.AsType[*readError](err); ok && errors.Is(err, io.ErrUnexpectedEOF) {
		read.err = refuse(KindSize, h.Name, "is shorter than the %d bytes its header says", h.Size)
	}
	return err
}

// hardLink makes a copy of an earlier file.
func (u *unpacker) hardLink(h *tar.Header, components []string) error {
	named, err := checkName(h.Linkname, false, u.lim)
	if err != nil {
		return refuse(KindLink, h.Name, "is a hard link that is refused: %v", err)
	}
	target, ok := u.tree.find(named)
	if !ok || u.tree.nodes[target].kind != kindFile {
		return refuse(KindLink, h.Name, "is a hard link to %q, which is no earlier regular file", text.Clip(h.Linkname))
	}
	r := u.records[u.tree.nodes[target].record]
	if err := u.account(h, r.Size); err != nil {
		return err
	}
	id, err := u.place(h, components, node{kind: kindFile, record: len(u.records)})
	if err != nil {
		return err
	}
	earlier := r.Path
	r.Path = u.tree.path(id)
	u.records = append(u.records, r)
	return u.to.duplicate(r.Path, earlier, r.Executable)
}

// account holds the bytes to be written to the limits, before any is.
func (u *unpacker) account(h *tar.Header, size int64) error {
	if size > u.lim.FileBytes {
		return exceeds(limitFileBytes, u.lim.FileBytes, h.Name)
	}
	if u.written += size; u.written > u.lim.Bytes {
		return exceeds(limitBytes, u.lim.Bytes, h.Name)
	}
	return nil
}

// links checks the links over the whole tree and makes them.
func (u *unpacker) links() error {
	links, err := u.tree.checkLinks()
	if err != nil {
		return err
	}
	for _, id := range links {
		name := u.tree.path(id)
		if err := u.to.link(name, u.tree.nodes[id].target); err != nil {
			return err
		}
		u.records = append(u.records, Record{Path: name, Link: u.tree.nodes[id].target})
	}
	return nil
}
