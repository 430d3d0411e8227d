package imagetest_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/image"
	"github.com/pluginlock/plugins/internal/imagetest"
)

// untar reads a gzip layer back with nothing of the package under test.
func untar(t *testing.T, blob []byte) map[string]string {
	t.Helper()
	zr, err := gzip.NewReader(bytes.NewReader(blob))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for tr := tar.NewReader(zr); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = string(body)
	}
}

func parse(t *testing.T, im *imagetest.Image) *image.Document {
	t.Helper()
	d, err := image.Parse(im.Root.MediaType, im.Bytes(im.Digest()))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestPluginIsReadByTheProduct(t *testing.T) {
	im := imagetest.Plugin{Name: "aws", Version: "1.2.0", Protocols: []int{5, 6}}.Build(t)
	offers, err := parse(t, im).Index.Offers()
	if err != nil {
		t.Fatal(err)
	}
	var platforms []string
	for _, o := range offers {
		platforms = append(platforms, o.Platform.String())
	}
	if !slices.Equal(platforms, imagetest.DefaultPlatforms) {
		t.Errorf("offers %v, want %v", platforms, imagetest.DefaultPlatforms)
	}
	d := parse(t, im.Child("linux/arm64"))
	declared, ok, err := d.Declaration()
	if err != nil || !ok {
		t.Fatalf("Declaration: %v, %v", ok, err)
	}
	files := untar(t, im.Bytes(im.Payload("linux/arm64")))
	body := files["plugin/aws"]
	sum := sha256.Sum256([]byte(body))
	if got, want := declared.ExecutableDigest.Hex(), hex.EncodeToString(sum[:]); got != want {
		t.Errorf("executable digest %s, want %s", got, want)
	}
	if declared.Version != "1.2.0" || declared.Executable != "plugin/aws" || !slices.Equal(declared.Protocols, []int{5, 6}) {
		t.Errorf("declared %+v", declared)
	}
	if !strings.Contains(body, "aws 1.2.0 linux/arm64") {
		t.Errorf("the executable is %q", body)
	}
}

func TestPluginConfig(t *testing.T) {
	im := imagetest.Plugin{Name: "aws"}.Build(t)
	m := im.Manifest("linux/amd64")
	var config ocispec.Image
	if err := json.Unmarshal(im.Bytes(addr.Digest(m.Config.Digest)), &config); err != nil {
		t.Fatal(err)
	}
	zr, err := gzip.NewReader(bytes.NewReader(im.Bytes(im.Payload("linux/amd64"))))
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := io.ReadAll(zr)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(config.RootFS.DiffIDs[0]), addr.DigestOf(unpacked).String(); got != want {
		t.Errorf("diff_id %s, want %s", got, want)
	}
	if config.Config.User != "65532:65532" || !slices.Equal(config.Config.Entrypoint, []string{"/plugin/aws"}) || config.OS != "linux" || config.Architecture != "amd64" {
		t.Errorf("config %+v", config)
	}
}

func TestContentIsTheTableOfTheDesign(t *testing.T) {
	files := []imagetest.File{
		{Path: "plugin/"},
		{Path: "plugin/b c", Body: "data"},
		{Path: "plugin/aws", Body: "run", Executable: true},
		{Path: "plugin/link", Link: "b c"},
		{Header: &tar.Header{Name: "plugin/hard", Typeflag: tar.TypeLink, Linkname: "plugin/aws"}},
	}
	run, data := addr.DigestOf([]byte("run")), addr.DigestOf([]byte("data"))
	records := "f - " + data.String() + " plugin/b%20c\n" +
		"f x " + run.String() + " plugin/aws\n" +
		"f x " + run.String() + " plugin/hard\n" +
		"l b%20c plugin/link\n"
	if got, want := imagetest.Content(files), addr.DigestOf([]byte(records)); got != want {
		t.Errorf("content %s, want %s", got, want)
	}
}

func TestSameDescriptionSameBytes(t *testing.T) {
	for name, build := range map[string]func() *imagetest.Image{
		"plugin":  func() *imagetest.Image { return imagetest.Plugin{Padding: 1000}.Build(t) },
		"zstd":    func() *imagetest.Image { return imagetest.Plugin{Compression: "zstd"}.Build(t) },
		"foreign": func() *imagetest.Image { return imagetest.Foreign{Docker: true, Replaced: true}.Build(t) },
		"attested": func() *imagetest.Image {
			return imagetest.WithAttestations(imagetest.Plugin{}.Build(t))
		},
	} {
		if a, b := build().Digest(), build().Digest(); a != b {
			t.Errorf("%s: %s, then %s", name, a, b)
		}
	}
	if one, two := (imagetest.Plugin{}).Build(t), (imagetest.Plugin{BuildID: "two"}).Build(t); one.Digest() == two.Digest() {
		t.Error("another BuildID gives the same digest")
	}
}

func TestProgramRuns(t *testing.T) {
	if _, err := exec.LookPath("/bin/sh"); err != nil {
		t.Skip("no /bin/sh here")
	}
	files := untar(t, imagetest.Plugin{Name: "aws"}.Build(t).Bytes(imagetest.Plugin{Name: "aws"}.Build(t).Payload("linux/amd64")))
	file := filepath.Join(t.TempDir(), "aws")
	if err := os.WriteFile(file, []byte(files["plugin/aws"]), 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(file).Output()
	if err != nil || string(out) != imagetest.Text("aws", "1.0.0", "linux/amd64")+"\n" {
		t.Errorf("it printed %q, %v", out, err)
	}
}

func TestNativeHeaders(t *testing.T) {
	for _, platform := range []string{"linux/amd64", "linux/386", "linux/arm/v6", "linux/arm64", "linux/s390x", "linux/mips", "linux/mips64", "linux/ppc64le",
		"linux/riscv64", "freebsd/amd64", "illumos/amd64", "darwin/arm64", "darwin/amd64", "windows/amd64", "windows/arm64", "windows/386"} {
		content, err := imagetest.Native(platform, "text")
		if err != nil {
			t.Errorf("%s: %v", platform, err)
			continue
		}
		r := strings.NewReader(content)
		switch os, _, _ := strings.Cut(platform, "/"); os {
		case "darwin":
			_, err = macho.NewFile(r)
		case "windows":
			_, err = pe.NewFile(r)
		default:
			_, err = elf.NewFile(r)
		}
		if err != nil || !strings.HasSuffix(content, "\ntext\n") {
			t.Errorf("%s: %v", platform, err)
		}
	}
	if _, err := imagetest.Native("js/wasm", "text"); err == nil {
		t.Error("js/wasm has a header")
	}
}

func TestForeignLayers(t *testing.T) {
	im := imagetest.Foreign{Name: "velero", Docker: true, Replaced: true, Removed: true}.Build(t)
	m := im.Manifest("linux/amd64")
	if len(m.Layers) != 3 || m.MediaType != image.MediaTypeDockerManifest || m.Layers[0].MediaType != image.MediaTypeDockerLayer ||
		m.Config.MediaType != image.MediaTypeDockerConfig || im.Root.MediaType != image.MediaTypeDockerIndex {
		t.Fatalf("manifest %+v", m)
	}
	for i, want := range []string{"plugins/velero", "plugins/.wh..wh..opq", "plugins/.wh.velero"} {
		files := untar(t, im.Bytes(addr.Digest(m.Layers[i].Digest)))
		if _, ok := files[want]; !ok {
			t.Errorf("layer %d lacks %s: %v", i, want, files)
		}
	}
	linked := imagetest.Foreign{Linked: true, Single: true, Platforms: []string{"linux/amd64"}}.Build(t)
	if d := parse(t, linked); d.Manifest == nil {
		t.Error("a single image has an index")
	}
}

func TestOddImages(t *testing.T) {
	plugin := imagetest.Plugin{}.Build(t)
	amd64 := plugin.Child("linux/amd64")

	withAttestations := imagetest.WithAttestations(plugin)
	if withAttestations.Bytes(plugin.Digest()) != nil {
		t.Error("the index before is still there")
	}
	attested := parse(t, withAttestations)
	if offers, err := attested.Index.Offers(); err != nil || len(offers) != 4 || len(attested.Index.Children) != 8 {
		t.Errorf("attested: %d offers of %d, %v", len(offers), len(attested.Index.Children), err)
	}
	twice := imagetest.Index{Entries: []imagetest.Entry{
		{Image: amd64, Platform: "linux/amd64"}, {Image: plugin.Child("linux/arm64"), Platform: "linux/amd64"},
	}}.Build(t)
	var ambiguous *image.AmbiguousPlatformError
	if _, err := parse(t, twice).Index.Offers(); !errors.As(err, &ambiguous) {
		t.Errorf("twice: %v", err)
	}
	nested := imagetest.Index{Entries: []imagetest.Entry{{Image: plugin, Platform: "linux/amd64"}}}.Build(t)
	if _, err := parse(t, nested).Index.Offers(); err == nil {
		t.Error("a nested index is offered")
	}
	for name, im := range map[string]*imagetest.Image{"chart": imagetest.Chart("web", "1.0.0"), "artifact": imagetest.TypedArtifact("application/x", nil)} {
		var not *image.NotImageError
		if _, err := image.Parse(im.Root.MediaType, im.Bytes(im.Digest())); !errors.As(err, &not) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if tag := imagetest.SignatureTag(plugin); len(tag) != len("sha256-")+64+len(".sig") || imagetest.Signature(plugin).Manifest("").Layers == nil {
		t.Errorf("signature under %q", tag)
	}
}

func TestEdits(t *testing.T) {
	im := imagetest.Plugin{
		Omit:        []string{image.AnnotationContent},
		Annotations: map[string]string{ocispec.AnnotationVersion: "9.9.9"},
		Edit: imagetest.Edit{
			Config: func(_ string, c *ocispec.Image) { c.Architecture = "s390x" },
			Layer:  func(_ string, blob []byte) []byte { return blob[:100] },
			Index:  func(x *ocispec.Index) { slices.Reverse(x.Manifests) },
		},
	}.Build(t)
	m := im.Manifest("linux/amd64")
	if _, ok := m.Annotations[image.AnnotationContent]; ok || m.Annotations[ocispec.AnnotationVersion] != "9.9.9" || m.Layers[0].Size != 100 {
		t.Errorf("manifest %+v", m)
	}
	if !bytes.Contains(im.Bytes(addr.Digest(m.Config.Digest)), []byte("s390x")) || im.Index().Manifests[0].Platform.OS != "windows" {
		t.Error("config or index is as it was")
	}
	if without := imagetest.Without(im, im.Payload("linux/amd64")); without.Bytes(im.Payload("linux/amd64")) != nil || len(without.Blobs) != len(im.Blobs)-1 {
		t.Error("the payload is still there")
	}
}

func TestWriteLayoutAdds(t *testing.T) {
	dir := t.TempDir()
	one, two := imagetest.Plugin{Version: "1.0.0"}.Build(t), imagetest.Plugin{Version: "2.0.0"}.Build(t)
	if err := errors.Join(one.WriteLayout(dir, "1.0.0"), two.WriteLayout(dir, "2.0.0", "latest")); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var index ocispec.Index
	if err := json.Unmarshal(raw, &index); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, d := range index.Manifests {
		got[d.Annotations[ocispec.AnnotationRefName]] = d.Digest.String()
	}
	if len(got) != 3 || got["1.0.0"] != one.Digest().String() || got["latest"] != two.Digest().String() {
		t.Errorf("the layout lists %v", got)
	}
	for _, b := range two.Blobs {
		if content, err := os.ReadFile(filepath.Join(dir, "blobs", "sha256", b.Descriptor.Digest.Encoded())); err != nil || !bytes.Equal(content, b.Bytes) {
			t.Errorf("blob %s: %v", b.Descriptor.Digest, err)
		}
	}
}

func TestDescriptionsAtFault(t *testing.T) {
	for name, b := range map[string]imagetest.Builder{
		"platform":    imagetest.Plugin{Platforms: []string{"linux"}},
		"compression": imagetest.Plugin{Compression: "lzma"},
		"foreign":     imagetest.Foreign{Platforms: []string{"js/wasm"}, Native: true},
		"entry":       imagetest.Index{Entries: []imagetest.Entry{{Image: imagetest.Chart("a", "1"), Platform: "x"}}},
	} {
		if _, err := b.Make(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
