package installer

import (
	"context"
	"errors"
	"slices"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/getter"
	"github.com/pluginlock/plugins/internal/image"
	"github.com/pluginlock/plugins/lock"
)

// settle carries out one decision: it ends in a lock entry or in a problem.
func (r *resolver) settle(ctx context.Context, project *Project, d decision) (Item, []*Problem) {
	item := Item{Name: d.req.Name, Previous: d.entry, Reason: d.reason, Override: project.Overrides[d.req.Name]}
	if item.Override != "" {
		item.Entry = d.entry
		return item, nil
	}
	var warnings []*Problem
	var err error
	switch d.verb {
	case keep:
		item.Entry = renamed(d.entry, d.req.Name)
	case complete:
		item.Entry, err = r.complete(ctx, d, project.Targets)
	case resolve:
		r.resolving(d)
		var found *Resolution
		if found, err = r.resolve(ctx, d.req, d.prefer); err == nil {
			named := slices.Contains(project.Names, d.req.Name)
			var warning error
			item.Considered = found.Considered
			item.Entry, warning, err = supersede(d, found, named, project.AcceptRepublished)
			warnings = appendWarning(warnings, d.req, warning)
		}
	}
	if err == nil {
		err = r.aim(ctx, project, d.req, &item)
	}
	if err != nil {
		item.Problem = problem(d.req, item.Entry, because(err, d.reason))
	}
	return item, warnings
}

// resolving tells that a registry will be asked, and why.
func (r *resolver) resolving(d decision) {
	if r.Open != nil {
		r.emit(Event{Kind: EventResolving, Plugin: d.req.Name, Source: d.req.Source, Text: d.reason})
	}
}

// renamed returns entry under the name that the requirement has now.
func renamed(entry *lock.Entry, name string) *lock.Entry {
	if entry.Name == name {
		return entry
	}
	copied := *entry
	copied.Name = name
	return &copied
}

// supersede decides whether what was found takes the place of the locked entry.
// An update never goes back to an older version or to another image of the same
// version unless it was told to.
func supersede(d decision, found *Resolution, named, acceptRepublished bool) (entry *lock.Entry, warning, err error) {
	next := &found.Entry
	if d.entry == nil || unfit(d.req, d.entry) != "" {
		return next, nil, nil
	}
	order := next.Version.Compare(d.entry.Version)
	switch {
	case order < 0:
		return d.entry, &OlderError{Locked: d.entry.Version, Newest: next.Version}, nil
	case order > 0 || next.Digest == d.entry.Digest || acceptRepublished:
		return next, nil, nil
	}
	republished := &RepublishedError{Version: d.entry.Version, Locked: d.entry.Digest, Found: next.Digest, Kept: !named}
	if named {
		return nil, nil, republished
	}
	return d.entry, republished, nil
}

// complete adds platforms to a locked entry out of the very image that is
// locked, and leaves everything else of it alone.
func (r *resolver) complete(ctx context.Context, d decision, targets []addr.Platform) (*lock.Entry, error) {
	r.resolving(d)
	doc, err := r.lockedDocument(ctx, d.entry)
	if err != nil {
		return nil, err
	}
	offers, err := r.offers(ctx, d.req.Source, doc)
	if err != nil {
		return nil, err
	}
	var wanted []addr.Platform
	for _, target := range unlocked(d.req, d.entry, targets) {
		child, ok := image.Best(offers, target)
		if !ok {
			return nil, r.notOffered(ctx, d.req, d.entry.Version, target, platformsOf(offers))
		}
		wanted = append(wanted, child.Platform)
	}
	return r.extend(ctx, d, doc, wanted)
}

// extend describes the locked image once more and joins what it lacks.
func (r *resolver) extend(ctx context.Context, d decision, doc *image.Document, wanted []addr.Platform) (*lock.Entry, error) {
	req := d.req
	if !req.Executable.IsZero() {
		req.Platforms = wanted // of a foreign image each platform is a download
	}
	found, reason, err := r.describe(ctx, req, Candidate{d.entry.Version, []string{d.entry.TagName()}}, doc)
	if err != nil {
		return nil, err
	}
	if reason != "" {
		return nil, imageErrorf("the locked image of version %s cannot be used: %s", d.entry.Version, reason)
	}
	described, err := r.lockEntry(ctx, req, found)
	if err != nil {
		return nil, err
	}
	entry := *renamed(d.entry, d.req.Name)
	entry.Platforms = slices.Clone(entry.Platforms)
	for _, p := range described.Platforms {
		if _, ok := entry.Platform(p.Platform); !ok {
			entry.Platforms = append(entry.Platforms, p)
		}
	}
	slices.SortFunc(entry.Platforms, func(a, b lock.Platform) int { return a.Platform.Compare(b.Platform) })
	return &entry, nil
}

// lockedDocument fetches what an entry's digest names. Where the registry has
// lost it, the error says what its tag points to instead.
func (r *resolver) lockedDocument(ctx context.Context, entry *lock.Entry) (*image.Document, error) {
	doc, err := r.documents.top(ctx, entry.Source, entry.Digest)
	if errors.Is(err, getter.ErrNotFound) {
		return nil, r.gone(ctx, entry, err)
	}
	return doc, err
}

func (r *resolver) gone(ctx context.Context, entry *lock.Entry, cause error) error {
	gone := &GoneError{Digest: entry.Digest, Tag: entry.TagName(), Err: cause}
	if now, err := r.documents.tagged(ctx, entry.Source, gone.Tag); err == nil {
		gone.Now = now.Digest
	}
	return gone
}

// aim picks the platform of the entry for each target; where there is none, the
// plugin is skipped if its requirement says so and refused otherwise.
func (r *resolver) aim(ctx context.Context, project *Project, req Requirement, item *Item) error {
	for _, target := range project.Targets {
		locked, ok := lockedFor(item.Entry, target)
		switch {
		case skips(req, target):
			item.Action = ActionSkip
		case ok:
			item.Targets = append(item.Targets, Target{Wanted: target, fetch: newFetch(item.Entry, locked)})
		default:
			return r.notOffered(ctx, req, item.Entry.Version, target, lockedPlatforms(item.Entry))
		}
	}
	return nil
}

// notOffered explains that a version lacks a platform; which version last had
// it is looked up for the message alone, so a failure there is not told.
func (r *resolver) notOffered(ctx context.Context, req Requirement, version addr.Version, target addr.Platform, offered []addr.Platform) error {
	missing := &NotOfferedError{Version: version, Platform: target, Offered: offered}
	repo, err := r.documents.repository(req.Source)
	if err != nil {
		return missing
	}
	tags, err := repo.Tags(ctx)
	if err != nil {
		return missing
	}
	candidates, _ := Candidates(req.Constraint, tags)
	for _, c := range candidates[:min(len(candidates), maxSkipped)] {
		doc, _, err := r.candidateDocument(ctx, req.Source, c)
		if err != nil || doc == nil {
			continue
		}
		if offers, err := r.offers(ctx, req.Source, doc); err == nil {
			if _, ok := image.Best(offers, target); ok {
				missing.Newest = c.Version
				return missing
			}
		}
	}
	return missing
}

func lockedPlatforms(entry *lock.Entry) []addr.Platform {
	var platforms []addr.Platform
	for _, p := range entry.Platforms {
		platforms = append(platforms, p.Platform)
	}
	return platforms
}

func problem(req Requirement, entry *lock.Entry, err error) *Problem {
	p := &Problem{Plugin: req.Name, Source: req.Source, Err: err}
	if entry != nil {
		p.Version = entry.Version.String()
	}
	return p
}

func appendWarning(warnings []*Problem, req Requirement, warning error) []*Problem {
	if warning == nil {
		return warnings
	}
	return append(warnings, problem(req, nil, warning))
}
