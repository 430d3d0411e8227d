package lock

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pluginlock/plugins/addr"
)

// Change is what happened to one entry between two lock files.
type Change struct {
	Name string
	Old  *Entry // nil where the entry is new
	New  *Entry // nil where it is gone
}

// Diff returns the entries that are not the same in both, by name. A nil file
// has no entries. Changes share nothing with the files.
func Diff(before, after *File) []Change {
	var all []Change
	for _, e := range entriesOf(before) {
		have := e.sorted()
		next, ok := after.Entry(e.Name)
		switch {
		case !ok:
			all = append(all, Change{Name: e.Name, Old: &have})
		case !e.Equal(*next):
			now := next.sorted()
			all = append(all, Change{Name: e.Name, Old: &have, New: &now})
		}
	}
	for _, e := range entriesOf(after) {
		if _, ok := before.Entry(e.Name); !ok {
			now := e.sorted()
			all = append(all, Change{Name: e.Name, New: &now})
		}
	}
	slices.SortFunc(all, func(a, b Change) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// String is one line for people: "+ aws 1.4.2", "- aws 1.4.2", or "~ aws" with
// what differs.
func (c Change) String() string {
	switch {
	case c.Old == nil && c.New == nil:
		return "  " + c.Name
	case c.Old == nil:
		return fmt.Sprintf("+ %s %s", c.Name, c.New.Version)
	case c.New == nil:
		return fmt.Sprintf("- %s %s", c.Name, c.Old.Version)
	}
	if c.Old.Version != c.New.Version {
		return fmt.Sprintf("~ %s %s", c.Name, strings.Join(c.Details(), ", "))
	}
	return fmt.Sprintf("~ %s %s: %s", c.Name, c.New.Version, strings.Join(c.Details(), ", "))
}

// Details lists what differs between Old and New, the most telling first; none
// where one of them is nil. Where the version differs, the digests do of course,
// and are left out.
func (c Change) Details() []string {
	if c.Old == nil || c.New == nil {
		return nil
	}
	var all []string
	moved := func(what, from, to string) {
		if from != to {
			all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s -> %s", what, orNone(from), orNone(to))))
		}
	}
	a, b := c.Old, c.New
	moved("", a.Version.String(), b.Version.String())
	moved("source", a.Source.String(), b.Source.String())
	if a.Version == b.Version {
		moved("tag", a.TagName(), b.TagName())
		moved("digest", a.Digest.String(), b.Digest.String())
	}
	moved("protocols", numbers(a.Protocols), numbers(b.Protocols))
	moved("executable", paths(a.Executable), paths(b.Executable))
	return append(all, c.platforms()...)
}

// platforms lists what was added, removed and, where the image is the same, but
// something recorded of it is not, changed.
func (c Change) platforms() []string {
	var all []string
	for _, p := range c.Old.Platforms {
		now, ok := c.New.Platform(p.Platform)
		switch {
		case !ok:
			all = append(all, "without "+p.Platform.String())
		case c.Old.Digest == c.New.Digest && now.Manifest != p.Manifest:
			all = append(all, "other manifest for "+p.Platform.String())
		case c.Old.Digest == c.New.Digest && now.ExecutableDigest != p.ExecutableDigest:
			all = append(all, "other executable for "+p.Platform.String())
		}
	}
	for _, p := range c.New.Platforms {
		if _, ok := c.Old.Platform(p.Platform); !ok {
			all = append(all, "with "+p.Platform.String())
		}
	}
	return all
}

func entriesOf(f *File) []Entry {
	if f == nil {
		return nil
	}
	return f.Entries
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func numbers(all []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(all), " ", ","), "[]")
}

func paths(x addr.Executable) string {
	if x.Path != "" {
		return x.Path
	}
	var all []string
	for _, p := range x.Platforms() {
		all = append(all, p.String()+"="+x.ByPlatform[p])
	}
	return strings.Join(all, " ")
}
