package installer

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/getter"
	"github.com/pluginlock/plugins/internal/image"
	"github.com/pluginlock/plugins/internal/text"
	"github.com/pluginlock/plugins/lock"
)

// maxSkipped bounds how many candidates are passed over before giving up, so
// that a constraint nothing can satisfy does not walk a whole registry.
const maxSkipped = 20

// Considered is a candidate and why it was not chosen; Reason is "" for the
// one that was.
type Considered struct {
	Version addr.Version
	Tag     string
	Reason  string
}

// Resolution is the outcome of asking a registry about one requirement.
type Resolution struct {
	Entry      lock.Entry
	Considered []Considered // newest first; the chosen one last
	Stats      TagStats     // zero where no list was needed
	Warnings   []string
}

// resolver asks registries on behalf of one plan.
type resolver struct {
	*Installer
	documents *documents
}

// resolve selects a version for req and describes it as a lock entry. prefer,
// where not zero, is tried before all others.
func (r *resolver) resolve(ctx context.Context, req Requirement, prefer addr.Version) (*Resolution, error) {
	exact, isExact := req.Constraint.Exact()
	if isExact {
		found, err := r.resolveExact(ctx, req, exact)
		if found != nil || err != nil {
			return found, err
		}
	}
	repo, err := r.documents.repository(req.Source)
	if err != nil {
		return nil, err
	}
	tags, err := repo.Tags(ctx)
	switch {
	case err != nil && isExact:
		return nil, &ExactError{req.Source, exact, err}
	case err != nil:
		return nil, err
	}
	if mirrored, ok := repo.(interface{ Mirror() string }); ok && mirrored.Mirror() != "" {
		r.note(req, "its versions were listed by the mirror "+mirrored.Mirror())
	}
	candidates, stats := Candidates(req.Constraint, tags)
	if len(candidates) == 0 {
		return nil, &NoMatchError{req.Constraint, stats}
	}
	found, err := r.choose(ctx, req, preferred(candidates, prefer))
	if found != nil {
		found.Stats = stats
	}
	return found, err
}

// note tells how something was chosen.
func (r *resolver) note(req Requirement, text string) {
	r.emit(Event{Kind: EventNote, Plugin: req.Name, Source: req.Source, Text: text})
}

// resolveExact asks for the tags that an exact version can have, without a
// list. It returns nil, nil where both are missing.
func (r *resolver) resolveExact(ctx context.Context, req Requirement, exact addr.Version) (*Resolution, error) {
	tags := spellings(exact)
	var present [2]bool
	group, groupCtx := errgroup.WithContext(ctx)
	for i, tag := range tags {
		group.Go(func() error {
			_, err := r.documents.tagged(groupCtx, req.Source, tag)
			var other *image.NotImageError
			present[i] = err == nil || errors.As(err, &other)
			if errors.Is(err, getter.ErrNotFound) || errors.As(err, &other) {
				return nil
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	candidate := Candidate{Version: exact}
	for i, tag := range tags {
		if present[i] {
			candidate.Tags = append(candidate.Tags, tag)
		}
	}
	if candidate.Tags == nil {
		return nil, nil
	}
	return r.choose(ctx, req, []Candidate{candidate})
}

// choose takes the first candidate that can be used. What cannot be read
// because the registry is at fault is an error: a passing fault must not lead
// to an older version.
func (r *resolver) choose(ctx context.Context, req Requirement, candidates []Candidate) (*Resolution, error) {
	var considered []Considered
	for _, c := range candidates {
		if len(considered) == maxSkipped {
			return nil, &UnsuitableError{req.Constraint, considered, true}
		}
		entry, reason, err := r.try(ctx, req, c)
		if err != nil {
			return nil, err
		}
		considered = append(considered, Considered{c.Version, c.Tags[0], reason})
		if reason == "" {
			return &Resolution{Entry: *entry, Considered: considered}, nil
		}
		r.emit(Event{Kind: EventSkipped, Plugin: req.Name, Source: req.Source, Version: c.Version.String(), Text: reason})
	}
	return nil, &UnsuitableError{req.Constraint, considered, false}
}

// try describes a candidate as a lock entry, or says why it is passed over.
func (r *resolver) try(ctx context.Context, req Requirement, c Candidate) (*lock.Entry, string, error) {
	found, reason, err := r.look(ctx, req, c)
	if err != nil || reason != "" {
		return nil, reason, err
	}
	entry, err := r.lockEntry(ctx, req, found)
	return entry, "", err
}

// look reads the documents of a candidate and judges it, without downloading
// any plugin. A reason means that the candidate is passed over.
func (r *resolver) look(ctx context.Context, req Requirement, c Candidate) (found *sighting, reason string, err error) {
	doc, reason, err := r.candidateDocument(ctx, req.Source, c)
	if doc == nil {
		return nil, reason, err
	}
	return r.describe(ctx, req, c, doc)
}

// candidateDocument reads what the candidate's tags point to; a tag that is
// gone or holds something else is a reason, two images for one version an error.
func (r *resolver) candidateDocument(ctx context.Context, source addr.Source, c Candidate) (*image.Document, string, error) {
	var first *image.Document
	var reason string
	for _, tag := range c.Tags {
		doc, err := r.documents.tagged(ctx, source, tag)
		var other *image.NotImageError
		switch {
		case errors.As(err, &other):
			reason = fmt.Sprintf("tag %q holds %q, not an image", tag, text.Clip(other.What))
		case errors.Is(err, getter.ErrNotFound):
			reason = fmt.Sprintf("tag %q is listed, but its manifest is gone", tag)
		case err != nil:
			return nil, "", err
		case first == nil:
			first = doc
		case first.Digest != doc.Digest:
			return nil, "", &SpellingsError{[2]string{c.Tags[0], tag}, [2]addr.Digest{first.Digest, doc.Digest}}
		}
	}
	return first, reason, nil
}

// offers lists the platforms of an image, read from its config where it has no
// index.
func (r *resolver) offers(ctx context.Context, source addr.Source, doc *image.Document) ([]image.Child, error) {
	if doc.Index != nil {
		return doc.Index.Offers()
	}
	platform, err := r.configPlatform(ctx, source, doc)
	if err != nil {
		return nil, err
	}
	return []image.Child{{Platform: platform, Digest: doc.Digest, Size: int64(len(doc.Raw)), MediaType: doc.MediaType}}, nil
}

func lacksPlatform(req Requirement, offers []image.Child) string {
	if len(offers) == 0 {
		return "it is offered for no platform"
	}
	for _, p := range req.Platforms {
		if _, ok := image.Best(offers, p); !ok {
			return fmt.Sprintf("it is not offered for %s", p)
		}
	}
	return ""
}
