// Package chain checks that a lock entry, the index it names, a manifest in
// that index and what the manifest declares all say the same. It is what makes
// a lock file more than a list of wishes: an edited version, a digest of
// another plugin or a manifest of another index is found here, on every init
// and on every launch.
//
// The package works on documents that are in memory and were compared with
// their digests; it reads and fetches nothing. Start at [Verify].
package chain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/image"
	"github.com/pluginlock/plugins/internal/text"
	"github.com/pluginlock/plugins/lock"
)

// Pinned is what an intact chain ends in.
type Pinned struct {
	Manifest         *image.Document
	Plugin           bool              // a plugin image; false for a foreign one
	Declaration      image.Declaration // zero for a foreign image
	Executable       string            // path from the image's root, with slashes, such as "plugin/aws"
	ExecutableDigest addr.Digest
}

// Error names the link of the chain that does not hold.
type Error struct {
	Plugin string
	Link   string // what was compared
	Locked string // what the lock file says
	Found  string // what the document says
}

func (e *Error) Error() string {
	return fmt.Sprintf("lock file and image differ: %s is %s in the lock file, %s in the image",
		e.Link, text.Clip(e.Locked), text.Clip(e.Found))
}

// Verify follows the chain for one platform of entry. top is the document that
// the entry's digest names, manifest the one that platform names; both are the
// same for an image without an index.
//
// Errors: [*Error], [*image.DocumentError], [*image.AmbiguousPlatformError].
func Verify(entry *lock.Entry, platform lock.Platform, top, manifest *image.Document) (Pinned, error) {
	differ := func(link string, locked, found any) (Pinned, error) {
		return Pinned{}, &Error{entry.Name, link, fmt.Sprint(locked), fmt.Sprint(found)}
	}
	switch {
	case top.Digest != entry.Digest:
		return differ("the digest", entry.Digest, top.Digest)
	case manifest.Digest != platform.Manifest:
		return differ("the manifest for "+platform.Platform.String(), platform.Manifest, manifest.Digest)
	case manifest.Manifest == nil:
		return differ("the manifest for "+platform.Platform.String(), platform.Manifest, "an index")
	}
	if err := Listed(entry, platform, top); err != nil {
		return Pinned{}, err
	}
	if source := top.Source(); source != "" && source != entry.Source.String() {
		return differ("the source", entry.Source, source)
	}
	declared, isPlugin, err := manifest.Declaration()
	if err != nil {
		return Pinned{}, err
	}
	if !isPlugin {
		path := entry.Executable.For(platform.Platform)
		if path == "" {
			return differ("the executable", "declared by the image", "not declared")
		}
		return Pinned{Manifest: manifest, Executable: strings.TrimPrefix(path, "/"), ExecutableDigest: platform.ExecutableDigest}, nil
	}
	switch version, ok := DeclaredVersion(declared); {
	case !entry.Executable.IsZero():
		return differ("the executable", "given", "declared by the image itself")
	case declared.Version != "" && (!ok || version != entry.Version):
		return differ("the version", entry.Version, declared.Version)
	case declared.ExecutableDigest != platform.ExecutableDigest:
		return differ("the executable's digest for "+platform.Platform.String(), platform.ExecutableDigest, declared.ExecutableDigest)
	case !slices.Equal(declared.Protocols, entry.Protocols):
		return differ("the list of protocols", orNone(text.Join(entry.Protocols)), orNone(text.Join(declared.Protocols)))
	}
	return Pinned{manifest, true, declared, declared.Executable, declared.ExecutableDigest}, nil
}

// Listed checks the link that needs no manifest: that top, the document which
// the entry's digest names, offers for the platform what entry has for it.
//
// Errors: those of [Verify].
func Listed(entry *lock.Entry, platform lock.Platform, top *image.Document) error {
	listed, err := listedFor(top, platform.Platform)
	if err == nil && listed != platform.Manifest {
		err = &Error{entry.Name, "the manifest for " + platform.Platform.String(), platform.Manifest.String(), orNone(listed.String())}
	}
	return err
}

// DeclaredVersion reads the version that a plugin image declares; ok is false
// where it declares none, or one that is not a version.
func DeclaredVersion(d image.Declaration) (v addr.Version, ok bool) {
	v, err := addr.ParseVersion(d.Version)
	return v, err == nil
}

// listedFor returns the digest of the manifest that top offers for p: of its
// own where it is no index.
func listedFor(top *image.Document, p addr.Platform) (addr.Digest, error) {
	if top.Index == nil {
		return top.Digest, nil
	}
	offers, err := top.Index.Offers()
	if err != nil {
		return "", err
	}
	for _, child := range offers {
		if child.Platform == p {
			return child.Digest, nil
		}
	}
	return "", nil
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
