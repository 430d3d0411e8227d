package image

import (
	"encoding/json"
	"fmt"
	"mime"
	"slices"

	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/addr"
)

// Document is an index or a manifest, with the bytes that its digest is of.
// Exactly one of Index and Manifest is set.
type Document struct {
	Digest    addr.Digest
	MediaType string
	Raw       []byte
	Index     *Index
	Manifest  *Manifest
}

// Annotations returns the document's own annotations.
func (d *Document) Annotations() map[string]string {
	if d.Index != nil {
		return d.Index.Annotations
	}
	return d.Manifest.Annotations
}

// Manifest is an image manifest.
type Manifest struct {
	Config      ocispec.Descriptor
	Layers      []ocispec.Descriptor
	Annotations map[string]string
}

// DocumentError says why a document is refused. It never wraps a cause of the
// network: the bytes are as the registry has them.
type DocumentError struct {
	Digest addr.Digest
	Reason string
}

func (e *DocumentError) Error() string { return fmt.Sprintf("document %s: %s", e.Digest, e.Reason) }

// NotImageError means that the document is a proper one but holds something
// other than an image: a chart, a signature, an artifact.
type NotImageError struct {
	Digest addr.Digest
	What   string // the media type that gives it away
}

func (e *NotImageError) Error() string {
	return fmt.Sprintf("document %s holds %q, not an image", e.Digest, e.What)
}

// Parse reads an index or a manifest. contentType is what the registry called
// it; "" where nobody said, as in a layout directory or the store. A document
// that can be read in two ways (CVE-2021-41190) is refused.
//
// Errors: [*DocumentError], [*NotImageError].
func Parse(contentType string, raw []byte) (*Document, error) {
	digest := addr.DigestOf(raw)
	refuse := func(format string, args ...any) (*Document, error) {
		return nil, &DocumentError{digest, fmt.Sprintf(format, args...)}
	}
	if len(raw) > MaxDocumentSize {
		return refuse("%d bytes are more than the %d that a registry has to accept", len(raw), MaxDocumentSize)
	}
	var both struct {
		specs.Versioned
		MediaType    string               `json:"mediaType"`
		ArtifactType string               `json:"artifactType"`
		Config       *ocispec.Descriptor  `json:"config"`
		Layers       []ocispec.Descriptor `json:"layers"`
		Manifests    []ocispec.Descriptor `json:"manifests"`
		FSLayers     json.RawMessage      `json:"fsLayers"`
		Annotations  map[string]string    `json:"annotations"`
	}
	if err := json.Unmarshal(raw, &both); err != nil {
		return refuse("not JSON that describes an image: %v", err)
	}
	named, err := mediaTypeOf(contentType, both.MediaType)
	if err != nil {
		return refuse("%v", err)
	}
	hasManifest := both.Config != nil || both.Layers != nil
	switch {
	case both.FSLayers != nil || both.SchemaVersion == 1:
		return refuse("a schema 1 manifest of 2016: push the image again with a current tool")
	case both.SchemaVersion != 2:
		return refuse("schemaVersion is %d, not 2", both.SchemaVersion)
	case both.Manifests != nil && hasManifest:
		return refuse("both an index (manifests) and a manifest (config, layers)")
	case both.Manifests == nil && !hasManifest:
		return refuse("neither an index (manifests) nor a manifest (config, layers)")
	}
	d := &Document{Digest: digest, MediaType: named, Raw: raw}
	if both.Manifests != nil {
		return d, d.setIndex(named, both.Manifests, both.Annotations)
	}
	return d, d.setManifest(named, both.ArtifactType, both.Config, both.Layers, both.Annotations)
}

// mediaTypeOf joins what the transport and what the document say; the two must
// agree where both speak.
func mediaTypeOf(contentType, inDocument string) (string, error) {
	if contentType != "" {
		bare, _, err := mime.ParseMediaType(contentType)
		if err != nil {
			return "", fmt.Errorf("its Content-Type %q is not a media type", contentType)
		}
		contentType = bare
	}
	generic := contentType == "" || contentType == "application/json" || contentType == "application/octet-stream" || contentType == "text/plain"
	switch {
	case generic:
		return inDocument, nil
	case inDocument != "" && inDocument != contentType:
		return "", fmt.Errorf("the registry calls it %q, it calls itself %q", contentType, inDocument)
	}
	return contentType, nil
}

func (d *Document) setIndex(named string, manifests []ocispec.Descriptor, annotations map[string]string) error {
	switch named {
	case "":
		d.MediaType = MediaTypeOCIIndex
	case MediaTypeOCIIndex, MediaTypeDockerIndex:
	default:
		return &DocumentError{d.Digest, fmt.Sprintf("has manifests but calls itself %q", named)}
	}
	d.Index = &Index{digest: d.Digest, Annotations: annotations}
	for i, m := range manifests {
		digest, err := addr.ParseDigest(string(m.Digest))
		if err != nil {
			return &DocumentError{d.Digest, fmt.Sprintf("manifests[%d]: %v", i, err)}
		}
		if m.Size < 0 || m.Size > MaxDocumentSize {
			return &DocumentError{d.Digest, fmt.Sprintf("manifests[%d]: a size of %d bytes is out of bounds", i, m.Size)}
		}
		d.Index.Children = append(d.Index.Children, newChild(digest, m))
	}
	return nil
}

func (d *Document) setManifest(named, artifactType string, config *ocispec.Descriptor, layers []ocispec.Descriptor, annotations map[string]string) error {
	switch named {
	case "":
		d.MediaType = MediaTypeOCIManifest
	case MediaTypeOCIManifest, MediaTypeDockerManifest:
	default:
		return &DocumentError{d.Digest, fmt.Sprintf("has layers but calls itself %q", named)}
	}
	if config == nil {
		return &DocumentError{d.Digest, "a manifest without config"}
	}
	if artifactType != "" {
		return &NotImageError{d.Digest, artifactType}
	}
	if !slices.Contains([]string{MediaTypeOCIConfig, MediaTypeDockerConfig}, config.MediaType) {
		return &NotImageError{d.Digest, config.MediaType}
	}
	for i, l := range append([]ocispec.Descriptor{*config}, layers...) {
		if _, err := addr.ParseDigest(string(l.Digest)); err != nil {
			return &DocumentError{d.Digest, fmt.Sprintf("%s: %v", part(i), err)}
		}
		if l.Size < 0 {
			return &DocumentError{d.Digest, fmt.Sprintf("%s: a size of %d bytes is out of bounds", part(i), l.Size)}
		}
	}
	d.Manifest = &Manifest{Config: *config, Layers: layers, Annotations: annotations}
	return nil
}

// part names the i-th of a manifest's descriptors, the config being the first.
func part(i int) string {
	if i == 0 {
		return "config"
	}
	return fmt.Sprintf("layers[%d]", i-1)
}
