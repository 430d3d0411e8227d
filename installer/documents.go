package installer

import (
	"context"
	"errors"
	"sync"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/sync/errgroup"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/image"
	"github.com/pluginlock/plugins/internal/store"
)

// documents finds OCI documents by digest: in memory, then in the store, then
// at the registry. In one run each is asked for at most once per source, and so
// is each tag: what was judged is what is taken, even if the tag moves meanwhile.
type documents struct {
	open  OpenFunc
	store *store.Store

	mu   sync.Mutex
	seen map[documentKey]*image.Document
	tags map[tagKey]*image.Document
}

type documentKey struct {
	source addr.Source
	digest addr.Digest
}

type tagKey struct {
	source addr.Source
	tag    string
}

func newDocuments(open OpenFunc, s *store.Store) *documents {
	return &documents{open: open, store: s, seen: map[documentKey]*image.Document{}, tags: map[tagKey]*image.Document{}}
}

// repository opens the repository of a source; offline that is an error.
func (d *documents) repository(source addr.Source) (Repository, error) {
	if d.open == nil {
		return nil, &OfflineError{Source: source}
	}
	return d.open(source)
}

// tagged asks the registry what a tag points to now.
func (d *documents) tagged(ctx context.Context, source addr.Source, tag string) (*image.Document, error) {
	key := tagKey{source, tag}
	d.mu.Lock()
	known := d.tags[key]
	d.mu.Unlock()
	if known != nil {
		return known, nil
	}
	repo, err := d.repository(source)
	if err != nil {
		return nil, err
	}
	doc, err := repo.Document(ctx, tag)
	if err != nil {
		return nil, err
	}
	d.remember(source, doc)
	d.mu.Lock()
	d.tags[key] = doc
	d.mu.Unlock()
	return doc, nil
}

// top returns the document that a lock entry's digest names. One that is damaged
// in the store is fetched as if it were not there.
func (d *documents) top(ctx context.Context, source addr.Source, digest addr.Digest) (*image.Document, error) {
	if doc, err := d.localTop(source, digest); doc != nil || damagedIsNil(err) != nil {
		return doc, err
	}
	return d.fetch(ctx, source, digest)
}

// localTop is [documents.top] without asking anybody: nil where it is not here.
func (d *documents) localTop(source addr.Source, digest addr.Digest) (*image.Document, error) {
	if doc := d.recall(source, digest); doc != nil {
		return doc, nil
	}
	raw, err := d.store.Document(source, digest)
	if err != nil {
		return nil, missingIsNil(err)
	}
	return d.parse(source, raw)
}

// child returns a manifest that an index of source lists.
func (d *documents) child(ctx context.Context, source addr.Source, key store.Key) (*image.Document, error) {
	if doc := d.recall(source, key.Manifest); doc != nil {
		return doc, nil
	}
	if entry, err := d.store.Lookup(key); err == nil {
		return d.parse(source, entry.Manifest())
	}
	return d.fetch(ctx, source, key.Manifest)
}

// children fetches several manifests side by side, in the order given.
func (d *documents) children(ctx context.Context, source addr.Source, digests []addr.Digest) ([]*image.Document, error) {
	docs := make([]*image.Document, len(digests))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(transfers)
	for i, digest := range digests {
		group.Go(func() (err error) {
			docs[i], err = d.child(ctx, source, store.Key{Manifest: digest})
			return err
		})
	}
	return docs, group.Wait()
}

// blob reads a small blob, such as an image's config, whole.
func (d *documents) blob(ctx context.Context, source addr.Source, desc ocispec.Descriptor) ([]byte, error) {
	repo, err := d.repository(source)
	if err != nil {
		return nil, err
	}
	return readSmall(ctx, repo, desc)
}

func (d *documents) fetch(ctx context.Context, source addr.Source, digest addr.Digest) (*image.Document, error) {
	repo, err := d.repository(source)
	if err != nil {
		return nil, err
	}
	doc, err := repo.Document(ctx, digest.String())
	if err == nil {
		d.remember(source, doc)
	}
	return doc, err
}

func (d *documents) parse(source addr.Source, raw []byte) (*image.Document, error) {
	doc, err := image.Parse("", raw)
	if err == nil {
		d.remember(source, doc)
	}
	return doc, err
}

func (d *documents) remember(source addr.Source, doc *image.Document) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen[documentKey{source, doc.Digest}] = doc
}

func (d *documents) recall(source addr.Source, digest addr.Digest) *image.Document {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.seen[documentKey{source, digest}]
}

func missingIsNil(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
