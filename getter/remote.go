package getter

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/pluginlock/plugins/addr"
)

// remote is a repository at a registry.
type remote struct {
	endpoint   *endpoint
	src        addr.Source
	mirrorName string
	repo       string
}

func (r *remote) source() addr.Source { return r.src }
func (r *remote) mirror() string      { return r.mirrorName }

// url returns the address of something in the repository.
func (r *remote) url(kind, ref string) *url.URL {
	u := *r.endpoint.base
	u.Path = "/v2/" + r.repo + "/" + kind + "/" + ref
	return &u
}

// page is a whole answer, read into memory.
type page struct {
	url         *url.URL
	contentType string
	link        []string
	raw         []byte
}

// get reads an answer of at most limit bytes. An answer that breaks off is
// asked for again; other statuses than 200 are given to refuse.
func (r *remote) get(ctx context.Context, u *url.URL, accept string, limit int64, refuse func(answer) *Error) (*page, error) {
	for try := 1; ; try++ {
		p, err := r.getOnce(ctx, u, accept, limit, refuse)
		var broken *brokenBody
		if !errors.As(err, &broken) {
			return p, err
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if try >= r.endpoint.client.retry.Tries {
			return nil, networkError(u.Host, broken.err, r.endpoint.client.secrets)
		}
		if err := r.endpoint.client.clock.Sleep(ctx, r.endpoint.client.retry.backOff(try), nil); err != nil {
			return nil, err
		}
	}
}

// brokenBody is an answer that began well and ended too soon.
type brokenBody struct{ err error }

func (b *brokenBody) Error() string { return "the answer broke off: " + b.err.Error() }
func (b *brokenBody) Unwrap() error { return b.err }

func (r *remote) getOnce(ctx context.Context, u *url.URL, accept string, limit int64, refuse func(answer) *Error) (*page, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "", http.NoBody)
	if err != nil {
		return nil, err
	}
	req.URL, req.Host = u, u.Host
	req.Header.Set("Accept", accept)
	resp, err := r.endpoint.do(req, r.repo, "pull")
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, refuse(newAnswer(resp, r.endpoint.client.secrets))
	}
	defer discard(resp)
	raw, err := readAll(resp.Body, limit)
	switch {
	case errors.Is(err, errTooLong):
		return nil, fail(ErrProtocol, u.Host, "%s answered with more than %s", u.Host, size(limit))
	case err != nil:
		return nil, &brokenBody{err}
	case resp.ContentLength > 0 && int64(len(raw)) < resp.ContentLength:
		return nil, &brokenBody{io.ErrUnexpectedEOF}
	}
	return &page{u, resp.Header.Get("Content-Type"), resp.Header.Values("Link"), raw}, nil
}

// looksLikeHTML recognises the login and error pages that proxies put in the
// place of a registry's answer, with status 200.
func (p *page) looksLikeHTML() bool {
	return strings.HasPrefix(strings.ToLower(p.contentType), "text/html") || strings.HasPrefix(strings.TrimSpace(string(p.raw[:min(len(p.raw), 256)])), "<")
}

func (r *remote) htmlError() *Error {
	host := r.endpoint.base.Host
	return fail(ErrProtocol, host, "%s answered with a web page and not as a registry: a proxy or a login page may be in the way", host)
}
