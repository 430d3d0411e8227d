package installer

import (
	"context"
	"encoding/json"
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

// describe turns an image into a lock entry: every platform of a plugin image
// from its manifests' annotations, the platforms asked for of a foreign image
// from their layers. A reason means that the image is passed over.
func (r *resolver) describe(ctx context.Context, req Requirement, c Candidate, doc *image.Document, offers []image.Child) (*lock.Entry, string, error) {
	entry := &lock.Entry{Name: req.Name, Source: req.Source, Version: c.Version, Digest: doc.Digest}
	if c.Tags[0] != c.Version.Tag() {
		entry.Tag = c.Tags[0]
	}
	manifests, err := r.documents.children(ctx, req.Source, digestsOf(offers))
	if err != nil {
		return nil, "", err
	}
	if err := r.checkConfigs(ctx, req.Source, offers, manifests); err != nil {
		return nil, "", err
	}
	plugin, err := isPluginImage(manifests)
	switch {
	case err != nil:
		return nil, "", err
	case plugin && !req.Executable.IsZero():
		return nil, "", imageErrorf("version %s is a plugin image, which declares its executable itself: remove \"executable\" from the requirement", c.Version)
	case !plugin && req.Executable.IsZero():
		return nil, "", imageErrorf("version %s is not a plugin image: add to the requirement where its program lies, such as executable = \"/usr/bin/%s\"", c.Version, req.Name)
	case plugin:
		reason, err := declare(entry, doc, offers, manifests)
		return entry, reason, err
	}
	entry.Executable = req.Executable
	entry.Platforms, err = r.lockForeign(ctx, req, foreignPlatforms(req, offers), manifestsByPlatform(offers, manifests))
	return entry, "", err
}

// declare fills entry from what the manifests of a plugin image declare.
func declare(entry *lock.Entry, doc *image.Document, offers []image.Child, manifests []*image.Document) (reason string, err error) {
	if source := doc.Source(); source != "" && source != entry.Source.String() {
		return "", imageErrorf("version %s says that it was pushed to %s, not to %s", entry.Version, text.Clip(source), entry.Source)
	}
	for i, manifest := range manifests {
		declared, _, err := manifest.Declaration()
		if err != nil {
			return "", err
		}
		if version, ok := chain.DeclaredVersion(declared); declared.Version != "" && (!ok || version != entry.Version) {
			return fmt.Sprintf("it declares itself to be version %q", text.Clip(declared.Version)), nil
		}
		if i > 0 && !slices.Equal(declared.Protocols, entry.Protocols) {
			return "", imageErrorf("version %s declares protocols %s for %s, %s for %s", entry.Version,
				text.Join(entry.Protocols), offers[0].Platform, text.Join(declared.Protocols), offers[i].Platform)
		}
		entry.Protocols = declared.Protocols
		entry.Platforms = append(entry.Platforms, lock.Platform{
			Platform: offers[i].Platform, Manifest: manifest.Digest, ExecutableDigest: declared.ExecutableDigest})
	}
	return "", nil
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
	var config ocispec.Platform
	if err := json.Unmarshal(raw, &config); err != nil {
		return addr.Platform{}, &image.DocumentError{Digest: manifest.Digest, Reason: "its config is not JSON"}
	}
	if config.OS == "" || config.Architecture == "" {
		return addr.Platform{}, &image.DocumentError{Digest: manifest.Digest, Reason: "its config does not say \"os\" and \"architecture\""}
	}
	platform, err := image.ParsePlatform(config.OS, config.Architecture, config.Variant)
	if err != nil {
		return addr.Platform{}, &image.DocumentError{Digest: manifest.Digest, Reason: "its config: " + err.Error()}
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
