package getter

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/image"
	"github.com/pluginlock/plugins/internal/text"
)

func (r *remote) document(ctx context.Context, ref string) (*image.Document, error) {
	p, err := r.get(ctx, r.url("manifests", ref), image.Accept, image.MaxDocumentSize, func(a answer) *Error { return refusedDocument(a, ref) })
	if err != nil {
		return nil, err
	}
	want, _ := checkRef(ref)
	if got := addr.DigestOf(p.raw); !want.IsZero() && got != want {
		if p.looksLikeHTML() {
			return nil, r.htmlError()
		}
		return nil, fail(ErrDigestMismatch, p.url.Host, "%s answered with a document whose digest is %s", p.url.Host, got)
	}
	if want.IsZero() && p.looksLikeHTML() {
		return nil, r.htmlError()
	}
	return parseDocument(p.url.Host, trustedType(p.contentType, want), p.raw)
}

// trustedType returns what a registry calls a document, as far as that counts.
// Bytes whose digest is known speak for themselves, so a type that no registry
// should give them, such as text/html, is the mistake of some proxy.
func trustedType(contentType string, known addr.Digest) string {
	bare, _, _ := strings.Cut(contentType, ";")
	if !known.IsZero() && !slices.Contains(strings.Split(image.Accept, ", "), strings.TrimSpace(bare)) {
		return ""
	}
	return contentType
}

// parseDocument reads the bytes and sorts the errors.
func parseDocument(host, contentType string, raw []byte) (*image.Document, error) {
	d, err := image.Parse(contentType, raw)
	var other *image.NotImageError
	switch {
	case err == nil:
		return d, nil
	case errors.As(err, &other):
		return nil, &Error{Kind: ErrNotImage, Host: host, Err: err}
	}
	return nil, &Error{Kind: ErrProtocol, Host: host, Err: err}
}

// refusedDocument says what an answer other than 200 means for a document.
func refusedDocument(a answer, ref string) *Error {
	if a.status != http.StatusNotFound {
		return a.error(kindOfStatus(a.status))
	}
	switch digest, _ := checkRef(ref); {
	case a.has("NAME_UNKNOWN"):
		return a.error(ErrRepositoryNotFound)
	case digest.IsZero():
		return a.error(ErrTagNotFound)
	}
	return a.error(ErrDigestNotFound)
}

// checkRef returns the digest that ref is, or zero for a tag. What is neither
// is refused before it gets into an address.
func checkRef(ref string) (addr.Digest, error) {
	if strings.Contains(ref, ":") {
		return addr.ParseDigest(ref)
	}
	if !IsTag(ref) {
		return "", fmt.Errorf("%q is not a tag", text.Clip(ref))
	}
	return "", nil
}

// IsTag reports whether s can be a tag, by the grammar of the distribution
// specification, v1.1.1: [a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}.
func IsTag(s string) bool {
	if s == "" || len(s) > 128 || s[0] == '.' || s[0] == '-' {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_.-", r)
	}) < 0
}
