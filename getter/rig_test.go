package getter

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/image"
)

// registry is a scripted registry: it serves what was put in, logs every
// request, and lets a script answer in its place.
type registry struct {
	*httptest.Server
	t *testing.T

	// script answers a request and returns true, or leaves it. n counts the
	// requests for the path, from 1.
	script func(w http.ResponseWriter, r *http.Request, n int) bool

	mu     sync.Mutex
	tags   map[string][]string // by repository
	bodies map[string][]byte   // by path
	types  map[string]string   // by path
	log    []logged
	count  map[string]int
}

type logged struct {
	method, uri, host, proto string
	header                   http.Header
	body                     string
}

func newRegistry(t *testing.T) *registry {
	t.Helper()
	g := prepareRegistry(t)
	g.Server = httptest.NewServer(g)
	t.Cleanup(g.Close)
	return g
}

func prepareRegistry(t *testing.T) *registry {
	return &registry{t: t, tags: map[string][]string{}, bodies: map[string][]byte{}, types: map[string]string{}, count: map[string]int{}}
}

func (g *registry) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	g.mu.Lock()
	g.log = append(g.log, logged{r.Method, r.RequestURI, r.Host, r.Proto, r.Header.Clone(), string(body)})
	g.count[r.URL.Path]++
	n := g.count[r.URL.Path]
	g.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	if g.script != nil && g.script(w, r, n) {
		return
	}
	g.serve(w, r)
}

func (g *registry) serve(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	content, ok := g.bodies[r.URL.Path]
	contentType := g.types[r.URL.Path]
	repo, isTags := strings.CutSuffix(strings.TrimPrefix(r.URL.Path, "/v2/"), "/tags/list")
	tags, known := g.tags[repo]
	g.mu.Unlock()
	switch {
	case isTags && known:
		writeTags(w, repo, tags)
	case ok:
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	case isTags:
		refuse(w, 404, "NAME_UNKNOWN", "repository name not known to registry")
	default:
		refuse(w, 404, "MANIFEST_UNKNOWN", "manifest unknown")
	}
}

func writeTags(w http.ResponseWriter, repo string, tags []string) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"name": repo, "tags": tags})
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"errors": []map[string]string{{"code": code, "message": message}}})
}

// host is the registry's name in sources.
func (g *registry) host() string {
	u, err := url.Parse(g.URL)
	if err != nil {
		g.t.Fatal(err)
	}
	return u.Host
}

func (g *registry) source(repo string) addr.Source { return mustSource(g.t, g.host()+"/"+repo) }

func mustSource(t *testing.T, s string) addr.Source {
	t.Helper()
	source, err := addr.ParseSource(s)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// requests lists what was asked, as "METHOD uri".
func (g *registry) requests() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []string
	for _, l := range g.log {
		all = append(all, l.method+" "+l.uri)
	}
	return all
}

func (g *registry) logged() []logged {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]logged(nil), g.log...)
}

// forget empties the log.
func (g *registry) forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.log = nil
}

// addBlob stores content and returns its descriptor.
func (g *registry) addBlob(repo string, content []byte) ocispec.Descriptor {
	d := addr.DigestOf(content)
	g.mu.Lock()
	g.bodies["/v2/"+repo+"/blobs/"+string(d)] = content
	g.mu.Unlock()
	return ocispec.Descriptor{MediaType: image.MediaTypeOCILayerGzip, Digest: d2(d), Size: int64(len(content))}
}

// addImage stores a small manifest under a tag and its digest.
func (g *registry) addImage(repo, tag string) addr.Digest {
	raw := manifestFor(repo + ":" + tag)
	d := addr.DigestOf(raw)
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, ref := range []string{tag, string(d)} {
		path := "/v2/" + repo + "/manifests/" + ref
		g.bodies[path], g.types[path] = raw, image.MediaTypeOCIManifest
	}
	g.tags[repo] = append(g.tags[repo], tag)
	return d
}

// manifestFor makes a manifest whose digest depends on what it is for.
func manifestFor(what string) []byte {
	empty := addr.DigestOf([]byte("{}"))
	return []byte(fmt.Sprintf(`{"schemaVersion":2,"mediaType":%q,"config":{"mediaType":%q,"digest":%q,"size":2},"layers":[],"annotations":{"for":%q}}`,
		image.MediaTypeOCIManifest, image.MediaTypeOCIConfig, empty, what))
}

// fakeClock sleeps by putting its time forward.
type fakeClock struct {
	mu    sync.Mutex
	now   time.Time
	slept []time.Duration
}

func newFakeClock() *fakeClock {
	return &fakeClock{now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) Sleep(ctx context.Context, d time.Duration, _ <-chan struct{}) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.slept = append(c.slept, d)
	return ctx.Err()
}

// total is how long was slept in all.
func (c *fakeClock) total() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	var sum time.Duration
	for _, d := range c.slept {
		sum += d
	}
	return sum
}

// testThreshold keeps tests of big blobs small.
const testThreshold = 1 << 20

// rig is a client with everything that it says.
type rig struct {
	*Client
	clock   *fakeClock
	mu      sync.Mutex
	notices []Notice
}

func newRig(t *testing.T, o Options) *rig {
	t.Helper()
	r := &rig{clock: newFakeClock()}
	o.Notify = func(n Notice) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.notices = append(r.notices, n)
	}
	c, err := newClient(o, r.clock)
	if err != nil {
		t.Fatal(err)
	}
	c.partialFrom = testThreshold
	t.Cleanup(c.CloseIdleConnections)
	r.Client = c
	return r
}

func (r *rig) said() []Notice {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Notice(nil), r.notices...)
}

func (r *rig) repository(t *testing.T, source addr.Source) *Repository {
	t.Helper()
	repository, err := r.Repository(source)
	if err != nil {
		t.Fatal(err)
	}
	return repository
}

// readBlob reads a blob to its end.
func readBlob(ctx context.Context, r *Repository, desc ocispec.Descriptor) ([]byte, error) {
	body, err := r.Blob(ctx, desc)
	if err != nil {
		return nil, err
	}
	defer body.Close() //nolint:errcheck // only read
	return io.ReadAll(body)
}

// noise is content that no mistake reproduces.
func noise(size int) []byte {
	b := make([]byte, size)
	rand.New(rand.NewSource(int64(size))).Read(b) //nolint:gosec // test data
	return b
}
