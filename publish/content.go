package publish

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/image"
)

// NotPluginError means that an image is not one that [Package] makes.
type NotPluginError struct {
	Digest addr.Digest
	Reason string
	Err    error // the cause; nil where Reason says it all
}

func (e *NotPluginError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s is not a plugin image: %s: %v", e.Digest, e.Reason, e.Err)
	}
	return fmt.Sprintf("%s is not a plugin image: %s", e.Digest, e.Reason)
}

// Unwrap returns the cause.
func (e *NotPluginError) Unwrap() error { return e.Err }

// content is a plugin image, complete and checked.
type content struct {
	root     *image.Document
	index    ocispec.Index
	children []childContent // in the order of the index
}

type childContent struct {
	platform   addr.Platform
	descriptor ocispec.Descriptor
	document   *image.Document
	declared   image.Declaration
	payload    ocispec.Descriptor
}

// version is what the image says it is; the zero value where it does not.
func (c *content) version() addr.Version {
	v, _ := addr.ParseVersion(c.index.Annotations[ocispec.AnnotationVersion])
	return v
}

func (c *content) platforms() []addr.Platform {
	var all []addr.Platform
	for _, child := range c.children {
		all = append(all, child.platform)
	}
	return all
}

// blobs lists the configs and layers, each once, the largest first.
func (c *content) blobs() []ocispec.Descriptor {
	var all []ocispec.Descriptor
	seen := map[string]bool{}
	for _, child := range c.children {
		m := child.document.Manifest
		for _, d := range append([]ocispec.Descriptor{m.Config}, m.Layers...) {
			if !seen[string(d.Digest)] {
				seen[string(d.Digest)] = true
				all = append(all, d)
			}
		}
	}
	return largestFirst(all)
}

// readContent reads a plugin image from where document finds its parts, and
// holds it to the rules of an installer.
func readContent(digest addr.Digest, document func(addr.Digest) (*image.Document, error)) (*content, error) {
	root, err := document(digest)
	if err != nil {
		return nil, err
	}
	refuse := func(reason string, err error) (*content, error) { return nil, &NotPluginError{digest, reason, err} }
	switch {
	case root.Index == nil:
		return refuse("it is a single manifest, not an index", nil)
	case !image.IsPlugin(root.Annotations()):
		return refuse("its index has no annotation "+image.AnnotationFormat, nil)
	case root.Annotations()[image.AnnotationFormat] != image.Format:
		return refuse("it has another format than "+image.Format, nil)
	}
	c := &content{root: root}
	if err := json.Unmarshal(root.Raw, &c.index); err != nil {
		return refuse("its index is broken", err)
	}
	offers, err := root.Index.Offers()
	switch {
	case err != nil:
		return refuse("its platforms are not clear", err)
	case len(offers) == 0:
		return refuse("its index lists no platform", nil)
	}
	for i, listed := range root.Index.Children {
		if !slices.ContainsFunc(offers, func(o image.Child) bool { return o.Digest == listed.Digest }) {
			continue
		}
		one, err := readChild(listed, document)
		if err != nil {
			return nil, err
		}
		one.descriptor = c.index.Manifests[i]
		if index := c.index.Annotations[ocispec.AnnotationVersion]; one.declared.Version != index {
			return refuse(fmt.Sprintf("its index names the version %q, its manifest for %s %q", index, listed.Platform, one.declared.Version), nil)
		}
		c.children = append(c.children, one)
	}
	return c, nil
}

func readChild(listed image.Child, document func(addr.Digest) (*image.Document, error)) (childContent, error) {
	doc, err := document(listed.Digest)
	if err != nil {
		return childContent{}, err
	}
	refuse := func(reason string, err error) (childContent, error) {
		return childContent{}, &NotPluginError{listed.Digest, reason, err}
	}
	if doc.Manifest == nil {
		return refuse("it is an index where a manifest is expected", nil)
	}
	declared, ok, err := doc.Declaration()
	switch {
	case err != nil:
		return refuse("what it declares cannot be read", err)
	case !ok:
		return refuse("it has no annotation "+image.AnnotationFormat, nil)
	}
	payload, err := doc.Payload()
	if err != nil {
		return refuse("it has no payload", err)
	}
	return childContent{platform: listed.Platform, document: doc, declared: declared, payload: payload}, nil
}

// plugin reads one plugin image of a layout, and sees that all of it is there.
func (l *layout) plugin(digest addr.Digest) (*content, error) {
	c, err := readContent(digest, l.document)
	if err != nil {
		return nil, err
	}
	if len(c.children) != len(c.index.Manifests) {
		return nil, &NotPluginError{digest, fmt.Sprintf("of %d entries in its index, %d are for a platform", len(c.index.Manifests), len(c.children)), nil}
	}
	for _, d := range c.blobs() {
		info, err := os.Stat(l.blobPath(addr.Digest(d.Digest)))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, &LayoutError{l.dir, fmt.Sprintf("it lacks %s", d.Digest)}
		case err != nil:
			return nil, err
		case info.Size() != d.Size:
			return nil, &LayoutError{l.dir, fmt.Sprintf("%s has %d bytes, not %d", d.Digest, info.Size(), d.Size)}
		}
	}
	return c, nil
}
