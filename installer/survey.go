package installer

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/lock"
)

// Survey is what a registry has for one requirement, beside what is locked.
type Survey struct {
	Requirement Requirement
	Locked      *lock.Entry // nil where there is none
	Stats       TagStats
	Considered  []Considered // what the constraint admits and was looked at, newest first
	Chosen      addr.Version // what an update would select; zero where nothing can be used
	Others      []Candidate  // what the constraint does not admit, newest first
	Older       []Candidate  // what it admits, but is older than what was chosen
	TagNow      addr.Digest  // what the locked version's tag points to now; zero where it is gone
	Err         error
}

// Moved reports whether the locked version's tag points to another image.
func (s *Survey) Moved() bool {
	return s.Err == nil && s.Locked != nil && s.TagNow != s.Locked.Digest
}

// Survey asks about the project's requirements, or about those that its Names
// name, without changing or downloading anything: only lists and documents are
// read.
func (in *Installer) Survey(ctx context.Context, project *Project) []*Survey {
	var surveys []*Survey
	for _, req := range project.Requirements {
		if len(project.Names) == 0 || slices.Contains(project.Names, req.Name) {
			s := &Survey{Requirement: req}
			s.Locked, _ = find(req, project.Requirements, project.Lock)
			surveys = append(surveys, s)
		}
	}
	r := &resolver{in, newDocuments(in.Open, in.Store)}
	var group errgroup.Group
	group.SetLimit(transfers)
	for _, s := range surveys {
		group.Go(func() error {
			s.Err = r.survey(ctx, s)
			return nil
		})
	}
	_ = group.Wait()
	return surveys
}

func (r *resolver) survey(ctx context.Context, s *Survey) error {
	req := s.Requirement
	repo, err := r.documents.repository(req.Source)
	if err != nil {
		return err
	}
	tags, err := repo.Tags(ctx)
	if err != nil {
		return err
	}
	if s.Locked != nil && s.Locked.Source == req.Source {
		if s.TagNow, err = r.tagNow(ctx, s.Locked); err != nil {
			return err
		}
	}
	var admitted []Candidate
	admitted, s.Stats = Candidates(req.Constraint, tags)
	s.Others = notAdmitted(req.Constraint, tags)
	for i, c := range admitted {
		if len(s.Considered) == maxSkipped {
			return nil
		}
		_, reason, err := r.look(ctx, req, c)
		if err != nil {
			return err
		}
		s.Considered = append(s.Considered, Considered{c.Version, c.Tags[0], reason})
		if reason == "" {
			s.Chosen, s.Older = c.Version, admitted[i+1:]
			return nil
		}
	}
	return nil
}

// tagNow returns the digest that an entry's tag points to; zero where the tag
// is gone.
func (r *resolver) tagNow(ctx context.Context, entry *lock.Entry) (addr.Digest, error) {
	doc, _, err := r.candidateDocument(ctx, entry.Source, Candidate{entry.Version, []string{entry.TagName()}})
	if doc == nil {
		return "", err
	}
	return doc.Digest, err
}

// notAdmitted lists the versions that constraint does not admit, newest first.
func notAdmitted(constraint addr.Constraint, tags []string) []Candidate {
	return candidates(tags, func(v addr.Version) bool { return !constraint.Allows(v) })
}
