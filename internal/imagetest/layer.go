package imagetest

import (
	"fmt"

	digestpkg "github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/internal/image"
)

// layer is a packed layer: what is stored and the digest of what it unpacks to.
type layer struct {
	mediaType string
	blob      []byte
	diffID    digestpkg.Digest
}

// packLayer packs files with a compression: "gzip", which "" stands for, "zstd"
// or "none". Docker has a media type for gzip only.
func packLayer(files []File, compression string, docker bool) (layer, error) {
	content, err := Tar(files...)
	if err != nil {
		return layer{}, err
	}
	l := layer{diffID: digestpkg.FromBytes(content)}
	switch compression {
	case "", "gzip":
		l.mediaType, l.blob = image.MediaTypeOCILayerGzip, Gzip(content)
		if docker {
			l.mediaType = image.MediaTypeDockerLayer
		}
	case "zstd":
		l.mediaType, l.blob = image.MediaTypeOCILayerZstd, Zstd(content)
	case "none":
		l.mediaType, l.blob = image.MediaTypeOCILayer, content
	default:
		return layer{}, fmt.Errorf("compression %q is none of gzip, zstd, none", compression)
	}
	return l, nil
}

func configFor(at ocispec.Platform, layers ...layer) ocispec.Image {
	config := ocispec.Image{Platform: at, RootFS: ocispec.RootFS{Type: "layers"}}
	for _, l := range layers {
		config.RootFS.DiffIDs = append(config.RootFS.DiffIDs, l.diffID)
	}
	return config
}
