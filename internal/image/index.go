package image

import (
	"cmp"
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
	Platform  addr.Platform // zero where the index names none that we know, or marks an attestation
	OSVersion string        // "os.version", which tells builds of Windows apart
	Digest    addr.Digest
	Size      int64 // bytes
	MediaType string
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
// The order of the entries in the index does not matter.
//
// Errors: [*AmbiguousPlatformError], [*DocumentError] for a nested index.
func (x *Index) Offers() ([]Child, error) {
	children := slices.Clone(x.Children)
	slices.SortFunc(children, Child.compare)
	var usable []Child
	for _, c := range children {
		switch {
		case c.MediaType == MediaTypeOCIIndex || c.MediaType == MediaTypeDockerIndex:
			return nil, &DocumentError{x.digest, fmt.Sprintf("lists another index, %s: nested indexes are not supported", c.Digest)}
		case !c.Platform.IsZero() && isManifest(c.MediaType):
			usable = append(usable, c)
		}
	}
	var offers []Child
	for len(usable) > 0 {
		n := slices.IndexFunc(usable, func(c Child) bool { return c.Platform != usable[0].Platform })
		if n < 0 {
			n = len(usable)
		}
		one, err := x.only(usable[:n])
		if err != nil {
			return nil, err
		}
		offers, usable = append(offers, one...), usable[n:]
	}
	return offers, nil
}

// compare orders children by platform, then by all else.
func (c Child) compare(o Child) int {
	return cmp.Or(c.Platform.Compare(o.Platform), cmp.Compare(c.OSVersion, o.OSVersion), cmp.Compare(c.Digest, o.Digest),
		cmp.Compare(c.Size, o.Size), cmp.Compare(c.MediaType, o.MediaType))
}

// only returns the one manifest among the entries of a platform, sorted; none
// where os.version tells several apart.
func (x *Index) only(same []Child) ([]Child, error) {
	several := false
	for i := range same[1:] {
		a, b := same[i], same[i+1]
		if a.OSVersion == b.OSVersion && a.Digest != b.Digest {
			return nil, &AmbiguousPlatformError{x.digest, a.Platform, [2]addr.Digest{a.Digest, b.Digest}}
		}
		several = several || a.Digest != b.Digest
	}
	if several {
		return nil, nil
	}
	return same[:1], nil
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
	c := Child{Digest: digest, Size: m.Size, MediaType: m.MediaType}
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
