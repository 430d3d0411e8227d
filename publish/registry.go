package publish

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/getter"
	"github.com/pluginlock/plugins/internal/image"
)

// registry is the repository that is pushed to, with the requests of
// https://github.com/opencontainers/distribution-spec/blob/v1.1.1/spec.md that
// a push needs. Its errors are those of package getter.
type registry struct {
	target *getter.Target
	base   *url.URL // of the repository, without a slash at the end
}

func openRegistry(client *getter.Client, source addr.Source) (*registry, error) {
	target, err := client.Target(source)
	if err != nil {
		return nil, err
	}
	base := &url.URL{Scheme: "https", Host: target.Host, Path: "/v2/" + target.Repository}
	if target.PlainHTTP {
		base.Scheme = "http"
	}
	return &registry{target, base}, nil
}

// tries is how often a request that writes is sent when the registry or the
// network fails; the requests are such that repeating them does no harm.
const tries = 3

func repeated(ctx context.Context, send func() error) error {
	for try := 1; ; try++ {
		err := send()
		var failed *getter.Error
		if err == nil || try == tries || ctx.Err() != nil || !errors.As(err, &failed) || !failed.Transient() {
			return err
		}
	}
}

// request sends a request without a body.
func (r *registry) request(ctx context.Context, method, path string, query url.Values, op, ref string) (*http.Response, error) {
	u := r.base.JoinPath(path)
	if strings.HasSuffix(path, "/") && !strings.HasSuffix(u.Path, "/") {
		u.Path += "/"
	}
	u.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, method, u.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", image.Accept)
	resp, err := r.target.Do(req)
	if err != nil {
		return nil, r.target.Failure(nil, err, op, ref)
	}
	return resp, nil
}

// found is what a tag or a digest leads to at a registry.
type found struct {
	digest   addr.Digest // zero where there is nothing
	raw      []byte
	document *image.Document // nil where it is not an image
}

// document reads what a tag or a digest leads to; that there is nothing is no
// error.
func (r *registry) document(ctx context.Context, ref string) (found, error) {
	op := "get " + ref
	resp, err := r.request(ctx, http.MethodGet, "manifests/"+ref, nil, op, ref)
	if err != nil {
		return found{}, err
	}
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		finish(resp)
		return found{}, nil
	default:
		return found{}, r.target.Failure(resp, nil, op, ref)
	}
	defer func() { _ = resp.Body.Close() }() // read to its end, or failed
	raw, err := io.ReadAll(io.LimitReader(resp.Body, image.MaxDocumentSize+1))
	if err != nil {
		return found{}, r.target.Failure(nil, err, op, ref)
	}
	if !json.Valid(raw) {
		return found{}, r.target.Failure(nil, &getter.Error{Kind: getter.ErrProtocol, Host: r.target.Host,
			Detail: r.target.Host + " answered with something other than JSON: a proxy or a login page may be in the way"}, op, ref)
	}
	f := found{digest: addr.DigestOf(raw), raw: raw}
	if want, err := addr.ParseDigest(ref); err == nil && want != f.digest {
		return found{}, r.target.Failure(nil, &getter.Error{Kind: getter.ErrDigestMismatch, Host: r.target.Host,
			Detail: fmt.Sprintf("%s answered with a document whose digest is %s", r.target.Host, f.digest)}, op, ref)
	}
	f.document, _ = image.Parse(resp.Header.Get("Content-Type"), raw) // what is no image is in the way all the same
	return f, nil
}

// has reports whether the registry has a blob.
func (r *registry) has(ctx context.Context, digest addr.Digest) (bool, error) {
	op := "look for blob " + digest.String()
	resp, err := r.request(ctx, http.MethodHead, "blobs/"+digest.String(), nil, op, digest.String())
	if err != nil {
		return false, err
	}
	switch {
	case resp.StatusCode == http.StatusOK:
		finish(resp)
		return true, nil
	case resp.StatusCode == http.StatusNotFound, resp.StatusCode == http.StatusMethodNotAllowed, resp.Request.URL.Host != r.base.Host:
		finish(resp)
		return false, nil // where HEAD is not understood, nothing is known
	}
	return false, r.target.Failure(resp, nil, op, digest.String())
}

// begin opens an upload and returns where to send the blob. If from is not
// empty, the registry may take it from that repository; then it has it.
func (r *registry) begin(ctx context.Context, digest addr.Digest, from string) (mounted bool, location *url.URL, err error) {
	op, query := "begin to upload "+digest.String(), url.Values{}
	if from != "" {
		query = url.Values{"mount": {digest.String()}, "from": {from}}
	}
	resp, err := r.request(ctx, http.MethodPost, "blobs/uploads/", query, op, digest.String())
	if err != nil {
		return false, nil, err
	}
	switch resp.StatusCode {
	case http.StatusCreated:
		if from != "" {
			finish(resp)
			return true, nil, nil
		}
	case http.StatusAccepted:
		finish(resp)
		at, err := resp.Request.URL.Parse(resp.Header.Get("Location"))
		if err != nil || resp.Header.Get("Location") == "" {
			return false, nil, r.target.Failure(nil, &getter.Error{Kind: getter.ErrProtocol, Host: r.target.Host,
				Detail: r.target.Host + " does not say where to upload to"}, op, digest.String())
		}
		return false, at, nil
	}
	return false, nil, r.target.Failure(resp, nil, op, digest.String())
}

// send uploads a blob whole to where begin said.
func (r *registry) send(ctx context.Context, to *url.URL, d ocispec.Descriptor, open func() (io.ReadCloser, error)) error {
	at := *to
	at.Fragment, at.User = "", nil
	if at.RawQuery != "" { // the query may be signed: it stays as it is
		at.RawQuery += "&"
	}
	at.RawQuery += "digest=" + url.QueryEscape(string(d.Digest))
	return r.put(ctx, at.String(), "application/octet-stream", d.Size, open, "upload "+string(d.Digest), string(d.Digest))
}

// putDocument writes an index or a manifest under a digest or a tag.
func (r *registry) putDocument(ctx context.Context, ref, mediaType string, raw []byte) error {
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(raw)), nil }
	return repeated(ctx, func() error {
		return r.put(ctx, r.base.JoinPath("manifests", ref).String(), mediaType, int64(len(raw)), open, "write "+ref, ref)
	})
}

func (r *registry) put(ctx context.Context, to, mediaType string, size int64, open func() (io.ReadCloser, error), op, ref string) error {
	body, err := open()
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, to, body)
	if err != nil {
		return errors.Join(err, body.Close())
	}
	req.ContentLength, req.GetBody = size, open
	if size == 0 {
		req.Body = http.NoBody
	}
	req.Header.Set("Content-Type", mediaType)
	resp, err := r.target.Do(req)
	if err != nil {
		return r.target.Failure(nil, err, op, ref)
	}
	if resp.StatusCode/100 != 2 {
		return r.target.Failure(resp, nil, op, ref)
	}
	finish(resp)
	return nil
}

// finish ends an answer whose body nobody needs, so that the connection can be
// used again. What goes wrong with that changes nothing.
func finish(resp *http.Response) {
	const most = 64 << 10
	_, _ = io.CopyN(io.Discard, resp.Body, most)
	_ = resp.Body.Close()
}
