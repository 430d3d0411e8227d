package publish

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	digestpkg "github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/image"
)

// LayoutError means that a directory is not a usable OCI image layout.
type LayoutError struct {
	Dir    string
	Reason string
}

func (e *LayoutError) Error() string {
	return fmt.Sprintf("the directory %s is not a usable OCI image layout: %s", e.Dir, e.Reason)
}

// layout is an OCI image layout on disk, as of
// https://github.com/opencontainers/image-spec/blob/v1.1.1/image-layout.md.
type layout struct {
	dir   string
	index ocispec.Index
}

// IsLayout reports whether a directory says that it is an image layout.
func IsLayout(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, ocispec.ImageLayoutFile))
	return err == nil
}

// openLayout reads the entry points of a layout.
func openLayout(dir string) (*layout, error) {
	raw, err := os.ReadFile(filepath.Join(dir, ocispec.ImageLayoutFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &LayoutError{dir, "there is no file " + ocispec.ImageLayoutFile}
	}
	if err != nil {
		return nil, err
	}
	var marker ocispec.ImageLayout
	if err := json.Unmarshal(raw, &marker); err != nil || !strings.HasPrefix(marker.Version, "1.") {
		return nil, &LayoutError{dir, "its file " + ocispec.ImageLayoutFile + " does not name version 1"}
	}
	l := &layout{dir: dir}
	raw, err = readBounded(filepath.Join(dir, ocispec.ImageIndexFile), image.MaxDocumentSize)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(raw, &l.index); err != nil {
		return nil, &LayoutError{dir, fmt.Sprintf("its %s is broken: %v", ocispec.ImageIndexFile, err)}
	}
	return l, nil
}

func readBounded(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading: closing loses nothing
	raw, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(raw)) > limit {
		err = fmt.Errorf("%s: more than %d bytes", path, limit)
	}
	return raw, err
}

func (l *layout) blobPath(digest addr.Digest) string {
	return filepath.Join(l.dir, ocispec.ImageBlobsDir, "sha256", digest.Hex())
}

// document reads and verifies an index or a manifest.
func (l *layout) document(digest addr.Digest) (*image.Document, error) {
	raw, err := readBounded(l.blobPath(digest), image.MaxDocumentSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &LayoutError{l.dir, fmt.Sprintf("it lacks %s", digest)}
	}
	if err != nil {
		return nil, err
	}
	if got := addr.DigestOf(raw); got != digest {
		return nil, &LayoutError{l.dir, fmt.Sprintf("the file of %s holds %s", digest, got)}
	}
	return image.Parse("", raw)
}

// open opens a blob, held to its descriptor's size.
func (l *layout) open(d ocispec.Descriptor) (io.ReadCloser, error) {
	digest, err := addr.ParseDigest(string(d.Digest))
	if err != nil {
		return nil, &LayoutError{l.dir, err.Error()}
	}
	f, err := os.Open(l.blobPath(digest))
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(f, d.Size), f}, nil
}

// choose returns the digest of the image that a tag names, or the only image
// where the layout has one.
func (l *layout) choose(tag string) (addr.Digest, error) {
	var digests, named []addr.Digest
	var names []string
	for _, m := range l.index.Manifests {
		digest, err := addr.ParseDigest(string(m.Digest))
		if err != nil {
			return "", &LayoutError{l.dir, err.Error()}
		}
		name := refTag(m.Annotations[ocispec.AnnotationRefName])
		if name != "" {
			names = append(names, name)
		}
		if tag != "" && name == tag && !slices.Contains(named, digest) {
			named = append(named, digest)
		}
		if !slices.Contains(digests, digest) {
			digests = append(digests, digest)
		}
	}
	switch {
	case len(named) == 1:
		return named[0], nil
	case len(named) > 1:
		return "", &LayoutError{l.dir, fmt.Sprintf("it has %d images named %s", len(named), tag)}
	case len(digests) == 1:
		return digests[0], nil
	case len(digests) == 0:
		return "", &LayoutError{l.dir, "it holds no image"}
	case tag == "" && len(names) > 0:
		return "", &LayoutError{l.dir, fmt.Sprintf("it holds %d images (%s); name one, as in %s:%s", len(digests), strings.Join(names, ", "), l.dir, names[0])}
	}
	return "", &LayoutError{l.dir, fmt.Sprintf("it holds %d images (%s), of which none is named %q", len(digests), strings.Join(names, ", "), tag)}
}

// refTag is the tag of a reference name, which may be one or be a full
// reference.
func refTag(name string) string {
	if at := strings.LastIndexAny(name, ":/"); at >= 0 && name[at] == ':' {
		return name[at+1:]
	}
	return name
}

// layoutWriter fills a layout. What it wrote is taken back by abort.
type layoutWriter struct {
	layout
	staging string // directory for what is not complete

	mu   sync.Mutex
	made []string // files and directories that were not there, in order
}

// createLayout prepares a directory: one that is absent, empty, or a layout.
func createLayout(dir string) (*layoutWriter, error) {
	w := &layoutWriter{layout: layout{dir: dir, index: emptyIndex()}}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(entries) == 0:
	case err != nil:
		return nil, err
	default:
		there, err := openLayout(dir)
		if err != nil {
			return nil, fmt.Errorf("cannot write to it: %w", err)
		}
		w.layout = *there
	}
	for _, d := range []string{dir, filepath.Join(dir, ocispec.ImageBlobsDir), filepath.Join(dir, ocispec.ImageBlobsDir, "sha256")} {
		if err := w.mkdir(d); err != nil {
			return nil, w.abort(err)
		}
	}
	if w.staging, err = os.MkdirTemp(dir, ".packing-*"); err != nil {
		return nil, w.abort(err)
	}
	return w, nil
}

func emptyIndex() ocispec.Index {
	return ocispec.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageIndex}
}

func (w *layoutWriter) mkdir(dir string) error {
	err := os.Mkdir(dir, 0o755)
	switch {
	case err == nil:
		w.made = append(w.made, dir)
	case errors.Is(err, fs.ErrExist):
		return nil
	}
	return err
}

// abort removes what this writer made and returns why.
func (w *layoutWriter) abort(cause error) error {
	errs := []error{cause}
	if w.staging != "" {
		errs = append(errs, os.RemoveAll(w.staging))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, path := range slices.Backward(w.made) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// blobWriter is one blob on its way into the layout.
type blobWriter struct {
	to   *layoutWriter
	file *os.File
	hash hash.Hash
	size int64
}

func (w *layoutWriter) newBlob() (*blobWriter, error) {
	f, err := os.CreateTemp(w.staging, "blob-*")
	if err != nil {
		return nil, err
	}
	return &blobWriter{to: w, file: f, hash: sha256.New()}, nil
}

func (b *blobWriter) Write(p []byte) (int, error) {
	n, err := b.file.Write(p)
	b.hash.Write(p[:n])
	b.size += int64(n)
	return n, err
}

// commit gives the blob its place and returns its descriptor.
func (b *blobWriter) commit(mediaType string) (ocispec.Descriptor, error) {
	err := b.file.Chmod(0o644)
	if err = errors.Join(err, b.file.Close()); err != nil {
		return ocispec.Descriptor{}, err
	}
	d := ocispec.Descriptor{MediaType: mediaType, Digest: digestpkg.NewDigest(digestpkg.SHA256, b.hash), Size: b.size}
	return d, b.to.place(b.file.Name(), addr.Digest(d.Digest))
}

// place moves a complete file to where its digest says.
func (w *layoutWriter) place(file string, digest addr.Digest) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	path := w.blobPath(digest)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		w.made = append(w.made, path)
	}
	return os.Rename(file, path)
}

// put writes a blob from memory.
func (w *layoutWriter) put(mediaType string, raw []byte) (ocispec.Descriptor, error) {
	b, err := w.newBlob()
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	if _, err := io.Copy(b, bytes.NewReader(raw)); err != nil {
		return ocispec.Descriptor{}, errors.Join(err, b.file.Close())
	}
	return b.commit(mediaType)
}

// putJSON writes a document or a config.
func (w *layoutWriter) putJSON(mediaType string, v any) (ocispec.Descriptor, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	if len(raw) > image.MaxDocumentSize {
		return ocispec.Descriptor{}, fmt.Errorf("a document of %d bytes is larger than the %d that registries accept", len(raw), image.MaxDocumentSize)
	}
	return w.put(mediaType, raw)
}

// finish makes root an entry point named name, in the place of another of that
// name; "" is a name, too. Other entry points stay.
func (w *layoutWriter) finish(root ocispec.Descriptor, name string) error {
	if name != "" {
		root.Annotations = map[string]string{ocispec.AnnotationRefName: name}
	}
	w.index.Manifests = slices.DeleteFunc(w.index.Manifests, func(m ocispec.Descriptor) bool {
		return m.Annotations[ocispec.AnnotationRefName] == name
	})
	w.index.Manifests = append(w.index.Manifests, root)
	for _, file := range []struct {
		name    string
		content any
	}{
		{ocispec.ImageLayoutFile, ocispec.ImageLayout{Version: ocispec.ImageLayoutVersion}},
		{ocispec.ImageIndexFile, w.index},
	} {
		if err := w.replace(file.name, file.content); err != nil {
			return err
		}
	}
	return os.RemoveAll(w.staging)
}

func (w *layoutWriter) replace(name string, content any) error {
	raw, err := json.Marshal(content)
	if err != nil {
		return err
	}
	staged, path := filepath.Join(w.staging, name), filepath.Join(w.dir, name)
	if err := os.WriteFile(staged, raw, 0o644); err != nil {
		return err
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		w.made = append(w.made, path)
	}
	return os.Rename(staged, path)
}
