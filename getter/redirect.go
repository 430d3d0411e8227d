package getter

import (
	"net/http"
	"net/url"
)

// maxRedirects bounds a chain. Registries need one hop to their storage, some
// two.
const maxRedirects = 5

// checkRedirect decides whether a redirect is followed, and takes along
// nothing that belongs to the origin that is left.
func (c *Client) checkRedirect(req *http.Request, via []*http.Request) error {
	first, from := via[0].URL, via[len(via)-1].URL
	req.URL.User = nil
	left := !sameOrigin(first, req.URL)
	for _, r := range via {
		left = left || !sameOrigin(first, r.URL)
	}
	if left {
		stripCredentials(req.Header) // also on the way back: what left may have been led
	}
	switch {
	case len(via) > maxRedirects:
		return fail(ErrProtocol, first.Host, "%s redirects more than %d times", first.Host, maxRedirects)
	case req.URL.Scheme != "https" && req.URL.Scheme != "http":
		return fail(ErrUnsafe, from.Host, "%s redirects to %q, which is not HTTP", from.Host, req.URL.Scheme)
	case req.URL.Scheme == "http" && from.Scheme == "https" && !c.settings.plainHost(req.URL.Host):
		return fail(ErrUnsafe, from.Host, "%s redirects from https to http (%s), which the settings do not allow for that host", from.Host, req.URL.Host)
	case hostPort(req.URL) != hostPort(first):
		if err := checkAddress(req.URL.Host); err != nil {
			return err
		}
	}
	return c.checkPlain(req.URL)
}

// checkPlain refuses HTTP without TLS but to this machine and where the
// settings allow it.
func (c *Client) checkPlain(u *url.URL) error {
	if u.Scheme == "https" || isLoopback(u.Host) || c.settings.plainHost(u.Host) {
		return nil
	}
	return fail(ErrUnsafe, u.Host, "%s would be reached without TLS, which the settings do not allow for that host", u.Host)
}

// plainHost reports whether the settings allow HTTP without TLS to a host.
func (s Settings) plainHost(host string) bool {
	for _, r := range s.Registries {
		if r.PlainHTTP && (under(r.Prefix, host) || apiHost(r.Prefix) == host) {
			return true
		}
	}
	return false
}
