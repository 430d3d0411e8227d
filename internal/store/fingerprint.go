package store

import (
	"path"

	"github.com/pluginlock/plugins/addr"
)

// maxFingerprint bounds what is read of a fingerprint, in bytes: a kilobyte for
// each of more plugins than a lock file can hold.
const maxFingerprint = 64 << 20

// Fingerprint returns what [Store.PutFingerprint] has kept for the project
// whose lock file is at lockPath, or nil. There is none in a store of another
// user, where what the file system says of a file proves nothing.
func (s *Store) Fingerprint(lockPath string) []byte {
	if _, err := s.openEntries(); err != nil || s.needsRehash() {
		return nil
	}
	root, err := s.open()
	if err != nil {
		return nil
	}
	encoded, err := readBelow(root, fingerprintName(lockPath), maxFingerprint)
	if err != nil {
		return nil
	}
	return encoded
}

// PutFingerprint keeps the fingerprint of a project. Failing is no reason to
// stop: the next run has more to do.
//
// Errors: [*ReadOnlyError]; [*UnsafeError]; what the file system said.
func (s *Store) PutFingerprint(lockPath string, encoded []byte) error {
	if _, err := s.create(fingerprintsDir); err != nil {
		return err
	}
	return s.replace(fingerprintName(lockPath), encoded)
}

func fingerprintName(lockPath string) string {
	return fingerprintsDir + "/" + projectName(lockPath) + ".txt"
}

// Watched lists what of the entry, from the store's directory, a run relies on
// that has checked it. ok is false where what the file system says of its files
// proves nothing.
func (e *Entry) Watched() (names []string, ok bool) {
	dir := entriesDir + "/" + e.key.name()
	names = []string{dir, dir + "/" + manifestFile}
	for _, name := range e.receipt.Names() {
		names = append(names, path.Join(dir, rootDir, name))
	}
	return names, !e.rehash
}

// WatchedDocument names, from the store's directory, the file that
// [Store.Document] reads.
func WatchedDocument(source addr.Source, digest addr.Digest) string {
	return documentName(source, digest)
}
