package bench

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/imagetest"
)

// registry serves files and does nothing else, so that what is measured is the
// client: a blob goes from the page cache to the socket without passing through
// this process. The registry of internal/registrytest keeps all in memory.
type registry struct {
	dir  string // a file for each digest
	host string

	mu    sync.Mutex
	types map[addr.Digest]string            // media types of documents
	tags  map[string]map[string]addr.Digest // by repository
	lists map[string][]string               // tags that a list has, by repository
	page  int                               // the most tags in one answer; 0 is all
	log   []string                          // "GET blobs sha256:…"
}

func newRegistry(t testing.TB) *registry {
	t.Helper()
	r := &registry{dir: filepath.Join(fresh(t), "blobs"), types: map[addr.Digest]string{},
		tags: map[string]map[string]addr.Digest{}, lists: map[string][]string{}}
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(r)
	// Not closed with the benchmark: the next one uses the same content.
	r.host = server.Listener.Addr().String()
	return r
}

func (r *registry) path(d addr.Digest) string { return filepath.Join(r.dir, d.Hex()) }

// add stores an image and tags it. Blobs that are files already are left out of
// the image by its maker.
func (r *registry) add(t testing.TB, repository string, im *imagetest.Image, tags ...string) {
	t.Helper()
	for _, b := range im.Blobs {
		digest := addr.Digest(b.Descriptor.Digest)
		if err := os.WriteFile(r.path(digest), b.Bytes, 0o644); err != nil {
			t.Fatal(err)
		}
		if b.Document {
			r.types[digest] = b.Descriptor.MediaType
		}
	}
	if r.tags[repository] == nil {
		r.tags[repository] = map[string]addr.Digest{}
	}
	for _, tag := range tags {
		r.tags[repository][tag] = im.Digest()
		r.lists[repository] = append(r.lists[repository], tag)
	}
}

// ServeHTTP answers what a client that pulls asks.
func (r *registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	path, found := strings.CutPrefix(req.URL.Path, "/v2/")
	parts := strings.Split(path, "/")
	if n := len(parts); !found || n < 3 {
		http.NotFound(w, req)
	} else {
		r.answer(w, req, strings.Join(parts[:n-2], "/"), parts[n-2], parts[n-1])
	}
}

func (r *registry) answer(w http.ResponseWriter, req *http.Request, repository, kind, name string) {
	r.mu.Lock()
	r.log = append(r.log, req.Method+" "+kind+" "+name)
	if digest, ok := r.tags[repository][name]; ok {
		name = string(digest)
	}
	digest, err := addr.ParseDigest(name)
	mediaType, list := r.types[digest], r.lists[repository]
	r.mu.Unlock()
	switch {
	case kind == "tags":
		r.answerTags(w, req, repository, list)
	case err != nil:
		http.NotFound(w, req)
	default:
		if mediaType == "" {
			mediaType = "application/octet-stream"
		}
		w.Header().Set("Content-Type", mediaType)
		w.Header().Set("Docker-Content-Digest", name)
		http.ServeFile(w, req, r.path(digest))
	}
}

// answerTags serves a list by the page, as the distribution specification has
// it: no more than asked for, no more than this registry is willing to.
func (r *registry) answerTags(w http.ResponseWriter, req *http.Request, repository string, list []string) {
	first := 0
	if last := req.URL.Query().Get("last"); last != "" {
		for first < len(list) && list[first] != last {
			first++
		}
		first++
	}
	list = list[min(first, len(list)):]
	most := len(list)
	if n, err := strconv.Atoi(req.URL.Query().Get("n")); err == nil {
		most = min(most, n)
	}
	if r.page > 0 {
		most = min(most, r.page)
	}
	if most < len(list) {
		w.Header().Set("Link", fmt.Sprintf(`</v2/%s/tags/list?last=%s&n=%d>; rel="next"`, repository, list[most-1], most))
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"name": repository, "tags": list[:most]}) // a client that is gone sees no error
}

// requests returns the log since it was last asked for.
func (r *registry) requests() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	log := r.log
	r.log = nil
	return log
}
