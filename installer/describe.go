package installer

import (
	"context"
	"fmt"
	"io"
	"slices"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/sync/errgroup"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/chain"
	"github.com/pluginlock/plugins/internal/image"
	"github.com/pluginlock/plugins/internal/text"
	"github.com/pluginlock/plugins/lock"
)

// sighting is what the documents of one version say.
type sighting struct {
	candidate Candidate
	doc       *image.Document
	offers    []image.Child
	manifests []*image.Document // of offers
	plugin    bool              // a plugin image
	declared  []image.Declaration
}

// protocols are those that every manifest declares.
func (s *sighting) protocols() []int {
	if !s.plugin {
		return nil
	}
	return s.declared[0].Protocols
}

// describe reads the manifests and configs of an image and judges them against
// the requirement.
func (r *resolver) describe(ctx context.Context, req Requirement, c Candidate, doc *image.Document) (*sighting, string, error) {
	s := &sighting{candidate: c, doc: doc}
	var err error
	if s.offers, err = r.offers(ctx, req.Source, doc); err != nil {
		return nil, "", err
	}
	if reason := lacksPlatform(req, s.offers); reason != "" {
		return s, reason, nil
	}
	if s.manifests, err = r.documents.children(ctx, req.Source, digestsOf(s.offers)); err != nil {
		return nil, "", err
	}
	if err := r.checkConfigs(ctx, req.Source, s.offers, s.manifests); err != nil {
		return nil, "", err
	}
	if s.plugin, err = isPluginImage(s.manifests); err != nil {
		return nil, "", err
	}
	switch {
	case s.plugin && !req.Executable.IsZero():
		return nil, "", imageErrorf("version %s is a plugin image, which declares its executable itself: remove \"executable\" from the requirement", c.Version)
	case !s.plugin && req.Executable.IsZero():
		return nil, "", imageErrorf("version %s is not a plugin image, so nothing says which of its files to run: add that to the requirement, such as executable = \"/usr/bin/%s\"", c.Version, req.Name)
	case !s.plugin:
		return s, "", nil
	}
	if reason, err := s.declare(req.Source); err != nil || reason != "" {
		return s, reason, err
	}
	if !shareProtocol(req.Protocols, s.protocols()) {
		return s, fmt.Sprintf("it speaks protocol %s, not %s", text.Join(s.protocols()), text.Join(req.Protocols)), nil
	}
	return s, "", nil
}

// declare reads what the manifests of a plugin image declare; they have to
// agree with each other, with the tag and with the source.
func (s *sighting) declare(source addr.Source) (reason string, err error) {
	version := s.candidate.Version
	if pushed := s.doc.Source(); pushed != "" && pushed != source.String() {
		return "", imageErrorf("version %s says that it was pushed to %s, not to %s", version, text.Clip(pushed), source)
	}
	for i, manifest := range s.manifests {
		declared, _, err := manifest.Declaration()
		if err != nil {
			return "", err
		}
		if v, ok := chain.DeclaredVersion(declared); declared.Version != "" && (!ok || v != version) {
			return fmt.Sprintf("it declares itself to be version %q", text.Clip(declared.Version)), nil
		}
		if i > 0 && !slices.Equal(declared.Protocols, s.declared[0].Protocols) {
			return "", imageErrorf("version %s declares protocols %s for %s, %s for %s", version,
				text.Join(s.declared[0].Protocols), s.offers[0].Platform, text.Join(declared.Protocols), s.offers[i].Platform)
		}
		s.declared = append(s.declared, declared)
	}
	return "", nil
}

// lockEntry turns a sighting into a lock entry: every platform of a plugin image
// from its manifests' annotations, the platforms asked for of a foreign image
// from their layers, which are downloaded.
func (r *resolver) lockEntry(ctx context.Context, req Requirement, s *sighting) (*lock.Entry, error) {
	entry := &lock.Entry{
		Name: req.Name, Source: req.Source, Version: s.candidate.Version, Digest: s.doc.Digest,
		Executable: req.Executable, Protocols: s.protocols(),
	}
	if tag := s.candidate.Tags[0]; tag != entry.Version.Tag() {
		entry.Tag = tag
	}
	if !s.plugin {
		var err error
		entry.Platforms, err = r.lockForeign(ctx, req, s)
		return entry, err
	}
	for i, manifest := range s.manifests {
		entry.Platforms = append(entry.Platforms, lock.Platform{
			Platform: s.offers[i].Platform, Manifest: manifest.Digest, ExecutableDigest: s.declared[i].ExecutableDigest})
	}
	return entry, nil
}

// isPluginImage asks the manifests, which are authoritative: tools drop the
// annotations of an index. A mixture is refused.
func isPluginImage(manifests []*image.Document) (bool, error) {
	count := 0
	for _, m := range manifests {
		if m.Manifest == nil {
			return false, &image.DocumentError{Digest: m.Digest, Reason: "is listed as a manifest but is an index"}
		}
		if image.IsPlugin(m.Manifest.Annotations) {
			count++
		}
	}
	if count != 0 && count != len(manifests) {
		return false, imageErrorf("only %d of its %d manifests are marked as a plugin image", count, len(manifests))
	}
	return count > 0, nil
}

// checkConfigs compares the platform that the index gives each manifest with
// the one in the image's own config.
func (r *resolver) checkConfigs(ctx context.Context, source addr.Source, offers []image.Child, manifests []*image.Document) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(transfers)
	for i, manifest := range manifests {
		group.Go(func() error {
			got, err := r.configPlatform(ctx, source, manifest)
			if err == nil && got != offers[i].Platform {
				err = imageErrorf("manifest %s is for %s by its index, for %s by its config", manifest.Digest, offers[i].Platform, got)
			}
			return err
		})
	}
	return group.Wait()
}

// configPlatform reads the platform out of an image's config.
func (r *resolver) configPlatform(ctx context.Context, source addr.Source, manifest *image.Document) (addr.Platform, error) {
	if manifest.Manifest == nil {
		return addr.Platform{}, &image.DocumentError{Digest: manifest.Digest, Reason: "is listed as a manifest but is an index"}
	}
	raw, err := r.documents.blob(ctx, source, manifest.Manifest.Config)
	if err != nil {
		return addr.Platform{}, err
	}
	platform, err := image.ConfigPlatform(raw)
	if err != nil {
		return addr.Platform{}, &image.DocumentError{Digest: manifest.Digest, Reason: err.Error()}
	}
	return platform, nil
}

// readSmall reads a blob of a document's size whole.
func readSmall(ctx context.Context, repo Repository, desc ocispec.Descriptor) (content []byte, err error) {
	if desc.Size > image.MaxDocumentSize {
		return nil, imageErrorf("blob %s has %d bytes, more than a document may have", desc.Digest, desc.Size)
	}
	blob, err := repo.Blob(ctx, desc)
	if err != nil {
		return nil, err
	}
	defer func() { _ = blob.Close() }()
	return io.ReadAll(blob)
}

func digestsOf(offers []image.Child) []addr.Digest {
	var digests []addr.Digest
	for _, o := range offers {
		digests = append(digests, o.Digest)
	}
	return digests
}

func platformsOf(offers []image.Child) []addr.Platform {
	var platforms []addr.Platform
	for _, o := range offers {
		platforms = append(platforms, o.Platform)
	}
	return platforms
}
