package lock

import (
	"cmp"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/pluginlock/plugins/addr"
)

// FileName is the name of the lock file in a project directory.
const FileName = ".plugins.lock.hcl"

// Format is the lock_format that this package reads and writes.
const Format = 1

// File is the decoded content of a lock file. The zero value is a lock without
// entries. A nil *File stands for "there is no lock file" and can be asked like
// an empty one.
type File struct {
	Entries []Entry // sorted by name where Parse, Set or Merge made it
}

// Entry is one plugin block: what was chosen for one requirement.
type Entry struct {
	Name       string          // [a-z][a-z0-9_-]*, at most 64 bytes
	Source     addr.Source     // where the configuration says it lives, never a mirror
	Version    addr.Version    // the selected version
	Tag        string          // the tag it was found under; empty where that is Version.Tag()
	Digest     addr.Digest     // what the tag pointed to: an index, or a single manifest
	Protocols  []int           // as the publisher declared them, ascending; nil where none are
	Executable addr.Executable // as the configuration gives it; zero for a plugin image
	Platforms  []Platform      // at least one, sorted by text

	// Range is where Parse found the block's header. It is not part of the
	// content: it is neither written nor compared.
	Range hcl.Range
}

// Platform is one platform block: one child of the entry's digest.
type Platform struct {
	Platform         addr.Platform
	Manifest         addr.Digest // of the image manifest
	ExecutableDigest addr.Digest // of the executable file itself, unpacked
}

// Entry returns the entry called name. The pointer leads into f and is good
// until the next Set or Remove.
func (f *File) Entry(name string) (*Entry, bool) {
	if f == nil {
		return nil, false
	}
	for i := range f.Entries {
		if f.Entries[i].Name == name {
			return &f.Entries[i], true
		}
	}
	return nil, false
}

// Set puts a copy of e into f, in the place of an entry of that name if there
// is one, and sorts what a lock file has sorted. It checks nothing: Save does.
func (f *File) Set(e Entry) {
	f.Remove(e.Name)
	at, _ := slices.BinarySearchFunc(f.Entries, e.Name, func(have Entry, name string) int {
		return cmp.Compare(have.Name, name)
	})
	f.Entries = slices.Insert(f.Entries, at, e.sorted())
}

// Remove takes the entry called name out and reports whether there was one.
func (f *File) Remove(name string) bool {
	before := len(f.Entries)
	f.Entries = slices.DeleteFunc(f.Entries, func(e Entry) bool { return e.Name == name })
	return len(f.Entries) < before
}

// Clone returns a copy that shares nothing with f.
func (f *File) Clone() *File {
	if f == nil {
		return nil
	}
	return f.sorted()
}

// Equal reports whether f and g have the same content. Order does not count,
// and neither does Entry.Range.
func (f *File) Equal(g *File) bool {
	if f == nil || g == nil {
		return f == nil && g == nil
	}
	return slices.EqualFunc(f.sorted().Entries, g.sorted().Entries, Entry.Equal)
}

// sorted returns a deep copy of f in the order of a lock file.
func (f *File) sorted() *File {
	out := &File{Entries: make([]Entry, len(entriesOf(f)))}
	for i, e := range entriesOf(f) {
		out.Entries[i] = e.sorted()
	}
	slices.SortStableFunc(out.Entries, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Platform returns what the entry records for p, which must match exactly: a
// caller that accepts p.Fallbacks asks for each.
func (e Entry) Platform(p addr.Platform) (Platform, bool) {
	for _, have := range e.Platforms {
		if have.Platform == p {
			return have, true
		}
	}
	return Platform{}, false
}

// Equal reports whether e and o have the same content. Order does not count,
// and neither does Range.
func (e Entry) Equal(o Entry) bool {
	a, b := e.sorted(), o.sorted()
	return a.Name == b.Name && a.Source == b.Source && a.Version == b.Version && a.Tag == b.Tag &&
		a.Digest == b.Digest && a.Executable.Equal(b.Executable) &&
		slices.Equal(a.Protocols, b.Protocols) && slices.Equal(a.Platforms, b.Platforms)
}

// TagName is the tag that the version was found under.
func (e Entry) TagName() string {
	if e.Tag != "" {
		return e.Tag
	}
	return e.Version.Tag()
}

// sorted returns a deep copy of e in the order of a lock file.
func (e Entry) sorted() Entry {
	e.Protocols = slices.Sorted(slices.Values(e.Protocols))
	e.Platforms = slices.SortedStableFunc(slices.Values(e.Platforms), func(a, b Platform) int {
		return a.Platform.Compare(b.Platform)
	})
	e.Executable.ByPlatform = maps.Clone(e.Executable.ByPlatform)
	return e
}
