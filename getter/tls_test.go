package getter

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pluginlock/plugins/addr"
)

// newTLSRegistry is a registry whose certificate only the returned settings
// make trusted.
func newTLSRegistry(t *testing.T, protocols ...string) (*registry, Registry) {
	t.Helper()
	g := prepareRegistry(t)
	g.Server = httptest.NewUnstartedServer(g)
	g.TLS = &tls.Config{NextProtos: protocols} //nolint:gosec // a test's server
	if slices.Equal(protocols, []string{"h2"}) {
		// Go's own server falls back to HTTP/1.1; others end the handshake.
		g.TLS.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			if slices.Contains(hello.SupportedProtos, "h2") {
				return nil, nil
			}
			strict := g.TLS.Clone()
			strict.GetConfigForClient, strict.NextProtos = nil, []string{"none"}
			return strict, nil
		}
	}
	g.EnableHTTP2 = slices.Contains(protocols, "h2")
	g.Config.ErrorLog = silentLog()
	g.StartTLS()
	t.Cleanup(g.Close)
	file := filepath.Join(t.TempDir(), "ca.pem")
	raw := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: g.Certificate().Raw})
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return g, Registry{Prefix: g.host(), CAFile: file}
}

func TestPrivateCA(t *testing.T) {
	g, settings := newTLSRegistry(t, "http/1.1")
	g.addImage("plugins/aws", "1.0.0")
	r := newRig(t, Options{Settings: Settings{Registries: []Registry{settings}}}).repository(t, g.source("plugins/aws"))
	if _, err := r.Document(context.Background(), "1.0.0"); err != nil {
		t.Fatal(err)
	}
	// The certificates are for that registry alone.
	other, _ := newTLSRegistry(t, "http/1.1")
	second := Registry{Prefix: other.host(), CAFile: filepath.Join(t.TempDir(), "other.pem")}
	if err := os.WriteFile(second.CAFile, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := newRig(t, Options{Settings: Settings{Registries: []Registry{settings, second}}})
	_, err := c.repository(t, other.source("plugins/aws")).Document(context.Background(), "1.0.0")
	if !errors.Is(err, ErrNetwork) || !strings.Contains(err.Error(), "other.pem holds no certificate") {
		t.Errorf("got %v", err)
	}
}

// A certificate that is not trusted is final: no second try would change it.
func TestUntrustedCertificate(t *testing.T) {
	g, _ := newTLSRegistry(t, "http/1.1")
	wrong := Registry{Prefix: g.host(), CAFile: filepath.Join(t.TempDir(), "ca.pem")}
	if err := os.WriteFile(wrong.CAFile, unrelatedCertificate(t), 0o600); err != nil {
		t.Fatal(err)
	}
	c := newRig(t, Options{Settings: Settings{Registries: []Registry{wrong}}})
	_, err := c.repository(t, g.source("plugins/aws")).Tags(context.Background())
	if !errors.Is(err, ErrNetwork) || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("got %v", err)
	}
	if len(c.clock.slept) != 0 || len(g.requests()) != 0 {
		t.Errorf("waited %v, asked %q", c.clock.slept, g.requests())
	}
}

// unrelatedCertificate is a certificate that signed nothing here.
func unrelatedCertificate(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "unrelated"},
		NotBefore: time.Now(), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// HTTP/2 serves the documents, HTTP/1.1 the blobs; a registry that speaks only
// HTTP/2 gets it for both.
func TestHTTP2(t *testing.T) {
	for _, test := range []struct {
		protocols []string
		blob      string
	}{{[]string{"h2", "http/1.1"}, "HTTP/1.1"}, {[]string{"h2"}, "HTTP/2.0"}} {
		g, settings := newTLSRegistry(t, test.protocols...)
		g.addImage("plugins/aws", "1.0.0")
		desc := g.addBlob("plugins/aws", noise(100_000))
		r := newRig(t, Options{Settings: Settings{Registries: []Registry{settings}}}).repository(t, g.source("plugins/aws"))
		if _, err := r.Document(context.Background(), "1.0.0"); err != nil {
			t.Fatal(err)
		}
		got, err := readBlob(context.Background(), r, desc)
		if err != nil || !bytes.Equal(got, noise(100_000)) {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
		l := g.logged()
		if l[0].proto != "HTTP/2.0" || l[1].proto != test.blob {
			t.Errorf("%q: document by %s, blob by %s", test.protocols, l[0].proto, l[1].proto)
		}
	}
}

// C41 (d): from https to http only where the settings allow it for the target.
func TestC41RedirectFromTLS(t *testing.T) {
	second := newRegistry(t)
	second.bodies["/blob"] = noise(10)
	g, settings := newTLSRegistry(t, "http/1.1")
	desc := g.addBlob("plugins/aws", noise(10))
	g.script = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		http.Redirect(w, r, second.URL+"/blob?sig=abc", http.StatusTemporaryRedirect)
		return true
	}
	strict := newRig(t, Options{Settings: Settings{Registries: []Registry{settings}}})
	_, err := readBlob(context.Background(), strict.repository(t, g.source("plugins/aws")), desc)
	if !errors.Is(err, ErrUnsafe) || !strings.Contains(err.Error(), "from https to http") || len(second.requests()) != 0 {
		t.Errorf("got %v, asked %q", err, second.requests())
	}
	open := newRig(t, Options{Settings: Settings{Registries: []Registry{settings, {Prefix: second.host(), PlainHTTP: true}}}})
	if _, err := readBlob(context.Background(), open.repository(t, g.source("plugins/aws")), desc); err != nil {
		t.Errorf("allowed: %v", err)
	}
}

// A challenge over TLS may name another host, over TLS that can be verified,
// and no address of a metadata service.
func TestRealmElsewhereOverTLS(t *testing.T) {
	tokens, tokenSettings := newTLSRegistry(t, "http/1.1")
	tokens.script = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if _, password, _ := r.BasicAuth(); password != "s3cr3t-pw" {
			w.WriteHeader(401)
			return true
		}
		giveToken(w, "tok-AAAA")
		return true
	}
	plain := newRegistry(t)
	g, settings := newTLSRegistry(t, "http/1.1")
	g.addImage("plugins/aws", "1.0.0")
	realm := ""
	g.script = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if r.Header.Get("Authorization") == "Bearer tok-AAAA" {
			return false
		}
		challengeFor(w, r, realm)
		return true
	}
	credentials := StaticCredential(g.host(), Credential{Username: "ci", Password: "s3cr3t-pw"})
	for _, test := range []struct {
		realm   string
		trusted []Registry
		kind    error
	}{
		{tokens.URL + "/token", []Registry{settings, tokenSettings}, nil},
		{plain.URL + "/token", []Registry{settings, tokenSettings}, ErrUnsafe},
		{"https://169.254.169.254/token", []Registry{settings}, ErrUnsafe},
		{"https://[fe80::1]/token", []Registry{settings}, ErrUnsafe},
		{"https://[fd00:ec2::254]/token", []Registry{settings}, ErrUnsafe},
		{"https://[::ffff:169.254.1.1]/token", []Registry{settings}, ErrUnsafe},
		{"https://user:pw@127.0.0.1/token", []Registry{settings}, ErrProtocol},
	} {
		realm = test.realm
		c := newRig(t, Options{Credentials: credentials, Settings: Settings{Registries: test.trusted}})
		_, err := c.repository(t, g.source("plugins/aws")).Document(context.Background(), "1.0.0")
		if !errors.Is(err, test.kind) {
			t.Errorf("%s: got %v, want %v", test.realm, err, test.kind)
		}
	}
	if len(plain.requests()) != 0 {
		t.Error("a realm without TLS was asked")
	}
	// A token server that redirects does not take the password along.
	tokens.script = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		http.Redirect(w, r, plain.URL+"/steal", http.StatusTemporaryRedirect)
		return true
	}
	realm = tokens.URL + "/token"
	c := newRig(t, Options{Credentials: credentials, Settings: Settings{Registries: []Registry{settings, tokenSettings, {Prefix: plain.host(), PlainHTTP: true}}}})
	if _, err := c.repository(t, g.source("plugins/aws")).Document(context.Background(), "1.0.0"); err == nil {
		t.Error("a token from nowhere was taken")
	}
	for _, l := range plain.logged() {
		if l.header.Get("Authorization") != "" {
			t.Errorf("the password was sent on: %v", l)
		}
	}
}

// Names that lead to a metadata service are caught where the connection is
// made; what a user named himself is not.
func TestAddressesOfMetadataServices(t *testing.T) {
	c := newRig(t, Options{})
	for _, address := range []string{"169.254.169.254:80", "[fe80::1%lo]:443", "[fd00:ec2::254]:80", "[fd20:ce::254]:80", "100.100.100.200:80"} {
		conn, err := c.network.dial(context.Background(), "tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		if !errors.Is(err, ErrUnsafe) {
			t.Errorf("%s: got %v", address, err)
		}
	}
	registry := &url.URL{Scheme: "https", Host: "registry.example.com"}
	if err := checkRealm("https://169.254.169.254/token", registry); !errors.Is(err, ErrUnsafe) {
		t.Errorf("a realm, where a proxy makes the connection: %v", err)
	}
	for _, address := range []string{"127.0.0.1:1", "10.0.0.1", "registry.example.com:443", "[2001:db8::1]:443"} {
		if err := checkAddress(address); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	c.network.name(&url.URL{Scheme: "http", Host: "169.254.1.2:1"})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.network.dial(ctx, "tcp", "169.254.1.2:1"); errors.Is(err, ErrUnsafe) {
		t.Errorf("a registry that the user named is refused: %v", err)
	}
}

// proxy is a CONNECT proxy that demands authentication.
type proxy struct {
	*httptest.Server
	mu       sync.Mutex
	connects []string
}

func newProxy(t *testing.T) *proxy {
	t.Helper()
	p := &proxy{}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Proxy-Authorization") != "Basic "+pair64("u", "p@ss-0123") {
		w.Header().Set("Proxy-Authenticate", `Basic realm="proxy"`)
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	p.mu.Lock()
	p.connects = append(p.connects, r.Method+" "+r.Host)
	p.mu.Unlock()
	if r.Method != http.MethodConnect {
		r.RequestURI = ""
		r.Header.Del("Proxy-Authorization")
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer resp.Body.Close() //nolint:errcheck // only read
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
		return
	}
	to, err := net.DialTimeout("tcp", r.Host, 5*time.Second)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	w.WriteHeader(http.StatusOK)
	from, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = to.Close()
		return
	}
	go func() { _, _ = io.Copy(to, from); _ = to.Close() }()
	_, _ = io.Copy(from, to)
	_ = from.Close()
}

func (p *proxy) as(user *url.Userinfo) func(*http.Request) (*url.URL, error) {
	return func(*http.Request) (*url.URL, error) {
		u, err := url.Parse(p.URL)
		if err == nil {
			u.User = user
		}
		return u, err
	}
}

func TestProxyThatDemandsAuthentication(t *testing.T) {
	p := newProxy(t)
	secure, settings := newTLSRegistry(t, "h2", "http/1.1")
	plain := newRegistry(t)
	for _, g := range []*registry{secure, plain} {
		g.addImage("plugins/aws", "1.0.0")
		g.addBlob("plugins/aws", noise(1000))
		o := Options{Settings: Settings{Registries: []Registry{settings}}, Proxy: p.as(url.UserPassword("u", "p@ss-0123"))}
		r := newRig(t, o).repository(t, g.source("plugins/aws"))
		if _, err := r.Document(context.Background(), "1.0.0"); err != nil {
			t.Error(err)
		}
		if _, err := readBlob(context.Background(), r, g.addBlob("plugins/aws", noise(1000))); err != nil {
			t.Error(err)
		}
		for _, l := range g.logged() {
			if l.header.Get("Proxy-Authorization") != "" {
				t.Error("the registry got the proxy's credentials")
			}
		}

		o.Proxy = p.as(url.UserPassword("u", "wrong-0123"))
		c := newRig(t, o)
		_, err := c.repository(t, g.source("plugins/aws")).Document(context.Background(), "1.0.0")
		if !errors.Is(err, ErrNetwork) || !strings.Contains(err.Error(), "Proxy Authentication Required") || strings.Contains(err.Error(), "wrong-0123") {
			t.Errorf("got %v", err)
		}
		if len(c.clock.slept) != 0 {
			t.Errorf("waited %v although no wait helps", c.clock.slept)
		}
	}
	if want := "CONNECT " + secure.host(); !slices.Contains(p.connects, want) {
		t.Errorf("the proxy saw %q, not %q", p.connects, want)
	}
}

// A proxy that makes no connection is named, and asked again where that may help.
func TestProxyThatMakesNoConnection(t *testing.T) {
	for status, tries := range map[int]int{http.StatusForbidden: 1, http.StatusUnauthorized: 1, http.StatusBadGateway: 5} {
		asked := 0
		p := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked++
			w.WriteHeader(status)
		}))
		defer p.Close()
		at, err := url.Parse(p.URL)
		if err != nil {
			t.Fatal(err)
		}
		c := newRig(t, Options{Proxy: http.ProxyURL(at)})
		source, err := addr.ParseSource("registry.example.com/plugins/aws")
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.repository(t, source).Document(context.Background(), "1.0.0")
		want := fmt.Sprintf("the proxy %s answered %d %s", at.Host, status, http.StatusText(status))
		if !errors.Is(err, ErrNetwork) || !strings.Contains(err.Error(), want) || asked != tries {
			t.Errorf("asked %d times, got %v, want %q", asked, err, want)
		}
	}
}

// Nothing is read from the environment: a proxy there is none for a client
// that was not told so.
func TestProxyOfTheEnvironmentIsNotUsed(t *testing.T) {
	p := newProxy(t)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"} {
		t.Setenv(name, p.URL)
	}
	c := newRig(t, Options{})
	req, err := http.NewRequest(http.MethodGet, "https://registry.example.com/", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if u, err := c.network.transport(nil, true).Proxy(req); u != nil || err != nil {
		t.Errorf("proxy %v, %v", u, err)
	}
}

// A transport of the host program's takes the place of the client's own.
func TestTransportOfTheHostProgram(t *testing.T) {
	var hosts []string
	r := newRig(t, Options{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		hosts = append(hosts, req.URL.String())
		return &http.Response{StatusCode: 200, Request: req, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"name":"x","tags":["1.0.0"]}`))}, nil
	})}).repository(t, mustSource(t, "docker.io/velero/aws"))
	tags, err := r.Tags(context.Background())
	if err != nil || len(tags) != 1 || hosts[0] != "https://registry-1.docker.io/v2/velero/aws/tags/list" {
		t.Errorf("got %q, %v from %q", tags, err, hosts)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
