package publish

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/image"
	"github.com/pluginlock/plugins/internal/text"
)

// JoinOptions say which layouts become one image.
type JoinOptions struct {
	Layouts []string // directories with a plugin image each
	Tag     string   // names the image in layouts that hold several; may be empty
	Output  string   // as of [PackageOptions]
}

// PlatformConflictError means that two images to be joined have different
// content for one platform.
type PlatformConflictError struct {
	Platform addr.Platform
	Digests  [2]addr.Digest // of the manifests
}

func (e *PlatformConflictError) Error() string {
	return fmt.Sprintf("there are two manifests for %s: %s and %s", e.Platform, e.Digests[0], e.Digests[1])
}

// AnnotationConflictError means that two images to be joined are not of the
// same plugin and version.
type AnnotationConflictError struct {
	Annotation string
	Values     [2]string // "" where one of them lacks it
}

func (e *AnnotationConflictError) Error() string {
	return fmt.Sprintf("the images to be joined differ in %s: %q and %q", e.Annotation, text.Clip(e.Values[0]), text.Clip(e.Values[1]))
}

// Join makes one image of those that several build jobs have made, each for
// some of the platforms. The result is what one job would have made of all.
//
// Errors: [*PlatformConflictError], [*AnnotationConflictError], [*LayoutError],
// [*NotPluginError]; those of the context and the file system.
func Join(ctx context.Context, o JoinOptions) (*Result, error) {
	if len(o.Layouts) == 0 || o.Output == "" {
		return nil, errors.New("no layouts to join, or no output directory")
	}
	parts := make([]*content, len(o.Layouts))
	layouts := make([]*layout, len(o.Layouts))
	for i, dir := range o.Layouts {
		var err error
		if layouts[i], parts[i], err = openPlugin(dir, o.Tag); err != nil {
			return nil, err
		}
	}
	joined := parts[0].index
	for _, next := range parts[1:] {
		var err error
		if joined, err = merge(joined, next.index, false); err != nil {
			return nil, err
		}
	}
	to, err := createLayout(o.Output)
	if err != nil {
		return nil, err
	}
	root, err := to.join(ctx, layouts, parts, sortedIndex(joined))
	if err != nil {
		return nil, to.abort(err)
	}
	return joinResult(o.Output, root, joined, parts), nil
}

func openPlugin(dir, tag string) (*layout, *content, error) {
	l, err := openLayout(dir)
	if err != nil {
		return nil, nil, err
	}
	digest, err := l.choose(tag)
	if err != nil {
		return nil, nil, err
	}
	c, err := l.plugin(digest)
	return l, c, err
}

func (w *layoutWriter) join(ctx context.Context, layouts []*layout, parts []*content, index ocispec.Index) (ocispec.Descriptor, error) {
	for i, part := range parts {
		all := part.blobs()
		for _, child := range part.children {
			all = append(all, child.descriptor)
		}
		for _, d := range all {
			if err := ctx.Err(); err != nil {
				return ocispec.Descriptor{}, err
			}
			if err := w.copyBlob(layouts[i], addr.Digest(d.Digest)); err != nil {
				return ocispec.Descriptor{}, err
			}
		}
	}
	root, err := writeIndex(w, index.Manifests, index.Annotations)
	if err != nil {
		return root, err
	}
	v, _ := addr.ParseVersion(index.Annotations[ocispec.AnnotationVersion])
	return root, w.finish(root, v.Tag())
}

// copyBlob verifies what it copies.
func (w *layoutWriter) copyBlob(from *layout, digest addr.Digest) error {
	f, err := os.Open(from.blobPath(digest))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // opened for reading: closing loses nothing
	b, err := w.newBlob()
	if err != nil {
		return err
	}
	if _, err := io.Copy(b, f); err != nil {
		return errors.Join(err, b.file.Close())
	}
	if got := addr.DigestFrom(b.hash); got != digest {
		return errors.Join(&LayoutError{from.dir, fmt.Sprintf("the file of %s holds %s", digest, got)}, b.file.Close())
	}
	_, err = b.commit("")
	return err
}

// merge adds the platforms of one index to those of another. With force, what
// is added wins where both have a platform, and what is there where they differ
// in an annotation.
func merge(there, added ocispec.Index, force bool) (ocispec.Index, error) {
	if err := sameAnnotations(there.Annotations, added.Annotations); err != nil && !force {
		return ocispec.Index{}, err
	}
	merged := there
	merged.Manifests = slices.Clone(there.Manifests)
	for _, d := range added.Manifests {
		i := slices.IndexFunc(merged.Manifests, func(o ocispec.Descriptor) bool { return platformOf(o) == platformOf(d) })
		switch {
		case i < 0:
			merged.Manifests = append(merged.Manifests, d)
		case merged.Manifests[i].Digest == d.Digest:
		case force:
			merged.Manifests[i] = d
		default:
			return ocispec.Index{}, &PlatformConflictError{platformOf(d), [2]addr.Digest{addr.Digest(merged.Manifests[i].Digest), addr.Digest(d.Digest)}}
		}
	}
	return merged, nil
}

// sortedIndex has the order in which [Package] lists platforms.
func sortedIndex(index ocispec.Index) ocispec.Index {
	index.Manifests = slices.SortedStableFunc(slices.Values(index.Manifests), func(a, b ocispec.Descriptor) int {
		return platformOf(a).Compare(platformOf(b))
	})
	return index
}

func sameAnnotations(a, b map[string]string) error {
	names := slices.Sorted(maps.Keys(a))
	names = append(names, slices.Sorted(maps.Keys(b))...)
	for _, name := range names {
		if a[name] != b[name] {
			return &AnnotationConflictError{name, [2]string{a[name], b[name]}}
		}
	}
	return nil
}

// platformOf returns the zero value for what is not for a platform.
func platformOf(d ocispec.Descriptor) addr.Platform {
	if d.Platform == nil {
		return addr.Platform{}
	}
	p, _ := image.ParsePlatform(d.Platform.OS, d.Platform.Architecture, d.Platform.Variant)
	return p
}

func joinResult(output string, root ocispec.Descriptor, index ocispec.Index, parts []*content) *Result {
	r := &Result{Layout: output, Digest: addr.Digest(root.Digest), Size: root.Size, Name: index.Annotations[ocispec.AnnotationTitle],
		PublishTo: index.Annotations[image.AnnotationSource]}
	r.Version, _ = addr.ParseVersion(index.Annotations[ocispec.AnnotationVersion])
	seen := map[addr.Platform]bool{}
	for _, part := range parts {
		for _, c := range part.children {
			if !seen[c.platform] {
				seen[c.platform] = true
				r.Platforms = append(r.Platforms, packedPlatform(c))
			}
		}
	}
	slices.SortFunc(r.Platforms, func(a, b PackedPlatform) int { return a.Platform.Compare(b.Platform) })
	return r
}

func packedPlatform(c childContent) PackedPlatform {
	return PackedPlatform{Platform: c.platform, Manifest: addr.Digest(c.descriptor.Digest), Executable: c.declared.Executable,
		ExecutableDigest: c.declared.ExecutableDigest, Content: c.declared.Content,
		Layer: addr.Digest(c.payload.Digest), LayerSize: c.payload.Size}
}

func largestFirst(all []ocispec.Descriptor) []ocispec.Descriptor {
	slices.SortStableFunc(all, func(a, b ocispec.Descriptor) int {
		return cmp.Or(cmp.Compare(b.Size, a.Size), strings.Compare(string(a.Digest), string(b.Digest)))
	})
	return all
}

// encodeIndex is the text of an index in the form in which this package writes
// it.
func encodeIndex(index ocispec.Index) ([]byte, error) { return json.Marshal(index) }
