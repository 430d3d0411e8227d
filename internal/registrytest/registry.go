// Package registrytest is the registry that tests talk to: a real one in
// memory, on a loopback address, with authentication, TLS and the oddities of
// products as settings; and in front of it a [Front] that logs every request
// and misbehaves where a [Rule] says so.
//
// It needs no test to run in: the playground of `make registry` is one of these.
// It is no registry for production: nothing is kept, nothing is bounded.
//
// Start at [New] in a test, at [Start] elsewhere.
package registrytest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"cuelabs.dev/go/oci/ociregistry/ocimem"
	"cuelabs.dev/go/oci/ociregistry/ociserver"
	digestpkg "github.com/opencontainers/go-digest"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/imagetest"
)

// Options say what kind of registry it is; the zero value is an open one on a
// free port of 127.0.0.1, over plain HTTP.
type Options struct {
	Auth   *Auth  `json:"auth,omitempty"` // nil: everybody may do everything
	Quirks Quirks `json:"quirks,omitzero"`
	Rules  []Rule `json:"rules,omitempty"`
	TLS    bool   `json:"tls,omitempty"`   // HTTPS, HTTP/2 included, with a certificate of its own: see Registry.CertPEM
	HTTP1  bool   `json:"http1,omitempty"` // no HTTP/2 over TLS
	Addr   string `json:"addr,omitempty"`  // where to listen, by default 127.0.0.1:0

	Listener net.Listener `json:"-"` // already listening, in place of Addr; the registry closes it
}

// Registry is a running registry.
type Registry struct {
	Front *Front // its log and its rules

	backend *ocimem.Registry
	options Options
	cert    certificate
	addr    string

	mu      sync.Mutex
	server  *http.Server // nil while stopped
	serving sync.WaitGroup
}

// New starts a registry that is closed when the test ends.
func New(t testing.TB, o Options) *Registry {
	t.Helper()
	r, err := Start(o)
	if err != nil {
		t.Fatalf("registrytest: %v", err)
	}
	t.Cleanup(r.Close)
	return r
}

// Start starts a registry; the caller closes it.
func Start(o Options) (*Registry, error) {
	r := &Registry{
		// Seeds and tests also put there what no proper registry accepts.
		backend: ocimem.NewWithConfig(&ocimem.Config{LaxChildReferences: true}),
		options: o,
		addr:    o.Addr,
	}
	if r.addr == "" {
		r.addr = "127.0.0.1:0"
	}
	if err := o.Quirks.check(); err != nil {
		return nil, err
	}
	if o.TLS {
		var err error
		if r.cert, err = newCertificate(); err != nil {
			return nil, err
		}
	}
	handler := o.Quirks.wrap(r.backend, ociserver.New(r.backend, nil))
	if o.Auth != nil {
		handler = o.Auth.wrap(handler)
	}
	r.Front = NewFront(handler, o.Rules...)
	return r, r.Restart()
}

// Restart listens again after [Registry.Stop], on the same address.
func (r *Registry) Restart() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.server != nil {
		return errors.New("the registry is running")
	}
	listener, err := r.listen()
	if err != nil {
		return err
	}
	r.addr = listener.Addr().String()
	server := &http.Server{Handler: r.Front, ReadHeaderTimeout: time.Minute, ErrorLog: discard}
	serve := func() error { return server.Serve(listener) }
	if r.options.TLS {
		server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{r.cert.pair}, MinVersion: tls.VersionTLS12}
		if r.options.HTTP1 {
			server.Protocols = new(http.Protocols)
			server.Protocols.SetHTTP1(true)
		}
		serve = func() error { return server.ServeTLS(listener, "", "") }
	}
	r.server = server
	r.serving.Go(func() { _ = serve() }) // ends with ErrServerClosed
	return nil
}

// listen takes the listener of the options the first time. Later ones want the
// same port, which a connection going out may hold for a moment.
func (r *Registry) listen() (net.Listener, error) {
	if l := r.options.Listener; l != nil {
		r.options.Listener = nil
		return l, nil
	}
	const tries, pause = 50, 20 * time.Millisecond
	for try := 1; ; try++ {
		listener, err := net.Listen("tcp", r.addr)
		if err == nil || try == tries {
			return listener, err
		}
		time.Sleep(pause)
	}
}

// Stop closes the listener and every connection; the content stays. Requests
// that wait inside a rule are let go.
func (r *Registry) Stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.server == nil {
		return
	}
	_ = r.server.Close() // the listener's own error tells nothing here
	r.serving.Wait()
	r.Front.drain()
	r.server = nil
}

// Close stops the registry for good.
func (r *Registry) Close() { r.Stop() }

// Host is the address as it stands in a source: "127.0.0.1:40123".
func (r *Registry) Host() string { return r.addr }

// URL is the address with its scheme and without a slash at the end.
func (r *Registry) URL() string {
	if r.options.TLS {
		return "https://" + r.addr
	}
	return "http://" + r.addr
}

// Client trusts the registry's certificate and keeps no connections open.
func (r *Registry) Client() *http.Client {
	transport := &http.Transport{DisableKeepAlives: true}
	if r.options.TLS {
		transport.TLSClientConfig = &tls.Config{RootCAs: r.cert.pool(), MinVersion: tls.VersionTLS12}
	}
	return &http.Client{Transport: transport}
}

// CertPEM is the certificate of a registry with TLS, which is its own authority.
func (r *Registry) CertPEM() []byte { return r.cert.pem }

// Add puts an image into a repository under each tag, past authentication and
// rules and without a line in the log.
func (r *Registry) Add(repository string, im *imagetest.Image, tags ...string) error {
	ctx := context.Background()
	for _, b := range im.Blobs {
		var err error
		if b.Document {
			_, err = r.backend.PushManifest(ctx, repository, "", b.Bytes, b.Descriptor.MediaType)
		} else {
			err = r.AddBlob(repository, b)
		}
		if err != nil {
			return fmt.Errorf("add %s to %s: %w", b.Descriptor.Digest, repository, err)
		}
	}
	for _, tag := range tags {
		if _, err := r.backend.PushManifest(ctx, repository, tag, im.Bytes(im.Digest()), im.Root.MediaType); err != nil {
			return fmt.Errorf("tag %s:%s: %w", repository, tag, err)
		}
	}
	return nil
}

// MustAdd is [Registry.Add] for a test.
func (r *Registry) MustAdd(t testing.TB, repository string, im *imagetest.Image, tags ...string) {
	t.Helper()
	if err := r.Add(repository, im, tags...); err != nil {
		t.Fatalf("registrytest: %v", err)
	}
}

// Tag points more tags at what a tag or a digest names.
func (r *Registry) Tag(repository, reference string, tags ...string) error {
	content, mediaType, err := r.document(repository, reference)
	if err != nil {
		return fmt.Errorf("%s:%s: %w", repository, reference, err)
	}
	for _, tag := range tags {
		if _, err := r.backend.PushManifest(context.Background(), repository, tag, content, mediaType); err != nil {
			return fmt.Errorf("tag %s:%s: %w", repository, tag, err)
		}
	}
	return nil
}

// Delete takes away a tag, a document or a blob; whatever refers to it stays.
func (r *Registry) Delete(repository, reference string) error {
	ctx := context.Background()
	if _, err := addr.ParseDigest(reference); err != nil {
		return r.backend.DeleteTag(ctx, repository, reference)
	}
	d := digestpkg.Digest(reference)
	if err := r.backend.DeleteManifest(ctx, repository, d); err == nil {
		return nil
	}
	return r.backend.DeleteBlob(ctx, repository, d)
}

// Resolve returns the digest that a tag points to.
func (r *Registry) Resolve(repository, tag string) (addr.Digest, error) {
	d, err := r.backend.ResolveTag(context.Background(), repository, tag)
	return addr.Digest(d.Digest), err
}

// Document returns the bytes of the document that a tag or a digest names.
func (r *Registry) Document(repository, reference string) ([]byte, error) {
	content, _, err := r.document(repository, reference)
	return content, err
}
