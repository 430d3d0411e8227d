package image

import (
	"cmp"
	"encoding/json"
	"fmt"
	"mime"
	"slices"

	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/text"
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
	return fmt.Sprintf("document %s holds %s, not an image", e.Digest, text.Quote(e.What))
}

// fields are those of an index and of a manifest together, so that a document
// with both can be told.
type fields struct {
	specs.Versioned
	MediaType    string               `json:"mediaType"`
	ArtifactType string               `json:"artifactType"`
	Config       *ocispec.Descriptor  `json:"config"`
	Layers       []ocispec.Descriptor `json:"layers"`
	Manifests    []ocispec.Descriptor `json:"manifests"`
	FSLayers     json.RawMessage      `json:"fsLayers"`
	Annotations  map[string]string    `json:"annotations"`
}

// Parse reads an index or a manifest. contentType is what the registry called
// it; "" where nobody said, as in a layout directory or the store. A document
// that can be read in two ways (CVE-2021-41190) is refused.
//
// Errors: [*DocumentError], [*NotImageError].
func Parse(contentType string, raw []byte) (*Document, error) {
	d := &Document{Digest: addr.DigestOf(raw), Raw: raw}
	if len(raw) > MaxDocumentSize {
		return nil, &DocumentError{d.Digest, fmt.Sprintf("%d bytes are more than the %d that a registry has to accept", len(raw), MaxDocumentSize)}
	}
	var f fields
	if err := json.Unmarshal(raw, &f); err != nil {
		return nil, &DocumentError{d.Digest, fmt.Sprintf("not JSON that describes an image: %s", text.Clip(err.Error()))}
	}
	named, err := mediaTypeOf(contentType, f.MediaType)
	if err != nil {
		return nil, &DocumentError{d.Digest, err.Error()}
	}
	if reason := f.wrong(); reason != "" {
		return nil, &DocumentError{d.Digest, reason}
	}
	if f.Manifests != nil {
		err = d.setIndex(named, f)
	} else {
		err = d.setManifest(named, f)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// wrong says why a document is neither an index nor a manifest, or "".
func (f fields) wrong() string {
	isManifest := f.Config != nil || f.Layers != nil
	switch {
	case f.FSLayers != nil || f.SchemaVersion == 1:
		return "a schema 1 manifest of 2016: push the image again with a current tool"
	case f.SchemaVersion != 2:
		return fmt.Sprintf("schemaVersion is %d, not 2", f.SchemaVersion)
	case f.Manifests != nil && isManifest:
		return "both an index (manifests) and a manifest (config, layers)"
	case f.Manifests == nil && !isManifest:
		return "neither an index (manifests) nor a manifest (config, layers)"
	}
	return ""
}

// mediaTypeOf joins what the transport and what the document say; the two must
// agree where both speak.
func mediaTypeOf(contentType, inDocument string) (string, error) {
	if contentType != "" {
		bare, _, err := mime.ParseMediaType(contentType)
		if err != nil {
			return "", fmt.Errorf("its Content-Type %s is not a media type", text.Quote(contentType))
		}
		contentType = bare
	}
	generic := contentType == "" || contentType == "application/json" || contentType == "application/octet-stream" || contentType == "text/plain"
	switch {
	case generic:
		return inDocument, nil
	case inDocument != "" && inDocument != contentType:
		return "", fmt.Errorf("the registry calls it %s, it calls itself %s", text.Quote(contentType), text.Quote(inDocument))
	}
	return contentType, nil
}

func (d *Document) setIndex(named string, f fields) error {
	switch d.MediaType = cmp.Or(named, MediaTypeOCIIndex); d.MediaType {
	case MediaTypeOCIIndex, MediaTypeDockerIndex:
	default:
		return &DocumentError{d.Digest, fmt.Sprintf("has manifests but calls itself %s", text.Quote(named))}
	}
	d.Index = &Index{digest: d.Digest, Annotations: f.Annotations}
	for i, m := range f.Manifests {
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

func (d *Document) setManifest(named string, f fields) error {
	switch d.MediaType = cmp.Or(named, MediaTypeOCIManifest); d.MediaType {
	case MediaTypeOCIManifest, MediaTypeDockerManifest:
	default:
		return &DocumentError{d.Digest, fmt.Sprintf("has layers but calls itself %s", text.Quote(named))}
	}
	if f.Config == nil {
		return &DocumentError{d.Digest, "a manifest without config"}
	}
	if f.ArtifactType != "" {
		return &NotImageError{d.Digest, f.ArtifactType}
	}
	if !slices.Contains([]string{MediaTypeOCIConfig, MediaTypeDockerConfig}, f.Config.MediaType) {
		return &NotImageError{d.Digest, f.Config.MediaType}
	}
	for i, l := range append([]ocispec.Descriptor{*f.Config}, f.Layers...) {
		if _, err := addr.ParseDigest(string(l.Digest)); err != nil {
			return &DocumentError{d.Digest, fmt.Sprintf("%s: %v", part(i), err)}
		}
		if l.Size < 0 {
			return &DocumentError{d.Digest, fmt.Sprintf("%s: a size of %d bytes is out of bounds", part(i), l.Size)}
		}
	}
	d.Manifest = &Manifest{Config: *f.Config, Layers: f.Layers, Annotations: f.Annotations}
	return nil
}

// part names the i-th of a manifest's descriptors, the config being the first.
func part(i int) string {
	if i == 0 {
		return "config"
	}
	return fmt.Sprintf("layers[%d]", i-1)
}
