package extract

import (
	"archive/tar"
	"path"
	"strings"
)

// view is a foreign image as far as its layers were read, the top one first.
type view struct {
	layers   []*layerIndex
	windows  bool
	complete bool // the lowest layer was read too
	cost     int  // bytes of memory the indexes take, roughly
	work     int  // look-ups done, which hostile links could drive up
}

// layerIndex notes what a layer has at which path.
type layerIndex struct {
	entries map[string]layerEntry
	hidden  map[string]bool // by a whiteout: not in the layers below
	opaque  map[string]bool // directories of which the layers below show nothing
}

type layerEntry struct {
	typeflag byte   // tar.TypeReg, TypeDir, TypeSymlink, TypeLink, or 0 for anything else
	implied  bool   // a directory that only its entries tell of; below it may be a link
	target   string // of links
}

// Bounds on the paths that links are followed along. No system that runs
// containers takes a longer one; deeper ones exist, but hold no program.
const (
	maxFollowed      = 4096 // bytes
	maxFollowedDepth = 128  // components
)

// push begins the index of the next layer down.
func (v *view) push() *layerIndex {
	l := &layerIndex{entries: map[string]layerEntry{}, hidden: map[string]bool{}, opaque: map[string]bool{}}
	v.layers = append(v.layers, l)
	return l
}

// filesDir is where layers of Windows images hold the file system.
const filesDir = "Files/"

// name returns the clean path of an entry; ok is false for the root and for
// names that no container engine places anywhere, or that are too long.
func (v *view) name(raw string) (clean string, ok bool) {
	if raw == "" || len(raw) > maxFollowed || strings.Count(raw, "/") > maxFollowedDepth || strings.ContainsRune(raw, 0) {
		return "", false
	}
	for c := range strings.SplitSeq(raw, "/") {
		if c == ".." {
			return "", false
		}
	}
	clean = strings.TrimPrefix(path.Clean("/"+raw), "/")
	if v.windows {
		clean = strings.TrimPrefix(clean, filesDir)
	}
	return clean, clean != ""
}

// opaqueWhiteout hides all that lower layers have in its directory; see the
// image specification, v1.1.1, layer.md.
const opaqueWhiteout = whiteout + whiteout + ".opq"

// add notes an entry of the layer being read and reports whether it changed
// what is known of its path.
func (v *view) add(name string, h *tar.Header) (changed bool) {
	l := v.layers[len(v.layers)-1]
	v.cost += len(name) + len(h.Linkname) + 64
	dir, base := path.Split(name)
	dir = strings.TrimSuffix(dir, "/")
	if h.Typeflag == tar.TypeXGlobalHeader {
		return false
	}
	v.imply(l, dir)
	switch {
	case base == opaqueWhiteout:
		l.opaque[dir] = true
		return false
	case strings.HasPrefix(base, whiteout+whiteout):
		return false // bookkeeping of AUFS
	case strings.HasPrefix(base, whiteout):
		l.hidden[path.Join(dir, strings.TrimPrefix(base, whiteout))] = true
		return false
	}
	before, existed := l.entries[name]
	e := v.entry(h)
	l.entries[name] = e
	return !existed || before != e
}

func (v *view) entry(h *tar.Header) layerEntry {
	switch h.Typeflag {
	case tar.TypeReg, tar.TypeGNUSparse:
		return layerEntry{typeflag: tar.TypeReg}
	case tar.TypeDir:
		return layerEntry{typeflag: tar.TypeDir}
	case tar.TypeSymlink:
		if len(h.Linkname) <= maxFollowed {
			return layerEntry{typeflag: tar.TypeSymlink, target: h.Linkname}
		}
	case tar.TypeLink:
		if target, ok := v.name(h.Linkname); ok {
			return layerEntry{typeflag: tar.TypeLink, target: target}
		}
	}
	return layerEntry{}
}

// imply notes the directories that an entry, or a whiteout, needs.
func (v *view) imply(l *layerIndex, dir string) {
	for ; dir != ""; dir = parent(dir) {
		if _, ok := l.entries[dir]; ok {
			return
		}
		l.entries[dir] = layerEntry{typeflag: tar.TypeDir, implied: true}
		v.cost += 64 // the path itself is part of the entry's
	}
}

// parent is path.Dir for a clean path, "" for the root: it is asked so often that
// cleaning again would be felt.
func parent(clean string) string { return clean[:max(0, strings.LastIndexByte(clean, '/'))] }

// hides reports whether a layer keeps a path of lower layers from being seen.
func (l *layerIndex) hides(name string) bool {
	if l.hidden[name] {
		return true
	}
	for dir := parent(name); dir != ""; dir = parent(dir) {
		if l.opaque[dir] || l.hidden[dir] {
			return true
		}
		if e, ok := l.entries[dir]; ok && e.typeflag != tar.TypeDir {
			return true
		}
	}
	return l.opaque[""]
}
