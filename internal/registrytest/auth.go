package registrytest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// TokenPath is where a registry with [Auth].Bearer hands out tokens.
const TokenPath = "/token"

// Auth asks for credentials. One value may stand before several registries:
// then the tokens of one are good at the others.
type Auth struct {
	Username string `json:"username,omitempty"` // "" with Bearer: tokens are for everybody
	Password string `json:"password,omitempty"`

	Bearer    bool   `json:"bearer,omitempty"`     // tokens from TokenPath in place of Basic
	Realm     string `json:"realm,omitempty"`      // URL of the token endpoint, by default the registry's own; may hold {scheme} and {host}
	TokenUses int    `json:"token_uses,omitempty"` // requests after which a token has expired; 0: never
	Refresh   string `json:"refresh,omitempty"`    // an identity token that is as good as the password
	Anonymous bool   `json:"anonymous,omitempty"`  // tokens to pull also without credentials

	Private []string `json:"private,omitempty"` // patterns of the paths that are protected; none: all. See Match

	mu     sync.Mutex
	tokens map[string]*token
	issued int
}

type token struct {
	scopes []string
	uses   int
}

func (a *Auth) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case a.Bearer && r.URL.Path == TokenPath:
			a.serveToken(w, r)
		case a.protects(r.URL.Path) && !a.admits(r):
			a.challenge(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func (a *Auth) protects(path string) bool {
	return len(a.Private) == 0 || slices.ContainsFunc(a.Private, func(pattern string) bool { return Match(pattern, path) })
}

func (a *Auth) admits(r *http.Request) bool {
	if !a.Bearer {
		return a.basic(r)
	}
	name, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.tokens[name]
	if t == nil || a.TokenUses > 0 && t.uses >= a.TokenUses {
		return false
	}
	scope := neededScope(r)
	if scope != "" && !slices.ContainsFunc(t.scopes, func(granted string) bool { return covers(granted, scope) }) {
		return false
	}
	t.uses++
	return true
}

func (a *Auth) basic(r *http.Request) bool {
	username, password, ok := r.BasicAuth()
	return ok && username == a.Username && password == a.Password
}

// challenge says 401 and how to do better.
func (a *Auth) challenge(w http.ResponseWriter, r *http.Request) {
	value := `Basic realm="registrytest"`
	if a.Bearer {
		realm := a.Realm
		if realm == "" {
			realm = "{scheme}://{host}" + TokenPath
		}
		value = fmt.Sprintf(`Bearer realm=%q,service="registrytest"`, expand(realm, r))
		if scope := neededScope(r); scope != "" {
			value += fmt.Sprintf(`,scope=%q`, scope)
		}
		if r.Header.Get("Authorization") != "" {
			value += `,error="invalid_token"`
		}
	}
	w.Header().Set("WWW-Authenticate", value)
	unauthorized(w)
}

func unauthorized(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusUnauthorized)
	_, _ = w.Write([]byte(`{"errors":[{"code":"UNAUTHORIZED","message":"authentication required"}]}`))
}

// serveToken answers both the GET form and the POST form of the token protocol
// (https://distribution.github.io/distribution/spec/auth/token/ and .../oauth/).
func (a *Auth) serveToken(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var scopes []string
	for _, s := range r.Form["scope"] {
		scopes = append(scopes, strings.Fields(s)...)
	}
	known := a.Username == "" && a.Refresh == "" || a.basic(r) || a.form(r)
	if !known && r.Header.Get("Authorization") == "" && r.Form.Get("grant_type") == "" && a.Anonymous {
		known = !slices.ContainsFunc(scopes, func(s string) bool { return !strings.HasSuffix(s, ":pull") })
	}
	if !known {
		unauthorized(w)
		return
	}
	name := a.issue(scopes)
	answer := map[string]any{"token": name, "access_token": name, "expires_in": 300}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // the client may have gone
}

// form checks what a POST carries.
func (a *Auth) form(r *http.Request) bool {
	switch r.PostForm.Get("grant_type") {
	case "refresh_token":
		return a.Refresh != "" && r.PostForm.Get("refresh_token") == a.Refresh
	case "password":
		return r.PostForm.Get("username") == a.Username && r.PostForm.Get("password") == a.Password
	}
	return false
}

func (a *Auth) issue(scopes []string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.tokens == nil {
		a.tokens = map[string]*token{}
	}
	a.issued++
	name := fmt.Sprintf("registrytest-token-%d", a.issued)
	a.tokens[name] = &token{scopes: scopes}
	return name
}

// neededScope is what a request needs of a token: "repository:plugins/aws:pull",
// and "" outside repositories.
func neededScope(r *http.Request) string {
	rest, ok := strings.CutPrefix(r.URL.Path, "/v2/")
	if !ok {
		return ""
	}
	for _, part := range []string{"/manifests/", "/blobs/", "/tags/", "/referrers/"} {
		if i := strings.LastIndex(rest, part); i > 0 {
			action := "pull"
			if r.Method != http.MethodGet && r.Method != http.MethodHead {
				action = "pull,push"
			}
			return "repository:" + rest[:i] + ":" + action
		}
	}
	return ""
}

// covers reports whether a granted scope includes a needed one.
func covers(granted, needed string) bool {
	g, n := strings.LastIndex(granted, ":"), strings.LastIndex(needed, ":")
	if g < 0 || granted[:g] != needed[:n] {
		return false
	}
	actions := strings.Split(granted[g+1:], ",")
	for action := range strings.SplitSeq(needed[n+1:], ",") {
		if !slices.Contains(actions, action) && !slices.Contains(actions, "*") {
			return false
		}
	}
	return true
}
