package plugins

import (
	"context"
	"slices"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/installer"
)

// Outdated is how one plugin stands against its registry.
type Outdated struct {
	Name       string
	Source     string
	Constraint string // as written
	Current    string // the locked version, "" where none is
	Allowed    string // what an update would select, "" where nothing
	Newest     string // the newest release of all, whatever the constraint says
	Moved      bool   // the locked version's tag points to another image now, or to none
	TagNow     string // the digest it points to, "" where it is gone
	Err        error  // the registry could not be asked
}

// IsOutdated reports whether an update would change the plugin.
func (o *Outdated) IsOutdated() bool { return o.Allowed != "" && o.Allowed != o.Current }

// FindOutdated asks the registries of all required plugins, or of the named
// ones, what they have. It changes nothing. Plugins whose registry fails are
// listed with their error, and the error of the call joins those.
func FindOutdated(ctx context.Context, o Options) ([]Outdated, error) {
	r, surveys, err := survey(ctx, o)
	if err != nil {
		return nil, err
	}
	var all []Outdated
	var problems installer.Problems
	for _, s := range surveys {
		one := Outdated{
			Name: s.Requirement.Name, Source: s.Requirement.Source.String(), Constraint: r.constraintText(s.Requirement.Name),
			Allowed: s.Chosen.String(), Newest: s.Stats.Newest.String(), Moved: s.Moved(), TagNow: s.TagNow.String(), Err: s.Err,
		}
		if s.Locked != nil {
			one.Current = s.Locked.Version.String()
			if older(one.Allowed, s.Locked.Version) && s.Requirement.Constraint.Allows(s.Locked.Version) {
				one.Allowed = one.Current // an update never goes back by itself
			}
		}
		if s.Err != nil {
			problems = append(problems, &installer.Problem{Plugin: one.Name, Source: s.Requirement.Source, Version: one.Current, Err: s.Err})
		}
		all = append(all, one)
	}
	if len(problems) > 0 {
		return all, r.fail(problems)
	}
	return all, nil
}

func older(version string, than addr.Version) bool {
	v, err := addr.ParseVersion(version)
	return err == nil && v.Compare(than) < 0
}

// Explanation says for one required plugin what its registry has and why each
// version would be chosen or not.
type Explanation struct {
	Name       string
	Source     string
	Constraint string // as written
	Locked     string // version, "" where none is locked
	Platforms  []addr.Platform
	Versions   []ExplainedVersion // newest first
}

// ExplainedVersion is one version of an [Explanation].
type ExplainedVersion struct {
	Version string
	Tags    []string
	Chosen  bool   // an update would select it
	Locked  bool   // it is the locked one
	Reason  string // why it is not chosen, "" where it is
}

// Explain asks the registry of one required plugin what it has, and says of
// each version why it is chosen or not. It changes nothing.
func Explain(ctx context.Context, o Options, name string) (*Explanation, error) {
	o.Names = []string{name}
	r, surveys, err := survey(ctx, o)
	if err != nil {
		return nil, err
	}
	s := surveys[0]
	if s.Err != nil {
		return nil, r.fail(installer.Problems{{Plugin: name, Source: s.Requirement.Source, Err: s.Err}})
	}
	e := &Explanation{Name: name, Source: s.Requirement.Source.String(), Constraint: r.constraintText(name), Versions: explain(s)}
	if s.Locked != nil {
		e.Locked = s.Locked.Version.String()
		for _, p := range s.Locked.Platforms {
			e.Platforms = append(e.Platforms, p.Platform)
		}
	}
	return e, nil
}

// explain joins what was looked at and what was not, newest first.
func explain(s *installer.Survey) []ExplainedVersion {
	type explained struct {
		version addr.Version
		ExplainedVersion
	}
	var all []explained
	add := func(v addr.Version, tags []string, reason string) {
		locked := s.Locked != nil && s.Locked.Version == v
		all = append(all, explained{v, ExplainedVersion{v.String(), tags, reason == "", locked, reason}})
	}
	for _, c := range s.Considered {
		add(c.Version, []string{c.Tag}, c.Reason)
	}
	for _, c := range s.Older {
		add(c.Version, c.Tags, "older than "+s.Chosen.String())
	}
	for _, c := range s.Others {
		add(c.Version, c.Tags, whyNot(s.Requirement.Constraint, c.Version))
	}
	slices.SortStableFunc(all, func(a, b explained) int { return b.version.Compare(a.version) })
	versions := make([]ExplainedVersion, len(all))
	for i := range all {
		versions[i] = all[i].ExplainedVersion
	}
	return versions
}

func whyNot(c addr.Constraint, v addr.Version) string {
	switch c.Judge(v) {
	case addr.Prerelease:
		return "a pre-release that the constraint does not name"
	case addr.Build:
		return "a build that the constraint does not name"
	}
	return "outside of the constraint"
}

// survey asks about all required plugins, or the named ones.
func survey(ctx context.Context, o Options) (*run, []*installer.Survey, error) {
	r, err := prepare(o)
	defer r.close()
	if err != nil {
		return r, nil, r.fail(err)
	}
	return r, r.installer.Survey(ctx, r.project()), nil
}

// constraintText returns a requirement's constraint as its author wrote it.
func (r *run) constraintText(name string) string {
	for _, q := range r.requirements {
		if q.Name == name {
			return q.Version
		}
	}
	return ""
}
