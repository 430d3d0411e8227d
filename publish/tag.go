package publish

import (
	"context"
	"errors"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/getter"
	"github.com/pluginlock/plugins/internal/image"
)

// TagOptions say which image becomes which version.
type TagOptions struct {
	Client     *getter.Client
	Source     addr.Source
	Digest     addr.Digest // of an index that was pushed, see [PushOptions.Untagged]
	Tag        string      // the version's tag: "1.4.2", or "v1.4.2"
	Force      bool        // overwrite the tag
	MovingTags bool        // as of [PushOptions]
}

// TagResult is what came of a [Tag].
type TagResult struct {
	Source    addr.Source
	Tag       string
	Digest    addr.Digest
	Unchanged bool        // the tag named it already
	Replaced  addr.Digest // what the tag named before; zero where nothing
	Moving    []MovedTag
}

// Tag gives an image that was pushed without a tag its version. The image must
// be a plugin image of that version. Where only a moving tag failed, the result
// is there beside the error.
//
// Errors: as of [Push]; of kind [getter.ErrDigestNotFound] where the image is
// not there.
func Tag(ctx context.Context, o TagOptions) (*TagResult, error) {
	version, ok := addr.ParseTag(o.Tag)
	switch {
	case o.Client == nil || o.Source.IsZero() || o.Digest.IsZero():
		return nil, errors.New("a tag needs a client, a source and a digest")
	case !ok:
		return nil, &NotVersionError{o.Tag}
	}
	r, err := openRegistry(o.Client, o.Source)
	if err != nil {
		return nil, err
	}
	c, err := readContent(o.Digest, func(d addr.Digest) (*image.Document, error) { return r.mustHave(ctx, d) })
	if err != nil {
		return nil, err
	}
	p := &pusher{options: PushOptions{Client: o.Client, Source: o.Source}, version: version, registry: r, content: c,
		result: &PushResult{Digest: o.Digest}}
	if err := p.checkContent(); err != nil {
		return nil, err
	}
	result := &TagResult{Source: o.Source, Tag: o.Tag, Digest: o.Digest}
	if err := result.write(ctx, r, o, c.root.Raw); err != nil {
		return nil, err
	}
	if o.MovingTags {
		result.Moving, err = p.moveTags(ctx)
	}
	return result, err
}

func (t *TagResult) write(ctx context.Context, r *registry, o TagOptions, index []byte) error {
	there, err := r.document(ctx, o.Tag)
	switch {
	case err != nil:
		return err
	case there.digest == o.Digest:
		t.Unchanged = true
		return nil
	case there.digest.IsZero():
		if err := r.otherSpelling(ctx, o.Source, o.Tag, o.Digest); err != nil {
			return err
		}
	case !o.Force:
		return &TagExistsError{o.Source, o.Tag, there.digest, o.Digest}
	}
	t.Replaced = there.digest
	return r.putDocument(ctx, o.Tag, image.MediaTypeOCIIndex, index)
}

// mustHave reads a document that has to be there.
func (r *registry) mustHave(ctx context.Context, d addr.Digest) (*image.Document, error) {
	f, err := r.document(ctx, d.String())
	switch {
	case err != nil:
		return nil, err
	case f.digest.IsZero():
		return nil, r.target.Failure(nil, &getter.Error{Kind: getter.ErrDigestNotFound, Host: r.target.Host,
			Detail: r.target.Host + " does not have it"}, "get "+d.String(), d.String())
	case f.document == nil:
		_, err := image.Parse("", f.raw)
		return nil, &NotPluginError{d, "it is no image", err}
	}
	return f.document, nil
}
