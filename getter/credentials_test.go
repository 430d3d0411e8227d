package getter

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// home is a home directory with a Docker config and helpers in its PATH.
type home struct {
	t   *testing.T
	dir string
	env map[string]string
}

func newHome(t *testing.T) *home {
	t.Helper()
	dir := t.TempDir()
	return &home{t, dir, map[string]string{"HOME": dir, "DOCKER_CONFIG": filepath.Join(dir, "docker"), "XDG_RUNTIME_DIR": filepath.Join(dir, "run")}}
}

func (h *home) write(path string, content string, mode os.FileMode) string {
	h.t.Helper()
	path = filepath.Join(h.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		h.t.Fatal(err)
	}
	return path
}

func (h *home) config(content any) {
	h.t.Helper()
	raw, err := json.Marshal(content)
	if err != nil {
		h.t.Fatal(err)
	}
	h.write("docker/config.json", string(raw), 0o600)
}

// helper installs docker-credential-NAME as a shell script.
func (h *home) helper(name, script string) {
	h.t.Helper()
	if runtime.GOOS == "windows" {
		h.t.Skip("helpers of this test are shell scripts")
	}
	h.write("bin/docker-credential-"+name, "#!/bin/sh\n"+script, 0o700)
	h.t.Setenv("PATH", filepath.Join(h.dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func (h *home) credentials() CredentialFunc {
	return AmbientCredentials(Ambient{Getenv: func(name string) string { return h.env[name] }, HelperTimeout: 500 * time.Millisecond})
}

func pair64(user, password string) string {
	return base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
}

func auths(keys ...string) map[string]any {
	all := map[string]any{}
	for _, k := range keys {
		all[k] = map[string]string{"auth": pair64("ci", "s3cr3t-pw")}
	}
	return map[string]any{"auths": all}
}

// private is a registry that wants the password s3cr3t-pw, or the access token
// that ref-BBBB gives.
func private(t *testing.T) *registry {
	g := newRegistry(t)
	g.addImage("plugins/aws", "1.0.0")
	g.script = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		_, password, _ := r.BasicAuth()
		switch {
		case r.URL.Path == "/token":
			_ = r.ParseForm()
			if password != "s3cr3t-pw" && r.PostForm.Get("refresh_token") != "ref-BBBB" {
				refuse(w, 401, "UNAUTHORIZED", "no")
				return true
			}
			_ = json.NewEncoder(w).Encode(map[string]string{"access_token": "tok-AAAA", "token": "tok-AAAA"})
		case r.Header.Get("Authorization") != "Bearer tok-AAAA":
			challengeFor(w, r, g.URL+"/token")
		default:
			return false
		}
		return true
	}
	return g
}

// C43: credentials are found where Docker and podman have them.
func TestC43CredentialsAreFound(t *testing.T) {
	for name, set := range map[string]func(h *home, host string){
		"(a) key host:port":             func(h *home, host string) { h.config(auths(host)) },
		"(b) key https://host:port/v2/": func(h *home, host string) { h.config(auths("https://" + host + "/v2/")) },
		"key with slash":                func(h *home, host string) { h.config(auths(host + "/")) },
		"key with a path":               func(h *home, host string) { h.config(auths(host + "/plugins")) },
		"key of the repository":         func(h *home, host string) { h.config(auths(host+"/plugins/aws", "other/plugins/aws")) },
		"the longest key wins": func(h *home, host string) {
			c := auths(host + "/plugins/aws")
			for _, worse := range []string{host, "https://" + host, host + "/plugins", host + "/plugins/aw", "127.0.0.1"} {
				c["auths"].(map[string]any)[worse] = map[string]string{"auth": pair64("ci", "wrong-pw")}
			}
			h.config(c)
		},
		"user and password apart": func(h *home, host string) {
			h.config(map[string]any{"auths": map[string]any{host: map[string]string{"username": "ci", "password": "s3cr3t-pw"}}})
		},
		"without padding": func(h *home, host string) {
			h.config(map[string]any{"auths": map[string]any{host: map[string]string{"auth": strings.TrimRight(pair64("c", "s3cr3t-pw"), "=")}}})
		},
		"(c) credHelpers": func(h *home, host string) {
			h.helper("mine", `read key; test "$key" = "`+host+`" || exit 1; test "$*" = get || exit 1; echo '{"Username":"ci","Secret":"s3cr3t-pw"}'`)
			h.config(map[string]any{"credHelpers": map[string]string{host: "mine", "other": "none"}})
		},
		"credHelpers before the entry": func(h *home, host string) {
			h.helper("mine", `echo '{"Username":"ci","Secret":"s3cr3t-pw"}'`)
			h.config(map[string]any{"credHelpers": map[string]string{host: "mine"}, "credsStore": "none",
				"auths": map[string]any{host: map[string]string{"auth": pair64("ci", "wrong-pw")}}})
		},
		"(d) credsStore": func(h *home, host string) {
			h.helper("store", `read key; test "$key" = "`+host+`" || exit 1; echo '{"Username":"ci","Secret":"s3cr3t-pw"}'`)
			h.config(map[string]any{"credsStore": "store"})
		},
		"credsStore with the key of the file": func(h *home, host string) {
			h.helper("store", `read key; test "$key" = "https://`+host+`/v2/" || exit 1; echo '{"Username":"ci","Secret":"s3cr3t-pw"}'`)
			h.config(map[string]any{"credsStore": "store", "auths": map[string]any{"https://" + host + "/v2/": map[string]string{}}})
		},
		"credsStore that has nothing": func(h *home, host string) {
			h.helper("store", `echo 'credentials not found in native keychain'; exit 1`)
			c := auths(host)
			c["credsStore"] = "store"
			h.config(c)
		},
		"(h) identity token of a helper": func(h *home, host string) {
			h.helper("mine", `echo '{"Username":"<token>","Secret":"ref-BBBB"}'`)
			h.config(map[string]any{"credHelpers": map[string]string{host: "mine"}})
		},
		"(h) identity token of the file": func(h *home, host string) {
			h.config(map[string]any{"auths": map[string]any{host: map[string]string{"auth": pair64("00000000", ""), "identitytoken": "ref-BBBB"}}})
		},
		"registry token": func(h *home, host string) {
			h.config(map[string]any{"auths": map[string]any{host: map[string]string{"registrytoken": "tok-AAAA"}}})
		},
		"REGISTRY_AUTH_FILE first": func(h *home, host string) {
			raw, _ := json.Marshal(auths(host))
			h.env["REGISTRY_AUTH_FILE"] = h.write("ci-auth.json", string(raw), 0o600)
			h.config(map[string]any{"auths": map[string]any{host: map[string]string{"auth": pair64("ci", "wrong-pw")}}})
		},
		"REGISTRY_AUTH_FILE without it": func(h *home, host string) {
			h.env["REGISTRY_AUTH_FILE"] = h.write("ci-auth.json", "{}", 0o600)
			h.config(auths(host))
		},
		"podman's in the home": func(h *home, host string) {
			raw, _ := json.Marshal(auths(host))
			h.write(".config/containers/auth.json", string(raw), 0o600)
		},
		"with a byte order mark": func(h *home, host string) {
			raw, _ := json.Marshal(auths(host))
			h.write("docker/config.json", "\xef\xbb\xbf"+string(raw), 0o600)
		},
		"malformed Docker config, podman's is fine": func(h *home, host string) {
			raw, _ := json.Marshal(auths(host))
			h.write("docker/config.json", "{", 0o600)
			h.write(".config/containers/auth.json", string(raw), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			g, h := private(t), newHome(t)
			set(h, g.host())
			c := newRig(t, Options{Credentials: h.credentials()})
			if _, err := c.repository(t, g.source("plugins/aws")).Document(context.Background(), "1.0.0"); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// C43: what can't be used is named, and is no reason not to try without.
func TestC43CredentialsThatCannotBeUsed(t *testing.T) {
	for name, test := range map[string]struct {
		set   func(h *home, host string)
		words []string
	}{
		"(e) helper absent": {func(h *home, host string) {
			h.config(map[string]any{"credHelpers": map[string]string{host: "absent"}})
		}, []string{"docker-credential-absent", "not installed"}},
		"(f) helper fails": {func(h *home, host string) {
			h.helper("failing", `echo "the vault is sealed" >&2; exit 1`)
			h.config(map[string]any{"credHelpers": map[string]string{host: "failing"}})
		}, []string{"docker-credential-failing", "failed", "the vault is sealed"}},
		"(f) helper fails with a secret": {func(h *home, _ string) {
			h.helper("failing", `echo '{"Secret":"s3cr3t-pw"}'; exit 1`)
			h.config(map[string]any{"credsStore": "failing"})
		}, []string{"docker-credential-failing", "failed"}},
		"(g) helper hangs": {func(h *home, host string) {
			h.helper("hanging", "exec sleep 60")
			h.config(map[string]any{"credHelpers": map[string]string{host: "hanging"}})
		}, []string{"docker-credential-hanging", "no answer within 500ms"}},
		"helper prints something else": {func(h *home, host string) {
			h.helper("chatty", "echo welcome")
			h.config(map[string]any{"credHelpers": map[string]string{host: "chatty"}})
		}, []string{"docker-credential-chatty", "other than JSON"}},
		"helper with a path for a name": {func(h *home, host string) {
			h.config(map[string]any{"credHelpers": map[string]string{host: "../../bin/evil"}})
		}, []string{"no proper name"}},
		"(i) malformed JSON": {func(h *home, _ string) {
			h.write("docker/config.json", `{"auths": {"x": {"auth": "s3cr3t-pw",}}`, 0o600)
		}, []string{"config.json", "not valid JSON", "at byte"}},
		"JSON of another kind": {func(h *home, _ string) {
			h.write("docker/config.json", `{"auths": ["s3cr3t-pw"]}`, 0o600)
		}, []string{"config.json", "an array in place of an object (auths, at byte "}},
		"JSON that is no object": {func(h *home, _ string) {
			h.write("docker/config.json", `["s3cr3t-pw"]`, 0o600)
		}, []string{"config.json", "an array in place of an object (at byte 1)"}},
		"a helper that never ends its words": {func(h *home, host string) {
			h.helper("endless", "exec yes s3cr3t-pw")
			h.config(map[string]any{"credHelpers": map[string]string{host: "endless"}})
		}, []string{"docker-credential-endless", "no answer within 500ms"}},
		"no base64": {func(h *home, host string) {
			h.config(map[string]any{"auths": map[string]any{host: map[string]string{"auth": "s3cr3t-pw!"}}})
		}, []string{"config.json", "not base64"}},
		"a named file that is not there": {func(h *home, _ string) {
			h.env["REGISTRY_AUTH_FILE"] = filepath.Join(h.dir, "gone.json")
		}, []string{"REGISTRY_AUTH_FILE", "gone.json"}},
		"a directory": {func(h *home, _ string) {
			h.env["REGISTRY_AUTH_FILE"] = h.dir
		}, []string{"cannot be read"}},
	} {
		t.Run(name, func(t *testing.T) {
			private, public, h := private(t), newRegistry(t), newHome(t)
			test.set(h, private.host())
			c := newRig(t, Options{Credentials: h.credentials()})
			_, err := c.repository(t, private.source("plugins/aws")).Document(context.Background(), "1.0.0")
			if !errors.Is(err, ErrUnauthorized) {
				t.Fatalf("got %v", err)
			}
			notices := c.said()
			if len(notices) != 1 || notices[0].Kind != NoticeCredentials {
				t.Fatalf("notices %q", notices)
			}
			for _, part := range append(test.words, private.host()) {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the refusal %q lacks %q", err, part)
				}
				if part != private.host() && !strings.Contains(notices[0].Text, part) {
					t.Errorf("the notice %q lacks %q", notices[0].Text, part)
				}
			}
			if strings.Contains(err.Error()+fmt.Sprint(notices), "s3cr3t") {
				t.Errorf("a secret in %v, %v", err, notices)
			}
			public.addImage("plugins/aws", "1.0.0")
			public.script = bearer(public, nil) // anonymous tokens
			if _, err := c.repository(t, public.source("plugins/aws")).Document(context.Background(), "1.0.0"); err != nil {
				t.Errorf("a public plugin: %v", err)
			}
		})
	}
}

// A helper's answer counts although a program that it started has not ended.
func TestC43HelperLeavesAProgramBehind(t *testing.T) {
	g, h := private(t), newHome(t)
	h.helper("agent", `echo '{"Username":"ci","Secret":"s3cr3t-pw"}'; sleep 5 &`)
	h.config(map[string]any{"credsStore": "agent"})
	c := newRig(t, Options{Credentials: AmbientCredentials(Ambient{Getenv: func(name string) string { return h.env[name] }})})
	if _, err := c.repository(t, g.source("plugins/aws")).Document(context.Background(), "1.0.0"); err != nil {
		t.Fatal(err)
	}
}

// What a helper prints is kept up to a limit, by whatever way it comes.
func TestLimitedBuffer(t *testing.T) {
	var b limitedBuffer
	n, err := io.Copy(&b, strings.NewReader(strings.Repeat("x", 3*maxHelperOutput)))
	if err != nil || n != 3*maxHelperOutput || len(b.Bytes()) != maxHelperOutput {
		t.Errorf("copied %d, kept %d, %v", n, len(b.Bytes()), err)
	}
}

// A helper is asked once for each key, however many ask at once, and never for
// a registry that asks for nothing.
func TestC43HelperOnce(t *testing.T) {
	g, h := private(t), newHome(t)
	count := filepath.Join(h.dir, "count")
	h.helper("slow", `echo run >> `+count+`; sleep 0.1; echo '{"Username":"ci","Secret":"s3cr3t-pw"}'`)
	h.config(map[string]any{"credsStore": "slow"})
	public := newRegistry(t)
	public.addImage("plugins/aws", "1.0.0")
	c := newRig(t, Options{Credentials: h.credentials()})
	if _, err := c.repository(t, public.source("plugins/aws")).Document(context.Background(), "1.0.0"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(count); err == nil {
		t.Error("the helper ran for a registry that asks for nothing")
	}
	var group sync.WaitGroup
	for i := range 8 {
		repo := fmt.Sprintf("plugins/p%d", i)
		g.addImage(repo, "1.0.0")
		r := c.repository(t, g.source(repo))
		group.Go(func() {
			if _, err := r.Document(context.Background(), "1.0.0"); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if raw, err := os.ReadFile(count); err != nil || string(raw) != "run\n" {
		t.Errorf("runs %q, %v", raw, err)
	}
}

// C43 (j): a stale password does not block a public repository, which is said.
func TestC43StaleCredentials(t *testing.T) {
	for _, status := range []int{401, 403} {
		for _, where := range []string{"token", "registry"} {
			t.Run(fmt.Sprint(status, " from the ", where), func(t *testing.T) {
				g, h := newRegistry(t), newHome(t)
				g.addImage("plugins/aws", "1.0.0")
				g.script = func(w http.ResponseWriter, r *http.Request, _ int) bool {
					_, _, stale := r.BasicAuth()
					switch {
					case r.URL.Path == "/token" && stale && where == "token":
						refuse(w, status, "DENIED", "wrong password s3cr3t-pw")
					case r.URL.Path == "/token" && stale:
						giveToken(w, "tok-stale")
					case r.URL.Path == "/token":
						giveToken(w, "tok-AAAA")
					case r.Header.Get("Authorization") == "Bearer tok-stale" && status == 403:
						refuse(w, 403, "DENIED", "no access")
					case r.Header.Get("Authorization") != "Bearer tok-AAAA":
						challengeFor(w, r, g.URL+"/token")
					default:
						return false
					}
					return true
				}
				h.config(auths(g.host()))
				c := newRig(t, Options{Credentials: h.credentials()})
				r := c.repository(t, g.source("plugins/aws"))
				for range 2 {
					if _, err := r.Document(context.Background(), "1.0.0"); err != nil {
						t.Fatal(err)
					}
				}
				notices := c.said()
				if len(notices) != 1 || !strings.Contains(notices[0].Text, g.host()) || !strings.Contains(notices[0].Text, "config.json") ||
					!strings.Contains(notices[0].Text, "refused") || strings.Contains(notices[0].Text, "s3cr3t") {
					t.Errorf("notices %q", notices)
				}
			})
		}
	}
}

// Stale credentials for a repository that is not public: one more try, and
// then the message says whose credentials were refused.
func TestC43StaleCredentialsForPrivate(t *testing.T) {
	g, h := private(t), newHome(t)
	h.config(map[string]any{"auths": map[string]any{g.host(): map[string]string{"auth": pair64("ci", "wrong-pw")}}})
	c := newRig(t, Options{Credentials: h.credentials()})
	_, err := c.repository(t, g.source("plugins/aws")).Document(context.Background(), "1.0.0")
	if !errors.Is(err, ErrUnauthorized) {
		t.Fatalf("got %v", err)
	}
	for _, part := range []string{"the credentials for " + g.host() + " from ", "config.json were used and refused", "without them it is refused, too"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q lacks %q", err, part)
		}
	}
	if strings.Contains(err.Error(), "wrong-pw") {
		t.Errorf("the password is in %v", err)
	}
	if got := len(g.requests()); got > 5 {
		t.Errorf("%d requests: %q", got, g.requests())
	}
}

// Explicit credentials are not put aside.
func TestExplicitCredentialsAreNotPutAside(t *testing.T) {
	g := newRegistry(t)
	g.script = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if r.URL.Path == "/token" {
			if _, _, ok := r.BasicAuth(); !ok {
				giveToken(w, "tok-AAAA")
				return true
			}
			refuse(w, 401, "UNAUTHORIZED", "wrong password")
			return true
		}
		challengeFor(w, r, g.URL+"/token")
		return true
	}
	c := newRig(t, Options{Credentials: StaticCredential(g.host(), Credential{Username: "ci", Password: "wrong-pw"})})
	_, err := c.repository(t, g.source("plugins/aws")).Tags(context.Background())
	if !errors.Is(err, ErrUnauthorized) || !strings.Contains(err.Error(), "the explicit setting") || len(c.said()) != 0 {
		t.Errorf("got %v, %q", err, c.said())
	}
}

// C43 (k): no HOME, no config.
func TestC43NoHome(t *testing.T) {
	g := newRegistry(t)
	g.addImage("plugins/aws", "1.0.0")
	g.script = bearer(g, nil)
	c := newRig(t, Options{Credentials: AmbientCredentials(Ambient{Getenv: func(string) string { return "" }})})
	if _, err := c.repository(t, g.source("plugins/aws")).Document(context.Background(), "1.0.0"); err != nil || len(c.said()) != 0 {
		t.Errorf("got %v, %q", err, c.said())
	}
}

// Two repositories of one registry may have credentials of their own; neither
// gets the other's token.
func TestCredentialsByRepository(t *testing.T) {
	g, h := newRegistry(t), newHome(t)
	g.script = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		user, _, _ := r.BasicAuth()
		switch {
		case r.URL.Path == "/token":
			giveToken(w, "tok-for-"+user)
		case !strings.HasPrefix(r.URL.Path, "/v2/"+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer tok-for-")+"/"):
			challengeFor(w, r, g.URL+"/token")
		default:
			return false
		}
		return true
	}
	entries := map[string]any{}
	for _, team := range []string{"red", "blue"} {
		entries[g.host()+"/"+team] = map[string]string{"auth": pair64(team, "pw-of-"+team)}
		g.addImage(team+"/aws", "1.0.0")
	}
	h.config(map[string]any{"auths": entries})
	c := newRig(t, Options{Credentials: h.credentials()})
	red, blue := c.repository(t, g.source("red/aws")), c.repository(t, g.source("blue/aws"))
	for range 2 {
		for _, r := range []*Repository{red, blue} {
			if _, err := r.Document(context.Background(), "1.0.0"); err != nil {
				t.Error(err)
			}
		}
	}
	if got := len(tokenRequests(t, g)); got != 2 {
		t.Errorf("%d tokens", got)
	}
}

func TestDockerHubKeys(t *testing.T) {
	for _, key := range []string{"https://index.docker.io/v1/", "docker.io", "index.docker.io", "registry-1.docker.io", "https://registry-1.docker.io/v2/"} {
		c := &dockerConfig{path: "f", Auths: map[string]authEntry{key: {Username: "u", Password: "p"}}}
		if found, err := c.entry(Place{"docker.io", "library/x"}); err != nil || found.Username != "u" {
			t.Errorf("%q: %v, %v", key, found, err)
		}
		if got := c.storeKey(Place{"docker.io", "library/x"}); got != key {
			t.Errorf("%q: the store is asked for %q", key, got)
		}
	}
	if got := (&dockerConfig{}).storeKey(Place{"docker.io", "library/x"}); got != "https://index.docker.io/v1/" {
		t.Errorf("the store is asked for %q", got)
	}
}

// Credentials of one host are not those of another that looks like it.
func TestKeysOfOtherHosts(t *testing.T) {
	for _, key := range []string{"", "/", "registry.example.com.evil", "example.com", "registry.example.com:444", "registry.example.co", "https://", "evil/registry.example.com"} {
		if got, ok := bestKey([]string{key}, Place{"registry.example.com", "plugins/aws"}); ok {
			t.Errorf("%q is taken for registry.example.com (%q)", key, got)
		}
	}
	if _, ok := bestKey([]string{"registry.example.com:443"}, Place{"registry.example.com", "a"}); !ok {
		t.Error("port 443 is not taken for the usual one")
	}
}

func TestFirstCredential(t *testing.T) {
	problem := errors.New("a problem")
	none := func(context.Context, Place) (Credential, error) { return Credential{Problem: problem}, nil }
	some := StaticCredential("h", Credential{Username: "u", Password: "p"})
	got, err := FirstCredential(nil, none, some, func(context.Context, Place) (Credential, error) { return Credential{}, errors.New("not reached") })(context.Background(), Place{"h", "a"})
	if err != nil || got.Username != "u" || !errors.Is(got.Problem, problem) {
		t.Errorf("got %v, %v", got, err)
	}
	if text := fmt.Sprintf("%v %+v %#v", got, got, got); strings.Contains(text, "p ") || !strings.Contains(text, "explicit setting") {
		t.Errorf("printed as %q", text)
	}
}

// An error of a host program's own finder ends the request and names the host.
func TestCredentialError(t *testing.T) {
	g := private(t)
	broken := errors.New("vault is sealed")
	c := newRig(t, Options{Credentials: func(context.Context, Place) (Credential, error) { return Credential{}, broken }})
	_, err := c.repository(t, g.source("plugins/aws")).Tags(context.Background())
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "the credentials for "+g.host()) {
		t.Errorf("got %v", err)
	}
}

func FuzzDockerConfig(f *testing.F) {
	for _, seed := range []string{`{"auths":{"registry.example.com":{"auth":"Y2k6cHc="}}}`, `{"credHelpers":{"https://registry.example.com/v2/":"x"},"credsStore":"y"}`, `{"auths":{"registry.example.com/a":{"identitytoken":"x"}}}`, "\xef\xbb\xbf{}", `[`, `{"auths":{"":{}}}`} {
		f.Add([]byte(seed))
	}
	place := Place{"registry.example.com", "plugins/aws"}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := parseDockerConfig("config.json", raw)
		if err != nil {
			if !strings.Contains(err.Error(), "config.json") || len(err.Error()) > 500 {
				t.Errorf("%q", err)
			}
			return
		}
		found, err := c.entry(place)
		if err == nil && !found.isEmpty() && (!found.Ambient || found.Origin != "config.json") {
			t.Errorf("credentials of nowhere: %v", found)
		}
		if _, key, ok := c.helper(place); ok && !strings.Contains(strings.ToLower(key), "registry.example.com") {
			t.Errorf("the helper is asked for %q", key)
		}
		if c.storeKey(place) == "" {
			t.Error("the store is asked for nothing")
		}
	})
}

// Of several spellings of one registry the plainest is the one that today's
// tools write; the others are what older ones left.
func TestPlainestSpellingWins(t *testing.T) {
	const host = "registry.example.com:5000"
	for _, keys := range [][]string{{host, "http://" + host}, {"https://" + host + "/v2/", host}, {host + "/", "https://" + host, host}} {
		if got, _ := bestKey(keys, Place{host, "a"}); got != host {
			t.Errorf("%q: got %q", keys, got)
		}
	}
}
