package publish

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/imagetest"
)

// write makes files below dir, with the directories they need. A name that
// ends in "*" gets the executable bit, one that ends in "/" is a directory.
func write(t testing.TB, dir string, files map[string]string) string {
	t.Helper()
	for name, content := range files {
		name, executable := strings.CutSuffix(name, "*")
		path := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			must(t, os.MkdirAll(path, 0o755))
			continue
		}
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		mode := os.FileMode(0o644)
		if executable {
			mode = 0o755
		}
		must(t, os.WriteFile(path, []byte(content), mode))
	}
	return dir
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// native is a file with the header of a program for a platform.
func native(t testing.TB, platform string) string {
	t.Helper()
	content, err := imagetest.Native(platform, "a plugin for "+platform)
	must(t, err)
	return content
}

// fourPlatforms is a tree of four platforms with files they share.
func fourPlatforms(t testing.TB) map[string]string {
	files := map[string]string{
		"package.hcl":      "name = \"aws\"\nversion = \"1.4.2\"\nprotocols = [6, 5]\n",
		"common/LICENSE":   "free as in beer\n",
		"common/doc/a.txt": "a\n",
	}
	for _, p := range []string{"linux/amd64", "linux/arm64", "darwin/arm64"} {
		files[p+"/aws*"] = native(t, p)
	}
	files["windows/amd64/aws.exe"] = native(t, "windows/amd64")
	return files
}

// packed1 packs what must be accepted.
func packed1(t testing.TB, o PackageOptions) *Result {
	t.Helper()
	if o.Output == "" {
		o.Output = filepath.Join(t.TempDir(), "layout")
	}
	r, err := Package(context.Background(), o)
	must(t, err)
	return r
}

// packageError packs what must be refused, and sees that nothing was written.
func packageError(t testing.TB, o PackageOptions) error {
	t.Helper()
	o.Output = filepath.Join(t.TempDir(), "layout")
	_, err := Package(context.Background(), o)
	if err == nil {
		t.Fatal("it was packed")
	}
	if _, statErr := os.Lstat(o.Output); !os.IsNotExist(statErr) {
		t.Errorf("the output is there after an error: %v", statErr)
	}
	return err
}

func blob(t testing.TB, layout string, digest addr.Digest) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(layout, "blobs", "sha256", digest.Hex()))
	must(t, err)
	return raw
}

func indexOf(t testing.TB, r *Result) (index ocispec.Index) {
	t.Helper()
	must(t, json.Unmarshal(blob(t, r.Layout, r.Digest), &index))
	return index
}

func manifestOf(t testing.TB, r *Result, p PackedPlatform) (m ocispec.Manifest) {
	t.Helper()
	must(t, json.Unmarshal(blob(t, r.Layout, p.Manifest), &m))
	return m
}

func configOf(t testing.TB, r *Result, p PackedPlatform) (c ocispec.Image) {
	t.Helper()
	must(t, json.Unmarshal(blob(t, r.Layout, addr.Digest(manifestOf(t, r, p).Config.Digest)), &c))
	return c
}
