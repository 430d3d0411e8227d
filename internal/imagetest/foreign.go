package imagetest

import (
	"cmp"
	"fmt"
	"path"
	"strings"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/internal/image"
)

// Foreign describes an image that was made by other tools: several layers, no
// annotation of ours, the program somewhere among them. The zero value is an
// OCI image for the [DefaultPlatforms] of three layers: a base, the program at
// /plugins/NAME, and one on top.
type Foreign struct {
	Name       string   `json:"name,omitempty"`
	Version    string   `json:"version,omitempty"`
	Platforms  []string `json:"platforms,omitempty"`
	Executable string   `json:"executable,omitempty"` // absolute path of the program
	Docker     bool     `json:"docker,omitempty"`     // Docker's media types in place of OCI's
	BuildID    string   `json:"build,omitempty"`      // another text gives other bytes that print the same
	Native     bool     `json:"native,omitempty"`

	Linked      bool     `json:"linked,omitempty"`   // Executable is a symbolic link to a program in a lower layer
	Replaced    bool     `json:"replaced,omitempty"` // a lower layer has another program at the same path, under an opaque whiteout
	Removed     bool     `json:"removed,omitempty"`  // the top layer whites the program out: the image has none
	Compression string   `json:"compression,omitempty"`
	Layers      [][]File `json:"layers,omitempty"` // these in place of the usual ones, for every platform, lowest first
	Single      bool     `json:"single,omitempty"` // no index: the manifest of the first platform

	Edit Edit `json:"-"` // Layer is called for the topmost layer
}

// Build makes the image; a description at fault ends the test.
func (f Foreign) Build(t testing.TB) *Image {
	t.Helper()
	return Must(t, f)
}

// Make makes the image. Errors are those of [Plugin.Make].
func (f Foreign) Make() (*Image, error) {
	f.Name, f.Version = cmp.Or(f.Name, "example"), cmp.Or(f.Version, "1.0.0")
	f.Executable = cmp.Or(f.Executable, "/plugins/"+f.Name)
	if f.Platforms == nil {
		f.Platforms = DefaultPlatforms
	}
	var c collector
	index := ocispec.Index{Versioned: versioned(), MediaType: f.mediaType(image.MediaTypeOCIIndex, image.MediaTypeDockerIndex)}
	for _, platform := range f.Platforms {
		child, err := f.child(&c, platform)
		if err != nil {
			return nil, fmt.Errorf("image %s for %s: %w", f.Name, platform, err)
		}
		if f.Single {
			child.Platform = nil
			return c.image(child), nil
		}
		index.Manifests = append(index.Manifests, child)
	}
	if f.Edit.Index != nil {
		f.Edit.Index(&index)
	}
	return c.image(c.document(index.MediaType, index)), nil
}

func (f Foreign) mediaType(oci, docker string) string {
	if f.Docker {
		return docker
	}
	return oci
}

func (f Foreign) child(c *collector, platform string) (ocispec.Descriptor, error) {
	at, err := parsePlatform(platform)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	contents := f.Layers
	if contents == nil {
		if contents, err = f.contents(platform); err != nil {
			return ocispec.Descriptor{}, err
		}
	}
	manifest := ocispec.Manifest{Versioned: versioned(), MediaType: f.mediaType(image.MediaTypeOCIManifest, image.MediaTypeDockerManifest)}
	var layers []layer
	for i, files := range contents {
		l, err := packLayer(files, f.Compression, f.Docker)
		if err != nil {
			return ocispec.Descriptor{}, err
		}
		if f.Edit.Layer != nil && i == len(contents)-1 {
			l.blob = f.Edit.Layer(platform, l.blob)
		}
		layers = append(layers, l)
		manifest.Layers = append(manifest.Layers, c.blob(l.mediaType, l.blob))
	}
	config := configFor(at, layers...)
	config.Config.Entrypoint = []string{f.Executable}
	if f.Edit.Config != nil {
		f.Edit.Config(platform, &config)
	}
	manifest.Config = c.json(f.mediaType(image.MediaTypeOCIConfig, image.MediaTypeDockerConfig), config)
	if f.Edit.Manifest != nil {
		f.Edit.Manifest(platform, &manifest)
	}
	entry := c.document(manifest.MediaType, manifest)
	entry.Platform = &at
	return entry, nil
}

// contents are the usual layers, the lowest first.
func (f Foreign) contents(platform string) ([][]File, error) {
	body, err := program(f.Name, f.Version, platform, f.BuildID, f.Native)
	if err != nil {
		return nil, err
	}
	name := strings.TrimPrefix(f.Executable, "/")
	base := []File{{Path: "etc/"}, {Path: "etc/os-release", Body: "ID=example\n"}, {Path: "bin/"}, {Path: "bin/sh", Body: Script("shell"), Executable: true}}
	middle := []File{{Path: path.Dir(name) + "/"}, {Path: name, Body: body, Executable: true}}
	top := []File{{Path: "etc/example.conf", Body: "verbose = false\n"}}
	if f.Replaced {
		hidden := Script(Text(f.Name, "hidden", platform))
		base = append(base, File{Path: path.Dir(name) + "/"}, File{Path: name, Body: hidden, Executable: true})
		middle = append(middle, File{Path: path.Join(path.Dir(name), ".wh..wh..opq")})
	}
	if f.Linked {
		middle = []File{{Path: "opt/"}, {Path: "opt/real", Body: body, Executable: true}}
		top = append(top, File{Path: path.Dir(name) + "/"}, File{Path: name, Link: "/opt/real"})
	}
	if f.Removed {
		top = append(top, File{Path: path.Join(path.Dir(name), ".wh."+path.Base(name))})
	}
	return [][]File{base, middle, top}, nil
}
