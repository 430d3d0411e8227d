// Package imagetest builds images for tests: plugin images, foreign images and
// the odd things that registries also hold. It writes the documents itself and
// shares no code with package publish, so that a test which reads them is a
// second witness of the format; only the names of annotations and media types
// come from internal/image.
//
// The same value always builds the same bytes. Nothing here talks to a registry
// but [Remote.Push], which needs nothing more than plain HTTP.
//
// Start at [Plugin] and [Foreign]; [Index] combines images into stranger ones.
package imagetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	digestpkg "github.com/opencontainers/go-digest"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/image"
)

// Blob is one document, config or layer with what its descriptor says of it.
type Blob struct {
	Descriptor ocispec.Descriptor
	Bytes      []byte
	Document   bool // an index or a manifest, which registries keep apart from blobs
}

// Image is a root document and all that it refers to.
type Image struct {
	Root  ocispec.Descriptor
	Blobs []Blob // without repeats; what a document refers to comes before it
}

// Builder is anything that can be made into an image.
type Builder interface {
	Make() (*Image, error)
}

// Must makes the image and ends the test where its description is at fault.
func Must(t testing.TB, b Builder) *Image {
	t.Helper()
	im, err := b.Make()
	if err != nil {
		t.Fatalf("imagetest: %v", err)
	}
	return im
}

// Digest is the digest of the root document: what a tag points to.
func (im *Image) Digest() addr.Digest { return addr.Digest(im.Root.Digest) }

// Bytes returns the blob or document with the digest d, nil where there is none.
func (im *Image) Bytes(d addr.Digest) []byte {
	for _, b := range im.Blobs {
		if b.Descriptor.Digest == digestpkg.Digest(d) {
			return b.Bytes
		}
	}
	return nil
}

// Index decodes the root document; a root that is no index has no Manifests.
func (im *Image) Index() ocispec.Index {
	var index ocispec.Index
	mustDecode(im.Bytes(im.Digest()), &index)
	return index
}

// Child returns the single manifest for a platform, such as "linux/amd64", as
// an image of its own, or nil. An image whose root is a manifest is its own
// child for every platform.
func (im *Image) Child(platform string) *Image {
	if !isIndex(im.Root.MediaType) {
		return im
	}
	for _, d := range im.Index().Manifests {
		if d.Platform != nil && platformString(*d.Platform) == platform {
			d.Platform, d.Annotations = nil, nil
			return &Image{Root: d, Blobs: im.reachable(d)}
		}
	}
	return nil
}

// Manifest decodes the manifest for a platform; it is empty where there is none.
func (im *Image) Manifest(platform string) ocispec.Manifest {
	var m ocispec.Manifest
	if child := im.Child(platform); child != nil {
		mustDecode(child.Bytes(child.Digest()), &m)
	}
	return m
}

// Payload is the digest of the last layer for a platform.
func (im *Image) Payload(platform string) addr.Digest {
	layers := im.Manifest(platform).Layers
	if len(layers) == 0 {
		return ""
	}
	return addr.Digest(layers[len(layers)-1].Digest)
}

// ExecutableDigest is what a plugin image declares for a platform.
func (im *Image) ExecutableDigest(platform string) addr.Digest {
	return addr.Digest(im.Manifest(platform).Annotations[image.AnnotationExecutableDigest])
}

// reachable lists the blobs that root refers to and root itself, in order.
func (im *Image) reachable(root ocispec.Descriptor) []Blob {
	var m struct {
		Config    *ocispec.Descriptor
		Layers    []ocispec.Descriptor
		Manifests []ocispec.Descriptor
	}
	mustDecode(im.Bytes(addr.Digest(root.Digest)), &m)
	wanted := map[digestpkg.Digest]bool{root.Digest: true}
	if m.Config != nil {
		wanted[m.Config.Digest] = true
	}
	for _, l := range m.Layers {
		wanted[l.Digest] = true
	}
	var blobs []Blob
	for _, b := range im.Blobs {
		if wanted[b.Descriptor.Digest] {
			blobs = append(blobs, b)
		}
	}
	return blobs
}

// collector gathers what belongs to one image, each digest once.
type collector struct {
	blobs []Blob
	seen  map[digestpkg.Digest]bool
}

func (c *collector) add(b Blob) ocispec.Descriptor {
	if !c.seen[b.Descriptor.Digest] {
		if c.seen == nil {
			c.seen = map[digestpkg.Digest]bool{}
		}
		c.seen[b.Descriptor.Digest] = true
		c.blobs = append(c.blobs, b)
	}
	return b.Descriptor
}

func (c *collector) blob(mediaType string, content []byte) ocispec.Descriptor {
	return c.add(Blob{Descriptor: describe(mediaType, content), Bytes: content})
}

func (c *collector) json(mediaType string, v any) ocispec.Descriptor {
	return c.blob(mediaType, encode(v))
}

func (c *collector) document(mediaType string, v any) ocispec.Descriptor {
	content := encode(v)
	return c.add(Blob{Descriptor: describe(mediaType, content), Bytes: content, Document: true})
}

// include adds all of another image and returns its root.
func (c *collector) include(im *Image) ocispec.Descriptor {
	for _, b := range im.Blobs {
		c.add(b)
	}
	return im.Root
}

func (c *collector) image(root ocispec.Descriptor) *Image {
	return &Image{Root: root, Blobs: c.blobs}
}

// Raw is an image of one document with these very bytes, however wrong.
func Raw(mediaType string, content []byte) *Image {
	d := describe(mediaType, content)
	return &Image{Root: d, Blobs: []Blob{{Descriptor: d, Bytes: content, Document: true}}}
}

func describe(mediaType string, content []byte) ocispec.Descriptor {
	return ocispec.Descriptor{
		MediaType: mediaType,
		Digest:    digestpkg.FromBytes(content),
		Size:      int64(len(content)),
	}
}

func versioned() specs.Versioned { return specs.Versioned{SchemaVersion: 2} }

// encode cannot fail: it is given the structs of image-spec and maps of strings.
func encode(v any) []byte {
	content, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("imagetest: %v", err))
	}
	return content
}

// mustDecode reads what this package wrote, or what [Raw] was given: there a
// document that is no JSON decodes to nothing.
func mustDecode(content []byte, v any) { _ = json.Unmarshal(content, v) }

func isIndex(mediaType string) bool {
	return mediaType == image.MediaTypeOCIIndex || mediaType == image.MediaTypeDockerIndex
}

// parsePlatform splits without normalising: odd spellings are wanted in tests.
func parsePlatform(s string) (ocispec.Platform, error) {
	parts := strings.Split(s, "/")
	if len(parts) < 2 || len(parts) > 3 {
		return ocispec.Platform{}, fmt.Errorf("%q is not os/arch or os/arch/variant", s)
	}
	p := ocispec.Platform{OS: parts[0], Architecture: parts[1]}
	if len(parts) == 3 {
		p.Variant = parts[2]
	}
	return p, nil
}

func platformString(p ocispec.Platform) string {
	if p.Variant == "" {
		return p.OS + "/" + p.Architecture
	}
	return p.OS + "/" + p.Architecture + "/" + p.Variant
}
