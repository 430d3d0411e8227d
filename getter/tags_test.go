package getter

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// C10: every page is read, whatever form the link has.
func TestC10PagesInEveryForm(t *testing.T) {
	const path = "/v2/plugins/aws/tags/list"
	for name, form := range map[string]func(g *registry, query string) []string{
		"relative":       func(_ *registry, q string) []string { return []string{"<" + path + "?" + q + `>; rel="next"`} },
		"absolute":       func(g *registry, q string) []string { return []string{"<" + g.URL + path + "?" + q + `>; rel="next"`} },
		"without quotes": func(_ *registry, q string) []string { return []string{"<" + path + "?" + q + ">; rel=next"} },
		"in upper case":  func(_ *registry, q string) []string { return []string{"<" + path + "?" + q + `>;REL="NEXT"`} },
		"query alone":    func(_ *registry, q string) []string { return []string{"<?" + q + `>; rel="next"`} },
		"without slash":  func(_ *registry, q string) []string { return []string{"<list?" + q + `>; rel="next"`} },
		"several in one": func(_ *registry, q string) []string {
			return []string{`</x?a=b,c>; rel="prev"; title="a, <b>; rel=next", <` + path + "?" + q + `>; rel="next"`}
		},
		"several headers": func(_ *registry, q string) []string {
			return []string{`</x>; rel="prev"`, "<" + path + "?" + q + `>; rel="next"`}
		},
		"several meanings": func(_ *registry, q string) []string {
			return []string{"<" + path + "?" + q + `>; type="a"; rel="last next"`}
		},
		"Artifactory's": func(_ *registry, q string) []string {
			return []string{"</v2/aws/tags/list?" + q + `>; rel="next"`} // the first segment is lost
		},
		"Nexus's": func(g *registry, q string) []string {
			return []string{"<" + g.URL + "/repository/docker-proxy" + path + "?" + q + `>; rel="next"`}
		},
		"inner port": func(_ *registry, q string) []string {
			return []string{"<https://127.0.0.1:8081" + path + "?" + q + `>; rel="next"`}
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRegistry(t)
			var all []string
			for i := range 250 {
				all = append(all, "0.1."+strconv.Itoa(i))
			}
			query := func(page int) string { return fmt.Sprintf("next_page=opaque%d%%3D%%3d&n=50", page) }
			g.script = func(w http.ResponseWriter, r *http.Request, n int) bool {
				if n > 1 && r.URL.RawQuery != query(n-1) {
					t.Errorf("page %d was asked for by %q, want %q byte for byte", n, r.URL.RawQuery, query(n-1))
				}
				if n < 5 {
					for _, link := range form(g, query(n)) {
						w.Header().Add("Link", link)
					}
				}
				writeTags(w, "plugins/aws", all[(n-1)*50:n*50])
				return true
			}
			tags, err := newRig(t, Options{}).repository(t, g.source("plugins/aws")).Tags(context.Background())
			if err != nil || !slices.Equal(tags, all) {
				t.Fatalf("got %d tags, %v", len(tags), err)
			}
			if got := len(g.requests()); got != 5 {
				t.Errorf("%d requests, want 5", got)
			}
			for _, l := range g.logged() {
				if u, _ := url.ParseRequestURI(l.uri); u.Path != path || l.host != g.host() {
					t.Errorf("asked %s for %s", l.host, l.uri)
				}
			}
		})
	}
}

// An empty page in the middle is no end, and rel=prev alone is no next page.
func TestC10EmptyPageInTheMiddle(t *testing.T) {
	g := newRegistry(t)
	pages := [][]string{{"1.0.0"}, nil, {}, {"1.0.0", "1.1.0"}}
	g.script = func(w http.ResponseWriter, _ *http.Request, n int) bool {
		if n < len(pages) {
			w.Header().Set("Link", fmt.Sprintf(`</v2/plugins/aws/tags/list?page=%d>; rel="next"`, n))
		} else {
			w.Header().Set("Link", `</v2/plugins/aws/tags/list?page=1>; rel="prev"`)
		}
		writeTags(w, "plugins/aws", pages[n-1])
		return true
	}
	tags, err := newRig(t, Options{}).repository(t, g.source("plugins/aws")).Tags(context.Background())
	if err != nil || !slices.Equal(tags, []string{"1.0.0", "1.1.0"}) || len(g.requests()) != 4 {
		t.Errorf("got %q, %v after %d requests", tags, err, len(g.requests()))
	}
}

// An opaque path of the registry's own is followed as it is.
func TestOpaqueNextPage(t *testing.T) {
	g := newRegistry(t)
	g.script = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if r.RequestURI == "/v2/plugins/aws/tags/list" {
			w.Header().Set("Link", `</v2/_pages/a%2Fb?c=%3d>; rel="next"`)
			writeTags(w, "plugins/aws", []string{"1.0.0"})
			return true
		}
		writeTags(w, "plugins/aws", []string{"1.1.0"})
		return true
	}
	tags, err := newRig(t, Options{}).repository(t, g.source("plugins/aws")).Tags(context.Background())
	if err != nil || len(tags) != 2 || g.requests()[1] != "GET /v2/_pages/a%2Fb?c=%3d" {
		t.Errorf("got %q, %v, %q", tags, err, g.requests())
	}
}

// A list that can't be read to its end is an error, never a part of the list.
func TestListsThatAreNotComplete(t *testing.T) {
	other := newRegistry(t)
	other.tags["plugins/aws"] = []string{"9.9.9"}
	link := func(target string) func(http.ResponseWriter, *http.Request, int) bool {
		return func(w http.ResponseWriter, _ *http.Request, _ int) bool {
			w.Header().Set("Link", "<"+target+`>; rel="next"`)
			writeTags(w, "plugins/aws", []string{"1.0.0"})
			return true
		}
	}
	for name, test := range map[string]struct {
		script func(http.ResponseWriter, *http.Request, int) bool
		kind   error
		most   int // requests
	}{
		"a loop":         {link("/v2/plugins/aws/tags/list?n=1"), ErrProtocol, 2},
		"a link to self": {link("?"), ErrProtocol, 2},
		"another host":   {link("http://localhost:1/v2/plugins/aws/tags/list?n=1"), ErrUnsafe, 1},
		"a file":         {link("file:///etc/passwd"), ErrUnsafe, 1},
		"no address":     {link("http://[::1"), ErrProtocol, 1},
		"user in it":     {link("http://u:p@127.0.0.1/v2/plugins/aws/tags/list?n=1"), ErrUnsafe, 1},
		"without an end": {func(w http.ResponseWriter, _ *http.Request, n int) bool {
			w.Header().Set("Link", fmt.Sprintf(`<?page=%d>; rel="next"`, n))
			writeTags(w, "plugins/aws", []string{"1.0.0"})
			return true
		}, ErrProtocol, maxEmptyPages + 2},
		"a page that is gone": {func(w http.ResponseWriter, _ *http.Request, n int) bool {
			if n > 1 {
				refuse(w, 404, "NAME_UNKNOWN", "")
				return true
			}
			return link("?page=2")(w, nil, n)
		}, ErrNotFound, 2},
		"a page that fails for good": {func(w http.ResponseWriter, _ *http.Request, n int) bool {
			if n > 1 {
				w.WriteHeader(500)
				return true
			}
			return link("?page=2")(w, nil, n)
		}, ErrServer, 6},
		"JSON that ends": {func(w http.ResponseWriter, _ *http.Request, _ int) bool {
			_, _ = w.Write([]byte(`{"name":"plugins/aws","tags":["1.0.0"`))
			return true
		}, ErrProtocol, 1},
		"a body that breaks off": {func(w http.ResponseWriter, _ *http.Request, _ int) bool {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte(`{"name":"plugins/aws","tags":["1.0.0"]}`))
			return true
		}, ErrNetwork, 5},
		"errors with 200": {func(w http.ResponseWriter, _ *http.Request, _ int) bool {
			_, _ = w.Write([]byte(`{"errors":[{"code":"DENIED"}]}`))
			return true
		}, ErrProtocol, 1},
		"an array": {func(w http.ResponseWriter, _ *http.Request, _ int) bool {
			_, _ = w.Write([]byte(`["1.0.0"]`))
			return true
		}, ErrProtocol, 1},
		"204":            {func(w http.ResponseWriter, _ *http.Request, _ int) bool { w.WriteHeader(204); return true }, ErrProtocol, 1},
		"302 to nowhere": {func(w http.ResponseWriter, _ *http.Request, _ int) bool { w.WriteHeader(302); return true }, ErrProtocol, 5},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRegistry(t)
			g.script = test.script
			tags, err := newRig(t, Options{}).repository(t, g.source("plugins/aws")).Tags(context.Background())
			if !errors.Is(err, test.kind) || tags != nil {
				t.Errorf("got %q, %v", tags, err)
			}
			if got := len(g.requests()); got > test.most {
				t.Errorf("%d requests, want at most %d", got, test.most)
			}
			if err != nil && !strings.Contains(err.Error(), g.source("plugins/aws").String()) {
				t.Errorf("%v does not name the source", err)
			}
		})
	}
	if got := other.requests(); len(got) != 0 {
		t.Errorf("another host was asked: %q", got)
	}
}

// Big lists: one page of 5 MiB, and 12,000 tags in the registry's own pages.
func TestBigLists(t *testing.T) {
	g := newRegistry(t)
	var all []string
	for i := range 12_000 {
		all = append(all, fmt.Sprintf("1.%d.0-%s", i, strings.Repeat("x", 100)))
	}
	r := newRig(t, Options{}).repository(t, g.source("plugins/aws"))
	for _, perPage := range []int{12_000, 1000} {
		g.forget()
		g.script = func(w http.ResponseWriter, req *http.Request, _ int) bool {
			last, _ := strconv.Atoi(req.URL.Query().Get("last"))
			end := min(last+perPage, len(all))
			if end < len(all) {
				w.Header().Set("Link", fmt.Sprintf(`<?last=%d>; rel="next"`, end))
			}
			w.Header().Set("X-Padding", "none")
			writeTags(w, "plugins/aws", all[last:end])
			_, _ = w.Write([]byte(strings.Repeat(" ", (5<<20)/(len(all)/perPage))))
			return true
		}
		tags, err := r.Tags(context.Background())
		if err != nil || len(tags) != len(all) {
			t.Fatalf("%d a page: got %d tags, %v", perPage, len(tags), err)
		}
		if got := len(g.requests()); got != len(all)/perPage {
			t.Errorf("%d a page: %d requests", perPage, got)
		}
	}
}

// C09: every failure says what it is.
func TestC09EightDifferentMessages(t *testing.T) {
	answer := func(status int, code, message string) func(http.ResponseWriter, *http.Request, int) bool {
		return func(w http.ResponseWriter, _ *http.Request, _ int) bool {
			refuse(w, status, code, message)
			return true
		}
	}
	texts := map[string]string{}
	for name, test := range map[string]struct {
		script func(http.ResponseWriter, *http.Request, int) bool
		kind   error
		words  string
	}{
		"(b) 404":          {answer(404, "NAME_UNKNOWN", "repository name not known to registry"), ErrRepositoryNotFound, "no such repository"},
		"(b) 404 plain":    {func(w http.ResponseWriter, r *http.Request, _ int) bool { http.NotFound(w, r); return true }, ErrRepositoryNotFound, "or the registry does not list tags"},
		"(b) 405":          {answer(405, "UNSUPPORTED", "no"), ErrTagsUnsupported, "does not list tags"},
		"(c) 401":          {answer(401, "UNAUTHORIZED", "authentication required"), ErrUnauthorized, "401 Unauthorized"},
		"(d) 403":          {answer(403, "DENIED", "requested access is denied"), ErrForbidden, "403 Forbidden"},
		"(e) 500 for good": {answer(500, "UNKNOWN", "boom"), ErrServer, "500 Internal Server Error"},
		"(f) HTML": {func(w http.ResponseWriter, _ *http.Request, _ int) bool {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<html>log in</html>"))
			return true
		}, ErrProtocol, "web page"},
		"429": {answer(429, "TOOMANYREQUESTS", "slow down"), ErrRateLimited, "429 Too Many Requests"},
	} {
		g := newRegistry(t)
		g.script = test.script
		source := g.source("plugins/aws")
		_, err := newRig(t, Options{}).repository(t, source).Tags(context.Background())
		if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.words) {
			t.Errorf("%s: got %v", name, err)
			continue
		}
		for _, part := range []string{source.String(), g.host(), "list the tags"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q lacks %q", name, err, part)
			}
		}
		texts[strings.ReplaceAll(err.Error(), g.host(), "HOST")] = name
	}
	if len(texts) != 8 {
		t.Errorf("only %d different messages: %v", len(texts), texts)
	}
}

// C09 (a): null is an empty repository, which is no failure here.
func TestC09TagsNull(t *testing.T) {
	g := newRegistry(t)
	g.tags["plugins/aws"] = nil
	tags, err := newRig(t, Options{}).repository(t, g.source("plugins/aws")).Tags(context.Background())
	if err != nil || len(tags) != 0 {
		t.Errorf("got %q, %v", tags, err)
	}
}

// C09 (h): nobody answers.
func TestC09ConnectionRefused(t *testing.T) {
	g := newRegistry(t)
	source := g.source("plugins/aws")
	g.Close()
	c := newRig(t, Options{})
	_, err := c.repository(t, source).Tags(context.Background())
	if !errors.Is(err, ErrNetwork) || !strings.Contains(err.Error(), "no answer from "+source.Host()) || !strings.Contains(err.Error(), "refused") {
		t.Errorf("got %v", err)
	}
}

// C09: an exact version needs no list, where there is none.
func TestC09ExactVersionWithoutList(t *testing.T) {
	for _, status := range []int{404, 405} {
		g := newRegistry(t)
		g.addImage("plugins/aws", "1.4.2")
		g.script = func(w http.ResponseWriter, r *http.Request, _ int) bool {
			if strings.HasSuffix(r.URL.Path, "/tags/list") {
				w.WriteHeader(status)
				return true
			}
			return false
		}
		r := newRig(t, Options{}).repository(t, g.source("plugins/aws"))
		if _, err := r.Document(context.Background(), "1.4.2"); err != nil {
			t.Error(err)
		}
		if got := g.requests(); len(got) != 1 {
			t.Errorf("requests %q", got)
		}
		if _, err := r.Document(context.Background(), "v1.4.2"); !errors.Is(err, ErrTagNotFound) {
			t.Errorf("got %v", err)
		}
	}
}

func FuzzNextPage(f *testing.F) {
	for _, seed := range []string{`</v2/a/tags/list?n=1>; rel="next"`, `<http://h/x>;rel=next, <y>`, `<?a=b>; rel="prev next"`, `<`, `>;,<>;rel=next`, `<//evil/x>; rel=next`, `<http:opaque>; rel=next`} {
		f.Add(seed)
	}
	list, err := url.Parse("https://registry.example.com:8443/v2/a/b/tags/list")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, header string) {
		next, err := nextPage(list, list, []string{header})
		if err != nil || next == nil {
			return
		}
		if !sameOrigin(next, list) || next.User != nil {
			t.Errorf("%q leads to %s", header, next)
		}
		if _, err := http.NewRequest(http.MethodGet, next.String(), http.NoBody); err != nil {
			t.Errorf("%q leads to %q, which is no address: %v", header, next, err)
		}
	})
}

func FuzzChallenge(f *testing.F) {
	for _, seed := range []string{`Bearer realm="https://a/t",service="s",scope="x"`, `Basic realm="x", Bearer realm=y`, `Negotiate a==, Basic`, `Bearer realm="\"`, `a=b=c`, `Bearer realm="http://169.254.169.254/"`} {
		f.Add(seed)
	}
	registry, err := url.Parse("https://registry.example.com")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, header string) {
		c, ok := chooseChallenge(parseChallenges([]string{header}))
		if !ok || c.scheme == "basic" || checkRealm(c.params["realm"], registry) != nil {
			return
		}
		// What is passed on reads back as what was checked.
		again, ok := chooseChallenge(parseChallenges([]string{c.header()}))
		if u, err := url.Parse(again.params["realm"]); !ok || err != nil || u.Scheme != "https" || strings.HasPrefix(u.Host, "169.254.") {
			t.Errorf("%q became %q", header, c.header())
		}
	})
}
