package publish

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/sync/errgroup"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/getter"
	"github.com/pluginlock/plugins/internal/image"
)

// DefaultUploads is how many blobs are sent at once.
const DefaultUploads = 4

// PushOptions say what is pushed and where to.
type PushOptions struct {
	Client *getter.Client
	Source addr.Source

	// Tag is the version's tag: "1.4.2", or "v1.4.2". It must be empty with
	// Untagged and given otherwise.
	Tag      string
	Untagged bool // push by digest only; [Tag] gives it its version later

	// Path is a layout, or the directory of a build. That is packed first, as
	// Package says, whose Dir and Output are not used; metadata without a
	// version get the tag's.
	Path    string
	Package PackageOptions

	Force       bool // overwrite the version's tag, or a platform with AddPlatform
	AddPlatform bool // add the platforms to the image that the tag names, if there is one
	MovingTags  bool // also let MAJOR.MINOR, MAJOR and "latest" follow, see [MovedTags]

	MountFrom  []addr.Source  // on the same registry: where blobs may be taken from
	Uploads    int            // blobs sent at once; 0 stands for [DefaultUploads]
	OnProgress func(Progress) // one call at a time
}

// Progress is how far one blob is.
type Progress struct {
	Digest addr.Digest
	Status BlobStatus
	Done   int64 // bytes
	Total  int64 // bytes
}

// BlobStatus says what became of a blob.
type BlobStatus string

// What becomes of a blob.
const (
	BlobSending BlobStatus = "sending"
	BlobSent    BlobStatus = "sent"
	BlobExists  BlobStatus = "exists"  // the registry had it
	BlobMounted BlobStatus = "mounted" // the registry had it in another repository
)

// PushResult is what came of a push.
type PushResult struct {
	Source    addr.Source
	Tag       string      // "" for an untagged push
	Digest    addr.Digest // of the index; with Unchanged, of the one that is there
	Unchanged bool        // the tag was there with this content: nothing was written for it
	Replaced  addr.Digest // what the tag named before; zero where nothing
	Platforms []addr.Platform
	Blobs     map[BlobStatus]int // how many
	SentBytes int64              // of blobs
	Moving    []MovedTag         // what became of the moving tags, if they were asked for
	Packed    *Result            // of the directory, where Path was none of a layout
}

// Reference is the image by digest, as signing tools and lock files have it:
// SOURCE@DIGEST.
func (r *PushResult) Reference() string { return r.Source.String() + "@" + r.Digest.String() }

// TagExistsError means that a version is published with other content.
type TagExistsError struct {
	Source   addr.Source
	Tag      string
	Existing addr.Digest
	New      addr.Digest
}

func (e *TagExistsError) Error() string {
	return fmt.Sprintf("%s:%s exists with other content: %s, not %s", e.Source, e.Tag, e.Existing, e.New)
}

// TagChangedError means that somebody else wrote the tag while the content was
// sent. The content is there; pushing again is cheap.
type TagChangedError struct {
	Source   addr.Source
	Tag      string
	Seen     addr.Digest // at first; zero where there was none
	Existing addr.Digest // now; zero where there is none
}

func (e *TagChangedError) Error() string {
	return fmt.Sprintf("%s:%s was changed by somebody else during the push, from %s to %s", e.Source, e.Tag, orNothing(e.Seen), orNothing(e.Existing))
}

func orNothing(d addr.Digest) string {
	if d.IsZero() {
		return "nothing"
	}
	return d.String()
}

// MismatchError means that an image says of itself something else than it is
// to be published as.
type MismatchError struct {
	What  string // "version" or "source"
	Image string // what the image says
	Asked string
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("the %s of the image is %s, not %s: installers would refuse it", e.What, e.Image, e.Asked)
}

// Push sends an image as a version of a source: first blobs, then manifests,
// then the index, all by digest, and the tag last. Blobs that the registry has
// are not sent; a push that was killed goes on where it was when it is repeated.
// Pushing what is there already writes nothing. A version that is there with
// other content is an error, unless Force is set.
//
// Where only a moving tag failed, the result is there beside the error.
//
// Errors: those of [Package] for a directory; [*TagExistsError],
// [*TagChangedError], [*MismatchError], [*NotVersionError], [*NotPluginError],
// [*LayoutError], [*PlatformConflictError], [*AnnotationConflictError];
// [*getter.Error]; those of the context.
func Push(ctx context.Context, o PushOptions) (*PushResult, error) {
	version, err := o.check()
	if err != nil {
		return nil, err
	}
	p := &pusher{options: o, version: version, result: &PushResult{Source: o.Source, Tag: o.Tag, Blobs: map[BlobStatus]int{}}}
	if p.registry, err = openRegistry(o.Client, o.Source); err != nil {
		return nil, err
	}
	done, err := p.open(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := p.run(ctx); err != nil {
		return nil, err
	}
	if !o.MovingTags {
		return p.result, nil
	}
	p.result.Moving, err = p.moveTags(ctx)
	return p.result, err
}

func (o PushOptions) check() (addr.Version, error) {
	v, ok := addr.ParseTag(o.Tag)
	switch {
	case o.Client == nil || o.Source.IsZero() || o.Path == "":
		return v, errors.New("a push needs a client, a source and a path")
	case o.Untagged && (o.Tag != "" || o.MovingTags || o.AddPlatform || o.Force):
		return v, errors.New("an untagged push has no tag to write, move, extend or overwrite")
	case !o.Untagged && !ok:
		return v, &NotVersionError{o.Tag}
	}
	for _, from := range o.MountFrom {
		if from.Host() != o.Source.Host() {
			return v, fmt.Errorf("blobs of %s cannot be mounted: it is on another registry than %s", from, o.Source)
		}
	}
	return v, nil
}

// pusher is one run of [Push].
type pusher struct {
	options  PushOptions
	version  addr.Version // zero for an untagged push
	registry *registry
	layout   *layout
	content  *content
	result   *PushResult

	mu sync.Mutex // guards result and OnProgress while blobs are sent
}

// open finds the image, and packs it first where there is none. done removes
// what that needed.
func (p *pusher) open(ctx context.Context) (done func(), err error) {
	o, dir := p.options, p.options.Path
	done = func() {}
	if !IsLayout(dir) {
		temporary, err := os.MkdirTemp("", "plugins-push-*")
		if err != nil {
			return nil, err
		}
		done = func() { _ = os.RemoveAll(temporary) } // the operating system cleans up what stays
		dir = filepath.Join(temporary, "layout")
		if p.result.Packed, err = p.pack(ctx, dir); err != nil {
			done()
			return nil, err
		}
	}
	if p.layout, p.content, err = openPlugin(dir, o.Tag); err == nil {
		err = p.checkContent()
	}
	if err != nil {
		done()
		return nil, err
	}
	p.result.Digest, p.result.Platforms = p.content.root.Digest, p.content.platforms()
	return done, nil
}

func (p *pusher) pack(ctx context.Context, output string) (*Result, error) {
	o := p.options.Package
	o.Dir, o.Output = p.options.Path, output
	o.defaultVersion = p.version
	return Package(ctx, o)
}

// checkContent holds the image to what it is published as.
func (p *pusher) checkContent() error {
	if says := p.content.version(); !says.IsZero() && !p.version.IsZero() && says != p.version {
		return &MismatchError{"version", says.String(), p.version.String()}
	}
	if says := p.content.root.Source(); says != "" && says != p.options.Source.String() {
		return &MismatchError{"source", says, p.options.Source.String()}
	}
	return nil
}

// extensions is how often a platform is added anew because somebody else wrote
// the tag meanwhile.
const extensions = 5

// run pushes content and tag.
func (p *pusher) run(ctx context.Context) error {
	seen, index, err := p.decide(ctx)
	if err != nil || p.result.Unchanged {
		return err
	}
	if err := p.sendBlobs(ctx); err != nil {
		return err
	}
	if err := p.sendManifests(ctx); err != nil {
		return err
	}
	for try := 1; ; try++ {
		err := p.sendIndex(ctx, seen, index)
		var changed *TagChangedError
		if !p.options.AddPlatform || try == extensions || !errors.As(err, &changed) {
			return err
		}
		if seen, index, err = p.decide(ctx); err != nil || p.result.Unchanged {
			return err
		}
	}
}

// decide compares with what is there, before anything is written. It returns
// what the tag names so far and the index that it is to name.
func (p *pusher) decide(ctx context.Context) (seen addr.Digest, index []byte, err error) {
	index = p.content.root.Raw
	if p.options.Untagged {
		return "", index, nil
	}
	there, err := p.registry.document(ctx, p.options.Tag)
	if err != nil {
		return "", nil, err
	}
	if there.digest == p.result.Digest {
		p.result.Unchanged = true
		return there.digest, index, nil
	}
	if there.digest.IsZero() {
		return "", index, p.registry.otherSpelling(ctx, p.options.Source, p.options.Tag, p.result.Digest)
	}
	if p.options.AddPlatform {
		index, err = p.extend(there)
		return there.digest, index, err
	}
	same, err := p.sameContent(ctx, there)
	switch {
	case err != nil:
		return "", nil, err
	case same:
		p.result.Unchanged, p.result.Digest = true, there.digest
		return there.digest, there.raw, nil
	case !p.options.Force:
		return "", nil, &TagExistsError{p.options.Source, p.options.Tag, there.digest, p.result.Digest}
	}
	p.result.Replaced = there.digest
	return there.digest, index, nil
}

// otherSpelling refuses a version that is there with a v, or without, and with
// other content: installers would refuse both.
func (r *registry) otherSpelling(ctx context.Context, source addr.Source, tag string, digest addr.Digest) error {
	other, err := r.document(ctx, otherSpelling(tag))
	if err != nil {
		return err
	}
	if !other.digest.IsZero() && other.digest != digest {
		return &TagExistsError{source, otherSpelling(tag), other.digest, digest}
	}
	return nil
}

// sameContent reports whether an image differs from ours in its compression
// only, which depends on the version of the tool.
func (p *pusher) sameContent(ctx context.Context, there found) (bool, error) {
	if there.document == nil || there.document.Index == nil || !maps.Equal(there.document.Annotations(), p.content.root.Annotations()) {
		return false, nil
	}
	listed := there.document.Index.Children
	if len(listed) != len(p.content.children) {
		return false, nil
	}
	for i, ours := range p.content.children {
		if listed[i].Platform != ours.platform {
			return false, nil
		}
		if listed[i].Digest == ours.document.Digest {
			continue
		}
		theirs, err := p.registry.document(ctx, listed[i].Digest.String())
		if err != nil {
			return false, err
		}
		if theirs.document == nil || !sameManifest(theirs.document, ours.document) {
			return false, nil
		}
	}
	return true, nil
}

// sameManifest compares what says what is in the layers: the config, which has
// their diff_ids, and the annotations.
func sameManifest(a, b *image.Document) bool {
	return a.Manifest != nil && a.Manifest.Config.Digest == b.Manifest.Config.Digest &&
		maps.Equal(a.Annotations(), b.Annotations()) && len(a.Manifest.Layers) == len(b.Manifest.Layers)
}

// sendBlobs sends configs and layers, several at once.
func (p *pusher) sendBlobs(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	limit := p.options.Uploads
	if limit <= 0 {
		limit = DefaultUploads
	}
	group.SetLimit(limit)
	for _, d := range p.content.blobs() {
		group.Go(func() error {
			return repeated(ctx, func() error { return p.sendBlob(ctx, d) })
		})
	}
	return group.Wait()
}

func (p *pusher) sendBlob(ctx context.Context, d ocispec.Descriptor) error {
	digest := addr.Digest(d.Digest)
	if there, err := p.registry.has(ctx, digest); there || err != nil {
		p.count(err, d, BlobExists)
		return err
	}
	location, err := p.mount(ctx, d)
	if err != nil || location == nil {
		p.count(err, d, BlobMounted)
		return err
	}
	err = p.registry.send(ctx, location, d, func() (io.ReadCloser, error) {
		f, err := os.Open(p.layout.blobPath(digest))
		if err != nil {
			return nil, err
		}
		return &sending{f, p, d, 0}, nil
	})
	p.count(err, d, BlobSent)
	return err
}

// mount begins an upload, if it can from another repository; then there is
// nothing to send, and the location is nil.
func (p *pusher) mount(ctx context.Context, d ocispec.Descriptor) (location *url.URL, err error) {
	digest := addr.Digest(d.Digest)
	for _, from := range p.options.MountFrom {
		mounted, at, err := p.registry.begin(ctx, digest, from.Path())
		if mounted || err != nil {
			return nil, err
		}
		location = at // of a session that waits for content
	}
	if location == nil {
		_, location, err = p.registry.begin(ctx, digest, "")
	}
	return location, err
}

// count notes what became of a blob.
func (p *pusher) count(err error, d ocispec.Descriptor, status BlobStatus) {
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.result.Blobs[status]++
	if status == BlobSent {
		p.result.SentBytes += d.Size
	}
	p.say(d, status, d.Size)
}

// say reports progress; p.mu is held.
func (p *pusher) say(d ocispec.Descriptor, status BlobStatus, done int64) {
	if p.options.OnProgress != nil {
		p.options.OnProgress(Progress{addr.Digest(d.Digest), status, done, d.Size})
	}
}

// sending is a blob on its way.
type sending struct {
	*os.File
	pusher *pusher
	blob   ocispec.Descriptor
	done   int64
}

func (s *sending) Read(b []byte) (int, error) {
	n, err := s.File.Read(b)
	s.done += int64(n)
	s.pusher.mu.Lock()
	defer s.pusher.mu.Unlock()
	s.pusher.say(s.blob, BlobSending, s.done)
	return n, err
}

// sendManifests writes the manifests by digest.
func (p *pusher) sendManifests(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(DefaultUploads)
	for _, c := range p.content.children {
		group.Go(func() error {
			return p.registry.putDocument(ctx, c.document.Digest.String(), c.document.MediaType, c.document.Raw)
		})
	}
	return group.Wait()
}

// sendIndex writes the index by digest, then the tag.
func (p *pusher) sendIndex(ctx context.Context, seen addr.Digest, index []byte) error {
	if err := p.registry.putDocument(ctx, addr.DigestOf(index).String(), image.MediaTypeOCIIndex, index); err != nil || p.options.Untagged {
		return err
	}
	return p.registry.writeTag(ctx, p.options.Source, p.options.Tag, seen, index)
}

// writeTag lets a tag name an index, unless it names something else by now than
// it did when the decision was made.
func (r *registry) writeTag(ctx context.Context, source addr.Source, tag string, seen addr.Digest, index []byte) error {
	now, err := r.document(ctx, tag)
	if err != nil {
		return err
	}
	if now.digest != seen && now.digest != addr.DigestOf(index) {
		return &TagChangedError{source, tag, seen, now.digest}
	}
	return r.putDocument(ctx, tag, image.MediaTypeOCIIndex, index)
}
