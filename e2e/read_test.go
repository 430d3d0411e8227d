package e2e

import (
	"archive/tar"
	"errors"
	"io"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pluginlock/plugins/addr"
)

// Every client reads what push sent: it takes it for a valid image, and no
// digest changes on the way.
func TestClientsRead(t *testing.T) {
	forEach(t, func(t *testing.T, open, private server) {
		sample := publishSample(t, open, "plugins/sample")
		t.Run("oras", func(t *testing.T) { orasReads(t, sample) })
		t.Run("crane", func(t *testing.T) { craneReads(t, sample) })
		t.Run("skopeo", func(t *testing.T) { skopeoCopies(t, sample, private) })
	})
}

func orasReads(t *testing.T, sample published) {
	oras := func(args ...string) string { return output(t, command(t, nil, tool(t, "oras"), args...)) }

	index := oras("manifest", "fetch", "--plain-http", sample.ref())
	if got := addr.DigestOf([]byte(index)); got != sample.digest {
		t.Errorf("oras manifest fetch gives bytes of digest %s, push said %s", got, sample.digest)
	}
	// oras pull writes the layers that have a file name; those of images have none.
	pulled := oras("pull", "--plain-http", "--platform", "linux/amd64", "--output", t.TempDir(), sample.ref())
	if !strings.Contains(pulled, "Skipped pulling layers without file name") {
		t.Errorf("oras pull says:\n%s", pulled)
	}
	layout := filepath.Join(t.TempDir(), "copy")
	oras("cp", "--from-plain-http", sample.ref(), "--to-oci-layout", layout+":"+sampleVersion)
	requireBlobs(t, layout, sample)
}

func craneReads(t *testing.T, sample published) {
	crane := func(args ...string) string { return output(t, command(t, nil, tool(t, "crane"), args...)) }

	// Without a platform crane validates the index and all that it lists. Layers
	// of zstd it cannot: v0.22.1 takes all for gzip, and hangs.
	if said := crane("validate", "--remote", sample.ref()); !strings.HasPrefix(said, "PASS") {
		t.Errorf("crane validate says %q", said)
	}
	if got := strings.TrimSpace(crane("digest", sample.ref())); got != sample.digest.String() {
		t.Errorf("crane digest prints %s, push said %s", got, sample.digest)
	}
	for _, platform := range samplePlatforms {
		files := untar(t, crane("export", "--platform", platform, sample.ref(), "-"))
		name := "plugin/" + filepath.Base(samplePath("", platform))
		if len(files) != 1 || files[name] != string(sampleProgram(t, platform)) {
			t.Errorf("crane export for %s: %d files, or %s is not the file that was packed", platform, len(files), name)
		}
	}
}

func skopeoCopies(t *testing.T, sample published, to server) {
	program := debian(t, "skopeo", "skopeo")
	copyAll := func(destination ...string) {
		args := append([]string{"copy", "--insecure-policy", "--all", "--src-tls-verify=false", "docker://" + sample.ref()}, destination...)
		output(t, command(t, []server{to}, program, args...))
	}

	layout := filepath.Join(t.TempDir(), "copy")
	copyAll("oci:" + layout + ":" + sampleVersion)
	requireBlobs(t, layout, sample)

	copyAll("--dest-tls-verify=false", "docker://"+to.Host+"/copies/sample:"+sampleVersion)
	requireServed(t, to, "copies/sample", sample)
}

// requireBlobs compares the blobs of a layout with those that package wrote;
// the index is one of them, so its digest is the same, too.
func requireBlobs(t *testing.T, layout string, sample published) {
	t.Helper()
	got, want := blobs(t, layout), blobs(t, sample.layout)
	if _, found := want[sample.digest.Hex()]; !found {
		t.Fatalf("the layout that was pushed has no %s", sample.digest)
	}
	if !maps.Equal(got, want) {
		t.Errorf("%d blobs, want the %d of the layout that was pushed, or their content differs", len(got), len(want))
	}
}

// requireServed fetches the tag and all that the sample consists of.
func requireServed(t *testing.T, s server, repository string, sample published) {
	t.Helper()
	if got := addr.DigestOf(get(t, s, "/v2/"+repository+"/manifests/"+sampleVersion).content); got != sample.digest {
		t.Errorf("the tag is %s, push said %s", got, sample.digest)
	}
	for name, content := range blobs(t, sample.layout) {
		part := "/blobs/sha256:"
		if strings.Contains(content, `"schemaVersion"`) {
			part = "/manifests/sha256:"
		}
		if got := get(t, s, "/v2/"+repository+part+name); string(got.content) != content {
			t.Errorf("%s%s%s: %d, or other content", repository, part, name, got.status)
		}
	}
}

// untar returns the regular files of an archive.
func untar(t *testing.T, archive string) map[string]string {
	t.Helper()
	files := map[string]string{}
	r := tar.NewReader(strings.NewReader(archive))
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Typeflag != tar.TypeReg {
			continue
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = string(content)
	}
}
