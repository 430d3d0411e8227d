package getter

import (
	"context"
	"errors"
	"net/http"

	"github.com/pluginlock/plugins/addr"
)

// Target is a registry to push to: the address and an authenticated client for
// the library that pushes. It has the connections, the credentials, the waits
// and the secrecy of reading.
type Target struct {
	Host       string // of the registry's API, with its port
	Repository string
	PlainHTTP  bool
	own        *remote
}

// Target returns where a source is pushed to: its own registry, never a
// mirror. It sends no request.
//
// Errors: [*Error] of kind [ErrNotAllowed].
func (c *Client) Target(source addr.Source) (*Target, error) {
	if err := c.allow(source); err != nil {
		return nil, err
	}
	own := c.remote(source, source, "")
	base := own.endpoint.base
	return &Target{Host: base.Host, Repository: own.repo, PlainHTTP: base.Scheme == "http", own: own}, nil
}

// Origin returns the repository of a source at its own registry, whatever
// mirrors the settings name: who publishes must see what is there. It sends no
// request.
//
// Errors: [*Error] of kind [ErrNotAllowed].
func (c *Client) Origin(source addr.Source) (*Repository, error) {
	if err := c.allow(source); err != nil {
		return nil, err
	}
	return &Repository{client: c, src: source, places: []place{c.remote(source, source, "")}}, nil
}

// Ping asks a registry whether it answers and accepts the client's credentials
// for it. asked is false where it wanted none, so that they remain unproven.
// host is as sources name it.
//
// Errors: [*Error].
func (c *Client) Ping(ctx context.Context, host string) (asked bool, err error) {
	source, err := addr.ParseSource(host + "/a/b")
	if err != nil {
		return false, err
	}
	e := c.endpoint(source)
	u := *e.base
	u.Path = "/v2/"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return false, err
	}
	resp, err := e.do(req, "", "")
	if err == nil && resp.StatusCode != http.StatusOK {
		a := newAnswer(resp, c.secrets)
		err = a.error(kindOfStatus(a.status))
	}
	if err != nil {
		var known *Error
		if errors.As(err, &known) && known.Op == "" {
			known.Op = "log in"
		}
		return false, err
	}
	discard(resp)
	e.mu.Lock()
	defer e.mu.Unlock()
	_, asked = e.resolved[""]
	return asked, nil
}

// Do sends a request with permission to pull and push. An address on another
// origin, where registries may let uploads go, gets no credentials. A refusal
// (401, 403) is an [*Error]; other statuses are the caller's.
func (t *Target) Do(req *http.Request) (*http.Response, error) {
	return t.own.endpoint.do(req, t.Repository, "pull,push")
}

// Failure makes an [*Error] of an answer that the caller has no use for, and
// ends it; or, where there was none, of the error that [Target.Do] returned. op
// and ref are for the message: what was tried, and with which tag or digest.
func (t *Target) Failure(resp *http.Response, err error, op, ref string) error {
	if err == nil {
		a := newAnswer(resp, t.own.endpoint.client.secrets)
		err = a.error(kindOfStatus(a.status))
	}
	return during(err, op, t.own, ref)
}
