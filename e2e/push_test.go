package e2e

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/image"
	"github.com/pluginlock/plugins/internal/imagetest"
)

// Every registry takes what imagetest builds and gives it back byte for byte.
func TestRegistriesKeepImages(t *testing.T) {
	plugin := imagetest.Plugin{Name: "aws", Version: "1.2.0", Protocols: []int{5, 6}}.Build(t)
	foreign := imagetest.Foreign{Name: "velero", Version: "1.9.0", Docker: true}.Build(t)
	forEach(t, func(t *testing.T, open, private server) {
		open.push(t, plugin, "plugins/aws", "1.2.0", "v1.2.0")
		open.push(t, foreign, "velero/velero", "1.9.0")
		private.push(t, plugin, "team/aws", "1.2.0")

		requireSame(t, open, "plugins/aws", "v1.2.0", plugin)
		requireSame(t, open, "velero/velero", "1.9.0", foreign)
		requireSame(t, private, "team/aws", "1.2.0", plugin)
		if tags := tags(t, open, "plugins/aws"); !slices.Equal(tags, []string{"1.2.0", "v1.2.0"}) {
			t.Errorf("tags %v", tags)
		}
		stranger := server{Host: private.Host}
		if got := get(t, stranger, "/v2/team/aws/manifests/1.2.0"); got.status != http.StatusUnauthorized {
			t.Errorf("a stranger gets %d", got.status)
		}
	})
}

// Every client pushes the image from a layout and sees its tags; no digest
// changes on the way.
func TestClientsPush(t *testing.T) {
	plugin := imagetest.WithAttestations(imagetest.Plugin{Name: "aws", Version: "1.2.0"}.Build(t))
	layout := t.TempDir()
	if err := plugin.WriteLayout(layout, "1.2.0"); err != nil {
		t.Fatal(err)
	}
	clients := []struct {
		name string
		push func(t *testing.T, to string) (program string, args []string)
		tags func(repository string) []string
	}{
		{"crane",
			func(t *testing.T, to string) (string, []string) {
				return tool(t, "crane"), []string{"push", layout, to}
			},
			func(repository string) []string { return []string{"ls", repository} }},
		{"oras",
			func(t *testing.T, to string) (string, []string) {
				return tool(t, "oras"), []string{"cp", "--from-oci-layout", layout + ":1.2.0", "--to-plain-http", to}
			},
			func(repository string) []string { return []string{"repo", "tags", "--plain-http", repository} }},
		{"skopeo",
			func(t *testing.T, to string) (string, []string) {
				return debian(t, "skopeo", "skopeo"), []string{"copy", "--insecure-policy", "--all", "--preserve-digests", "--dest-tls-verify=false", "oci:" + layout + ":1.2.0", "docker://" + to}
			},
			func(repository string) []string {
				return []string{"list-tags", "--tls-verify=false", "docker://" + repository}
			}},
	}
	forEach(t, func(t *testing.T, open, private server) {
		for _, c := range clients {
			t.Run(c.name, func(t *testing.T) {
				for _, s := range []server{open, private} {
					repository := "by/" + c.name
					program, args := c.push(t, s.Host+"/"+repository+":1.2.0")
					output(t, command(t, []server{s}, program, args...))
					requireSame(t, s, repository, "1.2.0", plugin)
					if listed := output(t, command(t, []server{s}, program, c.tags(s.Host+"/"+repository)...)); !strings.Contains(listed, "1.2.0") {
						t.Errorf("%s lists %q", c.name, listed)
					}
				}
			})
		}
	})
}

// requireSame fetches a tag and all that it refers to.
func requireSame(t *testing.T, s server, repository, tag string, want *imagetest.Image) {
	t.Helper()
	root := get(t, s, "/v2/"+repository+"/manifests/"+tag)
	if addr.DigestOf(root.content) != want.Digest() || root.mediaType != want.Root.MediaType {
		t.Fatalf("%s:%s: %d of type %q is %s, want %s", repository, tag, root.status, root.mediaType, addr.DigestOf(root.content), want.Digest())
	}
	for _, b := range want.Blobs {
		part := "/blobs/"
		if b.Document {
			part = "/manifests/"
		}
		if got := get(t, s, "/v2/"+repository+part+b.Descriptor.Digest.String()); string(got.content) != string(b.Bytes) {
			t.Errorf("%s%s%s: %d", repository, part, b.Descriptor.Digest, got.status)
		}
	}
}

func tags(t *testing.T, s server, repository string) []string {
	t.Helper()
	var list struct{ Tags []string }
	if err := json.Unmarshal(get(t, s, "/v2/"+repository+"/tags/list").content, &list); err != nil {
		t.Fatal(err)
	}
	slices.Sort(list.Tags)
	return list.Tags
}

// answer is what a registry said.
type answer struct {
	status    int
	mediaType string
	content   []byte
}

func get(t *testing.T, s server, path string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://"+s.Host+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", strings.Join([]string{image.MediaTypeOCIIndex, image.MediaTypeOCIManifest, image.MediaTypeDockerIndex, image.MediaTypeDockerManifest}, ", "))
	if s.Username != "" {
		req.SetBasicAuth(s.Username, s.Password)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header.Get("Content-Type"), content}
}
