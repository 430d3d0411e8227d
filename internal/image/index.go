package image

import (
	"fmt"
	"slices"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/addr"
)

// Index is an image index.
type Index struct {
	Children    []Child
	Annotations map[string]string
	digest      addr.Digest
}

// Child is one manifest that an index lists.
type Child struct {
	Platform    addr.Platform // zero where the index names none that we know
	OSVersion   string
	Digest      addr.Digest
	Size        int64 // bytes
	MediaType   string
	Annotations map[string]string
}

// AmbiguousPlatformError means that an index lists two manifests for one
// platform, so that clients would differ in what they take.
type AmbiguousPlatformError struct {
	Index    addr.Digest
	Platform addr.Platform
	Digests  [2]addr.Digest // in order of their text, not of the index
}

func (e *AmbiguousPlatformError) Error() string {
	return fmt.Sprintf("index %s lists two manifests for %s: %s and %s", e.Index, e.Platform, e.Digests[0], e.Digests[1])
}

// Offers lists what can be installed, one child a platform, ordered by
// platform. Passed over are attestations, entries without a platform or with
// one that no Go program runs on, and entries that are not manifests. Several
// manifests of one platform that os.version tells apart are not offered at all.
//
// Errors: [*AmbiguousPlatformError], [*DocumentError] for a nested index.
func (x *Index) Offers() ([]Child, error) {
	byPlatform := map[addr.Platform][]Child{}
	for _, c := range x.Children {
		switch {
		case c.MediaType == MediaTypeOCIIndex || c.MediaType == MediaTypeDockerIndex:
			return nil, &DocumentError{x.digest, fmt.Sprintf("lists another index, %s: nested indexes are not supported", c.Digest)}
		case c.Platform.IsZero() || !isManifest(c.MediaType):
			continue
		case slices.ContainsFunc(byPlatform[c.Platform], func(o Child) bool { return o.Digest == c.Digest }):
			continue
		}
		byPlatform[c.Platform] = append(byPlatform[c.Platform], c)
	}
	var offers []Child
	for _, same := range byPlatform {
		if len(same) == 1 {
			offers = append(offers, same[0])
			continue
		}
		if err := x.ambiguous(same); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(offers, func(a, b Child) int { return a.Platform.Compare(b.Platform) })
	return offers, nil
}

// ambiguous refuses manifests of one platform that no os.version tells apart.
func (x *Index) ambiguous(same []Child) error {
	slices.SortFunc(same, func(a, b Child) int {
		return slices.Compare([]string{a.OSVersion, a.Digest.String()}, []string{b.OSVersion, b.Digest.String()})
	})
	for i := range same[1:] {
		if same[i].OSVersion == same[i+1].OSVersion {
			return &AmbiguousPlatformError{x.digest, same[i].Platform, [2]addr.Digest{same[i].Digest, same[i+1].Digest}}
		}
	}
	return nil
}

// Best picks from offers the child that runs best on want: the platform itself
// or an older variant of it, never another architecture.
func Best(offers []Child, want addr.Platform) (Child, bool) {
	for _, p := range want.Fallbacks() {
		for _, c := range offers {
			if c.Platform == p {
				return c, true
			}
		}
	}
	return Child{}, false
}

func isManifest(mediaType string) bool {
	return mediaType == MediaTypeOCIManifest || mediaType == MediaTypeDockerManifest
}

// attestationType marks the provenance entries that build tools add.
const attestationType = "vnd.docker.reference.type"

func newChild(digest addr.Digest, m ocispec.Descriptor) Child {
	c := Child{Digest: digest, Size: m.Size, MediaType: m.MediaType, Annotations: m.Annotations}
	if m.Platform == nil || m.Annotations[attestationType] != "" {
		return c
	}
	c.OSVersion = m.Platform.OSVersion
	c.Platform, _ = ParsePlatform(m.Platform.OS, m.Platform.Architecture, m.Platform.Variant)
	return c
}

// ParsePlatform reads a platform from the three fields of an index entry or a
// config; it fails where one of them is missing or unknown.
func ParsePlatform(os, arch, variant string) (addr.Platform, error) {
	text := os + "/" + arch
	if variant != "" {
		text += "/" + variant
	}
	return addr.ParsePlatform(text)
}
