package installdir

import (
	"slices"
	"strings"
)

// Kind is what has to be done with a plugin.
type Kind string

// The kinds of actions.
const (
	Keep    Kind = "keep"
	Install Kind = "install"
	Change  Kind = "change"
	Remove  Kind = "remove"
)

// Action is one step from what is installed to what should be.
type Action struct {
	Kind     Kind
	Name     string
	Previous *Installed // nil where nothing was installed
	Reason   string     // why it is not kept; empty for Keep and Install
}

// Diff compares what installed.json says with what should be there, without a
// look at the directory. There is one action for each plugin of either,
// ordered by name.
func Diff(s *State, d Desired) []Action {
	var actions []Action
	wanted := map[string]bool{}
	for _, p := range d.Plugins {
		wanted[p.Name] = true
		previous, ok := s.Plugins[p.Name]
		if !ok {
			actions = append(actions, Action{Kind: Install, Name: p.Name})
			continue
		}
		a := Action{Keep, p.Name, &previous, s.differs(previous, p, d)}
		if a.Reason != "" {
			a.Kind = Change
		}
		actions = append(actions, a)
	}
	for name, previous := range s.Plugins {
		if !wanted[name] {
			actions = append(actions, Action{Remove, name, &previous, "no longer wanted"})
		}
	}
	sortActions(actions)
	return actions
}

func sortActions(actions []Action) {
	slices.SortFunc(actions, func(a, b Action) int { return strings.Compare(a.Name, b.Name) })
}

// differs says why an installed plugin is not the wanted one, or returns "".
func (s *State) differs(i Installed, p Plugin, d Desired) string {
	switch {
	case s.Platform != d.Platform:
		return "it is for " + s.Platform.String()
	case s.LinkMode != d.LinkMode:
		return "its link mode is " + string(s.LinkMode)
	case i.Version != p.Version:
		return "its version is " + i.Version.String()
	case i.Override != p.Override:
		return "it is another local build, or none"
	case !i.equal(p.Description):
		return "it is another image"
	case d.LinkMode == Symlink && i.Target != p.StoreRoot:
		return "it is in another store"
	}
	return ""
}
