package store

import "github.com/pluginlock/plugins/addr"

// Key names an entry: the digest of a platform's manifest and, for a foreign
// image, the path of the executable that was taken from it. Two versions, or
// one version published twice, never share an entry.
type Key struct {
	Manifest   addr.Digest
	Executable string // as in the lock file; empty for a plugin image
}

// suffixLength is how much of a path's digest names an entry, in hexadecimal
// digits. It tells the few executables of one image apart; the manifest's
// digest is what is relied on.
const suffixLength = 16

// name is the entry's directory below v1/sha256.
func (k Key) name() string {
	if k.Executable == "" {
		return k.Manifest.Hex()
	}
	return k.Manifest.Hex() + "-" + addr.DigestOf([]byte(k.Executable)).Hex()[:suffixLength]
}

// check refuses a key that names no entry.
func (k Key) check() error {
	_, err := addr.ParseDigest(k.Manifest.String())
	return err
}
