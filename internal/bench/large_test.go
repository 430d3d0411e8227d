package bench

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	digestpkg "github.com/opencontainers/go-digest"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/extract"
	"github.com/pluginlock/plugins/internal/image"
	"github.com/pluginlock/plugins/internal/imagetest"
)

// large is a plugin whose one file is so big that it is made by the piece.
type large struct {
	name    string
	raw     int64 // bytes of the file
	layer   ocispec.Descriptor
	diffID  addr.Digest
	file    addr.Digest
	content addr.Digest
}

// writeLarge writes a layer into dir, named by its digest. The file in it is a
// proper header for platform and then piece, so often. The layer is gzip of
// several members, as eStargz has it, so that a piece is compressed once.
func writeLarge(dir, name, platform string, piece []byte, times int) (*large, error) {
	header, err := imagetest.Native(platform, name)
	if err != nil {
		return nil, err
	}
	l := &large{name: name, raw: int64(len(header)) + int64(len(piece))*int64(times)}
	var before, after bytes.Buffer
	archive := tar.NewWriter(&before)
	if err := archive.WriteHeader(&tar.Header{Name: l.path(), Mode: 0o755, Size: l.raw, Typeflag: tar.TypeReg}); err != nil {
		return nil, err
	}
	after.Write(make([]byte, (-l.raw)&511+1024)) // to the end of a block, and two empty ones
	out, err := os.CreateTemp(dir, "layer-")
	if err != nil {
		return nil, err
	}
	w := &layerWriter{layer: sha256.New(), archive: sha256.New(), file: sha256.New(), out: out}
	w.member(before.Bytes(), 1)
	w.inFile = true
	w.member([]byte(header), 1)
	w.member(piece, times)
	w.inFile = false
	w.member(after.Bytes(), 1)
	if err := out.Close(); err != nil || w.err != nil {
		return nil, fmt.Errorf("layer of %s: %w %w", name, err, w.err)
	}
	digest := addr.DigestFrom(w.layer)
	l.layer = ocispec.Descriptor{MediaType: image.MediaTypeOCILayerGzip, Digest: digestpkg.Digest(digest), Size: w.size}
	l.diffID, l.file = addr.DigestFrom(w.archive), addr.DigestFrom(w.file)
	l.content = extract.Content([]extract.Record{{Path: l.path(), Digest: l.file, Size: l.raw, Executable: true}})
	return l, os.Rename(out.Name(), filepath.Join(dir, digest.Hex()))
}

func (l *large) path() string { return image.PayloadDir + "/" + l.name }

// layerWriter compresses members of gzip and keeps the digests of all of them.
type layerWriter struct {
	layer, archive, file hash.Hash
	inFile               bool
	out                  io.Writer
	size                 int64
	err                  error
}

func (w *layerWriter) member(raw []byte, times int) {
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, 5)
	if err == nil {
		_, _ = z.Write(raw) // into memory
		err = z.Close()
	}
	for range times {
		w.archive.Write(raw)
		if w.inFile {
			w.file.Write(raw)
		}
		w.layer.Write(packed.Bytes())
		w.size += int64(packed.Len())
		if err == nil {
			_, err = w.out.Write(packed.Bytes())
		}
	}
	if w.err == nil {
		w.err = err
	}
}

// image builds the documents around a layer that is a file already: those of a
// small plugin, with everything that names the layer replaced.
func (l *large) image(t testing.TB, version, platform string) *imagetest.Image {
	t.Helper()
	plugin := imagetest.Plugin{Name: l.name, Version: version, Protocols: []int{5}, Platforms: []string{platform}}
	plugin.Edit.Config = func(_ string, c *ocispec.Image) { c.RootFS.DiffIDs = []digestpkg.Digest{digestpkg.Digest(l.diffID)} }
	var standIn digestpkg.Digest
	plugin.Edit.Manifest = func(_ string, m *ocispec.Manifest) {
		last := &m.Layers[len(m.Layers)-1]
		standIn = last.Digest
		last.Digest, last.Size = l.layer.Digest, l.layer.Size
		m.Annotations[image.AnnotationExecutableDigest] = string(l.file)
		m.Annotations[image.AnnotationContent] = string(l.content)
	}
	im := plugin.Build(t)
	im.Blobs = without(im.Blobs, standIn)
	return im
}

func without(blobs []imagetest.Blob, digest digestpkg.Digest) (rest []imagetest.Blob) {
	for _, b := range blobs {
		if b.Descriptor.Digest != digest {
			rest = append(rest, b)
		}
	}
	return rest
}

// orasImage is the same layer as the oras client packs a folder, so that its
// pull unpacks it.
func (l *large) orasImage(t testing.TB) *imagetest.Image {
	t.Helper()
	layer := l.layer
	layer.Annotations = map[string]string{
		ocispec.AnnotationTitle:       image.PayloadDir,
		"io.deis.oras.content.unpack": "true",
		"io.deis.oras.content.digest": string(l.diffID),
	}
	config := imagetest.Raw(ocispec.MediaTypeEmptyJSON, []byte("{}"))
	config.Blobs[0].Document = false
	content, err := json.Marshal(ocispec.Manifest{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: image.MediaTypeOCIManifest,
		ArtifactType: "application/vnd.unknown.artifact.v1", Config: config.Root, Layers: []ocispec.Descriptor{layer}})
	if err != nil {
		t.Fatal(err)
	}
	im := imagetest.Raw(image.MediaTypeOCIManifest, content)
	im.Blobs = append(im.Blobs, config.Blobs...)
	return im
}
