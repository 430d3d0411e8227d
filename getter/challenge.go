package getter

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// challenge is one way of authentication that a registry offers (RFC 9110,
// section 11.6.1).
type challenge struct {
	scheme string            // in lower case
	params map[string]string // names in lower case
}

// maxChallenge bounds a header that is read, in bytes.
const maxChallenge = 16 << 10

// parseChallenges reads WWW-Authenticate headers. Several challenges may stand
// in one header and in several; what can't be read ends the header it is in.
func parseChallenges(headers []string) []challenge {
	var all []challenge
	for _, h := range headers {
		if len(h) > maxChallenge {
			continue
		}
		for h = skipList(h); h != ""; h = skipList(h) {
			var scheme string
			if scheme, h = cutToken(h); scheme == "" {
				break
			}
			c := challenge{strings.ToLower(scheme), map[string]string{}}
			h = c.parseParams(h)
			all = append(all, c)
		}
	}
	return all
}

// parseParams reads the parameters of a challenge and returns what follows
// them, which begins with the next scheme.
func (c challenge) parseParams(s string) string {
	for {
		rest := skipList(s)
		name, after := cutToken(rest)
		after = strings.TrimLeft(after, " \t")
		if name == "" {
			if rest != "" {
				return "" // neither a parameter nor a scheme
			}
			return rest
		}
		if !strings.HasPrefix(after, "=") {
			return rest
		}
		value, after, ok := cutValue(strings.TrimLeft(after[1:], " \t"))
		if !ok {
			// A token68, whose padding looks like the sign of a parameter.
			s = strings.TrimLeft(after, "=")
			continue
		}
		c.params[strings.ToLower(name)] = value
		s = after
	}
}

func skipList(s string) string { return strings.TrimLeft(s, " \t,") }

// cutToken cuts a token off the beginning (RFC 9110, section 5.6.2).
func cutToken(s string) (token, rest string) {
	i := strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~/", r)
	})
	if i < 0 {
		i = len(s)
	}
	return s[:i], s[i:]
}

// cutValue cuts a token or a quoted string off the beginning.
func cutValue(s string) (value, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		value, rest = cutToken(s)
		return value, rest, value != ""
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:], true
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		b.WriteByte(s[i])
	}
	return "", "", false
}

// chooseChallenge takes the way that says most about what is needed.
func chooseChallenge(all []challenge) (challenge, bool) {
	for _, c := range all {
		if c.scheme == "bearer" && c.params["realm"] != "" {
			return c, true
		}
	}
	for _, c := range all {
		if c.scheme == "basic" {
			return c, true
		}
	}
	return challenge{}, false
}

// header writes the challenge in the form that the library which answers it
// reads.
func (c challenge) header() string {
	if c.scheme == "basic" {
		return `Basic realm="registry"`
	}
	h := "Bearer realm=" + strconv.Quote(c.params["realm"])
	for _, name := range []string{"service", "scope"} {
		if v := c.params[name]; v != "" {
			h += "," + name + "=" + strconv.Quote(v)
		}
	}
	return h
}

// checkRealm holds the place that tokens come from to the rules: a challenge
// that came over TLS may name any host, over TLS; one that did not may have
// been forged, and names its own host and port or nothing.
func checkRealm(realm string, registry *url.URL) error {
	u, err := url.Parse(realm)
	if err != nil || u.Host == "" || u.User != nil {
		return fail(ErrProtocol, registry.Host, "%s names a place for tokens that is no address", registry.Host)
	}
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return fail(ErrUnsafe, registry.Host, "%s wants tokens to be got from %s over %q, which is not HTTP", registry.Host, u.Host, u.Scheme)
	case registry.Scheme == "https" && u.Scheme != "https":
		return fail(ErrUnsafe, registry.Host, "%s wants tokens to be got from %s without TLS", registry.Host, u.Host)
	case registry.Scheme == "http" && !sameOrigin(u, registry):
		return fail(ErrUnsafe, registry.Host, "%s is reached without TLS and wants tokens to be got from %s://%s: only its own host and port are trusted then",
			registry.Host, u.Scheme, u.Host)
	case hostPort(u) != hostPort(registry):
		return checkAddress(u.Host)
	}
	return nil
}

// guard stands between the library that authenticates and the wire. It shows
// it only the challenges that may be answered, in the form it understands.
type guard struct{ next http.RoundTripper }

// RoundTrip sends req and checks the challenge of the answer.
func (g guard) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := g.next.RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		return resp, err
	}
	buffer(resp)
	offered := parseChallenges(resp.Header.Values("Www-Authenticate"))
	resp.Header.Del("Www-Authenticate")
	c := callOf(req.Context())
	if c == nil || !c.isOwn(req.URL) {
		return resp, nil // a token server or a place that was redirected to: never answered
	}
	chosen, ok := chooseChallenge(offered)
	if !ok {
		c.problem = fmt.Sprintf("%s asks for no kind of authentication that is known (Basic, Bearer)", req.URL.Host)
		return resp, nil
	}
	if chosen.scheme == "bearer" {
		if err := checkRealm(chosen.params["realm"], req.URL); err != nil {
			_ = resp.Body.Close()
			return nil, err
		}
		scopes, err := c.endpoint.scopes(req.Context(), c, strings.Fields(chosen.params["scope"]))
		if err != nil {
			_ = resp.Body.Close()
			return nil, err
		}
		chosen.params["scope"] = strings.Join(scopes, " ")
	}
	resp.Header.Set("Www-Authenticate", chosen.header())
	return resp, nil
}

// buffer takes the body of a refusal into memory, so that the connection is
// free for the next try at once: opening another costs more than the words.
func buffer(resp *http.Response) {
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	discard(resp)
	resp.Body = io.NopCloser(bytes.NewReader(raw))
}

// pullOnly reduces what a registry says is needed to reading.
func pullOnly(scope string) string {
	kind, rest, _ := strings.Cut(scope, ":")
	i := strings.LastIndex(rest, ":")
	if kind != "repository" || i < 0 {
		return scope
	}
	if actions := strings.Split(rest[i+1:], ","); !slices.Contains(actions, "pull") {
		return ""
	}
	return kind + ":" + rest[:i] + ":pull"
}
