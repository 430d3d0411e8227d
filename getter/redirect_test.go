package getter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// secretly is a registry that asks for basic authentication and then redirects
// blobs to where to says.
func secretly(t *testing.T, to func(r *http.Request) string) (*registry, CredentialFunc) {
	t.Helper()
	g := newRegistry(t)
	g.script = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if _, password, _ := r.BasicAuth(); password != "s3cr3t-pw" {
			w.Header().Set("WWW-Authenticate", `Basic realm="here"`)
			w.WriteHeader(401)
			return true
		}
		if !isBlob(r) {
			return false
		}
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "s3cr3t-cookie"})
		w.Header().Set("Location", to(r))
		w.WriteHeader(http.StatusTemporaryRedirect)
		return true
	}
	return g, StaticCredential(g.host(), Credential{Username: "ci", Password: "s3cr3t-pw"})
}

// C41: credentials stay with the registry they are for, also on the same
// address with another port, and after the other place asks for them.
func TestC41RedirectToSecondOrigin(t *testing.T) {
	content := noise(1000)
	for _, answer401 := range []bool{false, true} {
		second := newRegistry(t)
		second.bodies["/blob"] = content
		second.script = func(w http.ResponseWriter, _ *http.Request, _ int) bool {
			if answer401 {
				w.Header().Set("WWW-Authenticate", `Basic realm="give"`)
				w.WriteHeader(401)
			}
			return answer401
		}
		const query = "sig=a%2Fb%3d&X-Sig=CCCC&empty="
		g, credentials := secretly(t, func(*http.Request) string { return second.URL + "/blob?" + query })
		desc := g.addBlob("plugins/aws", content)
		c := newRig(t, Options{Credentials: credentials})
		got, err := readBlob(context.Background(), c.repository(t, g.source("plugins/aws")), desc)
		if answer401 != (err != nil) || err == nil && !bytes.Equal(got, content) {
			t.Errorf("401 %v: got %d bytes, %v", answer401, len(got), err)
		}
		if err != nil {
			e := asError(t, err)
			if !errors.Is(e.Kind, ErrUnauthorized) || e.Host != second.host() || strings.Contains(err.Error(), "CCCC") || strings.Contains(err.Error(), "were used and refused") {
				t.Errorf("got %v of host %s", err, e.Host)
			}
		}
		if len(second.requests()) != 1 {
			t.Errorf("401 %v: the second origin was asked %q", answer401, second.requests())
		}
		for _, l := range second.logged() {
			if l.uri != "/blob?"+query {
				t.Errorf("asked for %q, want the query as it was", l.uri)
			}
			for _, name := range []string{"Authorization", "Cookie", "Referer", "Proxy-Authorization"} {
				if v := l.header.Get(name); v != "" {
					t.Errorf("the second origin got %s: %s", name, v)
				}
			}
			if strings.Contains(fmt.Sprint(l.header), "s3cr3t") {
				t.Errorf("the second origin got %v", l.header)
			}
		}
	}
}

// Within one origin a redirect keeps what it needs.
func TestRedirectWithinTheRegistry(t *testing.T) {
	content := noise(1000)
	g, credentials := secretly(t, nil)
	desc := g.addBlob("plugins/aws", content)
	g.bodies["/storage"] = content
	ask := g.script
	g.script = func(w http.ResponseWriter, r *http.Request, n int) bool {
		if isBlob(r) && r.Header.Get("Authorization") != "" {
			http.Redirect(w, r, "/storage?sig=x", http.StatusFound)
			return true
		}
		return ask(w, r, n)
	}
	got, err := readBlob(context.Background(), newRig(t, Options{Credentials: credentials}).repository(t, g.source("plugins/aws")), desc)
	if err != nil || !bytes.Equal(got, content) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
}

// C41: what is not followed.
func TestC41RedirectsThatAreRefused(t *testing.T) {
	second := newRegistry(t)
	for name, test := range map[string]struct {
		to   func(r *http.Request) string
		kind error
		most int // requests
	}{
		"a file": {func(*http.Request) string { return "file:///etc/passwd" }, ErrUnsafe, 2},
		"ftp":    {func(*http.Request) string { return "ftp://127.0.0.1/x" }, ErrUnsafe, 2},
		"a chain of 50": {func(r *http.Request) string {
			return r.URL.Path + "?" + strings.Repeat("x", len(r.URL.RawQuery)+1)
		}, ErrProtocol, 2 + maxRedirects},
		"itself":              {func(r *http.Request) string { return r.RequestURI }, ErrProtocol, 2 + maxRedirects},
		"a metadata service":  {func(*http.Request) string { return "http://169.254.169.254/latest/meta-data" }, ErrUnsafe, 2},
		"another without TLS": {func(*http.Request) string { return "http://registry.example.com/x" }, ErrUnsafe, 2},
		"no address":          {func(*http.Request) string { return "http://[::1?X-Sig=CCCC" }, ErrProtocol, 10},
	} {
		t.Run(name, func(t *testing.T) {
			g, credentials := secretly(t, test.to)
			desc := g.addBlob("plugins/aws", noise(10))
			_, err := readBlob(context.Background(), newRig(t, Options{Credentials: credentials}).repository(t, g.source("plugins/aws")), desc)
			if !errors.Is(err, test.kind) || strings.Contains(err.Error(), "CCCC") {
				t.Errorf("got %v, want %v", err, test.kind)
			}
			if got := len(g.requests()); got > test.most {
				t.Errorf("%d requests, want at most %d", got, test.most)
			}
		})
	}
	if len(second.requests()) != 0 {
		t.Error("the second origin was asked")
	}
}

// User information in a redirect is no way to make us authenticate.
func TestRedirectWithUserInformation(t *testing.T) {
	second := newRegistry(t)
	second.bodies["/blob"] = noise(10)
	g, credentials := secretly(t, func(*http.Request) string { return "http://evil:pw@" + second.host() + "/blob" })
	desc := g.addBlob("plugins/aws", noise(10))
	if _, err := readBlob(context.Background(), newRig(t, Options{Credentials: credentials}).repository(t, g.source("plugins/aws")), desc); err != nil {
		t.Fatal(err)
	}
	if got := second.logged()[0].header.Get("Authorization"); got != "" {
		t.Errorf("sent %q", got)
	}
}

// C41 (g): an upload that the registry leads to another origin goes there
// without credentials.
func TestC41UploadLocationElsewhere(t *testing.T) {
	second := newRegistry(t)
	second.script = func(w http.ResponseWriter, _ *http.Request, _ int) bool {
		w.Header().Set("WWW-Authenticate", `Basic realm="give"`)
		w.WriteHeader(401)
		return true
	}
	g, credentials := secretly(t, nil)
	c := newRig(t, Options{Credentials: credentials})
	target, err := c.Target(g.source("plugins/aws"))
	if err != nil {
		t.Fatal(err)
	}
	if target.Host != g.host() || target.Repository != "plugins/aws" || !target.PlainHTTP {
		t.Errorf("target %+v", target)
	}
	req, err := http.NewRequest(http.MethodPut, second.URL+"/upload/1", strings.NewReader("content"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Basic copied")
	resp, err := target.Do(req)
	if err != nil || resp.StatusCode != 401 {
		t.Fatalf("got %v, %v", resp, err)
	}
	discard(resp)
	if l := second.logged(); len(l) != 1 || l[0].header.Get("Authorization") != "" || l[0].body != "content" {
		t.Errorf("the second origin got %v", l)
	}
}

// Pushing asks for pull and push, reading for pull alone.
func TestTargetAsksForPush(t *testing.T) {
	g := newRegistry(t)
	g.script = func(w http.ResponseWriter, r *http.Request, n int) bool {
		if r.Method == http.MethodPut && r.Header.Get("Authorization") == "Bearer tok-AAAA" {
			w.WriteHeader(http.StatusCreated)
			return true
		}
		return bearer(g, nil)(w, r, n)
	}
	target, err := newRig(t, Options{}).Target(g.source("plugins/aws"))
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest(http.MethodPut, g.URL+"/v2/plugins/aws/manifests/1.0.0", bytes.NewReader([]byte("{}")))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := target.Do(req)
	if err != nil || resp.StatusCode != http.StatusCreated {
		t.Fatalf("got %v, %v", resp, err)
	}
	discard(resp)
	if got := tokenRequests(t, g); len(got) != 1 || strings.Join(got[0]["scope"], " ") != "repository:plugins/aws:pull,push" {
		t.Errorf("scopes %q", got)
	}
	if l := g.logged(); l[len(l)-1].body != "{}" {
		t.Errorf("the body was lost: %q", l[len(l)-1].body)
	}
}
