package getter

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"

	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"
)

// maxScopes bounds how many repositories one token is asked for.
const maxScopes = 30

// endpoint is one registry as this client reaches it: how, with which
// credentials and with which tokens.
type endpoint struct {
	client *Client
	host   string // as sources name it: docker.io
	base   *url.URL
	auth   *auth.Client
	tokens *tokens

	mu        sync.Mutex
	repos     []string // known to be asked for, in order
	single    bool     // the registry wants one repository a token
	anonymous map[string]bool
	resolved  map[string]Credential // by repository
}

func newEndpoint(c *Client, host string, base *url.URL) *endpoint {
	e := &endpoint{client: c, host: host, base: base, anonymous: map[string]bool{}, resolved: map[string]Credential{}}
	e.tokens = &tokens{endpoint: e, flights: map[flightKey]*flight{}}
	e.auth = &auth.Client{
		Client:     c.http,
		Header:     http.Header{"User-Agent": {c.userAgent}},
		ClientID:   "plugins",
		Cache:      e.tokens,
		Credential: func(ctx context.Context, _ string) (auth.Credential, error) { return e.credential(ctx) },
		// Addresses are checked where connections are made; the library would
		// look names up that only a proxy can resolve.
		BlockedRealmPrefixes: []netip.Prefix{},
	}
	return e
}

// call is one request on its way through authentication. It is used by one
// goroutine at a time.
type call struct {
	endpoint      *endpoint
	repo          string
	actions       string // "pull" or "pull,push"; "" for the registry itself, which is no repository
	path          string // of the request
	anonymous     bool   // credentials stay at home
	authenticated bool   // something was sent that proves who we are
	combined      bool   // the token was asked for with more scopes than this call needs
	attempted     string // the token that was sent last
	problem       string // why a challenge could not be answered
}

type callKey struct{}

func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

func (c *call) scope() string { return "repository:" + c.repo + ":" + c.actions }

// isOwn reports whether u is the request itself and not one that it led to.
func (c *call) isOwn(u *url.URL) bool { return sameOrigin(u, c.endpoint.base) && u.Path == c.path }

// check refuses credentials that are of no use for a scheme.
func (c *call) check(scheme auth.Scheme) error {
	if scheme != auth.SchemeBasic {
		return nil
	}
	e := c.endpoint
	cred := e.credentialOf(c)
	switch {
	case cred.isEmpty():
		return &Error{Kind: ErrUnauthorized, Host: e.base.Host, Status: http.StatusUnauthorized,
			Detail: fmt.Sprintf("%s answered 401 Unauthorized and asks for a user name and password", e.base.Host)}
	case cred.Username == "" || cred.Password == "":
		return &Error{Kind: ErrUnauthorized, Host: e.base.Host, Status: http.StatusUnauthorized,
			Detail: fmt.Sprintf("%s answered 401 Unauthorized and asks for a user name and password, and the credentials from %s are a token", e.base.Host, cred.Origin)}
	}
	return nil
}

// register notes that a repository will be asked for.
func (e *endpoint) register(repo string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !slices.Contains(e.repos, repo) {
		e.repos = append(e.repos, repo)
	}
}

// do sends a request for a repository, authenticated as the registry asks.
// A refusal (401, 403) is an error; every other answer is the caller's.
//
// A refused token for many repositories is tried again for this one alone, and
// reading with credentials that nobody gave us explicitly once more without.
func (e *endpoint) do(req *http.Request, repo, actions string) (*http.Response, error) {
	if !sameOrigin(req.URL, e.base) {
		return e.foreign(req)
	}
	if req.Body != nil && req.GetBody != nil {
		defer closeBody(req) // every attempt has a body of its own
	}
	e.mu.Lock()
	anonymous := e.anonymous[repo] && actions == "pull"
	e.mu.Unlock()
	resp, c, err := e.attempt(req, repo, actions, anonymous)
	if c.combined && e.refused(resp, err) {
		discard(resp)
		e.mu.Lock()
		e.single = true
		e.mu.Unlock()
		e.tokens.dropCombined()
		resp, c, err = e.attempt(req, repo, actions, anonymous)
	}
	if !e.refused(resp, err) {
		return resp, e.explain(err)
	}
	refusal := e.refusal(resp, c, err)
	cred := e.credentialOf(c)
	if c.authenticated && cred.Ambient && !cred.isEmpty() && actions == "pull" {
		return e.withoutCredentials(req, repo, cred, refusal)
	}
	return nil, refusal
}

// withoutCredentials is the one try after ambient credentials were refused.
func (e *endpoint) withoutCredentials(req *http.Request, repo string, cred Credential, refusal *Error) (*http.Response, error) {
	resp, _, err := e.attempt(req, repo, "pull", true)
	if err != nil || e.refused(resp, err) {
		discard(resp)
		refusal.Detail += "; without them it is refused, too"
		return nil, refusal
	}
	e.mu.Lock()
	e.anonymous[repo] = true
	e.mu.Unlock()
	e.client.notifier.say(Notice{NoticeCredentials, e.host,
		fmt.Sprintf("the stored credentials for %s from %s were refused (%d); going on without any", e.host, cred.Origin, refusal.Status)})
	return resp, nil
}

// attempt sends the request once through authentication.
func (e *endpoint) attempt(req *http.Request, repo, actions string, anonymous bool) (*http.Response, *call, error) {
	c := &call{endpoint: e, repo: repo, actions: actions, path: req.URL.Path, anonymous: anonymous}
	ctx := context.WithValue(req.Context(), callKey{}, c)
	if scopes := e.tokens.scopesFor(c); scopes != nil {
		ctx = auth.WithScopes(ctx, scopes...)
		c.combined = len(scopes) > 1
	}
	sent := req.Clone(ctx)
	if req.Body != nil && req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, c, err
		}
		sent.Body = body
	}
	resp, err := e.auth.Do(sent)
	return resp, c, err
}

// foreign sends a request that the registry led to another origin, such as the
// location of an upload: without credentials, and without answering to it.
func (e *endpoint) foreign(req *http.Request) (*http.Response, error) {
	if scheme := req.URL.Scheme; scheme != "https" && scheme != "http" {
		return nil, fail(ErrUnsafe, e.base.Host, "%s leads to %q, which is not HTTP", e.base.Host, scheme)
	}
	if err := e.client.checkPlain(req.URL); err != nil {
		return nil, err
	}
	sent := req.Clone(req.Context())
	stripCredentials(sent.Header)
	sent.Header.Set("User-Agent", e.client.userAgent)
	resp, err := e.client.http.Do(sent)
	return resp, e.explain(err)
}

// refused reports whether the registry, or its token server, turned us away.
func (e *endpoint) refused(resp *http.Response, err error) bool {
	var token *errcode.ErrorResponse
	var known *Error
	switch {
	case errors.As(err, &token):
		return token.StatusCode == http.StatusUnauthorized || token.StatusCode == http.StatusForbidden || token.StatusCode == http.StatusBadRequest
	case errors.As(err, &known):
		return errors.Is(known.Kind, ErrUnauthorized) || errors.Is(known.Kind, ErrForbidden)
	case err != nil || resp == nil || !sameOrigin(resp.Request.URL, e.base):
		return false
	}
	return resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden
}

// refusal puts it into words: who, with which credentials, and what stood in
// the way of better ones.
func (e *endpoint) refusal(resp *http.Response, c *call, err error) *Error {
	var r *Error
	var token *errcode.ErrorResponse
	var known *Error
	switch {
	case errors.As(err, &token):
		r = e.tokenError(token)
	case errors.As(err, &known):
		copied := *known
		r = &copied
	default:
		a := newAnswer(resp, e.client.secrets)
		r = a.error(kindOfStatus(a.status))
	}
	cred := e.credentialOf(c)
	switch {
	case c.problem != "":
		r.Detail += "; " + c.problem
	case c.authenticated && !cred.isEmpty():
		r.Detail += fmt.Sprintf("; the credentials for %s from %s were used and refused", e.host, cred.Origin)
	case cred.isEmpty():
		r.Detail += fmt.Sprintf("; no credentials for %s were found", e.host)
	}
	if cred.Problem != nil {
		r.Detail += "; " + e.client.secrets.scrub(cred.Problem.Error())
	}
	return r
}

// tokenError puts the refusal of a token into words.
func (e *endpoint) tokenError(r *errcode.ErrorResponse) *Error {
	a := answer{host: r.URL.Host, status: r.StatusCode}
	if len(r.Errors) > 0 {
		a.words = e.client.secrets.scrub(r.Errors.Error())
	}
	kind := kindOfStatus(r.StatusCode)
	switch r.StatusCode {
	case http.StatusBadRequest:
		kind = ErrUnauthorized
	case http.StatusNotFound:
		kind = ErrProtocol
	}
	failure := a.error(kind)
	failure.Detail, failure.token = "no token: "+failure.Detail, true
	return failure
}

// explain turns an error that is no refusal into one of ours.
func (e *endpoint) explain(err error) error {
	var known *Error
	var token *errcode.ErrorResponse
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return context.DeadlineExceeded
	case errors.As(err, &known):
		return known
	case errors.As(err, &token):
		return e.tokenError(token)
	}
	return fail(ErrProtocol, e.base.Host, "%s", e.client.secrets.scrub(withoutURL(err).Error()))
}

// scopes returns what to ask a token for: what the registry says is needed,
// no more than reading where only that is wanted, and in the same request the
// other repositories of this registry that the same credentials are for.
func (e *endpoint) scopes(ctx context.Context, c *call, asked []string) ([]string, error) {
	owner, err := e.owner(ctx, c)
	if err != nil {
		return nil, err
	}
	if c.actions == "" {
		return asked, nil
	}
	all := []string{c.scope()}
	for _, scope := range asked {
		if c.actions == "pull" {
			scope = pullOnly(scope)
		}
		if scope != "" && !slices.Contains(all, scope) {
			all = append(all, scope)
		}
	}
	e.mu.Lock()
	single, repos := e.single, slices.Clone(e.repos)
	e.mu.Unlock()
	if single || c.anonymous || c.actions != "pull" {
		return all, nil
	}
	for _, repo := range repos {
		scope := "repository:" + repo + ":pull"
		if slices.Contains(all, scope) || len(all) >= maxScopes {
			continue
		}
		other := &call{endpoint: e, repo: repo, actions: "pull", anonymous: c.anonymous}
		if o, err := e.owner(ctx, other); err == nil && o == owner {
			all, c.combined = append(all, scope), true
		}
	}
	return all, nil
}

// owner returns whose tokens a call may use, and looks the credentials up
// where that has not happened yet.
func (e *endpoint) owner(ctx context.Context, c *call) (principal, error) {
	if c.anonymous {
		return principal{}, nil
	}
	e.mu.Lock()
	cred, ok := e.resolved[c.repo]
	e.mu.Unlock()
	if ok {
		return cred.principal(), nil
	}
	cred, err := e.client.lookUp(ctx, Place{e.host, c.repo})
	if err != nil {
		return principal{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.resolved[c.repo] = cred
	return cred.principal(), nil
}

// known is owner without looking anything up.
func (e *endpoint) known(c *call) (principal, bool) {
	if c.anonymous {
		return principal{}, true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	cred, ok := e.resolved[c.repo]
	return cred.principal(), ok
}

// credentialOf returns what a call was made with; the zero value where the
// registry never asked.
func (e *endpoint) credentialOf(c *call) Credential {
	if c.anonymous {
		return Credential{}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.resolved[c.repo]
}

// credential answers the library that authenticates.
func (e *endpoint) credential(ctx context.Context) (auth.Credential, error) {
	c := callOf(ctx)
	if _, err := e.owner(ctx, c); err != nil {
		return auth.EmptyCredential, err
	}
	cred := e.credentialOf(c)
	return auth.Credential{
		Username:     cred.Username,
		Password:     cred.Password,
		RefreshToken: cred.IdentityToken,
		AccessToken:  cred.RegistryToken,
	}, nil
}

// stripCredentials removes what proves who we are, and the address that we come
// from, which may have a signed query.
func stripCredentials(h http.Header) {
	for _, name := range []string{"Authorization", "Cookie", "Referer"} {
		h.Del(name)
	}
}

// apiHost returns the host that serves a registry's API; Docker's is the one
// that differs from its name.
func apiHost(host string) string {
	if host == "docker.io" {
		return "registry-1.docker.io"
	}
	return strings.ToLower(host)
}
