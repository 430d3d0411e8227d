package getter

import (
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
	endpoint   *endpoint
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
	e := own.endpoint
	return &Target{Host: e.base.Host, Repository: own.repo, PlainHTTP: e.base.Scheme == "http", endpoint: e}, nil
}

// Do sends a request with permission to pull and push. An address on another
// origin, where registries may let uploads go, gets no credentials. A refusal
// (401, 403) is an [*Error]; other statuses are the caller's.
func (t *Target) Do(req *http.Request) (*http.Response, error) {
	return t.endpoint.do(req, t.Repository, "pull,push")
}
