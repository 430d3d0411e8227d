package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/pluginlock/plugins/addr"
)

// samplePlatforms are those that the sample program is built for.
var samplePlatforms = []string{"darwin/arm64", "linux/amd64", "linux/arm64", "windows/amd64"}

const sampleVersion = "1.4.2"

// sampleHost is the platform of this machine, if there is a sample for it.
func sampleHost(t *testing.T) string {
	t.Helper()
	platform := runtime.GOOS + "/" + runtime.GOARCH
	if !slices.Contains(samplePlatforms, platform) {
		t.Skipf("the sample program is not built for %s", platform)
	}
	return platform
}

// sampleDir returns the directory of a cross-compiling build, as package takes
// it: the program of testdata/sample for each of samplePlatforms, linked
// statically. The first call makes it.
func sampleDir(t *testing.T) string {
	t.Helper()
	building.Lock()
	defer building.Unlock()
	dir := filepath.Join(binDir, "dist")
	if _, err := os.Stat(dir); err == nil {
		return dir
	}
	unfinished := t.TempDir()
	for _, platform := range samplePlatforms {
		goos, goarch, _ := strings.Cut(platform, "/")
		build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-trimpath", "-ldflags=-s -w",
			"-o", samplePath(unfinished, platform), "./testdata/sample")
		build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%s for %s: %v\n%s", build, platform, err, out)
		}
	}
	if err := os.Rename(unfinished, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// samplePath is where a directory of sampleDir has the program for a platform.
func samplePath(dir, platform string) string {
	name := "sample"
	if strings.HasPrefix(platform, "windows/") {
		name += ".exe"
	}
	return filepath.Join(dir, filepath.FromSlash(platform), name)
}

// sampleProgram returns the bytes of the program for a platform.
func sampleProgram(t *testing.T, platform string) []byte {
	t.Helper()
	content, err := os.ReadFile(samplePath(sampleDir(t), platform))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// sampleSays is what the program prints.
func sampleSays(platform string, uid int, args ...string) string {
	return fmt.Sprintf("sample on %s as %d %q", platform, uid, args)
}

// published is the sample as a plugin image in a registry.
type published struct {
	registry   server
	source     string      // "127.0.0.1:40123/plugins/sample"
	repository string      // "plugins/sample"
	digest     addr.Digest // of the index
	layout     string      // directory of the image layout that package wrote
}

// ref is the image by its version, which is its tag.
func (p published) ref() string { return p.source + ":" + sampleVersion }

// publishSample packs the sample and pushes it, with the two commands of a
// plugin's author. The flags are those of package.
func publishSample(t *testing.T, to server, repository string, flags ...string) published {
	t.Helper()
	p := published{registry: to, source: to.Host + "/" + repository, repository: repository, layout: filepath.Join(t.TempDir(), "image")}
	plugins := tool(t, "plugins")
	pack := []string{"package", sampleDir(t), "--version", sampleVersion, "--protocols", "5,6", "--output", p.layout}
	output(t, command(t, nil, plugins, append(pack, flags...)...))
	said := strings.TrimSpace(output(t, command(t, []server{to}, plugins, "push", p.layout, p.ref())))
	digest, found := strings.CutPrefix(said, p.source+"@")
	var err error
	if p.digest, err = addr.ParseDigest(digest); !found || err != nil {
		t.Fatalf("push prints %q, want %s@ and a digest", said, p.source)
	}
	return p
}

// blobs returns the name, which is the hex form of the digest, and the content
// of each blob of a layout.
func blobs(t *testing.T, layout string) map[string]string {
	t.Helper()
	dir := filepath.Join(layout, "blobs", "sha256")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		found[e.Name()] = string(content)
	}
	return found
}
