// Package getter reads plugins' images from where they are published: from
// registries that speak the OCI distribution protocol, from mirrors of those,
// and from OCI layout directories.
//
// It is the one place that deals with what registries do in practice: they
// throttle, break connections, redirect, page their tags in their own ways and
// ask for credentials. What it returns is verified: a document or a blob that
// was asked for by digest has that digest, or there is an error. Nothing that
// a registry says beside the bytes, in headers or descriptors, is trusted.
//
// The package chooses no versions and writes nothing but partial downloads, if
// it is told where. It reads no environment but in [AmbientCredentials].
//
// Start at [New] and [Client.Repository]. Pushing is another package's; it gets
// the same connection and credentials from [Client.Target].
package getter

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/image"
)

// Options configures a [Client]. The zero value is of use: anonymous, silent,
// without a proxy.
type Options struct {
	Settings Settings

	// Transport opens the connections in place of the client's own. Proxy and
	// the certificates of the settings are its business then.
	Transport http.RoundTripper

	// Proxy returns the proxy for a request, or nil for none. The command uses
	// http.ProxyFromEnvironment.
	Proxy func(*http.Request) (*url.URL, error)

	Credentials CredentialFunc // nil means anonymous access
	UserAgent   string         // "" means "plugins"
	Logger      *slog.Logger   // gets a line for every request, at level debug; nil means none
	Notify      func(Notice)   // is called one at a time, by any goroutine
	PartialDir  string         // keeps what was got of big blobs for the next run; "" means nowhere
	Retry       Retry
}

// Client reaches registries. It is safe for use by many goroutines, and meant
// to be shared: it knows tokens, connections and which hosts want to be left
// alone for now. It remembers the credentials that it was given; new ones need
// a new client.
type Client struct {
	settings    Settings
	credentials CredentialFunc
	userAgent   string
	partialDir  string
	partialFrom int64 // bytes from which a blob is kept in part
	retry       Retry
	clock       clock
	secrets     *secrets
	notifier    *notifier
	network     *network
	http        *http.Client

	mu        sync.Mutex
	endpoints map[string]*endpoint // by scheme and host
}

// New makes a client. It does no input or output.
//
// Errors: settings that cannot be meant.
func New(o Options) (*Client, error) {
	return newClient(o, realClock{})
}

func newClient(o Options, clk clock) (*Client, error) {
	settings, err := o.Settings.normalize()
	if err != nil {
		return nil, err
	}
	c := &Client{
		settings:    settings,
		credentials: o.Credentials,
		userAgent:   o.UserAgent,
		partialDir:  o.PartialDir,
		partialFrom: partialThreshold,
		retry:       o.Retry.withDefaults(),
		clock:       clk,
		secrets:     &secrets{},
		notifier:    &notifier{notify: o.Notify, said: map[Notice]bool{}},
		endpoints:   map[string]*endpoint{},
	}
	if c.userAgent == "" {
		c.userAgent = "plugins"
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	c.network = &network{settings: settings, proxy: o.Proxy, secrets: c.secrets, stall: c.retry.Stall,
		pairs: map[string]*pair{}, named: map[string]bool{}}
	var connect http.RoundTripper = c.network
	if o.Transport != nil {
		connect = watcher{o.Transport, c.retry.Stall}
	}
	c.http = &http.Client{
		CheckRedirect: c.checkRedirect,
		Transport: guard{&retrier{next: connect, retry: c.retry, clock: clk, secrets: c.secrets,
			notifier: c.notifier, log: o.Logger, gates: map[string]*gate{}}},
	}
	return c, nil
}

// CloseIdleConnections ends the connections that are kept open for later
// requests. The client stays usable.
func (c *Client) CloseIdleConnections() { c.network.closeIdle() }

// Repository returns the repository of a source, as the settings say where to
// find it. It sends no request; but repositories of one registry that are
// known before the first request share a token where the registry allows that.
//
// Errors: [*Error] of kind [ErrNotAllowed]; a mirror under which the source has
// no proper address.
func (c *Client) Repository(source addr.Source) (*Repository, error) {
	if err := c.allow(source); err != nil {
		return nil, err
	}
	r := &Repository{client: c, src: source}
	settings, _ := c.settings.registry(source.String())
	if settings.Mirror != "" {
		m, err := c.mirror(source, settings)
		if err != nil {
			return nil, err
		}
		r.places = append(r.places, m)
		r.mirror = m.mirror()
		if !settings.Fallback {
			return r, nil
		}
		r.fallbackTags = settings.FallbackTags
	}
	r.places = append(r.places, c.remote(source, source, ""))
	return r, nil
}

func (c *Client) allow(source addr.Source) error {
	if c.settings.allowed(source) {
		return nil
	}
	return &Error{Kind: ErrNotAllowed, Source: source, Host: source.Host(),
		Detail: "the settings of this machine do not allow this source"}
}

// mirror returns where the settings say that a source is to be found.
func (c *Client) mirror(source addr.Source, settings Registry) (place, error) {
	if isLayoutPath(settings.Mirror) {
		return &layout{client: c, src: source, dir: filepath.Clean(settings.Mirror)}, nil
	}
	name := settings.Mirror + strings.TrimPrefix(source.String(), settings.Prefix)
	at, err := addr.ParseSource(name)
	if err != nil {
		return nil, fmt.Errorf("mirror of %s: %w", source, err)
	}
	return c.remote(source, at, name), nil
}

// remote returns a repository at a registry. source is whose it is, at where it
// lies, and mirror what to call that, if it is another place.
func (c *Client) remote(source, at addr.Source, mirror string) *remote {
	e := c.endpoint(at)
	e.register(at.Path())
	return &remote{endpoint: e, src: source, mirrorName: mirror, repo: at.Path()}
}

// endpoint returns the registry that a source lies at.
func (c *Client) endpoint(at addr.Source) *endpoint {
	settings, _ := c.settings.registry(at.String())
	scheme := "https"
	if settings.PlainHTTP || (isLoopback(at.Host()) && c.settings.caFile(at.Host()) == "") {
		scheme = "http"
	}
	base := &url.URL{Scheme: scheme, Host: apiHost(at.Host())}
	key := base.String()
	c.mu.Lock()
	e := c.endpoints[key]
	if e == nil {
		e = newEndpoint(c, at.Host(), base)
		c.endpoints[key] = e
		c.network.name(base)
	}
	c.mu.Unlock()
	return e
}

// place is somewhere that a source's images lie. Errors of its methods are
// [*Error] or wrap the context's.
type place interface {
	source() addr.Source
	mirror() string // "" for the source's own registry
	tags(ctx context.Context) ([]string, error)
	document(ctx context.Context, ref string) (*image.Document, error)
	blob(ctx context.Context, want blobRef, offset int64) (*blobReader, error) // offset is where to begin
}

// Repository is where one source's images are read.
type Repository struct {
	client       *Client
	src          addr.Source
	mirror       string
	places       []place // in the order in which they are asked
	fallbackTags bool
}

// Source returns whose repository it is.
func (r *Repository) Source() addr.Source { return r.src }

// Mirror returns the mirror that is asked first, or "" where there is none. A
// choice that was made from a mirror's tags should say so.
func (r *Repository) Mirror() string { return r.mirror }

// Tags lists all tags, each once, in the order of the registry. An empty list
// is an empty repository; whatever keeps the list from being complete is an
// error.
func (r *Repository) Tags(ctx context.Context) ([]string, error) {
	return ask(ctx, r, "list the tags", "", false, func(p place) ([]string, error) { return p.tags(ctx) })
}

// Document gets an index or a manifest by tag or digest. One that was asked
// for by digest has that digest.
//
// Errors: [*Error]; of kind [ErrNotImage] it wraps an [*image.NotImageError],
// of kind [ErrProtocol] it may wrap an [*image.DocumentError].
func (r *Repository) Document(ctx context.Context, ref string) (*image.Document, error) {
	digest, err := checkRef(ref)
	if err != nil {
		return nil, &Error{Kind: ErrTagNotFound, Source: r.src, Ref: ref, Detail: err.Error()}
	}
	what := "get " + ref
	if digest.IsZero() {
		what = "get tag " + ref
	}
	return ask(ctx, r, what, ref, !digest.IsZero(), func(p place) (*image.Document, error) { return p.document(ctx, ref) })
}

// ask asks the places in their order. A place after the first is a fallback,
// which digests may use and tags only where the settings say so.
func ask[T any](ctx context.Context, r *Repository, op, ref string, byDigest bool, get func(place) (T, error)) (T, error) {
	var zero T
	var failed error
	for i, p := range r.places {
		if i > 0 && !byDigest && !r.fallbackTags {
			break
		}
		got, err := get(p)
		if err == nil {
			if failed != nil {
				r.client.notifier.say(Notice{NoticeFallback, r.src.Host(),
					fmt.Sprintf("%v; %s was asked instead", failed, r.src.Host())})
			}
			return got, nil
		}
		err = during(err, op, p, ref)
		if failed != nil {
			err = both(err, failed)
		}
		failed = err
		if ctx.Err() != nil {
			break
		}
	}
	return zero, failed
}

// both joins the failures of a mirror and of the source's registry.
func both(err, mirror error) error {
	return fmt.Errorf("%w; before that: %w", err, mirror)
}
