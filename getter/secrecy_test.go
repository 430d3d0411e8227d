package getter

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// C44: no secret gets out, whatever a registry echoes and whatever fails.
func TestC44NothingSecretInAnyOutput(t *testing.T) {
	const password, access, refresh, signature = "s3cr3t-pw", "tok-AAAA-0123456789", "ref-BBBB-0123456789", "CCCC-0123456789"
	storage := newRegistry(t)
	storage.script = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		refuse(w, 403, "DENIED", "request "+r.RequestURI+" has expired")
		return true
	}
	var known atomic.Value // the secret that the registry repeats
	g := newRegistry(t)
	g.script = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		w.Header().Set("X-Request-Id", "req-42")
		secret := known.Load().(string)
		echo := fmt.Sprintf("%s; %s; %s %s", r.Header.Get("Authorization"), r.RequestURI, secret, base64.StdEncoding.EncodeToString([]byte(secret)))
		_ = r.ParseForm()
		switch {
		case r.URL.Path == "/token" && strings.Contains(r.FormValue("scope"), "notoken"):
			refuse(w, 403, "DENIED", echo+" "+r.PostForm.Encode())
		case r.URL.Path == "/token" && strings.Contains(r.FormValue("scope"), "nojson"):
			_, _ = fmt.Fprintf(w, "{%q", access)
		case r.URL.Path == "/token":
			_ = json.NewEncoder(w).Encode(map[string]string{"token": access, "access_token": access})
		case r.Header.Get("Authorization") != "Bearer "+access:
			challengeFor(w, r, g.URL+"/token?account=x&X-Sig="+signature)
		case isBlob(r):
			http.Redirect(w, r, storage.URL+"/blob?X-Sig="+signature, http.StatusTemporaryRedirect)
		case strings.Contains(r.URL.Path, "badlocation"):
			w.Header().Set("Location", "http://[::1/?X-Sig="+signature)
			w.WriteHeader(302)
		case strings.Contains(r.URL.Path, "badlink"):
			w.Header().Set("Link", "<http://other.example.com/?X-Sig="+signature+`>; rel="next"`)
			writeTags(w, "x", nil)
		default:
			refuse(w, 500, "UNKNOWN", echo)
		}
		return true
	}
	var logs bytes.Buffer
	var mu sync.Mutex
	partial := t.TempDir()
	var out strings.Builder
	for name, cred := range map[string]Credential{
		"password": {Username: "ci", Password: password, Ambient: true, Origin: "config.json"},
		"refresh":  {IdentityToken: refresh},
	} {
		known.Store(cred.Password + cred.IdentityToken)
		c := newRig(t, Options{
			Credentials: func(context.Context, Place) (Credential, error) { return cred, nil },
			Logger:      slog.New(slog.NewTextHandler(lockedWriter{&mu, &logs}, &slog.HandlerOptions{Level: slog.LevelDebug})),
			PartialDir:  partial,
			Retry:       Retry{Tries: 2},
		})
		big := g.addBlob("plugins/aws", noise(100))
		big.Size = testThreshold
		ctx := context.Background()
		var all []error
		for _, repo := range []string{"plugins/aws", "plugins/notoken", "plugins/nojson", "plugins/badlocation", "plugins/badlink"} {
			r := c.repository(t, g.source(repo))
			_, err1 := r.Tags(ctx)
			_, err2 := r.Document(ctx, "1.0.0")
			_, err3 := readBlob(ctx, r, big)
			all = append(all, err1, err2, err3)
		}
		for i, err := range all {
			if err == nil {
				t.Errorf("%s: %d is no error", name, i)
				continue
			}
			walk(err, func(e error) { fmt.Fprintf(&out, "%v %+v\n", e, e) })
		}
		fmt.Fprintln(&out, c.said())
	}
	_ = filepath.WalkDir(partial, func(path string, d fs.DirEntry, _ error) error {
		if d.Type().IsRegular() {
			raw, _ := os.ReadFile(path)
			out.Write(raw)
		}
		return nil
	})
	mu.Lock()
	text := out.String() + logs.String()
	mu.Unlock()
	for _, secret := range []string{password, access, refresh, signature} {
		for _, form := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret)), base64.StdEncoding.EncodeToString([]byte("ci:" + secret)), url.QueryEscape(secret)} {
			if i := strings.Index(text, form); i >= 0 {
				t.Errorf("%q is in %q", form, text[max(0, i-200):min(len(text), i+100)])
			}
		}
	}
	for _, part := range []string{g.host(), "/v2/plugins/aws/tags/list", "500", "req-42", storage.host()} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is in no output", part)
		}
	}
}

type lockedWriter struct {
	mu *sync.Mutex
	b  *bytes.Buffer
}

func (w lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

// walk visits an error and all it wraps that shows itself. What hiddenError
// keeps for errors.Is alone is left out.
func walk(err error, visit func(error)) {
	if err == nil {
		return
	}
	visit(err)
	if _, ok := err.(hiddenError); ok { //nolint:errorlint // walked by hand
		return
	}
	switch e := err.(type) { //nolint:errorlint // walked by hand
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			walk(inner, visit)
		}
	case interface{ Unwrap() error }:
		walk(e.Unwrap(), visit)
	}
}

func TestScrub(t *testing.T) {
	s := &secrets{}
	s.add("s3cr3t/pw", "abc")
	s.addHeader("Basic " + pair64("ci", "hunter2!"))
	for text, want := range map[string]string{
		"plain words? yes":                              "plain words? yes",
		"GET https://u:p%40ss@h:1/x?sig=abc&y: 403":     "GET https://h:1/x?*** 403",
		`parse "/x?X-Sig=CCCC": bad`:                    `parse "/x?***": bad`,
		"https://a@b@h/x":                               "https://h/x",
		"it is s3cr3t/pw or s3cr3t%2Fpw or abc":         "it is *** or *** or abc",
		"hunter2! " + pair64("ci", "hunter2!") + " end": "*** *** end",
		"a\x1b[2Jb":                     `a\x1b[2Jb`,
		"http://h?a=b http://u:p@i?c=d": "http://h?*** http://i?***",
		"://?=":                         "://?***",
	} {
		if got := s.scrub(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	for i := range 2 * maxSecrets {
		s.add(fmt.Sprintf("token-%d", i))
	}
	if got := s.scrub(fmt.Sprintf("token-%d", 2*maxSecrets-1)); got != hidden || len(s.values) > maxSecrets {
		t.Errorf("got %q of %d secrets", got, len(s.values))
	}
}

func TestErrorIsAndText(t *testing.T) {
	e := &Error{Kind: ErrTagNotFound, Op: "get 1.0.0", Source: mustSource(t, "registry.example.com/plugins/aws"), Mirror: "mirror.example.com/aws", Detail: "gone"}
	if !errors.Is(e, ErrNotFound) || !errors.Is(e, ErrTagNotFound) || errors.Is(e, ErrDigestNotFound) {
		t.Error("kinds are mixed up")
	}
	if got, want := e.Error(), "registry.example.com/plugins/aws (mirror mirror.example.com/aws): cannot get 1.0.0: gone"; got != want {
		t.Errorf("got %q", got)
	}
	for _, bare := range []*Error{{Kind: ErrServer}, {Err: context.Canceled}} {
		if bare.Error() == "" || bare.Error() == "<nil>" {
			t.Errorf("%+v says %q", *bare, bare.Error())
		}
	}
}
