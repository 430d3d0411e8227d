package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/extract"
	"github.com/pluginlock/plugins/internal/image"
	"github.com/pluginlock/plugins/internal/store/plain"
	"github.com/pluginlock/plugins/internal/store/tree"
)

// The names inside of an entry.
const (
	manifestFile = "manifest.json"
	receiptFile  = "receipt.json"
	rootDir      = "root"
)

// maxReceipt bounds what is read of a receipt, in bytes: a quarter of a
// kilobyte for each of as many files as an archive may have.
const maxReceipt = 64 << 20

// Entry is one installed image for one platform. It is a snapshot: another
// process may replace the directory, which is noticed by Check.
type Entry struct {
	store    *Store
	key      Key
	dir      string // absolute
	manifest []byte
	receipt  *tree.Receipt
	rehash   bool
}

// Key returns what the entry was looked up by.
func (e *Entry) Key() Key { return e.key }

// Root returns the absolute path of the directory that holds the files.
func (e *Entry) Root() string { return filepath.Join(e.dir, rootDir) }

// Manifest returns the manifest's bytes; their digest was compared.
func (e *Entry) Manifest() []byte { return e.manifest }

// Records returns what the receipt says of the files, ordered by path. Only
// after [Entry.Check] is it known to be true.
func (e *Entry) Records() []extract.Record { return e.receipt.Records() }

// Lookup finds an entry and compares its manifest with the digest. The files
// are not looked at: [Entry.Check] does that, with what they should be.
//
// Errors: [ErrNotFound]; [*DamagedError]; [*UnsafeError].
func (s *Store) Lookup(key Key) (*Entry, error) {
	if err := key.check(); err != nil {
		return nil, err
	}
	entries, err := s.openEntries()
	if err != nil {
		return nil, notFound(err)
	}
	name := key.name()
	info, err := entries.Lstat(name)
	if err != nil {
		return nil, notFound(err)
	}
	e := &Entry{store: s, key: key, dir: filepath.Join(s.Dir(), filepath.FromSlash(entriesDir), name)}
	e.rehash = s.needsRehash() || belongsToAnother(info)
	if err := e.read(info); err != nil {
		return nil, err
	}
	return e, nil
}

func (e *Entry) read(info fs.FileInfo) (err error) {
	switch {
	case !info.IsDir():
		return e.damaged("is not a directory", nil)
	case modesMatter && info.Mode()&othersWrite != 0:
		return e.damaged(fmt.Sprintf("has the mode %v: others can write it", info.Mode()), nil)
	}
	if e.manifest, err = plain.ReadFile(filepath.Join(e.dir, manifestFile), image.MaxDocumentSize); err != nil {
		return e.damaged("its manifest cannot be read", err)
	}
	if got := addr.DigestOf(e.manifest); got != e.key.Manifest {
		return e.damaged(fmt.Sprintf("its manifest has the digest %s", got), nil)
	}
	encoded, err := plain.ReadFile(filepath.Join(e.dir, receiptFile), maxReceipt)
	if err != nil {
		return e.damaged("its receipt cannot be read", err)
	}
	if e.receipt, err = tree.Decode(encoded); err != nil {
		return e.damaged("its receipt is none", err)
	}
	return nil
}

func (e *Entry) damaged(reason string, err error) error {
	return &DamagedError{Path: e.dir, Reason: reason, Err: err}
}

// notFound turns "no such file" into what callers of the store ask for.
func notFound(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNotFound
	}
	return err
}
