package installer

import (
	"fmt"
	"slices"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/text"
	"github.com/pluginlock/plugins/lock"
)

// verb is what has to be done about one requirement's lock entry.
type verb int

const (
	keep     verb = iota // the entry stands as it is, but perhaps for its name
	complete             // the entry stands but lacks the platform that is wanted now
	resolve              // the registry has to be asked
)

// decision is the outcome of comparing one requirement with the lock file.
type decision struct {
	req    Requirement
	entry  *lock.Entry // what the lock file holds for it; nil where nothing
	verb   verb
	reason string       // why the lock file may change, for people; "" for keep without rename
	prefer addr.Version // the version to try first, zero for the newest
}

// decide compares every requirement with the lock file. It asks nobody.
func decide(project *Project) []decision {
	var decisions []decision
	for _, req := range project.Requirements {
		d := decision{req: req}
		d.entry, d.reason = find(req, project.Requirements, project.Lock)
		switch why := unfit(req, d.entry); {
		case project.Overrides[req.Name] != "":
			d.verb, d.reason = keep, ""
		case d.entry == nil:
			d.verb, d.reason = resolve, "it is not in the lock file"
		case why != "":
			d.verb, d.reason = resolve, why
			if d.entry.Source != req.Source {
				d.prefer = d.entry.Version
			}
		case project.Mode == Update && (len(project.Names) == 0 || slices.Contains(project.Names, req.Name)):
			d.verb, d.reason = resolve, "an update was asked for"
		default:
			if missing := unlocked(req, d.entry, project.Targets); len(missing) > 0 {
				d.verb = complete
				d.reason = fmt.Sprintf("the lock file has no %s of version %s", text.Join(missing), d.entry.Version)
			}
		}
		decisions = append(decisions, d)
	}
	return decisions
}

// find returns the entry of a requirement: the one of its name or, after a
// rename, the only entry of its source whose name nobody requires any more.
func find(req Requirement, reqs []Requirement, locked *lock.File) (entry *lock.Entry, reason string) {
	if e, ok := locked.Entry(req.Name); ok {
		return e, ""
	}
	var orphans []*lock.Entry
	for i := range locked.Entries {
		e := &locked.Entries[i]
		if e.Source == req.Source && !required(reqs, e.Name) {
			orphans = append(orphans, e)
		}
	}
	if len(orphans) != 1 {
		return nil, ""
	}
	return orphans[0], fmt.Sprintf("it was called %q", orphans[0].Name)
}

func required(reqs []Requirement, name string) bool {
	return slices.ContainsFunc(reqs, func(r Requirement) bool { return r.Name == name })
}

// unfit says why entry does not satisfy req, or "".
func unfit(req Requirement, entry *lock.Entry) string {
	switch {
	case entry == nil:
		return ""
	case entry.Source != req.Source:
		return fmt.Sprintf("the lock file has it from %s", entry.Source)
	case !req.Constraint.Allows(entry.Version):
		return fmt.Sprintf("constraint %q does not admit the locked version %s", req.Constraint, entry.Version)
	case !entry.Executable.Equal(req.Executable):
		return "its executable is not the one in the lock file"
	}
	for _, p := range req.Platforms {
		if _, ok := lockedFor(entry, p); !ok {
			return fmt.Sprintf("the lock file has no %s of version %s", p, entry.Version)
		}
	}
	if !shareProtocol(req.Protocols, entry.Protocols) {
		return fmt.Sprintf("the locked version %s speaks protocol %s, not %s", entry.Version, text.Join(entry.Protocols), text.Join(req.Protocols))
	}
	return ""
}

// unlocked lists the targets that the entry has nothing for though the
// requirement does not exclude them.
func unlocked(req Requirement, entry *lock.Entry, targets []addr.Platform) []addr.Platform {
	var missing []addr.Platform
	for _, target := range targets {
		if _, ok := lockedFor(entry, target); !ok && !skips(req, target) {
			missing = append(missing, target)
		}
	}
	return missing
}

// skips reports whether the requirement itself says that the plugin does not
// exist for target.
func skips(req Requirement, target addr.Platform) bool {
	if !req.OnlyPlatforms {
		return false
	}
	for _, p := range target.Fallbacks() {
		if slices.Contains(req.Platforms, p) {
			return false
		}
	}
	return true
}

// lockedFor returns what entry has for target: the platform itself, or an older
// variant that target runs.
func lockedFor(entry *lock.Entry, target addr.Platform) (lock.Platform, bool) {
	for _, p := range target.Fallbacks() {
		if locked, ok := entry.Platform(p); ok {
			return locked, true
		}
	}
	return lock.Platform{}, false
}

// shareProtocol reports whether two lists have a protocol in common; an empty
// one has no opinion.
func shareProtocol(want, have []int) bool {
	if len(want) == 0 || len(have) == 0 {
		return true
	}
	return slices.ContainsFunc(want, func(n int) bool { return slices.Contains(have, n) })
}

// orphans lists the entries that nobody requires and nothing was renamed from.
func orphans(reqs []Requirement, decisions []decision, locked *lock.File) []lock.Entry {
	var left []lock.Entry
	for _, e := range locked.Entries {
		renamed := slices.ContainsFunc(decisions, func(d decision) bool { return d.entry != nil && d.entry.Name == e.Name })
		if !required(reqs, e.Name) && !renamed {
			left = append(left, e)
		}
	}
	return left
}

// SameRequirements reports whether two lists ask for the same.
func SameRequirements(a, b []Requirement) bool {
	return slices.EqualFunc(a, b, func(p, q Requirement) bool {
		return p.Name == q.Name && p.Source == q.Source && p.Constraint.Equal(q.Constraint) &&
			slices.Equal(p.Protocols, q.Protocols) && p.Executable.Equal(q.Executable) &&
			slices.Equal(p.Platforms, q.Platforms) && p.OnlyPlatforms == q.OnlyPlatforms
	})
}
