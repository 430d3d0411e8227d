package registrytest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/imagetest"
	"github.com/pluginlock/plugins/internal/registrytest"
)

// answer is what a client saw; err is of reading the body.
type answer struct {
	status int
	header http.Header
	body   string
	err    error
}

func get(t *testing.T, r *registrytest.Registry, path string, edit ...func(*http.Request)) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.URL()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range edit {
		e(req)
	}
	client := r.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(req)
	if err != nil {
		return answer{err: err}
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(body), err}
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

func basic(username, password string) func(*http.Request) {
	return func(r *http.Request) { r.SetBasicAuth(username, password) }
}

func TestImagesGoInAndComeOut(t *testing.T) {
	im := imagetest.Plugin{Name: "aws", Version: "1.2.0"}.Build(t)
	docker := imagetest.Foreign{Name: "velero", Docker: true}.Build(t)
	r := registrytest.New(t, registrytest.Options{})
	r.MustAdd(t, "plugins/aws", im, "1.2.0", "latest")
	docker.Push(t, r.Host(), "velero/velero", "1.9.0")

	for path, want := range map[string]*imagetest.Image{"/v2/plugins/aws/manifests/latest": im, "/v2/velero/velero/manifests/1.9.0": docker} {
		got := get(t, r, path)
		if got.status != 200 || addr.DigestOf([]byte(got.body)) != want.Digest() || got.header.Get("Content-Type") != want.Root.MediaType {
			t.Errorf("%s: %d %s", path, got.status, got.header)
		}
		for _, b := range want.Blobs {
			kind := "/blobs/"
			if b.Document {
				kind = "/manifests/"
			}
			repository, _, _ := strings.Cut(path, "/manifests/")
			if got := get(t, r, repository+kind+b.Descriptor.Digest.String()); got.body != string(b.Bytes) {
				t.Errorf("%s%s%s: %d", repository, kind, b.Descriptor.Digest, got.status)
			}
		}
	}
	if n := r.Front.Count("PUT", "/v2/velero/velero/manifests/*"); n != 6 {
		t.Errorf("%d manifests were put, want 4, their index and its tag", n)
	}
}

func TestTagsMove(t *testing.T) {
	r := registrytest.New(t, registrytest.Options{})
	one, two := imagetest.Plugin{}.Build(t), imagetest.Plugin{BuildID: "two"}.Build(t)
	r.MustAdd(t, "p", one, "1.0.0")
	r.MustAdd(t, "p", two)
	if err := errors.Join(r.Tag("p", two.Digest().String(), "1.0.0"), r.Tag("p", "1.0.0", "v1.0.0")); err != nil {
		t.Fatal(err)
	}
	if d, err := r.Resolve("p", "v1.0.0"); err != nil || d != two.Digest() {
		t.Errorf("v1.0.0 is %s, %v", d, err)
	}
	if err := errors.Join(r.Delete("p", "v1.0.0"), r.Delete("p", two.Digest().String()), r.Delete("p", one.Payload("linux/amd64").String())); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{
		"/v2/p/manifests/v1.0.0":                                           404,
		"/v2/p/manifests/" + two.Digest().String():                         404,
		"/v2/p/blobs/" + one.Payload("linux/amd64").String():               404,
		"/v2/p/manifests/" + one.Digest().String():                         200,
		"/v2/p/blobs/" + two.Payload("linux/amd64").String():               200,
		"/v2/q/manifests/1.0.0":                                            404,
		"/v2/p/manifests/" + one.Child("linux/arm64").Root.Digest.String(): 200,
	} {
		if got := get(t, r, path); got.status != want {
			t.Errorf("%s: %d, want %d", path, got.status, want)
		}
	}
	if err := r.Tag("p", "9.9.9", "x"); err == nil {
		t.Error("a tag that is not there was tagged")
	}
}

func TestStopAndRestart(t *testing.T) {
	r := registrytest.New(t, registrytest.Options{})
	r.MustAdd(t, "p", imagetest.Plugin{}.Build(t), "1.0.0")
	host := r.Host()
	r.Stop()
	if got := get(t, r, "/v2/"); got.err == nil {
		t.Error("a stopped registry answers")
	}
	if err := r.Restart(); err != nil {
		t.Fatal(err)
	}
	if got := get(t, r, "/v2/p/manifests/1.0.0"); got.status != 200 || r.Host() != host {
		t.Errorf("after Restart: %d at %s, before at %s", got.status, r.Host(), host)
	}
}

func TestBasic(t *testing.T) {
	r := registrytest.New(t, registrytest.Options{Auth: &registrytest.Auth{Username: "me", Password: "secret", Private: []string{"/v2/private/*"}}})
	im := imagetest.Plugin{}.Build(t)
	r.MustAdd(t, "private/p", im, "1.0.0")
	r.MustAdd(t, "public/p", im, "1.0.0")
	for _, c := range []struct {
		path   string
		edit   func(*http.Request)
		status int
	}{
		{"/v2/public/p/manifests/1.0.0", header("X", ""), 200},
		{"/v2/private/p/manifests/1.0.0", header("X", ""), 401},
		{"/v2/private/p/manifests/1.0.0", basic("me", "wrong"), 401},
		{"/v2/private/p/manifests/1.0.0", basic("me", "secret"), 200},
	} {
		if got := get(t, r, c.path, c.edit); got.status != c.status || (c.status == 401) != (got.header.Get("WWW-Authenticate") != "") {
			t.Errorf("%s: %d %v, want %d", c.path, got.status, got.header, c.status)
		}
	}
	remote := imagetest.Remote{URL: r.URL(), Username: "me", Password: "secret"}
	if err := remote.Push(t.Context(), im, "private/q", "1.0.0"); err != nil {
		t.Error(err)
	}
	if err := (imagetest.Remote{URL: r.URL()}).Push(t.Context(), im, "private/r", "1.0.0"); err == nil {
		t.Error("a push without credentials was taken")
	}
}

// token asks the token endpoint that a challenge names.
func token(t *testing.T, r *registrytest.Registry, challenge string, edit ...func(*http.Request)) (string, int) {
	t.Helper()
	_, scope, _ := strings.Cut(challenge, `scope="`)
	scope, _, _ = strings.Cut(scope, `"`)
	got := get(t, r, registrytest.TokenPath+"?service=registrytest&scope="+url.QueryEscape(scope), edit...)
	var body struct{ Token string }
	_ = json.Unmarshal([]byte(got.body), &body) // a refusal has none
	return body.Token, got.status
}

func TestBearer(t *testing.T) {
	r := registrytest.New(t, registrytest.Options{Auth: &registrytest.Auth{Username: "me", Password: "secret", Bearer: true, TokenUses: 2, Refresh: "again", Anonymous: false}})
	r.MustAdd(t, "p", imagetest.Plugin{}.Build(t), "1.0.0")
	r.MustAdd(t, "q", imagetest.Plugin{}.Build(t), "1.0.0")
	refused := get(t, r, "/v2/p/manifests/1.0.0")
	challenge := refused.header.Get("WWW-Authenticate")
	if want := fmt.Sprintf(`Bearer realm="%s/token",service="registrytest",scope="repository:p:pull"`, r.URL()); refused.status != 401 || challenge != want {
		t.Fatalf("%d %s, want %s", refused.status, challenge, want)
	}
	if _, status := token(t, r, challenge); status != 401 {
		t.Errorf("a token for nobody: %d", status)
	}
	name, status := token(t, r, challenge, basic("me", "secret"))
	if status != 200 {
		t.Fatalf("no token: %d", status)
	}
	bearer := header("Authorization", "Bearer "+name)
	if got := get(t, r, "/v2/q/manifests/1.0.0", bearer); got.status != 401 {
		t.Errorf("a token for p is good for q: %d", got.status)
	}
	for i, want := range []int{200, 200, 401} {
		if got := get(t, r, "/v2/p/manifests/1.0.0", bearer); got.status != want {
			t.Errorf("use %d: %d, want %d", i+1, got.status, want)
		}
	}
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"again"}, "scope": {"repository:p:pull"}}
	resp, err := r.Client().PostForm(r.URL()+registrytest.TokenPath, form)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Errorf("refresh: %s", resp.Status)
	}
}

func TestAnonymousTokensOnlyPull(t *testing.T) {
	r := registrytest.New(t, registrytest.Options{Auth: &registrytest.Auth{Username: "me", Password: "secret", Bearer: true, Anonymous: true}})
	if _, status := token(t, r, `scope="repository:p:pull"`); status != 200 {
		t.Errorf("pull: %d", status)
	}
	if _, status := token(t, r, `scope="repository:p:pull,push"`); status != 401 {
		t.Errorf("push: %d", status)
	}
	if _, status := token(t, r, `scope="repository:p:pull"`, basic("me", "stale")); status != 401 {
		t.Errorf("a stale password: %d", status)
	}
}

func TestTLS(t *testing.T) {
	for _, http1 := range []bool{false, true} {
		r := registrytest.New(t, registrytest.Options{TLS: true, HTTP1: http1})
		client := r.Client()
		client.Transport.(*http.Transport).ForceAttemptHTTP2 = true
		resp, err := client.Get(r.URL() + "/v2/")
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if (resp.ProtoMajor == 1) != http1 {
			t.Errorf("with HTTP1 %v it speaks %s", http1, resp.Proto)
		}
		stranger, err := http.Get(r.URL() + "/v2/")
		if err == nil {
			_ = stranger.Body.Close()
		}
		if err == nil || !bytes.Contains(r.CertPEM(), []byte("CERTIFICATE")) {
			t.Error("its certificate is trusted without more")
		}
	}
}

func TestLoad(t *testing.T) {
	r := registrytest.New(t, registrytest.Options{})
	err := r.Load(fstest.MapFS{
		"plugins/aws/1.2.0.json":    {Data: []byte(`{"protocols": [5, 6], "tags": ["latest"]}`)},
		"plugins/aws/1.0.0.json":    {Data: []byte(`{"alias": "v1.0.0"}`)},
		"plugins/aws/v1.0.0.json":   {Data: []byte(`{"build": "old", "platforms": ["linux/amd64"]}`)},
		"velero/velero/1.9.0.json":  {Data: []byte(`{"foreign": {"docker": true, "executable": "/plugins/velero"}}`)},
		"odd/chart/1.0.0.json":      {Data: []byte(`{"artifact": "chart"}`)},
		"odd/raw/1.0.0.json":        {Data: []byte(`{"raw": "<html>", "raw_type": "text/html"}`)},
		"odd/lost/1.0.0.json":       {Data: []byte(`{"missing": ["linux/amd64"], "no_layer": ["linux/arm64"]}`)},
		"odd/nested/1.0.0.json":     {Data: []byte(`{"nested": true}`)},
		"odd/repeated/1.0.0.json":   {Data: []byte(`{"repeated": ["linux/amd64"]}`)},
		"odd/attested/1.0.0.json":   {Data: []byte(`{"attested": true}`)},
		"odd/single/v1.0.0_b1.json": {Data: []byte(`{"single": "linux/amd64"}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	same := func(a, b string) {
		t.Helper()
		x, errX := r.Resolve("plugins/aws", a)
		y, errY := r.Resolve("plugins/aws", b)
		if x != y || errX != nil || errY != nil {
			t.Errorf("%s is %s, %s is %s (%v, %v)", a, x, b, y, errX, errY)
		}
	}
	same("1.2.0", "latest")
	same("1.0.0", "v1.0.0")
	if d, _ := r.Resolve("plugins/aws", "1.2.0"); d != (imagetest.Plugin{Name: "aws", Version: "1.2.0", Protocols: []int{5, 6}}).Build(t).Digest() {
		t.Error("aws 1.2.0 is another image")
	}
	for path, want := range map[string]string{
		"/v2/odd/single/manifests/v1.0.0_b1": `1.0.0+b1`,
		"/v2/odd/raw/manifests/1.0.0":        "<html>",
		"/v2/odd/chart/manifests/1.0.0":      "helm",
		"/v2/odd/attested/manifests/1.0.0":   "attestation-manifest",
		"/v2/velero/velero/manifests/1.9.0":  "docker.distribution.manifest.list",
	} {
		if got := get(t, r, path); !strings.Contains(got.body, want) {
			t.Errorf("%s: no %s in %s", path, want, got.body)
		}
	}
	for _, bad := range []string{`{"plattforms": []}`, `{"single": "plan9/amd64"}`, `{"alias": "no"}`, `{"missing": ["x/y"]}`, `{"platforms": ["x"]}`} {
		if err := r.Load(fstest.MapFS{"a/b/1.0.0.json": {Data: []byte(bad)}}); err == nil {
			t.Errorf("%s was loaded", bad)
		}
	}
}

func tagsOf(t *testing.T, r *registrytest.Registry, path string) (tags []string, link string) {
	t.Helper()
	got := get(t, r, path)
	var list struct{ Tags []string }
	if err := json.Unmarshal([]byte(got.body), &list); err != nil {
		t.Fatalf("%s: %d %s: %v", path, got.status, got.body, err)
	}
	return list.Tags, got.header.Get("Link")
}

// target takes the reference out of the last link of a header.
func target(link string) string {
	return link[strings.LastIndex(link, "<")+1 : strings.LastIndex(link, ">")]
}

func TestPagesOfTags(t *testing.T) {
	want := []string{"1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0"}
	for _, q := range []registrytest.Quirks{
		{}, {PageSize: 2}, {PageSize: 2, Opaque: true}, {PageSize: 2, EmptyPage: 1}, {PageSize: 2, EmptyPage: 2, Opaque: true}, {PageSize: 2, Link: "absolute"},
		{PageSize: 2, Link: "unquoted"}, {PageSize: 2, Link: "several"}, {PageSize: 2, Link: "query"}, {PageSize: 1, Link: `<{path}?{next}>; rel="next"; x=y`},
	} {
		r := registrytest.New(t, registrytest.Options{Quirks: q})
		r.MustAdd(t, "p", imagetest.Plugin{Platforms: []string{"linux/amd64"}}.Build(t), want...)
		var got []string
		at, _ := url.Parse("/v2/p/tags/list")
		for range 10 {
			tags, link := tagsOf(t, r, at.RequestURI())
			got = append(got, tags...)
			if link == "" {
				break
			}
			next, err := at.Parse(target(link))
			if err != nil {
				t.Fatal(err)
			}
			at = next
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v: %v, %d requests", q, got, r.Front.Count("", ""))
		}
		if pages := r.Front.Count("GET", "/v2/p/tags/list"); (pages == 1) != (q.PageSize == 0) {
			t.Errorf("%+v: %d pages", q, pages)
		}
	}
}

func TestOddListsOfTags(t *testing.T) {
	all := []string{"1.0.0", "1.1.0", "1.2.0"}
	for _, c := range []struct {
		quirks registrytest.Quirks
		query  string
		tags   []string
		link   string
	}{
		{registrytest.Quirks{}, "?n=2", all[:2], `</v2/p/tags/list?last=1.1.0&n=2>; rel="next"`},
		{registrytest.Quirks{Order: "reversed"}, "", []string{"1.2.0", "1.1.0", "1.0.0"}, ""},
		{registrytest.Quirks{Link: "loop"}, "?n=3", all, `</v2/p/tags/list?n=3>; rel="next"`},
		{registrytest.Quirks{Link: "foreign"}, "?n=1", all[:1], `<http://registry.invalid/v2/p/tags/list?last=1.0.0&n=1>; rel="next"`},
		{registrytest.Quirks{Link: "prefixed", PageSize: 1}, "", all[:1], `</artifactory/api/docker/local/v2/p/tags/list?last=1.0.0&n=1>; rel="next"`},
		{registrytest.Quirks{Link: "none"}, "?n=1", all[:1], ""},
		{registrytest.Quirks{Link: "prev"}, "?n=1", all[:1], `</v2/p/tags/list?n=1>; rel="prev"`},
		{registrytest.Quirks{TagLists: map[string][]string{"p": {"1", "latest", "1.0.0"}}}, "", []string{"1", "latest", "1.0.0"}, ""},
		{registrytest.Quirks{TagLists: map[string][]string{"p": nil}, NullTags: true}, "", nil, ""},
	} {
		r := registrytest.New(t, registrytest.Options{Quirks: c.quirks})
		r.MustAdd(t, "p", imagetest.Plugin{}.Build(t), all...)
		tags, link := tagsOf(t, r, "/v2/p/tags/list"+c.query)
		if !slices.Equal(tags, c.tags) || link != c.link {
			t.Errorf("%+v: %v and %s", c.quirks, tags, link)
		}
	}
	r := registrytest.New(t, registrytest.Options{Quirks: registrytest.Quirks{MaxPageSize: 100}})
	if got := get(t, r, "/v2/p/tags/list?n=101"); got.status < 400 {
		t.Errorf("n above the maximum: %d", got.status)
	}
	if got := get(t, r, "/v2/none/tags/list"); got.status != 404 {
		t.Errorf("an unknown repository: %d", got.status)
	}
	if _, err := registrytest.Start(registrytest.Options{Quirks: registrytest.Quirks{Link: "absolut"}}); err == nil {
		t.Error("an unknown form of link is taken")
	}
}

func TestQuirksOfDocuments(t *testing.T) {
	im := imagetest.Plugin{Padding: 100}.Build(t)
	r := registrytest.New(t, registrytest.Options{Quirks: registrytest.Quirks{
		HTML: []string{"*/manifests/html"}, ManifestType: "text/plain", NoDigest: true, NoHead: true, NoRange: true}})
	r.MustAdd(t, "p", im, "1.0.0")
	manifest := get(t, r, "/v2/p/manifests/1.0.0")
	if manifest.header.Get("Content-Type") != "text/plain" || manifest.header.Get("Docker-Content-Digest") != "" || addr.DigestOf([]byte(manifest.body)) != im.Digest() {
		t.Errorf("manifest: %v", manifest.header)
	}
	if got := get(t, r, "/v2/p/manifests/html"); got.status != 200 || !strings.HasPrefix(got.body, "<!DOCTYPE html>") {
		t.Errorf("html: %d %s", got.status, got.body)
	}
	blob := get(t, r, "/v2/p/blobs/"+im.Payload("linux/amd64").String(), header("Range", "bytes=10-"))
	if blob.status != 200 || blob.body != string(im.Bytes(im.Payload("linux/amd64"))) {
		t.Errorf("range: %d, %d bytes", blob.status, len(blob.body))
	}
	req, _ := http.NewRequestWithContext(context.Background(), http.MethodHead, r.URL()+"/v2/p/manifests/1.0.0", nil)
	resp, err := r.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("HEAD: %s", resp.Status)
	}
}
