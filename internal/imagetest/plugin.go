package imagetest

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/internal/image"
)

// DefaultPlatforms is what an image is built for where nothing else is said.
var DefaultPlatforms = []string{"darwin/arm64", "linux/amd64", "linux/arm64", "windows/amd64"}

// Plugin describes a plugin image as package publish makes them: an index, a
// manifest with a real config for each platform, one payload layer, all
// annotations. The zero value is a proper plugin "example" 1.0.0 for the
// [DefaultPlatforms]; the executable is a shell script that prints [Text], for
// Windows a file with a proper header.
//
// The fields with JSON names can be given in the declarations of scripts.
type Plugin struct {
	Name      string   `json:"name,omitempty"`
	Version   string   `json:"version,omitempty"`
	Protocols []int    `json:"protocols,omitempty"`
	Platforms []string `json:"platforms,omitempty"`

	BuildID     string            `json:"build,omitempty"`       // another text here gives other executables that print the same
	Native      bool              `json:"native,omitempty"`      // headers of real programs everywhere, see [Native]
	Mislabelled map[string]string `json:"mislabelled,omitempty"` // platforms whose program is a native one of another platform
	Padding     int               `json:"padding,omitempty"`     // bytes of a file plugin/padding that do not compress
	Executable  string            `json:"executable,omitempty"`  // by default plugin/NAME, on Windows with .exe
	Files       map[string][]File `json:"files,omitempty"`       // more files by platform; "*" stands for every platform
	Source      string            `json:"source,omitempty"`      // the annotation dev.pluginlock.source
	Annotations map[string]string `json:"annotations,omitempty"`
	Omit        []string          `json:"omit,omitempty"` // annotations that manifests and index lack
	Compression string            `json:"compression,omitempty"`

	Edit Edit `json:"-"`
}

// Edit changes parts of an image just before their digest is taken, for what no
// field of [Plugin] or [Foreign] expresses. Nil functions change nothing.
type Edit struct {
	Index    func(*ocispec.Index)
	Manifest func(platform string, m *ocispec.Manifest)
	Config   func(platform string, c *ocispec.Image)
	Layer    func(platform string, blob []byte) []byte // the compressed payload; content and diff_ids stay those of the honest one
}

// Build makes the image; a description at fault ends the test.
func (p Plugin) Build(t testing.TB) *Image {
	t.Helper()
	return Must(t, p)
}

// Make makes the image. Errors: a platform that is none, an entry that tar
// refuses, an unknown compression.
func (p Plugin) Make() (*Image, error) {
	p.Name, p.Version = cmp.Or(p.Name, "example"), cmp.Or(p.Version, "1.0.0")
	if p.Platforms == nil {
		p.Platforms = DefaultPlatforms
	}
	var c collector
	index := ocispec.Index{Versioned: versioned(), MediaType: image.MediaTypeOCIIndex, Annotations: p.annotations()}
	if p.Source != "" {
		index.Annotations[image.AnnotationSource] = p.Source
	}
	p.adjust(index.Annotations)
	for _, platform := range p.Platforms {
		child, err := p.child(&c, platform)
		if err != nil {
			return nil, fmt.Errorf("plugin %s for %s: %w", p.Name, platform, err)
		}
		index.Manifests = append(index.Manifests, child)
	}
	if p.Edit.Index != nil {
		p.Edit.Index(&index)
	}
	return c.image(c.document(index.MediaType, index)), nil
}

// annotations are those that index and manifests have in common.
func (p Plugin) annotations() map[string]string {
	a := map[string]string{
		image.AnnotationFormat:    "1",
		ocispec.AnnotationTitle:   p.Name,
		ocispec.AnnotationVersion: p.Version,
	}
	if len(p.Protocols) > 0 {
		a[image.AnnotationProtocols] = p.protocols()
	}
	return a
}

func (p Plugin) protocols() string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(p.Protocols), "[]"), " ", ",")
}

func (p Plugin) adjust(annotations map[string]string) {
	maps.Copy(annotations, p.Annotations)
	for _, name := range p.Omit {
		delete(annotations, name)
	}
}

// child adds one platform's manifest and returns its entry in the index.
func (p Plugin) child(c *collector, platform string) (ocispec.Descriptor, error) {
	at, err := parsePlatform(platform)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	executable := p.executable(at)
	files, err := p.payload(platform, executable)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	payload, err := packLayer(files, p.Compression, false)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	if p.Edit.Layer != nil {
		payload.blob = p.Edit.Layer(platform, payload.blob)
	}
	layer := c.blob(payload.mediaType, payload.blob)
	layer.Annotations = map[string]string{image.AnnotationRole: image.RolePayload}

	manifest := ocispec.Manifest{
		Versioned:   versioned(),
		MediaType:   image.MediaTypeOCIManifest,
		Config:      c.json(image.MediaTypeOCIConfig, p.config(at, platform, executable, payload)),
		Layers:      []ocispec.Descriptor{layer},
		Annotations: p.annotations(),
	}
	manifest.Annotations[image.AnnotationExecutablePath] = executable
	manifest.Annotations[image.AnnotationExecutableDigest] = sha256Of(bodyOf(files, executable))
	manifest.Annotations[image.AnnotationContent] = string(Content(files))
	p.adjust(manifest.Annotations)
	if p.Edit.Manifest != nil {
		p.Edit.Manifest(platform, &manifest)
	}
	entry := c.document(manifest.MediaType, manifest)
	entry.Platform = &at
	return entry, nil
}

func (p Plugin) executable(at ocispec.Platform) string {
	switch {
	case p.Executable != "":
		return p.Executable
	case at.OS == "windows":
		return path.Join(image.PayloadDir, p.Name+".exe")
	}
	return path.Join(image.PayloadDir, p.Name)
}

// payload lists the files for a platform: what Files says, and the default
// executable unless Files has one at its path.
func (p Plugin) payload(platform, executable string) ([]File, error) {
	files := []File{{Path: image.PayloadDir + "/"}}
	more := slices.Concat(p.Files["*"], p.Files[platform])
	if !slices.ContainsFunc(more, func(f File) bool { return f.header().Name == executable }) {
		body, err := program(p.Name, p.Version, platform, p.BuildID, p.Native)
		if other := p.Mislabelled[platform]; other != "" {
			body, err = Native(other, Text(p.Name, p.Version, other))
		}
		if err != nil {
			return nil, err
		}
		files = append(files, File{Path: executable, Body: body, Executable: true})
	}
	if p.Padding > 0 {
		files = append(files, File{Path: path.Join(image.PayloadDir, "padding"), Body: Noise(p.Name+p.Version+platform, p.Padding)})
	}
	return append(files, more...), nil
}

func (p Plugin) config(at ocispec.Platform, platform, executable string, payload layer) ocispec.Image {
	config := configFor(at, payload)
	config.Config.Entrypoint = []string{"/" + executable}
	config.Config.Labels = map[string]string{image.AnnotationExecutablePath: executable}
	if len(p.Protocols) > 0 {
		config.Config.Labels[image.AnnotationProtocols] = p.protocols()
	}
	if at.OS == "linux" {
		config.Config.User = "65532:65532"
	}
	if p.Edit.Config != nil {
		p.Edit.Config(platform, &config)
	}
	return config
}

// program is the default executable for a platform.
func program(name, version, platform, build string, native bool) (string, error) {
	text := Text(name, version, platform)
	body := Script(text)
	if native || strings.HasPrefix(platform, "windows/") {
		var err error
		if body, err = Native(platform, text); err != nil {
			return "", err
		}
	}
	if build != "" {
		body += "# " + build + "\n"
	}
	return body, nil
}

// bodyOf returns the content at a path, through hard and symbolic links of one
// directory; an absent file has the content "".
func bodyOf(files []File, name string) string {
	for range files {
		i := slices.IndexFunc(files, func(f File) bool { return path.Clean(f.header().Name) == name })
		if i < 0 {
			return ""
		}
		switch h := files[i].header(); {
		case h.Linkname == "":
			return files[i].Body
		case files[i].Link != "":
			name = path.Join(path.Dir(name), h.Linkname)
		default:
			name = path.Clean(h.Linkname)
		}
	}
	return ""
}
