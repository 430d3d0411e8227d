package getter

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"testing"

	"github.com/opencontainers/go-digest"

	"github.com/pluginlock/plugins/addr"
)

func d2(d addr.Digest) digest.Digest { return digest.Digest(d) }

// The requests of the simple case are counted: nothing is pinged, nothing is
// asked for twice, nothing by HEAD.
func TestRequestsOfTheSimpleCase(t *testing.T) {
	g := newRegistry(t)
	digest := g.addImage("plugins/aws", "1.4.2")
	blob := g.addBlob("plugins/aws", noise(1000))
	r := newRig(t, Options{}).repository(t, g.source("plugins/aws"))
	ctx := context.Background()

	tags, err := r.Tags(ctx)
	if err != nil || !slices.Equal(tags, []string{"1.4.2"}) {
		t.Fatalf("tags: %q, %v", tags, err)
	}
	for _, ref := range []string{"1.4.2", string(digest)} {
		d, err := r.Document(ctx, ref)
		if err != nil || d.Digest != digest || d.Manifest == nil {
			t.Fatalf("document %s: %+v, %v", ref, d, err)
		}
	}
	got, err := readBlob(ctx, r, blob)
	if err != nil || !bytes.Equal(got, noise(1000)) {
		t.Fatalf("blob: %d bytes, %v", len(got), err)
	}
	want := []string{"GET /v2/plugins/aws/tags/list", "GET /v2/plugins/aws/manifests/1.4.2",
		"GET /v2/plugins/aws/manifests/" + string(digest), "GET /v2/plugins/aws/blobs/" + string(blob.Digest)}
	if got := g.requests(); !slices.Equal(got, want) {
		t.Errorf("requests %q, want %q", got, want)
	}
	for _, l := range g.logged() {
		if l.header.Get("User-Agent") != "plugins" {
			t.Errorf("%s: User-Agent %q", l.uri, l.header.Get("User-Agent"))
		}
	}
}

func TestBasicAuthentication(t *testing.T) {
	g := newRegistry(t)
	g.addImage("plugins/aws", "1.4.2")
	g.script = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if user, password, _ := r.BasicAuth(); user == "ci" && password == "s3cr3t-pw" {
			return false
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="here"`)
		refuse(w, 401, "UNAUTHORIZED", "who are you")
		return true
	}
	c := newRig(t, Options{Credentials: StaticCredential(g.host(), Credential{Username: "ci", Password: "s3cr3t-pw"})})
	r := c.repository(t, g.source("plugins/aws"))
	for range 3 {
		if _, err := r.Document(context.Background(), "1.4.2"); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(g.requests()); got != 4 {
		t.Errorf("%d requests for three documents, want 4: one challenge", got)
	}
}
