package registrytest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/internal/image"
	"github.com/pluginlock/plugins/internal/imagetest"
)

// Declaration describes the image of one tag in a small JSON file. {} is a
// plugin image named after its repository and tag, for the default platforms;
// at most one of the fields below the embedded plugin makes it something else.
type Declaration struct {
	imagetest.Plugin

	Foreign  *imagetest.Foreign `json:"foreign,omitempty"`  // an image of other tools
	Artifact string             `json:"artifact,omitempty"` // a config media type, or "chart"
	Attested bool               `json:"attested,omitempty"` // the plugin, with BuildKit's attestations
	Single   string             `json:"single,omitempty"`   // the plugin's manifest for this platform, without an index
	Nested   bool               `json:"nested,omitempty"`   // the plugin's index inside another
	Repeated []string           `json:"repeated,omitempty"` // the plugin's index with the entries of these platforms twice, of different builds
	Strays   bool               `json:"strays,omitempty"`   // the plugin's index with entries that are no platforms: one without, one of another media type
	Raw      *string            `json:"raw,omitempty"`      // a document of these very characters
	RawType  string             `json:"raw_type,omitempty"` // its media type, by default an OCI manifest's

	ConfigPlatforms map[string]string `json:"config_platforms,omitempty"` // by platform, what the plugin's config says instead; "" says nothing

	Alias   string   `json:"alias,omitempty"`    // no image of its own: another tag of the same repository
	Tags    []string `json:"tags,omitempty"`     // more tags for it
	Missing []string `json:"missing,omitempty"`  // platforms whose manifest the registry has lost
	NoLayer []string `json:"no_layer,omitempty"` // platforms whose payload it has lost
}

// ParseDeclaration reads a declaration; unknown fields are errors.
func ParseDeclaration(content []byte) (Declaration, error) {
	var d Declaration
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&d)
	return d, err
}

// Image builds what is declared for a tag of a repository.
func (d Declaration) Image(repository, tag string) (*imagetest.Image, error) {
	name, version := path.Base(repository), strings.ReplaceAll(strings.TrimPrefix(tag, "v"), "_", "+")
	if d.Name == "" {
		d.Name = name
	}
	if d.Version == "" {
		d.Version = version
	}
	im, err := d.build()
	if err != nil {
		return nil, err
	}
	for _, platform := range d.Missing {
		child := im.Child(platform)
		if child == nil {
			return nil, fmt.Errorf("missing: there is no %s", platform)
		}
		im = imagetest.Without(im, child.Digest())
	}
	for _, platform := range d.NoLayer {
		im = imagetest.Without(im, im.Payload(platform))
	}
	return im, nil
}

func (d Declaration) build() (*imagetest.Image, error) {
	switch {
	case d.Foreign != nil:
		f := *d.Foreign
		if f.Name == "" {
			f.Name = d.Name
		}
		if f.Version == "" {
			f.Version = d.Version
		}
		return f.Make()
	case d.Artifact == "chart":
		return imagetest.Chart(d.Name, d.Version), nil
	case d.Artifact != "":
		return imagetest.Artifact(d.Artifact, "application/octet-stream", []byte(d.Name+" "+d.Version)), nil
	case d.Raw != nil:
		mediaType := d.RawType
		if mediaType == "" {
			mediaType = image.MediaTypeOCIManifest
		}
		return imagetest.Raw(mediaType, []byte(*d.Raw)), nil
	}
	if d.ConfigPlatforms != nil {
		d.Edit.Config = d.configPlatform
	}
	if d.Strays {
		d.Edit.Index = addStrays
	}
	im, err := d.Make()
	switch {
	case err != nil:
		return nil, err
	case d.Attested:
		return imagetest.WithAttestations(im), nil
	case d.Single != "":
		if child := im.Child(d.Single); child != nil {
			return child, nil
		}
		return nil, fmt.Errorf("single: there is no %s", d.Single)
	case d.Nested:
		return imagetest.Index{Entries: []imagetest.Entry{{Image: im, Platform: "linux/amd64"}}}.Make()
	case d.Repeated != nil:
		return d.repeat(im)
	}
	return im, nil
}

func (d Declaration) configPlatform(platform string, config *ocispec.Image) {
	said, ok := d.ConfigPlatforms[platform]
	if !ok {
		return
	}
	config.OS, said, _ = strings.Cut(said, "/")
	config.Architecture, config.Variant, _ = strings.Cut(said, "/")
}

func addStrays(index *ocispec.Index) {
	without := index.Manifests[0]
	without.Platform = nil
	other := index.Manifests[0]
	other.MediaType = "application/example"
	other.Platform = &ocispec.Platform{OS: "linux", Architecture: "riscv64"}
	index.Manifests = append(index.Manifests, without, other)
}

// repeat lists im's manifests and, for some platforms, one of another build.
func (d Declaration) repeat(im *imagetest.Image) (*imagetest.Image, error) {
	again := d.Plugin
	again.BuildID += "repeated"
	other, err := again.Make()
	if err != nil {
		return nil, err
	}
	var index imagetest.Index
	for _, m := range im.Index().Manifests {
		platform := m.Platform.OS + "/" + m.Platform.Architecture
		if m.Platform.Variant != "" {
			platform += "/" + m.Platform.Variant
		}
		index.Entries = append(index.Entries, imagetest.Entry{Image: im.Child(platform), Platform: platform})
		if slices.Contains(d.Repeated, platform) {
			index.Entries = append(index.Entries, imagetest.Entry{Image: other.Child(platform), Platform: platform})
		}
	}
	return index.Make()
}

// Publish adds what is declared for a tag of a repository.
func (r *Registry) Publish(repository, tag string, d Declaration) error {
	if d.Alias != "" {
		return r.Tag(repository, d.Alias, append([]string{tag}, d.Tags...)...)
	}
	im, err := d.Image(repository, tag)
	if err != nil {
		return fmt.Errorf("%s:%s: %w", repository, tag, err)
	}
	return r.Add(repository, im, append([]string{tag}, d.Tags...)...)
}

// Load publishes every file REPOSITORY/TAG.json of a folder. Errors are of all
// files.
func (r *Registry) Load(folder fs.FS) error {
	var failed []error
	var aliases []func() error
	err := fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		tag, ok := strings.CutSuffix(path.Base(name), ".json")
		repository := path.Dir(name)
		if !ok || repository == "." {
			return fmt.Errorf("%s: want REPOSITORY/TAG.json", name)
		}
		content, err := fs.ReadFile(folder, name)
		if err != nil {
			return err
		}
		d, err := ParseDeclaration(content)
		switch {
		case err != nil:
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
		case d.Alias != "": // the tag that it names may come later
			aliases = append(aliases, func() error { return r.Publish(repository, tag, d) })
		default:
			failed = append(failed, r.Publish(repository, tag, d))
		}
		return nil
	})
	for _, alias := range aliases {
		failed = append(failed, alias())
	}
	return errors.Join(append(failed, err)...)
}
