package registrytest_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pluginlock/plugins/internal/imagetest"
	"github.com/pluginlock/plugins/internal/registrytest"
)

// withBlob is a registry with one blob of 10,000 bytes, at path.
func withBlob(t *testing.T, rules ...registrytest.Rule) (r *registrytest.Registry, path, content string) {
	t.Helper()
	r = registrytest.New(t, registrytest.Options{Rules: rules})
	content = imagetest.Noise("blob", 10_000)
	im := imagetest.Artifact("application/x", "application/x", []byte(content))
	r.MustAdd(t, "p", im, "1.0.0")
	return r, "/v2/p/blobs/" + im.Manifest("").Layers[0].Digest.String(), content
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"/v2/", "/v2/", true}, {"/v2/", "/v2/x", false}, {"*", "", true}, {"/v2/*", "/v2/", true}, {"*/tags/list", "/v2/a/b/tags/list", true},
		{"/v2/*/blobs/*", "/v2/a/b/blobs/sha256:1", true}, {"/v2/*/blobs/*", "/v2/a/b/manifests/1", false}, {"a*a", "a", false}, {"a*b*c", "abbc", true}, {"a*b*c", "acb", false},
	} {
		if got := registrytest.Match(c.pattern, c.s); got != c.want {
			t.Errorf("Match(%q, %q) is %v", c.pattern, c.s, got)
		}
	}
}

func TestLog(t *testing.T) {
	r, path, content := withBlob(t)
	get(t, r, "/v2/p/tags/list?n=100", header("User-Agent", "test"))
	get(t, r, path)
	get(t, r, path+"0")
	var got []string
	for _, line := range r.Front.Requests() {
		got = append(got, line.String())
	}
	if want := []string{"GET /v2/p/tags/list?n=100", "GET " + path, "GET " + path + "0"}; !slices.Equal(got, want) {
		t.Errorf("log %q, want %q", got, want)
	}
	log := r.Front.Requests()
	if log[0].Header.Get("User-Agent") != "test" || log[1].Status != 200 || log[1].Bytes != int64(len(content)) || log[2].Status < 400 || log[0].Host != r.Host() {
		t.Errorf("log %+v", log)
	}
	if n := r.Front.Count("GET", "*/blobs/*"); n != 2 {
		t.Errorf("%d blobs", n)
	}
	if n := r.Front.Count("HEAD", ""); n != 0 {
		t.Errorf("%d HEAD", n)
	}
	r.Front.Reset()
	if n := r.Front.Count("", ""); n != 0 {
		t.Errorf("%d after Reset", n)
	}
}

func TestLogIsSafe(t *testing.T) {
	r, path, _ := withBlob(t)
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for range 5 {
				get(t, r, path)
				r.Front.Requests()
			}
		})
	}
	clients.Wait()
	if n := r.Front.Count("GET", path); n != 40 {
		t.Errorf("%d requests in the log, want 40", n)
	}
}

func TestRuleByCount(t *testing.T) {
	r, path, content := withBlob(t, registrytest.Rule{Name: "busy", Path: "*/blobs/*", From: 2, Times: 2, Status: 429, Header: map[string]string{"Retry-After": "0"}})
	for i, want := range []int{200, 429, 429, 200} {
		get(t, r, "/v2/p/tags/list") // is none of the rule's business
		got := get(t, r, path)
		if got.status != want || want == 429 && got.header.Get("Retry-After") != "0" || want == 200 && got.body != content {
			t.Errorf("request %d: %d, want %d", i+1, got.status, want)
		}
	}
	if named := slices.IndexFunc(r.Front.Requests(), func(q registrytest.Request) bool { return q.Rule == "busy" }); named != 3 {
		t.Errorf("the rule is named first in line %d", named)
	}
	r.Front.ClearRules()
	r.Front.Add(registrytest.Rule{Authorized: new(true), Status: 403}, registrytest.Rule{Query: "*x=1*", Status: 418})
	for edit, want := range map[string]int{"": 200, "Basic eA==": 403} {
		if got := get(t, r, path, header("Authorization", edit)); got.status != want {
			t.Errorf("Authorization %q: %d, want %d", edit, got.status, want)
		}
	}
	if got := get(t, r, path+"?a=b&x=1"); got.status != 418 {
		t.Errorf("with the query: %d", got.status)
	}
}

func TestRulesForBodies(t *testing.T) {
	size := int64(10_000)
	for name, c := range map[string]struct {
		rule  registrytest.Rule
		bytes int64
		cut   bool // the client sees that something is missing
	}{
		"cut":           {registrytest.Rule{CutAfter: new(int64(3000))}, 3000, true},
		"cut at once":   {registrytest.Rule{CutAfter: new(int64(0))}, 0, true},
		"cut after all": {registrytest.Rule{CutAfter: new(size + 1)}, size, false},
		"end":           {registrytest.Rule{EndAfter: new(int64(3000))}, 3000, false},
		"extra":         {registrytest.Rule{Extra: 7}, size + 7, false},
		"paced":         {registrytest.Rule{BytesPerSecond: 1 << 30}, size, false},
		"no length":     {registrytest.Rule{Drop: []string{"content-length"}}, size, false},
	} {
		t.Run(name, func(t *testing.T) {
			r, path, content := withBlob(t, c.rule)
			got := get(t, r, path)
			if int64(len(got.body)) != c.bytes || (got.err != nil) != c.cut {
				t.Errorf("%d bytes, %v; want %d, cut %v", len(got.body), got.err, c.bytes, c.cut)
			}
			if n := min(c.bytes, size); got.body[:n] != content[:n] {
				t.Error("the bytes are others")
			}
			if log := r.Front.Requests(); log[0].Bytes != c.bytes {
				t.Errorf("the log says %d bytes", log[0].Bytes)
			}
			if name == "no length" && got.header.Get("Content-Length") != "" {
				t.Error("there is a Content-Length")
			}
		})
	}
}

func TestRulesForRanges(t *testing.T) {
	for mode, want := range map[string]struct {
		status     int
		rangeField string
		start, end int
	}{
		"":                       {206, "bytes 4000-9999/10000", 4000, 10_000},
		registrytest.RangeIgnore: {200, "", 0, 10_000},
		registrytest.RangeWhole:  {206, "bytes 0-9999/10000", 0, 10_000},
		registrytest.RangeLie:    {206, "bytes 4000-9999/10000", 0, 6000},
	} {
		r, path, content := withBlob(t, registrytest.Rule{Range: mode})
		got := get(t, r, path, header("Range", "bytes=4000-"))
		if got.err != nil || got.status != want.status || got.header.Get("Content-Range") != want.rangeField || got.body != content[want.start:want.end] {
			t.Errorf("%q: %d %q, %d bytes, %v", mode, got.status, got.header.Get("Content-Range"), len(got.body), got.err)
		}
	}
}

func TestRulesThatAnswer(t *testing.T) {
	r, path, _ := withBlob(t,
		registrytest.Rule{Path: "*/manifests/moved", Redirect: "{scheme}://registry.invalid{path}?from={host}"},
		registrytest.Rule{Path: "*/manifests/chain", Status: 302, Redirect: "/a?{query}"},
		registrytest.Rule{Path: "*/manifests/html", Header: map[string]string{"Content-Type": "text/html"}, Body: new("<html>")},
		registrytest.Rule{Path: "*/manifests/func", Func: func(w http.ResponseWriter, req *http.Request, next http.HandlerFunc) {
			w.Header().Set("X-Func", "1")
			req.URL.Path = strings.Replace(req.URL.Path, "func", "1.0.0", 1)
			next(w, req)
		}},
		registrytest.Rule{Path: "*/manifests/1.0.0", Header: map[string]string{"Docker-Content-Digest": "sha256:0"}, Drop: []string{"Content-Type"}},
	)
	if got := get(t, r, "/v2/p/manifests/moved"); got.status != 307 || got.header.Get("Location") != "http://registry.invalid/v2/p/manifests/moved?from="+r.Host() {
		t.Errorf("moved: %d %s", got.status, got.header.Get("Location"))
	}
	if got := get(t, r, "/v2/p/manifests/chain?x=1"); got.status != 302 || got.header.Get("Location") != "/a?x=1" {
		t.Errorf("chain: %d %s", got.status, got.header.Get("Location"))
	}
	if got := get(t, r, "/v2/p/manifests/html"); got.status != 200 || got.body != "<html>" || got.header.Get("Content-Type") != "text/html" {
		t.Errorf("html: %+v", got)
	}
	if got := get(t, r, "/v2/p/manifests/func"); got.status != 200 || got.header.Get("X-Func") != "1" {
		t.Errorf("func: %+v", got)
	}
	if got := get(t, r, "/v2/p/manifests/1.0.0"); got.status != 200 || got.header.Get("Docker-Content-Digest") != "sha256:0" || got.header["Content-Type"] != nil {
		t.Errorf("headers: %+v", got.header)
	}
	if got := get(t, r, path); got.status != 200 {
		t.Errorf("what no rule is for: %d", got.status)
	}
}

func TestStallEndsWithTheClient(t *testing.T) {
	r, path, content := withBlob(t, registrytest.Rule{Times: 1, Stall: true}, registrytest.Rule{StallAfter: new(int64(5000))})
	ctx, cancel := context.WithCancel(t.Context())
	arrived := make(chan error, 1)
	go func() {
		req, _ := http.NewRequestWithContext(ctx, http.MethodGet, r.URL()+path, nil)
		resp, err := r.Client().Do(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		arrived <- err
	}()
	if err := r.Front.Await(t.Context(), 1, "GET", path); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-arrived; !errors.Is(err, context.Canceled) {
		t.Errorf("stalled: %v", err)
	}

	resp, err := r.Client().Get(r.URL() + path)
	if err != nil {
		t.Fatal(err)
	}
	part := make([]byte, 5000)
	if _, err := io.ReadFull(resp.Body, part); err != nil || string(part) != content[:5000] {
		t.Errorf("before the stall: %v", err)
	}
	r.Stop() // lets the waiting request go, else the test would hang here
	if _, err := resp.Body.Read(part); err == nil {
		t.Error("the body goes on after Stop")
	}
	_ = resp.Body.Close()
}

func TestWait(t *testing.T) {
	gate := make(chan struct{})
	r, path, content := withBlob(t, registrytest.Rule{Wait: gate})
	done := make(chan answer, 1)
	go func() { done <- get(t, r, path) }()
	if err := r.Front.Await(t.Context(), 1, "", "*/blobs/*"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-done:
		t.Error("it did not wait")
	default:
	}
	close(gate)
	if got := <-done; got.body != content {
		t.Errorf("after the gate: %d", got.status)
	}
}

func TestRulesInJSON(t *testing.T) {
	var o registrytest.Options
	text := `{"rules": [{"path": "*/blobs/*", "times": 1, "cut_after": 0}], "auth": {"username": "me", "password": "x", "bearer": true}, "quirks": {"page_size": 2}}`
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	if o.Rules[0].CutAfter == nil || *o.Rules[0].CutAfter != 0 || o.Rules[0].EndAfter != nil || !o.Auth.Bearer || o.Quirks.PageSize != 2 {
		t.Errorf("%+v", o)
	}
}
