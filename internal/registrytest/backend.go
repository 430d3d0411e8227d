package registrytest

import (
	"bytes"
	"context"
	"io"
	"log"

	"cuelabs.dev/go/oci/ociregistry"
	digestpkg "github.com/opencontainers/go-digest"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/imagetest"
)

// discard takes what net/http says of connections that rules cut.
var discard = log.New(io.Discard, "", 0)

// AddBlob puts one blob into a repository.
func (r *Registry) AddBlob(repository string, b imagetest.Blob) error {
	_, err := r.backend.PushBlob(context.Background(), repository, b.Descriptor, bytes.NewReader(b.Bytes))
	return err
}

func (r *Registry) document(repository, reference string) (content []byte, mediaType string, err error) {
	ctx := context.Background()
	var reader ociregistry.BlobReader
	if _, notDigest := addr.ParseDigest(reference); notDigest == nil {
		reader, err = r.backend.GetManifest(ctx, repository, digestpkg.Digest(reference))
	} else {
		reader, err = r.backend.GetTag(ctx, repository, reference)
	}
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = reader.Close() }() // memory
	content, err = io.ReadAll(reader)
	return content, reader.Descriptor().MediaType, err
}
