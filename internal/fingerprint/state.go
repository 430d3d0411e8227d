package fingerprint

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
)

// Dirs are the two directories that hold what a result rests on.
type Dirs struct {
	Install string // the install directory, absolute
	Store   string // the cache directory, absolute
}

// State is what the file system said of some files, directories and links.
type State struct {
	Installed []string // names in the install directory, with slashes; "." is itself
	Stored    []string // names in the store
	sum       string   // of their stamps, in hexadecimal
}

// Take notes the states of f as they are now in these directories. Whoever
// takes them must look at the files themselves afterwards, not before: what
// changes in between is then seen by the one or the other.
//
// Errors: what the file system said, also where there is nothing at a name.
func (f *Fingerprint) Take(d Dirs) error {
	at, err := openPlaces(d)
	if err != nil {
		return err
	}
	defer at.close()
	f.Shared.sum, err = at.sum(&f.Shared)
	for i := range f.Plugins {
		if err != nil {
			return err
		}
		s := &f.Plugins[i].State
		s.sum, err = at.sum(s)
	}
	return err
}

// places are the two directories, open, so that what is looked up a thousand
// times has short paths.
type places struct{ install, store place }

func openPlaces(d Dirs) (p places, err error) {
	if p.install, err = openPlace(d.Install); err != nil {
		return p, err
	}
	if p.store, err = openPlace(d.Store); err != nil {
		p.install.close()
	}
	return p, err
}

func (p places) close() {
	p.install.close()
	p.store.close()
}

// hold reports whether everything of a state is as it was.
func (p places) hold(s *State) bool {
	sum, err := p.sum(s)
	return err == nil && sum == s.sum
}

// sumLength is how many bytes of a digest are kept. Nobody gains by making two
// states look alike: who could, can write the state.
const sumLength = 16

func (p places) sum(s *State) (string, error) {
	b := make([]byte, 0, stampLength*(len(s.Installed)+len(s.Stored)))
	var errs error
	add := func(place place, names []string) {
		for _, name := range names {
			stamp, err := place.stamp(name)
			if err != nil {
				errs = errors.Join(errs, err)
				return
			}
			b = stamp.appendTo(b)
		}
	}
	add(p.install, s.Installed)
	add(p.store, s.Stored)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:sumLength]), errs
}

// stamp is all that tells a touched file from an untouched one: a receipt's
// stamp, its type and its size.
type stamp struct {
	mode         uint32
	device       uint64
	size         int64
	inode        uint64
	mtime, ctime int64 // nanoseconds since 1970
}

// stampLength is how many bytes a stamp takes.
const stampLength = 4 + 5*8

func (s stamp) appendTo(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, s.mode)
	b = binary.LittleEndian.AppendUint64(b, s.device)
	b = binary.LittleEndian.AppendUint64(b, uint64(s.size))
	b = binary.LittleEndian.AppendUint64(b, s.inode)
	b = binary.LittleEndian.AppendUint64(b, uint64(s.mtime))
	return binary.LittleEndian.AppendUint64(b, uint64(s.ctime))
}
