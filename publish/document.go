package publish

import (
	"maps"

	digestpkg "github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/extract"
	"github.com/pluginlock/plugins/internal/image"
)

// linuxUser is who runs a plugin as a container: an id without a name and
// without rights.
const linuxUser = "65532:65532"

// child is what the index lists for a platform.
type child struct {
	descriptor ocispec.Descriptor
	summary    PackedPlatform
}

// writeChild writes the config and the manifest of one platform. common are the
// annotations of the whole image.
func writeChild(to *layoutWriter, p payload, layer packed, common map[string]string) (child, error) {
	entryPoint := p.entries[p.executable]
	config, err := to.putJSON(image.MediaTypeOCIConfig, imageConfig(p.platform, entryPoint.path, layer.diffID, common))
	if err != nil {
		return child{}, err
	}
	c := child{summary: PackedPlatform{
		Platform: p.platform, Executable: entryPoint.path, ExecutableDigest: digestOf(layer.records, entryPoint.path),
		Content: extract.Content(layer.records), Layer: addr.Digest(layer.layer.Digest), LayerSize: layer.layer.Size,
		Files: len(layer.records), Size: layer.size,
	}}
	manifest := ocispec.Manifest{Versioned: emptyIndex().Versioned, MediaType: image.MediaTypeOCIManifest,
		Config: config, Layers: []ocispec.Descriptor{layer.layer}, Annotations: maps.Clone(common)}
	manifest.Annotations[image.AnnotationExecutablePath] = c.summary.Executable
	manifest.Annotations[image.AnnotationExecutableDigest] = c.summary.ExecutableDigest.String()
	manifest.Annotations[image.AnnotationContent] = c.summary.Content.String()
	if c.descriptor, err = to.putJSON(image.MediaTypeOCIManifest, manifest); err != nil {
		return child{}, err
	}
	c.descriptor.Platform = ociPlatform(p.platform)
	c.summary.Manifest = addr.Digest(c.descriptor.Digest)
	return c, nil
}

// imageConfig is a real config, so that the image also runs as a container. Its
// labels repeat what a container engine shows, and never a digest.
func imageConfig(platform addr.Platform, executable string, diffID digestpkg.Digest, common map[string]string) ocispec.Image {
	config := ocispec.Image{Platform: *ociPlatform(platform)}
	config.RootFS = ocispec.RootFS{Type: "layers", DiffIDs: []digestpkg.Digest{diffID}}
	config.Config.Entrypoint = []string{"/" + executable}
	config.Config.Labels = map[string]string{image.AnnotationExecutablePath: executable}
	if protocols := common[image.AnnotationProtocols]; protocols != "" {
		config.Config.Labels[image.AnnotationProtocols] = protocols
	}
	if platform.OS == "linux" {
		config.Config.User = linuxUser
	}
	return config
}

// writeIndex lists the children, which are in the order of their platforms.
func writeIndex(to *layoutWriter, children []ocispec.Descriptor, annotations map[string]string) (ocispec.Descriptor, error) {
	index := emptyIndex()
	index.Manifests, index.Annotations = children, annotations
	return to.putJSON(image.MediaTypeOCIIndex, index)
}

func ociPlatform(p addr.Platform) *ocispec.Platform {
	return &ocispec.Platform{OS: p.OS, Architecture: p.Arch, Variant: p.Variant}
}

func digestOf(records []extract.Record, path string) addr.Digest {
	for _, r := range records {
		if r.Path == path {
			return r.Digest
		}
	}
	return ""
}
