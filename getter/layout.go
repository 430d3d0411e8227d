package getter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/image"
	"github.com/pluginlock/plugins/internal/text"
)

// maxLayoutIndex bounds the list of a layout directory, in bytes.
const maxLayoutIndex = 64 << 20

// layout is an OCI layout directory (image specification, v1.1.1) that holds
// images of any number of sources. The entries of its index are found by their
// full reference, host/path:tag, in the annotation for that.
type layout struct {
	client *Client
	src    addr.Source
	dir    string
}

func (l *layout) source() addr.Source { return l.src }
func (l *layout) mirror() string      { return l.dir }

func (l *layout) tags(ctx context.Context) ([]string, error) {
	entries, err := l.entries(ctx)
	if err != nil {
		return nil, err
	}
	tags := make([]string, 0, len(entries))
	for _, e := range entries {
		tags = append(tags, e.tag)
	}
	if len(tags) == 0 {
		return nil, l.fail(ErrRepositoryNotFound, "%s holds nothing whose reference begins with %s:", l.dir, l.src)
	}
	return tags, nil
}

func (l *layout) document(ctx context.Context, ref string) (*image.Document, error) {
	digest, _ := checkRef(ref)
	mediaType := ""
	if digest.IsZero() {
		entries, err := l.entries(ctx)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.tag == ref {
				digest, mediaType = e.digest, e.mediaType
			}
		}
		if digest.IsZero() {
			return nil, l.fail(ErrTagNotFound, "%s holds nothing with the reference %s:%s", l.dir, l.src, ref)
		}
	}
	raw, err := l.read("blobs/sha256/"+digest.Hex(), image.MaxDocumentSize)
	if err != nil {
		return nil, err
	}
	if got := addr.DigestOf(raw); got != digest {
		return nil, l.fail(ErrDigestMismatch, "%s holds a file for %s whose digest is %s", l.dir, digest, got)
	}
	return parseDocument("", mediaType, raw)
}

func (l *layout) blob(ctx context.Context, want blobRef, offset int64) (*blobReader, error) {
	b := &blobReader{ctx: ctx, place: l, want: want, retry: Retry{Tries: 1}, clock: l.client.clock, host: l.dir}
	b.open = func(_ context.Context, offset int64, _ bool) (io.ReadCloser, int64, error) {
		f, err := l.openFile("blobs/sha256/" + want.digest.Hex())
		if err != nil {
			return nil, 0, err
		}
		return f, offset, nil
	}
	return b.start(offset)
}

// layoutEntry is one image of a source in a layout.
type layoutEntry struct {
	tag       string
	digest    addr.Digest
	mediaType string
}

// entries lists what a layout has of a source, each tag once.
func (l *layout) entries(ctx context.Context) ([]layoutEntry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := l.checkVersion(); err != nil {
		return nil, err
	}
	raw, err := l.read("index.json", maxLayoutIndex)
	if err != nil {
		return nil, err
	}
	var index struct {
		Manifests []ocispec.Descriptor `json:"manifests"`
	}
	if err := json.Unmarshal(raw, &index); err != nil {
		return nil, l.fail(ErrProtocol, "%s: index.json is not a list of images: %v", l.dir, err)
	}
	var entries []layoutEntry
	seen := map[string]addr.Digest{}
	for _, m := range index.Manifests {
		tag, ok := strings.CutPrefix(m.Annotations[ocispec.AnnotationRefName], l.src.String()+":")
		if !ok || !IsTag(tag) {
			continue
		}
		digest, err := addr.ParseDigest(string(m.Digest))
		if err != nil {
			return nil, l.fail(ErrProtocol, "%s: index.json: %s:%s: %v", l.dir, l.src, tag, err)
		}
		if other, twice := seen[tag]; twice {
			if other != digest {
				return nil, l.fail(ErrProtocol, "%s: index.json has %s:%s twice: %s and %s", l.dir, l.src, tag, other, digest)
			}
			continue
		}
		seen[tag] = digest
		entries = append(entries, layoutEntry{tag, digest, m.MediaType})
	}
	return entries, nil
}

// checkVersion makes sure that the directory is a layout.
func (l *layout) checkVersion() error {
	raw, err := l.read(ocispec.ImageLayoutFile, 64<<10)
	if err != nil {
		return l.fail(ErrProtocol, "%s is not an OCI layout: %s cannot be read: %v", l.dir, ocispec.ImageLayoutFile, pathCause(err))
	}
	var version ocispec.ImageLayout
	if err := json.Unmarshal(raw, &version); err != nil || version.Version != ocispec.ImageLayoutVersion {
		return l.fail(ErrProtocol, "%s is an OCI layout of version %q, not %s", l.dir, text.Clip(version.Version), ocispec.ImageLayoutVersion)
	}
	return nil
}

// openFile opens a file inside the directory; links that lead out of it are
// refused by the operating system's root.
func (l *layout) openFile(name string) (*os.File, error) {
	root, err := os.OpenRoot(l.dir)
	if err != nil {
		return nil, l.fileError(name, err)
	}
	defer root.Close() //nolint:errcheck // only read
	name = filepath.FromSlash(name)
	info, err := root.Stat(name)
	if err != nil {
		return nil, l.fileError(name, err)
	}
	if !info.Mode().IsRegular() {
		return nil, l.fail(ErrProtocol, "%s: %s is not a regular file", l.dir, name)
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, l.fileError(name, err)
	}
	return f, nil
}

func (l *layout) read(name string, limit int64) ([]byte, error) {
	f, err := l.openFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	raw, err := readAll(f, limit)
	switch {
	case errors.Is(err, errTooLong):
		return nil, l.fail(ErrProtocol, "%s: %s is longer than %s", l.dir, name, size(limit))
	case err != nil:
		return nil, l.fileError(name, err)
	}
	return raw, nil
}

func (l *layout) fileError(name string, err error) error {
	kind := ErrProtocol
	switch _, statErr := os.Stat(l.dir); {
	case statErr != nil:
		kind = ErrNetwork // the directory is out of reach, as a registry may be
	case errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(filepath.ToSlash(name), "blobs/"):
		kind = ErrDigestNotFound
	}
	return &Error{Kind: kind, Source: l.src, Mirror: l.dir, Err: err,
		Detail: fmt.Sprintf("%s: %s: %v", l.dir, filepath.ToSlash(name), pathCause(err))}
}

func (l *layout) fail(kind error, format string, args ...any) *Error {
	e := fail(kind, "", format, args...)
	e.Source, e.Mirror = l.src, l.dir
	return e
}
