package getter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// bearer makes a script that asks for a token of the registry's own /token,
// which first answers.
func bearer(g *registry, first func(w http.ResponseWriter, r *http.Request, n int) bool) func(http.ResponseWriter, *http.Request, int) bool {
	return func(w http.ResponseWriter, r *http.Request, n int) bool {
		if first != nil && first(w, r, n) {
			return true
		}
		switch {
		case r.URL.Path == "/token":
			giveToken(w, "tok-AAAA")
		case r.Header.Get("Authorization") != "Bearer tok-AAAA":
			challengeFor(w, r, g.URL+"/token")
		default:
			return false
		}
		return true
	}
}

func giveToken(w http.ResponseWriter, token string) {
	_ = json.NewEncoder(w).Encode(map[string]string{"token": token})
}

func challengeFor(w http.ResponseWriter, r *http.Request, realm string) {
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/v2/"), "/")
	repo := strings.Join(parts[:len(parts)-2], "/")
	w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm=%q,service="reg",scope="repository:%s:pull,push"`, realm, repo))
	refuse(w, 401, "UNAUTHORIZED", "authentication required")
}

// Ten repositories of one registry need one token, which is asked for with the
// scope of each and only for pulling.
func TestOneTokenForAllScopes(t *testing.T) {
	g := newRegistry(t)
	g.script = bearer(g, nil)
	c := newRig(t, Options{})
	var repositories []*Repository
	for i := range 10 {
		repo := fmt.Sprintf("plugins/p%d", i)
		g.addImage(repo, "1.0.0")
		repositories = append(repositories, c.repository(t, g.source(repo)))
	}
	var group sync.WaitGroup
	for _, r := range repositories {
		group.Go(func() {
			if _, err := r.Document(context.Background(), "1.0.0"); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	tokens := tokenRequests(t, g)
	if len(tokens) != 1 {
		t.Fatalf("%d requests for a token, want 1", len(tokens))
	}
	if got := tokens[0]["scope"]; len(got) != 10 || strings.Contains(strings.Join(got, " "), "push") {
		t.Errorf("scopes %q, want ten, of pull only", got)
	}
}

func tokenRequests(t *testing.T, g *registry) []url.Values {
	t.Helper()
	var all []url.Values
	for _, l := range g.logged() {
		if u, err := url.ParseRequestURI(l.uri); err == nil && u.Path == "/token" {
			all = append(all, u.Query())
		}
	}
	return all
}

// A registry that refuses a token for several repositories gets them asked for
// one by one.
func TestTokenOneByOne(t *testing.T) {
	for _, how := range []string{"refuses", "ignores"} {
		g := newRegistry(t)
		g.script = func(w http.ResponseWriter, r *http.Request, _ int) bool {
			scopes := r.URL.Query()["scope"]
			switch {
			case r.URL.Path == "/token" && len(scopes) > 1 && how == "refuses":
				refuse(w, 403, "DENIED", "one at a time")
			case r.URL.Path == "/token":
				giveToken(w, "for-"+scopes[len(scopes)-1])
			case !strings.HasPrefix(r.URL.Path, "/v2/"+strings.TrimSuffix(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer for-repository:"), ":pull")+"/"):
				challengeFor(w, r, g.URL+"/token")
			default:
				return false
			}
			return true
		}
		c := newRig(t, Options{})
		var repositories []*Repository
		for i := range 3 {
			repo := fmt.Sprintf("plugins/p%d", i)
			g.addImage(repo, "1.0.0")
			repositories = append(repositories, c.repository(t, g.source(repo)))
		}
		for range 2 {
			for _, r := range repositories {
				if _, err := r.Document(context.Background(), "1.0.0"); err != nil {
					t.Errorf("%s: %v", how, err)
				}
			}
		}
		if got := len(tokenRequests(t, g)); got != 4 {
			t.Errorf("%s: %d requests for tokens, want one for all and three for each", how, got)
		}
	}
}

// A token that expires is replaced, once for all who hold it.
func TestTokenExpires(t *testing.T) {
	g := newRegistry(t)
	g.addImage("plugins/aws", "1.0.0")
	var mu sync.Mutex
	valid := 1
	g.script = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case r.URL.Path == "/token":
			giveToken(w, fmt.Sprintf("tok-%04d", valid))
		case r.Header.Get("Authorization") != fmt.Sprintf("Bearer tok-%04d", valid):
			challengeFor(w, r, g.URL+"/token")
		default:
			return false
		}
		return true
	}
	r := newRig(t, Options{}).repository(t, g.source("plugins/aws"))
	for round := range 3 {
		mu.Lock()
		valid++
		mu.Unlock()
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				if _, err := r.Document(context.Background(), "1.0.0"); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if got := len(tokenRequests(t, g)); got != round+1 {
			t.Errorf("%d requests for tokens after %d rounds", got, round+1)
		}
	}
}

// An identity token is exchanged by POST and never sent to the registry.
func TestIdentityToken(t *testing.T) {
	g := newRegistry(t)
	g.addImage("plugins/aws", "1.0.0")
	g.script = func(w http.ResponseWriter, r *http.Request, n int) bool {
		switch {
		case r.URL.Path == "/token" && r.Method == http.MethodPost:
			_ = r.ParseForm()
			if r.PostForm.Get("refresh_token") != "ref-BBBB" || r.PostForm.Get("grant_type") != "refresh_token" {
				refuse(w, 401, "UNAUTHORIZED", "bad token")
				return true
			}
			_ = json.NewEncoder(w).Encode(map[string]string{"access_token": "tok-AAAA"})
			return true
		default:
			return bearer(g, nil)(w, r, n)
		}
	}
	c := newRig(t, Options{Credentials: StaticCredential(g.host(), Credential{IdentityToken: "ref-BBBB"})})
	if _, err := c.repository(t, g.source("plugins/aws")).Document(context.Background(), "1.0.0"); err != nil {
		t.Fatal(err)
	}
	for _, l := range g.logged() {
		if strings.Contains(l.header.Get("Authorization"), "ref-BBBB") {
			t.Errorf("%s got the identity token", l.uri)
		}
	}
}

// A challenge without TLS may send credentials only to its own host and port.
func TestRealmElsewhereWithoutTLS(t *testing.T) {
	other := newRegistry(t)
	other.script = func(w http.ResponseWriter, _ *http.Request, _ int) bool { giveToken(w, "tok-AAAA"); return true }
	g := newRegistry(t)
	for _, realm := range []string{other.URL + "/token", "https://" + other.host() + "/token", "http://169.254.169.254/token", "ftp://" + g.host() + "/token", "://"} {
		g.script = func(w http.ResponseWriter, r *http.Request, _ int) bool { challengeFor(w, r, realm); return true }
		c := newRig(t, Options{Credentials: StaticCredential(g.host(), Credential{Username: "ci", Password: "s3cr3t-pw"})})
		_, err := c.repository(t, g.source("plugins/aws")).Tags(context.Background())
		if !errors.Is(err, ErrUnsafe) && !errors.Is(err, ErrProtocol) {
			t.Errorf("%s: got %v", realm, err)
		}
	}
	if got := other.requests(); len(got) != 0 {
		t.Errorf("the other host was asked: %q", got)
	}
}

// C09 (c): refused although there was a token.
func TestRefusedAfterToken(t *testing.T) {
	g := newRegistry(t)
	g.script = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if r.URL.Path == "/token" {
			giveToken(w, "tok-AAAA")
		} else {
			challengeFor(w, r, g.URL+"/token")
		}
		return true
	}
	c := newRig(t, Options{})
	_, err := c.repository(t, g.source("plugins/aws")).Tags(context.Background())
	if !errors.Is(err, ErrUnauthorized) || !strings.Contains(err.Error(), "no credentials for "+g.host()+" were found") {
		t.Errorf("got %v", err)
	}
	if got := len(g.requests()); got > 4 {
		t.Errorf("%d requests: %q", got, g.requests())
	}
}

func TestParseChallenges(t *testing.T) {
	for _, test := range []struct {
		headers []string
		want    string
		ok      bool
	}{
		{[]string{`Bearer realm="https://a/t",service="s",scope="repository:x:pull"`}, `Bearer realm="https://a/t",service="s",scope="repository:x:pull"`, true},
		{[]string{`bearer  Realm = https, SERVICE=s`}, `Bearer realm="https",service="s"`, true},
		{[]string{`Negotiate`, `Basic realm="x"`}, `Basic realm="registry"`, true},
		{[]string{`Negotiate abc==, Basic realm="x, y", Bearer realm="https://a/t"`}, `Bearer realm="https://a/t"`, true},
		{[]string{`Basic realm="a \"quoted\" one", Digest nonce="x"`}, `Basic realm="registry"`, true},
		{[]string{`Bearer`, `Basic`}, `Basic realm="registry"`, true},
		{[]string{`Bearer realm=""`}, "", false},
		{[]string{`Digest realm="x"`}, "", false},
		{[]string{`Bearer realm="unterminated`}, "", false},
		{[]string{``, `,,,`, `"`}, "", false},
	} {
		c, ok := chooseChallenge(parseChallenges(test.headers))
		if ok != test.ok || ok && c.header() != test.want {
			t.Errorf("%q: got %v %q, want %v %q", test.headers, ok, c.header(), test.ok, test.want)
		}
	}
}

func TestPullOnly(t *testing.T) {
	for scope, want := range map[string]string{
		"repository:a/b:pull":           "repository:a/b:pull",
		"repository:a/b:pull,push":      "repository:a/b:pull",
		"repository:a/b:push":           "",
		"repository:h:5000/a:pull,push": "repository:h:5000/a:pull",
		"registry:catalog:*":            "registry:catalog:*",
	} {
		if got := pullOnly(scope); got != want {
			t.Errorf("%q: got %q, want %q", scope, got, want)
		}
	}
	if !slices.Equal([]string{pullOnly("x")}, []string{"x"}) {
		t.Error("a scope of another kind was changed")
	}
}

// A challenge costs a request and no connection.
func TestChallengeKeepsTheConnection(t *testing.T) {
	g := prepareRegistry(t)
	g.addImage("plugins/aws", "1.0.0")
	g.Server = httptest.NewUnstartedServer(g)
	var opened atomic.Int32
	g.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	g.Start()
	t.Cleanup(g.Close)
	g.script = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if _, _, ok := r.BasicAuth(); ok {
			return false
		}
		w.Header().Set("WWW-Authenticate", "Basic")
		refuse(w, 401, "UNAUTHORIZED", strings.Repeat("words ", 1000))
		return true
	}
	c := newRig(t, Options{Credentials: StaticCredential(g.host(), Credential{Username: "ci", Password: "s3cr3t-pw"})})
	if _, err := c.repository(t, g.source("plugins/aws")).Document(context.Background(), "1.0.0"); err != nil {
		t.Fatal(err)
	}
	if got := opened.Load(); got != 1 {
		t.Errorf("%d connections for a challenge and its answer", got)
	}
}
