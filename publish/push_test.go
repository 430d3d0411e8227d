package publish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/getter"
	"github.com/pluginlock/plugins/internal/image"
	"github.com/pluginlock/plugins/internal/imagetest"
	"github.com/pluginlock/plugins/internal/registrytest"
)

const repository = "fleeting/aws"

func newClient(t testing.TB, o getter.Options) *getter.Client {
	t.Helper()
	o.Retry.FirstWait = time.Millisecond
	c, err := getter.New(o)
	must(t, err)
	t.Cleanup(c.CloseIdleConnections)
	return c
}

func sourceAt(t testing.TB, r *registrytest.Registry) addr.Source {
	t.Helper()
	s, err := addr.ParseSource(r.Host() + "/" + repository)
	must(t, err)
	return s
}

// options push the layout at path as 1.4.2.
func options(t testing.TB, r *registrytest.Registry, path string) PushOptions {
	t.Helper()
	return PushOptions{Client: newClient(t, getter.Options{}), Source: sourceAt(t, r), Tag: "1.4.2", Path: path}
}

func pushed(t testing.TB, o PushOptions) *PushResult {
	t.Helper()
	result, err := Push(t.Context(), o)
	must(t, err)
	return result
}

// aws is a layout of four platforms, version 1.4.2.
func aws(t testing.TB) *Result {
	t.Helper()
	return packed1(t, PackageOptions{Dir: write(t, t.TempDir(), fourPlatforms(t))})
}

// versioned is a layout of one platform, with any version and content.
func versioned(t testing.TB, version, platform, text string) *Result {
	t.Helper()
	dir := write(t, t.TempDir(), map[string]string{platform + "/aws*": native(t, platform) + text})
	return packed1(t, PackageOptions{Dir: dir, Metadata: Metadata{Version: version}})
}

func writes(r *registrytest.Registry) []registrytest.Request {
	return slices.DeleteFunc(r.Front.Requests(), func(q registrytest.Request) bool {
		return q.Method == http.MethodGet || q.Method == http.MethodHead
	})
}

// complete reads everything that a tag leads to.
func complete(t testing.TB, r *registrytest.Registry, tag string) addr.Digest {
	t.Helper()
	repo, err := newClient(t, getter.Options{}).Repository(sourceAt(t, r))
	must(t, err)
	root, err := repo.Document(t.Context(), tag)
	must(t, err)
	for _, child := range root.Index.Children {
		m, err := repo.Document(t.Context(), child.Digest.String())
		must(t, err)
		for _, d := range append(m.Manifest.Layers, m.Manifest.Config) {
			b, err := repo.Blob(t.Context(), d)
			must(t, err)
			_, err = io.Copy(io.Discard, b)
			must(t, errors.Join(err, b.Close()))
		}
	}
	return root.Digest
}

func TestPushOrder(t *testing.T) {
	r, layout := registrytest.New(t, registrytest.Options{}), aws(t)
	var sent int64
	o := options(t, r, layout.Layout)
	o.OnProgress = func(p Progress) {
		if p.Status == BlobSent {
			sent += p.Done
		}
	}
	result := pushed(t, o)
	if got := complete(t, r, "1.4.2"); got != layout.Digest || result.Digest != layout.Digest {
		t.Errorf("pushed %s, result says %s, layout is %s", got, result.Digest, layout.Digest)
	}
	if want := sourceAt(t, r).String() + "@" + layout.Digest.String(); result.Reference() != want {
		t.Errorf("reference is %s, want %s", result.Reference(), want)
	}
	if !maps.Equal(result.Blobs, map[BlobStatus]int{BlobSent: 8}) || sent != result.SentBytes || sent == 0 {
		t.Errorf("blobs: %v, %d bytes, %d by progress", result.Blobs, result.SentBytes, sent)
	}
	stage := 0
	for _, q := range writes(r) {
		now := 0
		switch {
		case strings.Contains(q.Path, "/blobs/"):
		case strings.HasSuffix(q.Path, "/manifests/1.4.2"):
			now = 3
		case strings.HasSuffix(q.Path, layout.Digest.String()):
			now = 2
		default:
			now = 1
		}
		if now < stage {
			t.Errorf("%s came after a write of stage %d", q, stage)
		}
		stage = now
	}
	if stage != 3 {
		t.Error("the tag was not the last write")
	}
}

func TestPushAgainWritesNothing(t *testing.T) {
	for name, auth := range map[string]*registrytest.Auth{
		"open": nil, "basic": {Username: "u", Password: "p"}, "bearer": {Username: "u", Password: "p", Bearer: true},
	} {
		t.Run(name, func(t *testing.T) {
			r, layout := registrytest.New(t, registrytest.Options{Auth: auth}), aws(t)
			o := options(t, r, layout.Layout)
			credentials := getter.StaticCredential(r.Host(), getter.Credential{Username: "u", Password: "p"})
			o.Client = newClient(t, getter.Options{Credentials: credentials})
			pushed(t, o)
			r.Front.Reset()
			o.Client = newClient(t, getter.Options{Credentials: credentials})
			result := pushed(t, o)
			if !result.Unchanged || result.Digest != layout.Digest {
				t.Errorf("result is %+v", result)
			}
			if n := len(r.Front.Requests()); n > 3 || len(writes(r)) > 0 {
				t.Errorf("%d requests: %v", n, r.Front.Requests())
			}
		})
	}
}

// TestPushChanged is C56 (b): refused without force, and nothing is written.
func TestPushChanged(t *testing.T) {
	r := registrytest.New(t, registrytest.Options{})
	first, second := versioned(t, "1.4.2", "linux/amd64", "a"), versioned(t, "1.4.2", "linux/amd64", "b")
	pushed(t, options(t, r, first.Layout))
	r.Front.Reset()
	_, err := Push(t.Context(), options(t, r, second.Layout))
	var exists *TagExistsError
	if !errors.As(err, &exists) || exists.Existing != first.Digest || exists.New != second.Digest {
		t.Fatalf("error is %v", err)
	}
	if len(writes(r)) != 0 {
		t.Errorf("it wrote: %v", writes(r))
	}
	o := options(t, r, second.Layout)
	o.Force = true
	result := pushed(t, o)
	if result.Replaced != first.Digest || complete(t, r, "1.4.2") != second.Digest {
		t.Errorf("forced push: %+v", result)
	}
}

// TestPushOtherSpelling refuses what installers would find ambiguous.
func TestPushOtherSpelling(t *testing.T) {
	for _, force := range []bool{false, true} {
		r := registrytest.New(t, registrytest.Options{})
		o := options(t, r, versioned(t, "1.4.2", "linux/amd64", "a").Layout)
		o.Tag = "v1.4.2"
		pushed(t, o)
		o = options(t, r, versioned(t, "1.4.2", "linux/amd64", "b").Layout)
		o.Force = force
		_, err := Push(t.Context(), o)
		var exists *TagExistsError
		if !errors.As(err, &exists) || exists.Tag != "v1.4.2" {
			t.Errorf("force %v: error is %v", force, err)
		}
	}
}

// TestPushRecompressed takes another compressor for the same content.
func TestPushRecompressed(t *testing.T) {
	r := registrytest.New(t, registrytest.Options{})
	dir := write(t, t.TempDir(), fourPlatforms(t))
	first := packed1(t, PackageOptions{Dir: dir})
	second := packed1(t, PackageOptions{Dir: dir, Compression: Zstd})
	if first.Digest == second.Digest {
		t.Fatal("the compressions give the same digest")
	}
	pushed(t, options(t, r, first.Layout))
	r.Front.Reset()
	result := pushed(t, options(t, r, second.Layout))
	if !result.Unchanged || result.Digest != first.Digest || len(writes(r)) != 0 {
		t.Errorf("result is %+v; writes %v", result, writes(r))
	}
}

func TestPushMismatch(t *testing.T) {
	r := registrytest.New(t, registrytest.Options{})
	dir := write(t, t.TempDir(), map[string]string{"linux/amd64/aws*": native(t, "linux/amd64")})
	tests := map[string]struct {
		metadata Metadata
		tag      string
		want     string // of MismatchError, or "" where it is accepted
	}{
		"other version":    {Metadata{Version: "1.4.1"}, "1.4.2", "version"},
		"same version":     {Metadata{Version: "1.4.2"}, "v1.4.2", ""},
		"no version":       {Metadata{}, "1.4.3", ""},
		"build metadata":   {Metadata{Version: "1.4.2+b1"}, "1.4.2_b1", ""},
		"other source":     {Metadata{PublishTo: "example.com/x"}, "1.4.4", "source"},
		"same source":      {Metadata{PublishTo: sourceAt(t, r).String()}, "1.4.5", ""},
		"without build":    {Metadata{Version: "1.4.2+b1"}, "1.4.2", "version"},
		"as a pre-release": {Metadata{Version: "1.4.2"}, "1.4.2-rc.1", "version"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r.Front.Reset()
			o := options(t, r, packed1(t, PackageOptions{Dir: dir, Metadata: test.metadata}).Layout)
			o.Tag = test.tag
			_, err := Push(t.Context(), o)
			var mismatch *MismatchError
			switch {
			case test.want == "":
				must(t, err)
			case !errors.As(err, &mismatch) || mismatch.What != test.want:
				t.Errorf("error is %v", err)
			case len(r.Front.Requests()) != 0:
				t.Errorf("it asked the registry: %v", r.Front.Requests())
			}
		})
	}
}

// TestPushDirectory gives the digest that packing and pushing in two steps has.
func TestPushDirectory(t *testing.T) {
	r := registrytest.New(t, registrytest.Options{})
	dir := write(t, t.TempDir(), fourPlatforms(t))
	t.Setenv("TMPDIR", t.TempDir())
	result := pushed(t, options(t, r, dir))
	if want := packed1(t, PackageOptions{Dir: dir}).Digest; result.Digest != want || result.Packed.Digest != want {
		t.Errorf("digest is %s, want %s", result.Digest, want)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) != 0 {
		t.Errorf("it left %v, %v", left, err)
	}
	must(t, os.Remove(filepath.Join(dir, "package.hcl")))
	o := options(t, r, dir)
	o.Tag = "2.0.0"
	if result := pushed(t, o); result.Packed.Version.String() != "2.0.0" {
		t.Errorf("version is %v", result.Packed.Version)
	}
}

func TestPushUntaggedAndTag(t *testing.T) {
	r, layout := registrytest.New(t, registrytest.Options{}), aws(t)
	o := options(t, r, layout.Layout)
	o.Tag, o.Untagged = "", true
	result := pushed(t, o)
	if _, err := r.Resolve(repository, "1.4.2"); err == nil {
		t.Fatal("there is a tag")
	}
	tag := TagOptions{Client: o.Client, Source: o.Source, Digest: result.Digest, Tag: "1.4.3"}
	var mismatch *MismatchError
	if _, err := Tag(t.Context(), tag); !errors.As(err, &mismatch) {
		t.Errorf("as another version: %v", err)
	}
	tag.Tag, tag.MovingTags = "1.4.2", true
	for _, unchanged := range []bool{false, true} {
		tagged, err := Tag(t.Context(), tag)
		must(t, err)
		if tagged.Unchanged != unchanged || len(tagged.Moving) != 3 || tagged.Moving[0].Moved == unchanged {
			t.Errorf("result is %+v", tagged)
		}
	}
	for _, name := range []string{"1.4.2", "1.4", "1", "latest"} {
		if complete(t, r, name) != layout.Digest {
			t.Errorf("%s names something else", name)
		}
	}
	tag.Digest = addr.DigestOf([]byte("nothing"))
	if _, err := Tag(t.Context(), tag); !errors.Is(err, getter.ErrDigestNotFound) {
		t.Errorf("a digest that is not there: %v", err)
	}
	other := versioned(t, "1.4.2", "linux/amd64", "other")
	o.Path = other.Layout
	tag.Digest = pushed(t, o).Digest
	var exists *TagExistsError
	if _, err := Tag(t.Context(), tag); !errors.As(err, &exists) {
		t.Errorf("a tag that is there: %v", err)
	}
	tag.Force = true
	if tagged, err := Tag(t.Context(), tag); err != nil || tagged.Replaced != layout.Digest {
		t.Errorf("forced: %+v, %v", tagged, err)
	}
}

// TestPushSendsStandardDocumentsOnly walks all JSON that push sends.
func TestPushSendsStandardDocumentsOnly(t *testing.T) {
	for _, compression := range []Compression{Gzip, Zstd} {
		r := registrytest.New(t, registrytest.Options{})
		layout := packed1(t, PackageOptions{Dir: write(t, t.TempDir(), fourPlatforms(t)), Compression: compression})
		pushed(t, options(t, r, layout.Layout))
		documents := 0
		for _, q := range r.Front.Find(http.MethodPut, "/v2/*/manifests/*") {
			raw, err := r.Document(repository, q.Path[strings.LastIndex(q.Path, "/")+1:])
			must(t, err)
			walk(t, raw)
			if !standard(q.Header.Get("Content-Type")) {
				t.Errorf("%s with Content-Type %s", q, q.Header.Get("Content-Type"))
			}
			documents++
		}
		for _, p := range layout.Platforms {
			walk(t, blob(t, layout.Layout, addr.Digest(manifestOf(t, layout, p).Config.Digest)))
		}
		if documents != 6 {
			t.Errorf("%d documents were sent", documents)
		}
	}
}

func standard(mediaType string) bool {
	return slices.Contains([]string{image.MediaTypeOCIIndex, image.MediaTypeOCIManifest, image.MediaTypeOCIConfig,
		image.MediaTypeOCILayerGzip, image.MediaTypeOCILayerZstd}, mediaType)
}

func walk(t *testing.T, raw []byte) {
	t.Helper()
	var visit func(v any)
	visit = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				visit(e)
			}
		case map[string]any:
			for name, e := range v {
				if name == "artifactType" || name == "subject" || name == "urls" || name == "data" {
					t.Errorf("a document has %s: %s", name, raw)
				}
				if name == "mediaType" && !standard(fmt.Sprint(e)) {
					t.Errorf("a document has the media type %v", e)
				}
				visit(e)
			}
		}
	}
	var v any
	must(t, json.Unmarshal(raw, &v))
	visit(v)
}

// killer ends the push at its n-th request: before it is sent, or after the
// registry has answered but before the client has heard of it.
type killer struct {
	next   http.RoundTripper
	kill   context.CancelFunc
	at     int
	after  bool
	counts chan int // holds the count
}

func (k *killer) RoundTrip(req *http.Request) (*http.Response, error) {
	n := <-k.counts + 1
	k.counts <- n
	if n > k.at || n == k.at && !k.after {
		k.kill()
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, context.Canceled
	}
	resp, err := k.next.RoundTrip(req)
	if n == k.at && err == nil {
		_ = resp.Body.Close()
		k.kill()
		return nil, context.Canceled
	}
	return resp, err
}

// TestPushKilledAfterEachRequest ends a push at each of its requests: there is
// never a tag before all content is there, a second run finishes, and no blob
// is sent again of which the registry had said that it has it.
func TestPushKilledAfterEachRequest(t *testing.T) {
	layout := packed1(t, PackageOptions{Dir: write(t, t.TempDir(), map[string]string{
		"linux/amd64/aws*": native(t, "linux/amd64"), "linux/arm64/aws*": native(t, "linux/arm64")})})
	for _, after := range []bool{false, true} {
		for at, done := 1, false; !done; at++ {
			if at > 100 {
				t.Fatal("the push never ends")
			}
			r := registrytest.New(t, registrytest.Options{})
			ctx, cancel := context.WithCancel(t.Context())
			transport := &http.Transport{}
			k := &killer{transport, cancel, at, after, make(chan int, 1)}
			k.counts <- 0
			o := options(t, r, layout.Layout)
			o.Client = newClient(t, getter.Options{Transport: k})
			o.Uploads = 1
			_, err := Push(ctx, o)
			cancel()
			transport.CloseIdleConnections()
			if done = err == nil; !done && !errors.Is(err, context.Canceled) {
				t.Fatalf("killed at %d: %v", at, err)
			}
			if _, err := r.Resolve(repository, "1.4.2"); err == nil {
				complete(t, r, "1.4.2")
			}
			o.Client = newClient(t, getter.Options{})
			pushed(t, o)
			if complete(t, r, "1.4.2") != layout.Digest {
				t.Errorf("killed at %d: the second run pushed something else", at)
			}
			sent := map[string]int{}
			for _, q := range r.Front.Find(http.MethodPut, "/v2/*/blobs/uploads/*") {
				if q.Status == http.StatusCreated {
					_, digest, _ := strings.Cut(q.Query, "digest=")
					sent[digest]++
				}
			}
			for digest, n := range sent {
				if n > 1 {
					t.Errorf("killed at %d: %s was sent %d times", at, digest, n)
				}
			}
			r.Close()
		}
	}
}

func TestPushKeepsCredentialsFromUploadHost(t *testing.T) {
	storage := registrytest.NewFront(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("WWW-Authenticate", `Basic realm="give me more"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	elsewhere := newServer(t, storage)
	r := registrytest.New(t, registrytest.Options{Auth: &registrytest.Auth{Username: "u", Password: "secret-password"}})
	r.Front.Add(registrytest.Rule{Method: http.MethodPost, Path: "/v2/*/blobs/uploads/", Authorized: new(true), Status: http.StatusAccepted,
		Header: map[string]string{"Location": elsewhere + "/upload?sig=a%2Fb&z=1"}})
	o := options(t, r, aws(t).Layout)
	o.Client = newClient(t, getter.Options{Credentials: getter.StaticCredential(r.Host(), getter.Credential{Username: "u", Password: "secret-password"})})
	if _, err := Push(t.Context(), o); err == nil || strings.Contains(err.Error(), "secret-password") {
		t.Errorf("error is %v", err)
	}
	uploads := storage.Requests()
	if len(uploads) == 0 {
		t.Fatal("nothing was sent there: the test shows nothing")
	}
	for _, q := range uploads {
		if q.Header.Get("Authorization") != "" || q.Header.Get("Cookie") != "" {
			t.Errorf("%s got credentials: %v", q, q.Header)
		}
		if !strings.HasPrefix(q.Query, "sig=a%2Fb&z=1&digest=sha256") {
			t.Errorf("the signed query was changed: %s", q.Query)
		}
	}
}

// An upload leads to HTTP only, and a page to log in at is no other version.
func TestPushAnswersOfOthers(t *testing.T) {
	page := "<html>log in</html>"
	for want, rule := range map[string]registrytest.Rule{
		`leads to "file", which is not HTTP`: {Method: http.MethodPost, Status: http.StatusAccepted, Header: map[string]string{"Location": "file:///upload"}},
		"something other than JSON":          {Method: http.MethodGet, Path: "*/manifests/*", Body: &page},
	} {
		dir := t.TempDir()
		must(t, imagetest.Plugin{Version: "1.4.2"}.Build(t).WriteLayout(dir, "1.4.2"))
		r := registrytest.New(t, registrytest.Options{Rules: []registrytest.Rule{rule}})
		o := options(t, r, dir)
		o.Force = true
		if _, err := Push(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
		if n := r.Front.Count(http.MethodPut, "*/manifests/*"); n != 0 {
			t.Errorf("%q: %d documents were written", want, n)
		}
	}
}

func TestPushMounts(t *testing.T) {
	r, layout := registrytest.New(t, registrytest.Options{}), aws(t)
	first := options(t, r, layout.Layout)
	var err error
	first.Source, err = addr.ParseSource(r.Host() + "/staging/aws")
	must(t, err)
	pushed(t, first)
	r.Front.Reset()
	o := options(t, r, layout.Layout)
	o.MountFrom = []addr.Source{first.Source}
	result := pushed(t, o)
	if !maps.Equal(result.Blobs, map[BlobStatus]int{BlobMounted: 8}) || result.SentBytes != 0 || r.Front.Count(http.MethodPut, "/v2/*/blobs/*") != 0 {
		t.Errorf("result is %+v", result)
	}
	complete(t, r, "1.4.2")
	o.MountFrom[0], err = addr.ParseSource("example.com/staging/aws")
	must(t, err)
	if _, err := Push(t.Context(), o); err == nil {
		t.Error("it mounts from another registry")
	}
}

// TestPushRegistries meets registries that are not all there.
func TestPushRegistries(t *testing.T) {
	tests := map[string]struct {
		options registrytest.Options
		want    error // nil: it succeeds
	}{
		"no HEAD":               {options: registrytest.Options{Quirks: registrytest.Quirks{NoHead: true}}},
		"busy":                  {options: registrytest.Options{Rules: []registrytest.Rule{{Method: http.MethodPut, Times: 2, Status: http.StatusTooManyRequests, Header: map[string]string{"Retry-After": "0"}}}}},
		"blob fails once":       {options: registrytest.Options{Rules: []registrytest.Rule{{Method: http.MethodPut, Path: "/v2/*/blobs/*", Times: 1, Status: http.StatusBadGateway}}}},
		"manifest fails once":   {options: registrytest.Options{Rules: []registrytest.Rule{{Method: http.MethodPut, Path: "/v2/*/manifests/*", Times: 1, Status: http.StatusInternalServerError}}}},
		"fails for good":        {options: registrytest.Options{Rules: []registrytest.Rule{{Method: http.MethodPut, Path: "/v2/*/manifests/1.4.2", Status: http.StatusInternalServerError}}}, want: getter.ErrServer},
		"no location":           {options: registrytest.Options{Rules: []registrytest.Rule{{Method: http.MethodPost, Status: http.StatusAccepted}}}, want: getter.ErrProtocol},
		"read only":             {options: registrytest.Options{Rules: []registrytest.Rule{{Method: http.MethodPost, Status: http.StatusForbidden}}}, want: getter.ErrForbidden},
		"refuses the manifests": {options: registrytest.Options{Rules: []registrytest.Rule{{Method: http.MethodPut, Path: "/v2/*/manifests/*", Status: http.StatusBadRequest}}}, want: getter.ErrProtocol},
	}
	layout := aws(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := registrytest.New(t, test.options)
			_, err := Push(t.Context(), options(t, r, layout.Layout))
			if !errors.Is(err, test.want) {
				t.Fatalf("error is %v, want %v", err, test.want)
			}
			r.Front.ClearRules()
			if err == nil {
				complete(t, r, "1.4.2")
			} else if _, err := r.Resolve(repository, "1.4.2"); err == nil {
				t.Error("there is a tag after a failed push")
			}
		})
	}
}

// TestPushRefusesOtherImages sends nothing but what Package makes.
func TestPushRefusesOtherImages(t *testing.T) {
	r := registrytest.New(t, registrytest.Options{})
	plugin := imagetest.Plugin{Version: "1.4.2"}
	tests := map[string]imagetest.Builder{
		"foreign":      imagetest.Foreign{},
		"attestations": builder(func() (*imagetest.Image, error) { return imagetest.WithAttestations(plugin.Build(t)), nil }),
		"one manifest": builder(func() (*imagetest.Image, error) { return plugin.Build(t).Child("linux/amd64"), nil }),
		"two of one platform": imagetest.Index{Entries: []imagetest.Entry{
			{Image: plugin.Build(t).Child("linux/amd64"), Platform: "linux/amd64"}, {Image: plugin.Build(t).Child("linux/arm64"), Platform: "linux/amd64"}}},
		"missing layer": builder(func() (*imagetest.Image, error) {
			im := plugin.Build(t)
			return imagetest.Without(im, im.Payload("linux/arm64")), nil
		}),
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, imagetest.Must(t, test).WriteLayout(dir, "1.4.2"))
			_, err := Push(t.Context(), options(t, r, dir))
			var notPlugin *NotPluginError
			var layout *LayoutError
			if !errors.As(err, &notPlugin) && !errors.As(err, &layout) {
				t.Errorf("error is %v", err)
			}
		})
	}
	if len(r.Front.Requests()) != 0 {
		t.Errorf("it asked the registry: %v", r.Front.Requests())
	}
	dir := t.TempDir()
	must(t, plugin.Build(t).WriteLayout(dir, "1.4.2"))
	pushed(t, options(t, r, dir)) // the second witness of the format
}

type builder func() (*imagetest.Image, error)

func (b builder) Make() (*imagetest.Image, error) { return b() }
