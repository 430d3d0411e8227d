package getter

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
)

// network opens the connections: with the proxy and the certificates that the
// settings name, with HTTP/2 for documents and HTTP/1.1 for blobs, of which
// several at once over one HTTP/2 connection share its one flow of bytes.
type network struct {
	settings Settings
	proxy    func(*http.Request) (*url.URL, error)
	secrets  *secrets
	stall    time.Duration

	mu    sync.Mutex
	pairs map[string]*pair // by the file of certificates, "" for the system's
	named map[string]bool  // host:port that a user named, and not a registry
}

// pair is the two ways to one set of hosts.
type pair struct{ documents, blobs *http.Transport }

type blobKey struct{}

// forBlob marks the requests whose answers are big.
func forBlob(ctx context.Context) context.Context { return context.WithValue(ctx, blobKey{}, true) }

// RoundTrip sends req once and watches over its answer: a connection on which
// nothing moves is broken off.
func (n *network) RoundTrip(req *http.Request) (*http.Response, error) {
	ways, err := n.pair(req.URL.Host)
	if err != nil {
		closeBody(req)
		return nil, err
	}
	if req.Context().Value(blobKey{}) == nil {
		return watched(req, ways.documents, n.stall)
	}
	resp, err := watched(req, ways.blobs, n.stall)
	if err != nil && strings.Contains(err.Error(), "no application protocol") && (req.Body == nil || req.Body == http.NoBody) {
		return watched(req, ways.documents, n.stall) // a registry that speaks nothing but HTTP/2
	}
	return resp, err
}

func (n *network) pair(host string) (*pair, error) {
	file := n.settings.caFile(host)
	n.mu.Lock()
	defer n.mu.Unlock()
	if p := n.pairs[file]; p != nil {
		return p, nil
	}
	pool, err := certificates(file)
	if err != nil {
		return nil, &Error{Kind: ErrNetwork, Host: host, Err: err,
			Detail: fmt.Sprintf("the certificates that the settings name for %s: %v", host, err)}
	}
	p := &pair{n.transport(pool, true), n.transport(pool, false)}
	n.pairs[file] = p
	return p, nil
}

func (n *network) transport(pool *x509.CertPool, http2 bool) *http.Transport {
	config := &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	if !http2 {
		config.NextProtos = []string{"http/1.1"} // said out loud, so that a registry that can't is noticed
	}
	return &http.Transport{
		Proxy:                  n.proxyFor,
		OnProxyConnectResponse: checkProxyAnswer,
		DialContext:            n.dial,
		TLSClientConfig:        config,
		ForceAttemptHTTP2:      http2,
		DisableCompression:     true,
		MaxIdleConnsPerHost:    16,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    15 * time.Second,
	}
}

// checkProxyAnswer names the proxy that makes no connection: net/http would say
// no more than "Forbidden", as if the registry had.
func checkProxyAnswer(_ context.Context, proxy *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return &proxyError{proxy.Host, resp.StatusCode}
}

// proxyError is the answer of a proxy that makes no connection.
type proxyError struct {
	proxy  string
	status int
}

func (e *proxyError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("the proxy %s answered %d %s", e.proxy, e.status, http.StatusText(e.status)))
}

// certificates returns the system's and those of file; nil stands for the
// system's alone.
func certificates(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate in PEM", file)
	}
	return pool, nil
}

// caFile returns the file of certificates for host, as a registry's API has it.
func (s Settings) caFile(host string) string {
	file, shortest := "", 0
	for _, r := range s.Registries {
		first, _, _ := strings.Cut(r.Prefix, "/")
		if r.CAFile == "" || (host != first && host != apiHost(first)) {
			continue
		}
		if file == "" || len(r.Prefix) < shortest {
			file, shortest = r.CAFile, len(r.Prefix)
		}
	}
	return file
}

func (n *network) proxyFor(req *http.Request) (*url.URL, error) {
	if n.proxy == nil {
		return nil, nil
	}
	u, err := n.proxy(req)
	if u == nil || err != nil {
		return nil, err
	}
	n.name(u)
	if password, ok := u.User.Password(); ok {
		n.secrets.add(password)
	}
	return u, nil
}

// name notes a host that a user chose.
func (n *network) name(u *url.URL) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.named[hostPort(u)] = true
}

// dial connects. A host that only a registry named, in a redirect or as the
// realm of its tokens, may not lead to the addresses at which clouds keep the
// credentials of their machines, whatever its name resolves to.
func (n *network) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: 15 * time.Second, KeepAlive: 30 * time.Second}
	n.mu.Lock()
	chosen := n.named[strings.ToLower(address)]
	n.mu.Unlock()
	if !chosen {
		d.Control = func(_, to string, _ syscall.RawConn) error { return checkAddress(to) }
	}
	return d.DialContext(ctx, network, address)
}

// checkAddress refuses link-local addresses and those that are known as the
// metadata services of clouds.
func checkAddress(address string) error {
	ip, err := netip.ParseAddr(hostname(address))
	if err != nil {
		return nil // a name: it is looked at again once it is resolved
	}
	ip = ip.Unmap().WithZone("")
	if ip.IsLinkLocalUnicast() || ip == metadataAWS || ip == metadataGoogle || ip == metadataAlibaba {
		return fail(ErrUnsafe, address, "%s is a link-local or metadata address, to which no registry may lead", ip)
	}
	return nil
}

var (
	metadataAWS     = netip.AddrFrom16([16]byte{0xfd, 0x00, 0x0e, 0xc2, 14: 0x02, 15: 0x54}) // fd00:ec2::254
	metadataGoogle  = netip.AddrFrom16([16]byte{0xfd, 0x20, 0x00, 0xce, 14: 0x02, 15: 0x54}) // fd20:ce::254
	metadataAlibaba = netip.AddrFrom4([4]byte{100, 100, 100, 200})
)

// closeIdle ends the connections that are kept for later.
func (n *network) closeIdle() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.pairs {
		p.documents.CloseIdleConnections()
		p.blobs.CloseIdleConnections()
	}
}

// hostPort returns the host of u in lower case, always with its port.
func hostPort(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "http":
		port = "80"
	default:
		port = "443"
	}
	return strings.ToLower(net.JoinHostPort(u.Hostname(), port))
}

// sameOrigin reports whether a and b have the same scheme, host and port.
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && hostPort(a) == hostPort(b)
}

// errStalled is the cause for which a silent connection is broken off.
var errStalled = errors.New("the connection stalled")

// watch breaks a request off when nothing moves for a while. Time counts only
// while something is waited for: a reader that takes its time is no stall.
type watch struct {
	after  time.Duration
	timer  *time.Timer
	ctx    context.Context // of the one request that is watched
	cancel context.CancelCauseFunc
}

func watched(req *http.Request, next http.RoundTripper, after time.Duration) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	w := &watch{after: after, ctx: ctx, cancel: cancel}
	w.timer = time.AfterFunc(after, func() {
		cancel(fmt.Errorf("%w: nothing came for %s", errStalled, after))
	})
	req = req.WithContext(ctx)
	if req.Body != nil && req.Body != http.NoBody {
		req.Body = &watchedUpload{req.Body, w}
	}
	resp, err := next.RoundTrip(req)
	w.timer.Stop()
	if err != nil {
		err = w.explain(err)
		cancel(nil)
		return nil, err
	}
	resp.Body = &watchedBody{resp.Body, w}
	return resp, nil
}

// explain replaces the error of a request that was broken off by its cause.
func (w *watch) explain(err error) error {
	if cause := context.Cause(w.ctx); cause != nil && !errors.Is(err, io.EOF) {
		return cause
	}
	return err
}

type watchedBody struct {
	io.ReadCloser
	w *watch
}

func (b *watchedBody) Read(p []byte) (int, error) {
	b.w.timer.Reset(b.w.after)
	n, err := b.ReadCloser.Read(p)
	b.w.timer.Stop()
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.w.explain(err)
	}
	return n, err
}

func (b *watchedBody) Close() error {
	b.w.timer.Stop()
	err := b.ReadCloser.Close()
	b.w.cancel(nil)
	return err
}

// watchedUpload counts what is sent as movement.
type watchedUpload struct {
	io.ReadCloser
	w *watch
}

func (b *watchedUpload) Read(p []byte) (int, error) {
	b.w.timer.Reset(b.w.after)
	return b.ReadCloser.Read(p)
}

// watcher watches over a transport that the host program brought.
type watcher struct {
	next  http.RoundTripper
	after time.Duration
}

// RoundTrip implements http.RoundTripper.
func (w watcher) RoundTrip(req *http.Request) (*http.Response, error) {
	return watched(req, w.next, w.after)
}
