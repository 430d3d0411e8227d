package publish

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/sync/errgroup"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/getter"
	"github.com/pluginlock/plugins/internal/image"
)

// InspectOptions say what is looked at: a source, or a layout.
type InspectOptions struct {
	Client    *getter.Client // for a source
	Reference Reference

	Layout    string // directory, in place of a source
	LayoutTag string // names one of its images; may be empty where it has one
}

// Inspection is what a source or a layout offers.
type Inspection struct {
	Source   addr.Source // the zero value for a layout
	Layout   string      // "" for a source
	Mirror   string      // that was asked in the place of the source's registry, or ""
	Versions []Version   // the newest first; nil where a tag or a digest was asked for
	Others   int         // tags that are no versions
	Image    *Image      // what was asked for, else the newest version; nil where there is none
}

// Version is one release of a source.
type Version struct {
	Version addr.Version
	Tag     string
}

// Image is one image.
type Image struct {
	Tag         string // that led to it, or ""
	Digest      addr.Digest
	MediaType   string
	Size        int64             // bytes of the document itself
	Plugin      bool              // a plugin image that an installer accepts
	Why         string            // why not
	Annotations map[string]string // of the document
	Platforms   []ImagePlatform   // by platform
}

// ImagePlatform is what an image offers for one platform.
type ImagePlatform struct {
	Platform         addr.Platform
	Manifest         addr.Digest
	DownloadSize     int64 // bytes of the layers
	Layers           int
	Protocols        []int             // of a plugin image
	Executable       string            // of a plugin image: path from the image's root
	ExecutableDigest addr.Digest       // of a plugin image
	Content          addr.Digest       // of a plugin image
	Annotations      map[string]string // of the manifest
}

// ErrNoMatch means that no version fits what was asked for.
var ErrNoMatch = errors.New("no version matches")

// Inspect looks at what a source or a layout offers. That something is no plugin
// image is part of the answer, not an error.
//
// Errors: [ErrNoMatch] for a constraint; [*getter.Error]; [*LayoutError]; those
// of the context.
func Inspect(ctx context.Context, o InspectOptions) (*Inspection, error) {
	if o.Layout != "" {
		return inspectLayout(ctx, o.Layout, o.LayoutTag)
	}
	if o.Client == nil || o.Reference.Source.IsZero() {
		return nil, errors.New("to inspect a source takes a client and the source")
	}
	repository, err := o.Client.Repository(o.Reference.Source)
	if err != nil {
		return nil, err
	}
	r := &Inspection{Source: o.Reference.Source, Mirror: repository.Mirror()}
	ref, tag, err := r.find(ctx, repository, o.Reference)
	if err != nil || ref == "" {
		return r, err
	}
	in := &inspector{document: repository.Document, blob: repository.Blob}
	r.Image, err = in.image(ctx, ref, tag)
	return r, err
}

// find returns what to look at: the tag or digest that is asked for, else the
// newest version that the constraint admits; "" where there is no version.
func (r *Inspection) find(ctx context.Context, repository *getter.Repository, want Reference) (ref, tag string, err error) {
	switch {
	case want.Digest != "":
		return want.Digest.String(), want.Tag, nil
	case want.Tag != "":
		return want.Tag, want.Tag, nil
	}
	tags, err := repository.Tags(ctx)
	if err != nil {
		return "", "", err
	}
	r.list(tags)
	if want.Constraint.IsZero() {
		for _, v := range r.Versions {
			if tag == "" || isRelease(v.Version) {
				tag = v.Tag
			}
			if isRelease(v.Version) {
				break
			}
		}
		return tag, tag, nil
	}
	for _, v := range r.Versions {
		if want.Constraint.Allows(v.Version) {
			return v.Tag, v.Tag, nil
		}
	}
	return "", "", fmt.Errorf("%s: %w %s", want.Source, ErrNoMatch, want.Constraint)
}

// list sorts tags into versions and others. Of two spellings of a version the
// one without v is taken.
func (r *Inspection) list(tags []string) {
	r.Versions = []Version{}
	for _, tag := range tags {
		v, ok := addr.ParseTag(tag)
		if !ok {
			r.Others++
			continue
		}
		at, found := slices.BinarySearchFunc(r.Versions, v, func(have Version, v addr.Version) int { return v.Compare(have.Version) })
		switch {
		case !found:
			r.Versions = slices.Insert(r.Versions, at, Version{v, tag})
		case tag == v.Tag():
			r.Versions[at].Tag = tag
		}
	}
}

func inspectLayout(ctx context.Context, dir, tag string) (*Inspection, error) {
	l, err := openLayout(dir)
	if err != nil {
		return nil, err
	}
	r := &Inspection{Layout: dir}
	var tags []string
	for _, m := range l.index.Manifests {
		if name := refTag(m.Annotations[ocispec.AnnotationRefName]); name != "" {
			tags = append(tags, name)
		}
	}
	r.list(tags)
	digest, err := l.choose(tag)
	if err != nil {
		return nil, err
	}
	in := &inspector{
		document: func(_ context.Context, ref string) (*image.Document, error) { return l.document(addr.Digest(ref)) },
		blob:     func(_ context.Context, d ocispec.Descriptor) (io.ReadCloser, error) { return l.open(d) },
	}
	if tag == "" && len(tags) == 1 {
		tag = tags[0]
	}
	r.Image, err = in.image(ctx, digest.String(), tag)
	return r, err
}

// inspector reads images from wherever they are.
type inspector struct {
	document func(ctx context.Context, ref string) (*image.Document, error)
	blob     func(context.Context, ocispec.Descriptor) (io.ReadCloser, error)
}

func (in *inspector) image(ctx context.Context, ref, tag string) (*Image, error) {
	root, err := in.document(ctx, ref)
	if other, ok := errors.AsType[*image.NotImageError](err); ok {
		return &Image{Tag: tag, Digest: other.Digest, Why: fmt.Sprintf("it holds %q", other.What)}, nil
	}
	if err != nil {
		return nil, err
	}
	found := &Image{Tag: tag, Digest: root.Digest, MediaType: root.MediaType, Size: int64(len(root.Raw)), Annotations: root.Annotations()}
	if root.Manifest != nil {
		found.Platforms, err = in.single(ctx, root)
	} else if err = in.children(ctx, root, found); err != nil || found.Why != "" {
		return found, err
	}
	if err != nil {
		return nil, err
	}
	_, err = readContent(root.Digest, func(d addr.Digest) (*image.Document, error) {
		if d == root.Digest {
			return root, nil
		}
		return in.document(ctx, d.String())
	})
	notPlugin, refused := errors.AsType[*NotPluginError](err)
	switch {
	case err == nil:
		found.Plugin = true
	case refused:
		found.Why = notPlugin.why(root.Digest)
	default:
		return nil, err
	}
	return found, nil
}

// why is the reason alone, where it is about the image itself.
func (e *NotPluginError) why(root addr.Digest) string {
	reason := e.Reason
	if e.Err != nil {
		reason += ": " + e.Err.Error()
	}
	if e.Digest != root {
		return fmt.Sprintf("manifest %s: %s", e.Digest, reason)
	}
	return reason
}

// children reads the manifests that an index lists. An index that is not clear
// is a reason, not an error.
func (in *inspector) children(ctx context.Context, root *image.Document, found *Image) error {
	offers, err := root.Index.Offers()
	if err != nil {
		found.Why = err.Error()
		return nil
	}
	found.Platforms = make([]ImagePlatform, len(offers))
	kept := map[addr.Digest]*image.Document{}
	documents := make([]*image.Document, len(offers))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(DefaultUploads)
	for i, offer := range offers {
		group.Go(func() (err error) {
			if documents[i], err = in.document(groupCtx, offer.Digest.String()); err == nil {
				found.Platforms[i] = newImagePlatform(offer.Platform, documents[i])
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, d := range documents {
		kept[d.Digest] = d
	}
	fetch := in.document
	in.document = func(ctx context.Context, ref string) (*image.Document, error) {
		if d := kept[addr.Digest(ref)]; d != nil {
			return d, nil
		}
		return fetch(ctx, ref)
	}
	return nil
}

func newImagePlatform(platform addr.Platform, d *image.Document) ImagePlatform {
	p := ImagePlatform{Platform: platform, Manifest: d.Digest, Annotations: d.Annotations()}
	if d.Manifest == nil {
		return p
	}
	p.Layers = len(d.Manifest.Layers)
	for _, l := range d.Manifest.Layers {
		p.DownloadSize += l.Size
	}
	if declared, ok, err := d.Declaration(); ok && err == nil {
		p.Protocols, p.Executable = declared.Protocols, declared.Executable
		p.ExecutableDigest, p.Content = declared.ExecutableDigest, declared.Content
	}
	return p
}

// single reads the platform of a manifest without an index from its config.
func (in *inspector) single(ctx context.Context, root *image.Document) ([]ImagePlatform, error) {
	d := root.Manifest.Config
	if d.Size > image.MaxDocumentSize {
		return nil, fmt.Errorf("the config %s has %d bytes, more than a config may have", d.Digest, d.Size)
	}
	r, err := in.blob(ctx, d)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	platform, err := image.ConfigPlatform(raw)
	if err != nil {
		return nil, nil // it is for no platform that plugins are for
	}
	return []ImagePlatform{newImagePlatform(platform, root)}, nil
}
