package e2e

import (
	"archive/tar"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/image"
)

// Images that other tools built install as foreign ones, from every kind of
// registry, and what is installed runs.
func TestTheirImagesInstall(t *testing.T) {
	host := sampleHost(t)
	if !strings.HasPrefix(host, "linux/") {
		t.Skipf("the images are for Linux, this is %s", host)
	}
	forEach(t, func(t *testing.T, open, _ server) {
		t.Run("buildah", func(t *testing.T) {
			buildahCommits(t, host, open.Host+"/theirs/buildah:1.0.0")
			requireForeign(t, open, "buildah", "/usr/bin/sample", image.MediaTypeOCIManifest, host)
		})
		t.Run("crane", func(t *testing.T) {
			craneAppends(t, open.Host+"/theirs/crane:1.0.0")
			requireForeign(t, open, "crane", "/plugins/sample", image.MediaTypeOCIIndex, "linux/amd64", "linux/arm64")
		})
		t.Run("docker", func(t *testing.T) {
			program := debian(t, "skopeo", "skopeo")
			craneAppends(t, open.Host+"/theirs/source:1.0.0")
			output(t, command(t, nil, program, "copy", "--insecure-policy", "--all", "--format", "v2s2", "--src-tls-verify=false", "--dest-tls-verify=false",
				"docker://"+open.Host+"/theirs/source:1.0.0", "docker://"+open.Host+"/theirs/docker:1.0.0"))
			requireForeign(t, open, "docker", "/plugins/sample", image.MediaTypeDockerIndex, "linux/amd64", "linux/arm64")
		})
	})
}

// buildahCommits builds an image of one platform from scratch: the sample at
// /usr/bin/sample.
func buildahCommits(t *testing.T, platform, to string) {
	t.Helper()
	program := debian(t, "buildah", "buildah")
	if os.Getuid() != 0 {
		t.Skip("buildah is run by root here: rootless it needs sub-ids and more")
	}
	dir := t.TempDir()
	global := []string{"--root", filepath.Join(dir, "root"), "--runroot", filepath.Join(dir, "run"), "--storage-driver", "vfs"}
	buildah := func(args ...string) string {
		return strings.TrimSpace(output(t, command(t, nil, program, slices.Concat(global, args)...)))
	}
	container := buildah("from", "scratch")
	buildah("copy", "--chmod", "0755", container, samplePath(sampleDir(t), platform), "/usr/bin/sample")
	_, arch, _ := strings.Cut(platform, "/")
	buildah("config", "--os", "linux", "--arch", arch, "--entrypoint", `["/usr/bin/sample"]`, container)
	buildah("commit", "--quiet", "--tls-verify=false", "--rm", container, "docker://"+to)
}

// craneAppends builds an image of two platforms from three layers each: an old
// program at /opt/sample, the sample over it with a link at /plugins/sample, and
// something else on top.
func craneAppends(t *testing.T, to string) {
	t.Helper()
	crane := func(args ...string) { output(t, command(t, nil, tool(t, "crane"), args...)) }
	index := []string{"index", "append", "--tag", to}
	for _, platform := range []string{"linux/amd64", "linux/arm64"} {
		lower := writeTar(t, tar.Header{Name: "opt/sample", Mode: 0o755}, "#!/bin/sh\necho old\n")
		program := writeTar(t, tar.Header{Name: "opt/sample", Mode: 0o755}, string(sampleProgram(t, platform)))
		link := writeTar(t, tar.Header{Name: "plugins/sample", Typeflag: tar.TypeSymlink, Linkname: "../opt/sample", Mode: 0o777}, "")
		one := to + "-" + strings.ReplaceAll(platform, "/", "-")
		crane("append", "--new_layer", lower, "--new_layer", program, "--new_layer", link, "--new_tag", one)
		crane("mutate", "--set-platform", platform, "--tag", one, one)
		index = append(index, "--manifest", one)
	}
	crane(index...)
}

// writeTar writes an archive of one entry.
func writeTar(t *testing.T, header tar.Header, content string) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "layer.tar"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	w := tar.NewWriter(file)
	header.Size = int64(len(content))
	if err := w.WriteHeader(&header); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Name()
}

// requireForeign installs version 1.0.0 of theirs/NAME, which must be of a media
// type, and runs it. The lock pins the program for each of the platforms.
func requireForeign(t *testing.T, s server, name, executable, mediaType string, platforms ...string) {
	t.Helper()
	root := get(t, s, "/v2/theirs/"+name+"/manifests/1.0.0")
	if root.mediaType != mediaType {
		t.Fatalf("the registry serves %s, want %s", root.mediaType, mediaType)
	}
	p := newProject(t, []server{s}, fmt.Sprintf(`required_plugins {
  sample = {
    source     = "%s/theirs/%s"
    version    = "~> 1.0"
    executable = %q
  }
}
`, s.Host, name, executable))
	p.run(t, "init")
	p.requireProgram(t, "sample", sampleSays(sampleHost(t), os.Getuid()))

	lock := p.read(t, ".plugins.lock.hcl")
	if digest := addr.DigestOf(root.content).String(); !strings.Contains(lock, digest) {
		t.Errorf("the lock has no digest %s:\n%s", digest, lock)
	}
	if got := strings.Count(lock, "\n  platform "); got != len(platforms) {
		t.Errorf("the lock has %d platforms, want %s:\n%s", got, platforms, lock)
	}
	for _, platform := range platforms {
		if digest := addr.DigestOf(sampleProgram(t, platform)).String(); !strings.Contains(lock, digest) {
			t.Errorf("the lock has no executable for %s, %s:\n%s", platform, digest, lock)
		}
	}
}
