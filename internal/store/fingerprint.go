package store

import (
	"fmt"
	"path"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/store/plain"
)

// maxFingerprint bounds a fingerprint, in bytes: a line for each plugin names
// each of its files, which takes some hundred bytes.
const maxFingerprint = 64 << 20

// Fingerprint returns what [Store.PutFingerprint] has kept for the project
// whose lock file is at lockPath, an absolute path, or nil. There is none where
// others could have written it, or in a store of another user, where what the
// file system says of a file proves nothing.
func (s *Store) Fingerprint(lockPath string) []byte {
	root, err := s.open()
	if err != nil {
		return nil
	}
	s.mu.Lock()
	unsafe := s.inspect(root, s.dir, layout, entriesDir, indexDir, fingerprintsDir)
	s.mu.Unlock()
	if unsafe != nil || s.needsRehash() {
		return nil
	}
	name := fingerprintName(lockPath)
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || modesMatter && info.Mode()&othersWrite != 0 || belongsToAnother(info) {
		return nil
	}
	encoded, err := plain.ReadBelow(root, name, maxFingerprint)
	if err != nil {
		return nil
	}
	return encoded
}

// PutFingerprint keeps the fingerprint of the project whose lock file is at
// lockPath, an absolute path. Failing is no reason to stop: the next run has
// more to do.
//
// Errors: [*ReadOnlyError]; [*UnsafeError]; what the file system said.
func (s *Store) PutFingerprint(lockPath string, encoded []byte) error {
	if len(encoded) > maxFingerprint {
		return fmt.Errorf("a fingerprint of %d bytes is too big to be kept", len(encoded))
	}
	if _, err := s.create(fingerprintsDir); err != nil {
		return err
	}
	return s.replace(fingerprintName(lockPath), encoded)
}

func fingerprintName(lockPath string) string {
	return fingerprintsDir + "/" + projectName(lockPath) + ".txt"
}

// Paths lists, with slashes and from the store's directory, what a run relies
// on that has checked the entry. Its own directory is not among it: all that is
// ever read from there is. ok is false where what the file system says of the
// entry proves nothing.
func (e *Entry) Paths() (paths []string, ok bool) {
	dir := entriesDir + "/" + e.key.name()
	paths = []string{dir + "/" + manifestFile, dir + "/" + receiptFile}
	for _, name := range e.receipt.Names() {
		paths = append(paths, path.Join(dir, rootDir, name))
	}
	return paths, !e.rehash
}

// DocumentPath names, with slashes and from the store's directory, the file
// that [Store.Document] reads.
func DocumentPath(source addr.Source, digest addr.Digest) string { return documentName(source, digest) }
