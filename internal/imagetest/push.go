package imagetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// Remote is a registry that images are pushed to, with nothing but the requests
// of the distribution specification and, at most, Basic authentication.
type Remote struct {
	URL                string // "http://127.0.0.1:5000", without a slash at its end
	Username, Password string
	Client             *http.Client // nil for the default one
}

// Push sends im to a repository of the registry at host ("127.0.0.1:5000") over
// plain HTTP, and ends the test where that fails.
func (im *Image) Push(t testing.TB, host, repository string, tags ...string) {
	t.Helper()
	if err := (Remote{URL: "http://" + host}).Push(t.Context(), im, repository, tags...); err != nil {
		t.Fatalf("imagetest: %v", err)
	}
}

// Push sends every blob, then every document by digest, then the tags.
func (r Remote) Push(ctx context.Context, im *Image, repository string, tags ...string) error {
	base := r.URL + "/v2/" + repository
	for _, b := range im.Blobs {
		var err error
		if b.Document {
			err = r.put(ctx, base+"/manifests/"+b.Descriptor.Digest.String(), b.Descriptor.MediaType, b.Bytes)
		} else {
			err = r.upload(ctx, base, b)
		}
		if err != nil {
			return fmt.Errorf("push to %s: %w", repository, err)
		}
	}
	for _, tag := range tags {
		root := im.Bytes(im.Digest())
		if err := r.put(ctx, base+"/manifests/"+tag, im.Root.MediaType, root); err != nil {
			return fmt.Errorf("tag %s:%s: %w", repository, tag, err)
		}
	}
	return nil
}

// upload opens a session and sends the blob whole.
func (r Remote) upload(ctx context.Context, base string, b Blob) error {
	opened, err := r.do(ctx, http.MethodPost, base+"/blobs/uploads/", "", nil, http.StatusAccepted)
	if err != nil {
		return err
	}
	from, err := url.Parse(base)
	if err != nil {
		return err
	}
	location, err := from.Parse(opened.Get("Location"))
	if err != nil {
		return fmt.Errorf("location of the upload: %w", err)
	}
	query := location.Query()
	query.Set("digest", b.Descriptor.Digest.String())
	location.RawQuery = query.Encode()
	return r.put(ctx, location.String(), "application/octet-stream", b.Bytes)
}

func (r Remote) put(ctx context.Context, to, contentType string, content []byte) error {
	_, err := r.do(ctx, http.MethodPut, to, contentType, content, http.StatusCreated)
	return err
}

func (r Remote) do(ctx context.Context, method, to, contentType string, content []byte, want int) (http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, method, to, bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	if r.Username != "" {
		req.SetBasicAuth(r.Username, r.Password)
	}
	client := r.Client
	if client == nil {
		client = http.DefaultClient
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != want {
		answer, _ := io.ReadAll(io.LimitReader(resp.Body, 1000))
		return nil, fmt.Errorf("%s %s: %s: %s", method, to, resp.Status, answer)
	}
	return resp.Header, nil
}

// WriteLayout adds im to the OCI image layout in dir, which is created where it
// is not there, under each reference ("1.2.0", or a full name).
func (im *Image) WriteLayout(dir string, references ...string) error {
	blobs := filepath.Join(dir, "blobs", "sha256")
	if err := os.MkdirAll(blobs, 0o755); err != nil {
		return err
	}
	for _, b := range im.Blobs {
		if err := os.WriteFile(filepath.Join(blobs, b.Descriptor.Digest.Encoded()), b.Bytes, 0o644); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, ocispec.ImageLayoutFile), []byte(`{"imageLayoutVersion":"1.0.0"}`), 0o644); err != nil {
		return err
	}
	index := ocispec.Index{Versioned: versioned(), MediaType: ocispec.MediaTypeImageIndex}
	file := filepath.Join(dir, ocispec.ImageIndexFile)
	switch present, err := os.ReadFile(file); {
	case err == nil:
		if err := json.Unmarshal(present, &index); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	for _, reference := range references {
		d := im.Root
		d.Annotations = map[string]string{ocispec.AnnotationRefName: reference}
		index.Manifests = append(index.Manifests, d)
	}
	return os.WriteFile(file, encode(index), 0o644)
}
