package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/filename"
	"github.com/pluginlock/plugins/internal/image"
	"github.com/pluginlock/plugins/internal/store/durable"
	"github.com/pluginlock/plugins/internal/store/plain"
)

// Document returns the raw index or manifest that was stored for source. One
// that is there for another source is not found: a lock entry must not be
// satisfied by what somebody else published.
//
// Errors: [ErrNotFound]; [*DamagedError]; [*UnsafeError].
func (s *Store) Document(source addr.Source, digest addr.Digest) ([]byte, error) {
	if _, err := addr.ParseDigest(digest.String()); err != nil {
		return nil, err
	}
	root, err := s.open()
	if err != nil {
		return nil, notFound(err)
	}
	name := documentName(source, digest)
	damaged := func(reason string, err error) error {
		return &DamagedError{Path: filepath.Join(s.Dir(), filepath.FromSlash(name)), Reason: reason, Err: err}
	}
	raw, err := plain.ReadBelow(root, name, image.MaxDocumentSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrNotFound
	case err != nil:
		return nil, damaged("it cannot be read", err)
	}
	if got := addr.DigestOf(raw); got != digest {
		return nil, damaged(fmt.Sprintf("its digest is %s", got), nil)
	}
	return raw, nil
}

// PutDocument stores a raw index or manifest for source. What is there already
// is not written again; what is damaged is replaced.
//
// Errors: [*ReadOnlyError]; [*UnsafeError]; what the file system said.
func (s *Store) PutDocument(source addr.Source, raw []byte) error {
	if len(raw) > image.MaxDocumentSize {
		return fmt.Errorf("a document of %d bytes is too big to be stored", len(raw))
	}
	digest := addr.DigestOf(raw)
	if _, err := s.Document(source, digest); err == nil {
		return nil
	}
	name := documentName(source, digest)
	root, err := s.create(indexDir)
	if err != nil {
		return err
	}
	if err := clearWay(root, name); err != nil {
		return s.refusal(err)
	}
	if _, err := s.create(path.Dir(name)); err != nil {
		return err
	}
	return s.replace(name, raw)
}

// clearWay removes what is in the place of a document, or of a directory on the
// way to it, and cannot be one: it is nothing of ours.
func clearWay(root *os.Root, name string) error {
	for at := indexDir; at != name; {
		next, _, _ := strings.Cut(strings.TrimPrefix(name, at+"/"), "/")
		at += "/" + next
		info, err := root.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		fits := info.IsDir()
		if at == name {
			fits = info.Mode().IsRegular()
		}
		if !fits {
			return durable.RemoveAll(root, at)
		}
	}
	return nil
}

// documentName is where a document lies. The "@" ends the source: no segment
// of a repository is called that, so that a source and another one that
// continues it stay apart.
func documentName(source addr.Source, digest addr.Digest) string {
	segments := []string{indexDir, encodeSegment(source.Host())}
	for segment := range strings.SplitSeq(source.Path(), "/") {
		segments = append(segments, encodeSegment(segment))
	}
	segments = append(segments, "@", digest.Hex()+".json")
	return strings.Join(segments, "/")
}

// encodeSegment makes a segment of a source fit for every file system: what
// Windows does not allow in a name (the colon of a port, the brackets of an
// address stay clear of shells too) and names that it takes for devices are
// written with "%" and two hexadecimal digits, which no source has.
func encodeSegment(segment string) string {
	var b strings.Builder
	for i := range len(segment) {
		c := segment[i]
		plain := c == '.' || c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z'
		if !plain || i == 0 && filename.IsDevice(segment) {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}
