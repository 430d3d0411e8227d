package installer

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/extract"
	"github.com/pluginlock/plugins/internal/image"
	"github.com/pluginlock/plugins/internal/store"
	"github.com/pluginlock/plugins/internal/text"
	"github.com/pluginlock/plugins/lock"
)

// foreignPlatforms lists what of a foreign image is locked: the platforms that
// were asked for, else those that it offers and the requirement has a path for.
func foreignPlatforms(req Requirement, offers []image.Child) []addr.Platform {
	if len(req.Platforms) > 0 {
		var platforms []addr.Platform
		for _, p := range req.Platforms {
			if child, ok := image.Best(offers, p); ok && !slices.Contains(platforms, child.Platform) {
				platforms = append(platforms, child.Platform)
			}
		}
		slices.SortFunc(platforms, addr.Platform.Compare)
		return platforms
	}
	var platforms []addr.Platform
	for _, o := range offers {
		if req.Executable.For(o.Platform) != "" {
			platforms = append(platforms, o.Platform)
		}
	}
	return platforms
}

// lockForeign takes the executable out of each platform's image, since a
// foreign image does not declare its digest. What it took is in the store
// afterwards, where applying finds it.
func (r *resolver) lockForeign(ctx context.Context, req Requirement, s *sighting) ([]lock.Platform, error) {
	platforms := foreignPlatforms(req, s.offers)
	if len(req.Platforms) == 0 && len(platforms) > 1 {
		r.note(req, fmt.Sprintf("a foreign image is downloaded for each platform to lock it, %s here; \"platforms\" in the requirement makes them fewer", text.Join(platforms)))
	}
	locked := make([]lock.Platform, len(platforms))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(transfers)
	for i, p := range platforms {
		manifest := s.manifests[slices.IndexFunc(s.offers, func(o image.Child) bool { return o.Platform == p })]
		group.Go(func() error {
			digest, err := r.storeForeign(ctx, req, s.candidate.Version, p, manifest)
			locked[i] = lock.Platform{Platform: p, Manifest: manifest.Digest, ExecutableDigest: digest}
			return err
		})
	}
	return locked, group.Wait()
}

// storeForeign puts one platform's executable into the store and returns its
// digest.
func (r *resolver) storeForeign(ctx context.Context, req Requirement, v addr.Version, p addr.Platform, manifest *image.Document) (addr.Digest, error) {
	path := req.Executable.For(p)
	if path == "" {
		return "", imageErrorf("the requirement gives no executable for %s", p)
	}
	target := fetch{
		plugin: req.Name, source: req.Source, version: v, platform: p,
		key:      store.Key{Manifest: manifest.Digest, Executable: path},
		manifest: manifest,
	}
	target.pinned.Manifest, target.pinned.Executable = manifest, strings.TrimPrefix(path, "/")
	entry, err := r.storeEntry(ctx, r.documents, target)
	if err != nil {
		return "", err
	}
	return executableDigest(entry, target.pinned.Executable)
}

// executableDigest returns the digest of a stored program. The receipt that
// says so was compared with the files when the entry was put or found.
func executableDigest(entry *store.Entry, path string) (addr.Digest, error) {
	for _, record := range entry.Records() {
		if record.Path == path {
			return record.Digest, nil
		}
	}
	return "", imageErrorf("%q is not among the files that were taken from the image", path)
}

// fillForeign writes the executable of a foreign image below root.
func (in *Installer) fillForeign(ctx context.Context, repo Repository, f fetch, root *os.Root) ([]extract.Record, error) {
	result, err := extract.Executable(ctx, f.manifest.Manifest.Layers, repo.Blob, f.key.Executable, f.platform, root, in.Limits)
	return result.Records, err
}
