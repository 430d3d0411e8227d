package addr

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"

	"github.com/pluginlock/plugins/internal/text"
)

// digestPrefix names the one algorithm that is accepted. The specification
// registers sha512 too, but no registry serves it by default, and one algorithm
// leaves nothing to negotiate.
const digestPrefix = "sha256:"

// Digest is an OCI content digest in its only accepted spelling: "sha256:" and
// 64 lower-case hexadecimal digits. The zero value is no digest.
type Digest string

// ParseDigest checks s letter by letter; upper case, other algorithms and
// other lengths are refused.
func ParseDigest(s string) (Digest, error) {
	algorithm, digits, found := strings.Cut(s, ":")
	switch {
	case !found:
		return "", fmt.Errorf("%s is not a digest: it needs the form sha256:<64 hexadecimal digits>", text.Quote(s))
	case algorithm+":" != digestPrefix:
		return "", fmt.Errorf("digest algorithm %s is not supported: only sha256 is", text.Quote(algorithm))
	case len(digits) != sha256.Size*2:
		return "", fmt.Errorf("%s is not a digest: sha256 has 64 hexadecimal digits, this has %d", text.Quote(s), len(digits))
	}
	for _, r := range digits {
		if notHex(r) {
			return "", fmt.Errorf("%s is not a digest: %s is not a lower-case hexadecimal digit", text.Quote(s), text.Quote(string(r)))
		}
	}
	return Digest(s), nil
}

// DigestOf returns the digest of content.
func DigestOf(content []byte) Digest {
	sum := sha256.Sum256(content)
	return Digest(digestPrefix + hex.EncodeToString(sum[:]))
}

// DigestFrom returns the digest of what was written to h, which must be one of
// crypto/sha256; h can be written on.
func DigestFrom(h hash.Hash) Digest {
	return Digest(digestPrefix + hex.EncodeToString(h.Sum(nil)))
}

// String returns the digest as it was parsed.
func (d Digest) String() string { return string(d) }

// Hex returns the hexadecimal digits alone, as used in file names.
func (d Digest) Hex() string { return strings.TrimPrefix(string(d), digestPrefix) }

// IsZero reports whether d is no digest.
func (d Digest) IsZero() bool { return d == "" }
