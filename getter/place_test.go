package getter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/image"
)

func silentLog() *log.Logger { return log.New(io.Discard, "", 0) }

func TestSettingsThatCannotBe(t *testing.T) {
	for words, s := range map[string]Settings{
		"prefix":                    {Registries: []Registry{{Prefix: "https://registry.example.com"}}},
		"given twice":               {Registries: []Registry{{Prefix: "Registry.example.com"}, {Prefix: "registry.example.com:443"}}},
		"mirror of":                 {Registries: []Registry{{Prefix: "registry.example.com", Mirror: "http://mirror.example.com"}}},
		"without a mirror":          {Registries: []Registry{{Prefix: "registry.example.com", Fallback: true}}},
		"only where digests do":     {Registries: []Registry{{Prefix: "registry.example.com", Mirror: "m.example.com", FallbackTags: true}}},
		"allowed source":            {Allow: []string{"registry.example.com/UPPER"}},
		`registry prefix "": `:      {Registries: []Registry{{Prefix: ""}}},
		`prefix "registry.example.`: {Registries: []Registry{{Prefix: "registry.example.com/a/../b"}}},
	} {
		if _, err := New(Options{Settings: s}); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%+v: got %v, want %q", s, err, words)
		}
	}
}

func TestAllowedSources(t *testing.T) {
	for _, test := range []struct {
		allow []string
		want  bool
	}{
		{nil, true}, {[]string{}, false}, {[]string{"registry.example.com"}, true}, {[]string{"REGISTRY.example.com:443/plugins"}, true},
		{[]string{"registry.example.com/plug"}, false}, {[]string{"example.com"}, false}, {[]string{"other.example.com", "registry.example.com/plugins/aws"}, true},
	} {
		c := newRig(t, Options{Settings: Settings{Allow: test.allow}})
		source := mustSource(t, "registry.example.com/plugins/aws")
		_, err := c.Repository(source)
		_, pushErr := c.Target(source)
		if (err == nil) != test.want || (pushErr == nil) != test.want {
			t.Errorf("%q: got %v, %v", test.allow, err, pushErr)
		}
		if err != nil && (!errors.Is(err, ErrNotAllowed) || !strings.Contains(err.Error(), source.String())) {
			t.Errorf("%q: got %v", test.allow, err)
		}
	}
}

func TestLongestPrefixWins(t *testing.T) {
	s, err := Settings{Registries: []Registry{
		{Prefix: "registry.example.com", Mirror: "a.example.com"},
		{Prefix: "registry.example.com/plugins", Mirror: "b.example.com/deep/er"},
		{Prefix: "registry.example.com/plug", Mirror: "c.example.com"},
		{Prefix: "docker.io", Mirror: "d.example.com/hub"},
	}}.normalize()
	if err != nil {
		t.Fatal(err)
	}
	c := newRig(t, Options{Settings: s})
	for source, want := range map[string]string{
		"registry.example.com/plugins/aws": "b.example.com/deep/er/aws",
		"registry.example.com/plugged/aws": "a.example.com/plugged/aws",
		"docker.io/x":                      "d.example.com/hub/library/x",
		"other.example.com/x":              "",
	} {
		if got := c.repository(t, mustSource(t, source)).Mirror(); got != want {
			t.Errorf("%s: mirror %q, want %q", source, got, want)
		}
	}
}

// A mirror changes where things are got, not what they are; falling back is a
// matter of the settings.
func TestMirrorAndFallback(t *testing.T) {
	for name, test := range map[string]struct {
		fallback, tags bool
		has            bool // the mirror has it
		wantDigest     bool
		wantTag        bool
	}{
		"mirror has it":                      {false, false, true, true, true},
		"mirror lacks it":                    {false, false, false, false, false},
		"mirror lacks it, fallback":          {true, false, false, true, false},
		"mirror lacks it, fallback for tags": {true, true, false, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			origin, mirror := newRegistry(t), newRegistry(t)
			digest := origin.addImage("plugins/aws", "1.0.0")
			desc := origin.addBlob("plugins/aws", noise(100))
			if test.has {
				raw := manifestFor("plugins/aws:1.0.0")
				for _, ref := range []string{"1.0.0", string(digest)} {
					mirror.bodies["/v2/copy/of/aws/manifests/"+ref] = raw
				}
				mirror.tags["copy/of/aws"] = []string{"1.0.0"}
				mirror.addBlob("copy/of/aws", noise(100))
			}
			c := newRig(t, Options{Settings: Settings{Registries: []Registry{
				{Prefix: origin.host() + "/plugins", Mirror: mirror.host() + "/copy/of", Fallback: test.fallback, FallbackTags: test.tags}}}})
			r := c.repository(t, origin.source("plugins/aws"))
			ctx := context.Background()
			_, byDigest := r.Document(ctx, string(digest))
			_, byBlob := readBlob(ctx, r, desc)
			_, byTag := r.Document(ctx, "1.0.0")
			_, list := r.Tags(ctx)
			for what, err := range map[string]error{"digest": byDigest, "blob": byBlob} {
				if (err == nil) != test.wantDigest {
					t.Errorf("%s: %v", what, err)
				}
			}
			for what, err := range map[string]error{"tag": byTag, "tags": list} {
				if (err == nil) != test.wantTag {
					t.Errorf("%s: %v", what, err)
				}
				if err == nil {
					continue
				}
				for _, part := range []string{origin.source("plugins/aws").String(), "mirror " + mirror.host() + "/copy/of/aws"} {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("%q lacks %q", err, part)
					}
				}
			}
			if (len(origin.requests()) > 0) != (test.fallback && !test.has) {
				t.Errorf("the origin was asked %q", origin.requests())
			}
			fallbacks := slices.DeleteFunc(c.said(), func(n Notice) bool { return n.Kind != NoticeFallback })
			if (len(fallbacks) > 0) != (test.fallback && !test.has) {
				t.Errorf("notices %q", fallbacks)
			}
		})
	}
}

// Where both fail, both are named, and the kind is that of the last.
func TestMirrorAndOriginFail(t *testing.T) {
	origin, mirror := newRegistry(t), newRegistry(t)
	mirror.script = func(w http.ResponseWriter, _ *http.Request, _ int) bool { w.WriteHeader(403); return true }
	c := newRig(t, Options{Settings: Settings{Registries: []Registry{{Prefix: origin.host(), Mirror: mirror.host(), Fallback: true}}}})
	_, err := c.repository(t, origin.source("plugins/aws")).Document(context.Background(), string(addr.DigestOf(nil)))
	if !errors.Is(err, ErrDigestNotFound) || !errors.Is(err, ErrForbidden) {
		t.Errorf("got %v", err)
	}
	if e := asError(t, err); !errors.Is(e.Kind, ErrDigestNotFound) || e.Mirror != "" {
		t.Errorf("first %+v", *e)
	}
	for _, part := range []string{origin.host(), mirror.host(), "before that"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q lacks %q", err, part)
		}
	}
}

// The credentials of the registry are not the mirror's.
func TestMirrorHasCredentialsOfItsOwn(t *testing.T) {
	origin, mirror := newRegistry(t), newRegistry(t)
	mirror.addImage("plugins/aws", "1.0.0")
	mirror.script = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if _, password, ok := r.BasicAuth(); ok {
			if password != "pw-of-mirror" {
				t.Errorf("the mirror got %q", password)
			}
			return false
		}
		w.Header().Set("WWW-Authenticate", "Basic")
		w.WriteHeader(401)
		return true
	}
	c := newRig(t, Options{
		Settings: Settings{Registries: []Registry{{Prefix: origin.host(), Mirror: mirror.host()}}},
		Credentials: FirstCredential(StaticCredential(origin.host(), Credential{Username: "ci", Password: "pw-of-origin"}),
			StaticCredential(mirror.host(), Credential{Username: "ci", Password: "pw-of-mirror"})),
	})
	if _, err := c.repository(t, origin.source("plugins/aws")).Document(context.Background(), "1.0.0"); err != nil {
		t.Error(err)
	}
}

// Plain HTTP is for this machine, and for hosts that the settings name.
func TestPlainHTTP(t *testing.T) {
	for source, want := range map[string]string{
		"localhost:5000/x": "http", "127.0.0.1/x": "http", "[::1]:5000/x": "http", "127.8.8.8:1/x": "http",
		"registry.example.com/x": "https", "localhost.example.com/x": "https", "10.0.0.1:5000/x": "https", "plain.example.com/x": "http",
		"part.example.com/a/x": "http", "part.example.com/b/x": "https",
	} {
		c := newRig(t, Options{Settings: Settings{Registries: []Registry{{Prefix: "plain.example.com", PlainHTTP: true}, {Prefix: "part.example.com/a", PlainHTTP: true}}}})
		place, ok := c.repository(t, mustSource(t, source)).places[0].(*remote)
		if !ok || place.endpoint.base.Scheme != want {
			t.Errorf("%s: %v", source, place.endpoint.base)
		}
	}
}

// What a document is depends on its bytes; headers that are missing, false or
// absurd change nothing.
func TestDocumentsAndHeaders(t *testing.T) {
	raw := manifestFor("x")
	digest := addr.DigestOf(raw)
	for _, test := range []struct {
		name, ref, contentType string
		header                 http.Header
		body                   []byte
		kind                   error
		words                  string
	}{
		{"as it should be", "1.0.0", image.MediaTypeOCIManifest, nil, raw, nil, ""},
		{"false digest header", "1.0.0", image.MediaTypeOCIManifest, http.Header{"Docker-Content-Digest": {string(addr.DigestOf(nil))}}, raw, nil, ""},
		{"nonsense digest header", string(digest), image.MediaTypeOCIManifest, http.Header{"Docker-Content-Digest": {"sha256:zz"}}, raw, nil, ""},
		{"generic type", "1.0.0", "application/json; charset=utf-8", nil, raw, nil, ""},
		{"no type", "1.0.0", "-", nil, raw, nil, ""},
		{"absurd type, by digest", string(digest), "text/html", nil, raw, nil, ""},
		{"absurd type, by tag", "1.0.0", "text/html", nil, raw, ErrProtocol, "web page"},
		{"the type of something else", "1.0.0", image.MediaTypeOCIIndex, nil, raw, ErrProtocol, "calls"},
		{"other bytes", string(digest), image.MediaTypeOCIManifest, nil, manifestFor("y"), ErrDigestMismatch, string(addr.DigestOf(manifestFor("y")))},
		{"a page for a digest", string(digest), "text/html", nil, []byte("<html>"), ErrProtocol, "web page"},
		{"a page without a type", "1.0.0", "-", nil, []byte("\n <!doctype html>"), ErrProtocol, "web page"},
		{"nothing", "1.0.0", image.MediaTypeOCIManifest, nil, nil, ErrProtocol, ""},
		{"too long", "1.0.0", image.MediaTypeOCIManifest, nil, make([]byte, image.MaxDocumentSize+1), ErrProtocol, "more than 4.2 MB"},
		{"a chart", "1.0.0", image.MediaTypeOCIManifest, nil, bytes.Replace(raw, []byte(image.MediaTypeOCIConfig), []byte("application/vnd.cncf.helm.config.v1+json"), 1), ErrNotImage, "helm"},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := newRegistry(t)
			g.script = func(w http.ResponseWriter, _ *http.Request, _ int) bool {
				for name, values := range test.header {
					w.Header()[name] = values
				}
				w.Header()["Content-Type"] = []string{test.contentType}
				if test.contentType == "-" {
					w.Header()["Content-Type"] = nil
				}
				_, _ = w.Write(test.body)
				return true
			}
			d, err := newRig(t, Options{}).repository(t, g.source("plugins/aws")).Document(context.Background(), test.ref)
			if !errors.Is(err, test.kind) || err != nil && !strings.Contains(err.Error(), test.words) {
				t.Errorf("got %v, want %v with %q", err, test.kind, test.words)
			}
			if err == nil && (d.Digest != digest || !bytes.Equal(d.Raw, raw)) {
				t.Errorf("got %+v", d)
			}
			var other *image.NotImageError
			if errors.Is(err, ErrNotImage) != errors.As(err, &other) {
				t.Errorf("%v does not carry its cause", err)
			}
		})
	}
}

// What is no reference never gets into an address.
func TestReferencesThatCannotBe(t *testing.T) {
	g := newRegistry(t)
	r := newRig(t, Options{}).repository(t, g.source("plugins/aws"))
	for _, ref := range []string{"", "../../x", "a/b", "a?b", "a b", ".a", "-a", strings.Repeat("a", 129), "sha256:abc", "sha512:" + strings.Repeat("a", 128), "1.0.0\n"} {
		if _, err := r.Document(context.Background(), ref); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: got %v", ref, err)
		}
	}
	if got := g.requests(); len(got) != 0 {
		t.Errorf("asked %q", got)
	}
}

// writeLayout makes a layout directory with images under full references.
func writeLayout(t *testing.T, dir string, refs map[string]string) map[string]addr.Digest {
	t.Helper()
	digests := map[string]addr.Digest{}
	var manifests []ocispec.Descriptor
	write := func(name string, raw []byte) {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for ref, what := range refs {
		raw := manifestFor(what)
		digests[ref] = addr.DigestOf(raw)
		write("blobs/sha256/"+digests[ref].Hex(), raw)
		manifests = append(manifests, ocispec.Descriptor{MediaType: image.MediaTypeOCIManifest, Digest: d2(digests[ref]), Size: int64(len(raw)),
			Annotations: map[string]string{ocispec.AnnotationRefName: ref}})
	}
	blob := noise(100)
	write("blobs/sha256/"+addr.DigestOf(blob).Hex(), blob)
	index, err := json.Marshal(map[string]any{"schemaVersion": 2, "manifests": manifests})
	if err != nil {
		t.Fatal(err)
	}
	write("index.json", index)
	write("oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`))
	return digests
}

func TestLayoutAsMirror(t *testing.T) {
	dir := t.TempDir()
	digests := writeLayout(t, dir, map[string]string{
		"registry.example.com/plugins/aws:1.0.0":    "a",
		"registry.example.com/plugins/aws:1.1.0":    "b",
		"registry.example.com/plugins/awsome:9.0.0": "c",
		"other.example.com/plugins/aws:2.0.0":       "d",
		"3.0.0":                                     "e",
	})
	c := newRig(t, Options{Settings: Settings{Registries: []Registry{{Prefix: "registry.example.com", Mirror: dir}, {Prefix: "absent.example.com", Mirror: filepath.Join(dir, "absent")}}}})
	r := c.repository(t, mustSource(t, "registry.example.com/plugins/aws"))
	ctx := context.Background()
	tags, err := r.Tags(ctx)
	slices.Sort(tags)
	if err != nil || !slices.Equal(tags, []string{"1.0.0", "1.1.0"}) {
		t.Errorf("tags %q, %v", tags, err)
	}
	want := digests["registry.example.com/plugins/aws:1.1.0"]
	for _, ref := range []string{"1.1.0", string(want)} {
		if d, err := r.Document(ctx, ref); err != nil || d.Digest != want {
			t.Errorf("%s: %+v, %v", ref, d, err)
		}
	}
	desc := ocispec.Descriptor{Digest: d2(addr.DigestOf(noise(100))), Size: 100}
	if got, err := readBlob(ctx, r, desc); err != nil || !bytes.Equal(got, noise(100)) {
		t.Errorf("blob: %v", err)
	}
	for _, size := range []int64{99, 101} {
		desc.Size = size
		if _, err := readBlob(ctx, r, desc); !errors.Is(err, ErrProtocol) && !errors.Is(err, ErrTruncated) {
			t.Errorf("a blob that is not %d long: %v", size, err)
		}
	}
	for _, ref := range []string{"2.0.0", "3.0.0", "9.0.0"} {
		if _, err := r.Document(ctx, ref); !errors.Is(err, ErrTagNotFound) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", ref, err)
		}
	}
	if _, err := r.Document(ctx, string(addr.DigestOf(nil))); !errors.Is(err, ErrDigestNotFound) {
		t.Errorf("absent digest: %v", err)
	}
	if _, err := c.repository(t, mustSource(t, "registry.example.com/plugins/none")).Tags(ctx); !errors.Is(err, ErrRepositoryNotFound) {
		t.Errorf("absent repository: %v", err)
	}
	if _, err := c.repository(t, mustSource(t, "absent.example.com/plugins/aws")).Document(ctx, "1.0.0"); errors.Is(err, ErrNotFound) || !errors.Is(err, ErrNetwork) && !errors.Is(err, ErrProtocol) {
		t.Errorf("a layout that is not there must not look like a missing tag: %v", err)
	}
}

// A layout is foreign input, too.
func TestLayoutsThatCannotBe(t *testing.T) {
	const ref = "registry.example.com/plugins/aws:1.0.0"
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, manifestFor("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		spoil func(dir, blob string) error
		kind  error
	}{
		"changed bytes":       {func(_, blob string) error { return os.WriteFile(blob, manifestFor("z"), 0o600) }, ErrDigestMismatch},
		"too long":            {func(_, blob string) error { return os.Truncate(blob, image.MaxDocumentSize+1) }, ErrProtocol},
		"gone":                {func(_, blob string) error { return os.Remove(blob) }, ErrDigestNotFound},
		"a link that escapes": {func(_, blob string) error { return errors.Join(os.Remove(blob), os.Symlink(outside, blob)) }, ErrProtocol},
		"a directory":         {func(_, blob string) error { return errors.Join(os.Remove(blob), os.Mkdir(blob, 0o700)) }, ErrProtocol},
		"no marker":           {func(dir, _ string) error { return os.Remove(filepath.Join(dir, "oci-layout")) }, ErrProtocol},
		"other version": {func(dir, _ string) error {
			return os.WriteFile(filepath.Join(dir, "oci-layout"), []byte(`{"imageLayoutVersion":"2.0.0"}`), 0o600)
		}, ErrProtocol},
		"no index":  {func(dir, _ string) error { return os.Remove(filepath.Join(dir, "index.json")) }, ErrProtocol},
		"bad index": {func(dir, _ string) error { return os.WriteFile(filepath.Join(dir, "index.json"), []byte("["), 0o600) }, ErrProtocol},
		"bad digest": {func(dir, _ string) error {
			return os.WriteFile(filepath.Join(dir, "index.json"), []byte(`{"manifests":[{"digest":"sha256:../x","annotations":{"org.opencontainers.image.ref.name":"`+ref+`"}}]}`), 0o600)
		}, ErrProtocol},
		"two meanings": {func(dir, _ string) error {
			entry := func(what string) string {
				return fmt.Sprintf(`{"digest":%q,"annotations":{"org.opencontainers.image.ref.name":%q}}`, addr.DigestOf([]byte(what)), ref)
			}
			return os.WriteFile(filepath.Join(dir, "index.json"), []byte(`{"manifests":[`+entry("a")+","+entry("b")+`]}`), 0o600)
		}, ErrProtocol},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && strings.Contains(name, "link") {
				t.Skip("links need a privilege here")
			}
			dir := t.TempDir()
			digest := writeLayout(t, dir, map[string]string{ref: "a"})[ref]
			if err := test.spoil(dir, filepath.Join(dir, "blobs", "sha256", digest.Hex())); err != nil {
				t.Fatal(err)
			}
			c := newRig(t, Options{Settings: Settings{Registries: []Registry{{Prefix: "registry.example.com", Mirror: dir}}}})
			_, err := c.repository(t, mustSource(t, "registry.example.com/plugins/aws")).Document(context.Background(), "1.0.0")
			if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "registry.example.com/plugins/aws") {
				t.Errorf("got %v, want %v", err, test.kind)
			}
		})
	}
}

// After many calls, good and bad, nothing is left running or open.
func TestNothingLeaks(t *testing.T) {
	g := newRegistry(t)
	g.addImage("plugins/aws", "1.0.0")
	desc := g.addBlob("plugins/aws", noise(300_000))
	g.script = func(w http.ResponseWriter, r *http.Request, n int) bool {
		if n%3 == 0 && isBlob(r) {
			cut(w, 200, noise(300_000), noise(300_000)[:1000])
		}
		return false
	}
	c := newRig(t, Options{})
	r := c.repository(t, g.source("plugins/aws"))
	work := func() {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		_, _ = r.Tags(ctx)
		_, _ = r.Document(ctx, "1.0.0")
		_, _ = r.Document(ctx, "absent")
		_, _ = readBlob(ctx, r, desc)
		if body, err := r.Blob(ctx, desc); err == nil {
			_, _ = io.CopyN(io.Discard, body, 10)
			_ = body.Close()
		}
	}
	settled := func() int {
		c.CloseIdleConnections()
		g.CloseClientConnections()
		n := runtime.NumGoroutine()
		for range 100 {
			time.Sleep(10 * time.Millisecond)
			now := runtime.NumGoroutine()
			if now >= n {
				return now
			}
			n = now
		}
		return n
	}
	work()
	goroutines, descriptors := settled(), openDescriptors()
	for range 50 {
		work()
	}
	if got := settled(); got > goroutines+3 {
		t.Errorf("%d goroutines, %d at first", got, goroutines)
	}
	if got := openDescriptors(); got > descriptors+3 {
		t.Errorf("%d descriptors, %d at first", got, descriptors)
	}
}

// openDescriptors counts this process's; 0 where that can't be told.
func openDescriptors() int {
	entries, _ := os.ReadDir("/proc/self/fd")
	return len(entries)
}
