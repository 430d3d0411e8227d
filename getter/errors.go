package getter

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pluginlock/plugins/addr"
)

// What went wrong, for errors.Is. Every error of this package that came from a
// registry, a mirror or the way to it is an [*Error] of one of these kinds;
// the exception is a cancelled context, whose error has no kind and is found
// with errors.Is(err, context.Canceled).
var (
	ErrNotFound           = errors.New("not found") // any of the three below
	ErrRepositoryNotFound = fmt.Errorf("repository %w", ErrNotFound)
	ErrTagNotFound        = fmt.Errorf("tag %w", ErrNotFound)
	ErrDigestNotFound     = fmt.Errorf("digest %w", ErrNotFound) // an index, a manifest or a blob

	ErrTagsUnsupported = errors.New("the registry does not list tags")
	ErrUnauthorized    = errors.New("unauthorized")            // 401: no credentials, or refused ones
	ErrForbidden       = errors.New("forbidden")               // 403: known, but not allowed
	ErrRateLimited     = errors.New("rate limited")            // 429
	ErrServer          = errors.New("registry fault")          // 5xx
	ErrNetwork         = errors.New("network fault")           // no answer at all
	ErrProtocol        = errors.New("not a registry's answer") // an answer that the specification does not allow
	ErrUnsafe          = errors.New("refused as unsafe")       // by a rule of ours: a redirect, a realm, plain HTTP
	ErrNotAllowed      = errors.New("source not allowed")      // by the settings of this machine
	ErrNotImage        = errors.New("not an image")            // Err is an *image.NotImageError
	ErrDigestMismatch  = errors.New("digest mismatch")         // other bytes than were asked for
	ErrTruncated       = errors.New("truncated")               // fewer bytes than were asked for
)

// Error is a failure to get something from a registry or a mirror. Its text
// names the source, the place that was asked and the cause; it never holds a
// credential, a token or the query of a URL.
type Error struct {
	Kind   error         // one of the Err values of this package; nil for a cancelled context
	Op     string        // what was tried, such as "list the tags"
	Source addr.Source   // whose plugin it is; the zero value where none is involved
	Host   string        // who answered or did not: registry, token server, storage; "" for a layout
	Mirror string        // the mirror that was asked instead of the source's registry, or ""
	Ref    string        // the tag or digest, or ""
	Status int           // HTTP status, or 0
	Wait   time.Duration // what the registry asked to wait, or 0
	Detail string        // the cause in words
	Err    error         // the cause as an error, or nil

	token bool // a token server refused
}

// Error returns one line: source, mirror, operation, cause.
func (e *Error) Error() string {
	var parts []string
	if !e.Source.IsZero() {
		source := e.Source.String()
		if e.Mirror != "" {
			source += " (mirror " + e.Mirror + ")"
		}
		parts = append(parts, source)
	}
	if e.Op != "" {
		parts = append(parts, "cannot "+e.Op)
	}
	switch {
	case e.Detail != "":
		parts = append(parts, e.Detail)
	case e.Err != nil:
		parts = append(parts, e.Err.Error())
	case e.Kind != nil:
		parts = append(parts, e.Kind.Error())
	}
	return strings.Join(parts, ": ")
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	var all []error
	for _, err := range []error{e.Kind, e.Err} {
		if err != nil {
			all = append(all, err)
		}
	}
	return all
}

// WantsLogin returns the registry, or mirror, that may give what was asked for
// to other credentials: it refused itself, or its token server did. It is ""
// where that is not what went wrong, as when a storage host refused.
func (e *Error) WantsLogin() string {
	if !errors.Is(e.Kind, ErrUnauthorized) && !errors.Is(e.Kind, ErrForbidden) {
		return ""
	}
	host := e.Source.Host()
	if e.Mirror != "" {
		host, _, _ = strings.Cut(e.Mirror, "/")
	}
	if !e.token && e.Host != host && e.Host != apiHost(host) {
		return ""
	}
	return host
}

// Transient reports whether the same request may well succeed later: a fault
// of the network or of the server, or a limit of requests.
func (e *Error) Transient() bool {
	return slices.Contains([]error{ErrNetwork, ErrServer, ErrRateLimited, ErrTruncated}, e.Kind)
}

// fail makes an error of a kind, with the cause in words.
func fail(kind error, host, format string, args ...any) *Error {
	return &Error{Kind: kind, Host: host, Detail: fmt.Sprintf(format, args...)}
}

// during fills in what a lower layer could not know. Fields that are set stay.
func during(err error, op string, place place, ref string) error {
	var known *Error
	if !errors.As(err, &known) {
		known = &Error{Err: err}
	}
	e := *known
	if e.Op == "" {
		e.Op = op
	}
	if e.Ref == "" {
		e.Ref = ref
	}
	if e.Source.IsZero() {
		e.Source, e.Mirror = place.source(), place.mirror()
	}
	return &e
}
