package extract

import (
	"archive/tar"
	"path"
	"slices"
	"strings"
)

// outcome says what looking for a path came to.
type outcome uint8

const (
	absent outcome = iota // certainly not in the image
	hidden                // not in the image, because a layer says so
	below                 // undecided: a layer further down has to tell
	found
)

// place is where a path leads.
type place struct {
	outcome outcome // never hidden
	path    string  // where it is; for below, where it is if nothing intervenes
	dir     string  // the deepest directory on the way
	layer   int     // the index in view.layers; of found only
}

// walk is a path on its way through a view.
type walk struct {
	*view
	at   string   // the directory reached
	todo []string // components left
	hops int      // links followed
}

// resolve follows a clean path as a container would: component by component,
// links read from the image's own root. Only a regular file is found.
func (v *view) resolve(name string) place {
	w := walk{view: v, todo: strings.Split(name, "/")}
	for len(w.todo) > 0 {
		c := w.todo[0]
		w.todo = w.todo[1:]
		switch c {
		case "", ".":
			continue
		case "..":
			w.at = strings.TrimPrefix(path.Dir("/"+w.at), "/")
			continue
		}
		if end, done := w.step(path.Join(w.at, c)); done {
			return end
		}
	}
	return place{outcome: absent, path: w.at, dir: w.at} // a directory
}

// step enters next, or ends the walk there.
func (w *walk) step(next string) (place, bool) {
	all := len(w.layers)
	entry, layer, outcome, implied := w.lookup(next, 0, all)
	if implied && len(w.todo) > 0 && !slices.Contains(w.todo, "..") {
		// A layer has files below next without an entry for next itself. What
		// it has there stands, even if next is a link further down.
		direct, above := path.Join(next, strings.Join(w.todo, "/")), all
		if outcome == found {
			above = layer
		}
		e, l, o, _ := w.lookup(direct, 0, above)
		if o == hidden || o == found && e.typeflag != tar.TypeDir {
			next, entry, layer, outcome = direct, e, l, o
			w.at, w.todo = path.Dir(direct), nil
		}
	}
	if outcome == found && entry.typeflag == tar.TypeLink {
		next, entry, layer, outcome = w.hardLink(entry, layer)
	}
	stop := place{outcome: outcome, path: path.Join(next, strings.Join(w.todo, "/")), dir: w.at, layer: layer}
	switch {
	case outcome == hidden:
		stop.outcome = absent
		return stop, true
	case outcome != found:
		return stop, true
	case entry.typeflag == tar.TypeReg && len(w.todo) == 0:
		return stop, true
	case entry.typeflag == tar.TypeDir && len(next) <= maxFollowed:
		w.at = next
		return place{}, false
	case entry.typeflag == tar.TypeSymlink && w.follow(entry.target):
		return place{}, false
	}
	stop.outcome = absent
	return stop, true
}

// follow continues at the target of a link, unless that goes on for too long.
func (w *walk) follow(target string) bool {
	if w.hops++; w.hops > maxLinkHops {
		return false
	}
	if strings.HasPrefix(target, "/") {
		w.at = ""
	}
	w.todo = append(strings.Split(target, "/"), w.todo...)
	return len(w.todo) <= maxFollowed
}

// hardLink finds the file that a hard link names: by its exact path, in the
// link's layer or one below.
func (v *view) hardLink(entry layerEntry, layer int) (string, layerEntry, int, outcome) {
	for range maxLinkHops {
		name := entry.target
		next, in, outcome, _ := v.lookup(name, layer, len(v.layers))
		if outcome != found || next.typeflag != tar.TypeLink {
			return name, next, in, outcome
		}
		entry, layer = next, in
	}
	return entry.target, entry, layer, absent
}

// maxWork bounds all look-ups for one program together; an honest image of a
// hundred layers takes a fraction of it. Beyond it everything is hidden, and
// the pass that notices fails.
const maxWork = 5_000_000

// lookup finds the entry at exactly this path in the layers from one to before
// another. An implied directory gives way to what a lower one has in its place.
func (v *view) lookup(name string, from, to int) (e layerEntry, layer int, o outcome, implied bool) {
	directory := layerEntry{typeflag: tar.TypeDir, implied: true}
	for i := from; i < to; i++ {
		l := v.layers[i]
		if v.work += 1 + strings.Count(name, "/"); v.work > maxWork {
			return layerEntry{}, i, hidden, false
		}
		e, ok := l.entries[name]
		if ok && !e.implied {
			return e, i, found, implied
		}
		implied = implied || ok
		if l.hides(name) {
			if implied {
				return directory, i, found, true
			}
			return layerEntry{}, i, hidden, false
		}
	}
	switch {
	case !v.complete:
		return layerEntry{}, 0, below, implied
	case implied:
		return directory, 0, found, true
	}
	return layerEntry{}, 0, absent, false
}
