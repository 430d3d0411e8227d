package imagetest

import (
	"fmt"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/image"
)

// Index combines images, or their children, under one index: the way to
// duplicate platforms, entries without one, nested indexes and attestations.
type Index struct {
	Entries     []Entry
	Docker      bool // a manifest list in place of an OCI index
	Annotations map[string]string
}

// Entry is one line of an [Index].
type Entry struct {
	Image       *Image
	Platform    string // "" leaves the entry without a platform
	OSVersion   string
	Annotations map[string]string
	Missing     bool // listed, but the image is not there
}

// Build makes the image; a description at fault ends the test.
func (x Index) Build(t testing.TB) *Image {
	t.Helper()
	return Must(t, x)
}

// Make makes the image. Errors: a platform that is none.
func (x Index) Make() (*Image, error) {
	var c collector
	index := ocispec.Index{Versioned: versioned(), MediaType: image.MediaTypeOCIIndex, Annotations: x.Annotations, Manifests: []ocispec.Descriptor{}}
	if x.Docker {
		index.MediaType = image.MediaTypeDockerIndex
	}
	for i, e := range x.Entries {
		d := e.Image.Root
		if !e.Missing {
			d = c.include(e.Image)
		}
		d.Annotations = e.Annotations
		if e.Platform != "" {
			p, err := parsePlatform(e.Platform)
			if err != nil {
				return nil, fmt.Errorf("entry %d: %w", i, err)
			}
			p.OSVersion = e.OSVersion
			d.Platform = &p
		}
		index.Manifests = append(index.Manifests, d)
	}
	return c.image(c.document(index.MediaType, index)), nil
}

// WithAttestations adds to the index of im what BuildKit adds: for each entry
// one of platform unknown/unknown that holds its provenance.
func WithAttestations(im *Image) *Image {
	var c collector
	c.include(Without(im, im.Digest()))
	index := im.Index()
	for _, subject := range index.Manifests {
		statement := c.blob("application/vnd.in-toto+json", []byte(`{"_type":"https://in-toto.io/Statement/v0.1","subject":[]}`))
		config := c.json(image.MediaTypeOCIConfig, ocispec.Image{Platform: ocispec.Platform{OS: "unknown", Architecture: "unknown"}})
		entry := c.document(image.MediaTypeOCIManifest, ocispec.Manifest{
			Versioned: versioned(), MediaType: image.MediaTypeOCIManifest, Config: config, Layers: []ocispec.Descriptor{statement},
			Annotations: map[string]string{"org.example.subject": string(subject.Digest)}, // tells one statement from the next
		})
		entry.Platform = &ocispec.Platform{OS: "unknown", Architecture: "unknown"}
		entry.Annotations = map[string]string{
			"vnd.docker.reference.type":   "attestation-manifest",
			"vnd.docker.reference.digest": string(subject.Digest),
		}
		index.Manifests = append(index.Manifests, entry)
	}
	return c.image(c.document(index.MediaType, index))
}

// Artifact is a manifest that holds something other than an image, told by its
// config: [Chart] and [Signature] are two.
func Artifact(configType, layerType string, content []byte) *Image {
	var c collector
	m := ocispec.Manifest{
		Versioned: versioned(),
		MediaType: image.MediaTypeOCIManifest,
		Config:    c.blob(configType, []byte("{}")),
		Layers:    []ocispec.Descriptor{c.blob(layerType, content)},
	}
	return c.image(c.document(m.MediaType, m))
}

// TypedArtifact is an artifact in the way of image-spec 1.1: an empty config
// and an artifactType.
func TypedArtifact(artifactType string, content []byte) *Image {
	var c collector
	m := ocispec.Manifest{
		Versioned:    versioned(),
		MediaType:    image.MediaTypeOCIManifest,
		ArtifactType: artifactType,
		Config:       c.blob(ocispec.MediaTypeEmptyJSON, []byte("{}")),
		Layers:       []ocispec.Descriptor{c.blob("application/octet-stream", content)},
	}
	return c.image(c.document(m.MediaType, m))
}

// Chart is a Helm chart as `helm push` stores it.
func Chart(name, version string) *Image {
	chart, err := Tar(File{Path: name + "/Chart.yaml", Body: "name: " + name + "\nversion: " + version + "\n"})
	if err != nil {
		panic(fmt.Sprintf("imagetest: %v", err)) // an entry of ours
	}
	return Artifact("application/vnd.cncf.helm.config.v1+json", "application/vnd.cncf.helm.chart.content.v1.tar+gzip", Gzip(chart))
}

// Signature is what cosign stores beside an image, under [SignatureTag]: an
// image by its media types, with a layer that is no archive.
func Signature(of *Image) *Image {
	var c collector
	payload := fmt.Appendf(nil, `{"critical":{"image":{"docker-manifest-digest":%q},"type":"cosign container image signature"}}`, of.Root.Digest)
	m := ocispec.Manifest{
		Versioned: versioned(),
		MediaType: image.MediaTypeOCIManifest,
		Config:    c.json(image.MediaTypeOCIConfig, ocispec.Image{}),
		Layers:    []ocispec.Descriptor{c.blob("application/vnd.dev.cosign.simplesigning.v1+json", payload)},
	}
	m.Layers[0].Annotations = map[string]string{"dev.cosignproject.cosign/signature": "bm90IGEgc2lnbmF0dXJl"}
	return c.image(c.document(m.MediaType, m))
}

// SignatureTag is the tag under which cosign looks for the signature of an image.
func SignatureTag(of *Image) string { return "sha256-" + of.Digest().Hex() + ".sig" }

// Without returns im lacking one blob or document, though others refer to it.
func Without(im *Image, digest addr.Digest) *Image {
	less := &Image{Root: im.Root}
	for _, b := range im.Blobs {
		if addr.Digest(b.Descriptor.Digest) != digest {
			less.Blobs = append(less.Blobs, b)
		}
	}
	return less
}
