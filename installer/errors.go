package installer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/text"
)

// Problem is one plugin's failure. Err is typed: an error of this package, of
// getter, of the store or of the extraction.
type Problem struct {
	Plugin  string
	Source  addr.Source
	Version string // "" before one was selected
	Err     error  // never nil
}

func (p *Problem) Error() string { return fmt.Sprintf("plugin %q: %v", p.Plugin, p.Err) }

// Unwrap gives errors.Is and errors.As the cause.
func (p *Problem) Unwrap() error { return p.Err }

// NoMatchError means that the registry answered and no version fits.
type NoMatchError struct {
	Constraint addr.Constraint
	Stats      TagStats
}

func (e *NoMatchError) Error() string {
	switch s := e.Stats; {
	case s.Tags == 0:
		return fmt.Sprintf("no version matches %q: the repository is there, but has no tags", e.Constraint)
	case s.Releases+s.Prereleases+s.Builds == 0:
		return fmt.Sprintf("no version matches %q: none of its %s is a version MAJOR.MINOR.PATCH", e.Constraint, count(s.Tags, "tag", "tags"))
	case s.Releases == 0 && s.Prereleases > 0:
		return fmt.Sprintf("no version matches %q: there are only pre-releases, the newest is %s; a constraint that names one, such as \">= %s\", admits it",
			e.Constraint, s.Newest, s.Newest)
	case s.Newest.IsZero():
		return fmt.Sprintf("no version matches %q: there are only versions with build metadata, which \"= VERSION+BUILD\" selects", e.Constraint)
	default:
		newest := "the only release"
		if s.Releases > 1 {
			newest = fmt.Sprintf("the newest of %d releases", s.Releases)
		}
		return fmt.Sprintf("no version matches %q: %s is %s%s", e.Constraint, newest, s.Newest, s.others())
	}
}

// ExactError means that an exact version has none of its tags, and that the
// tags there are could not be listed.
type ExactError struct {
	Source  addr.Source
	Version addr.Version
	Err     error // why they could not be listed
}

func (e *ExactError) Error() string {
	tags := spellings(e.Version)
	return fmt.Sprintf("neither tag %q nor tag %q is there; %s", tags[0], tags[1], strings.TrimPrefix(e.Err.Error(), e.Source.String()+": "))
}

// Unwrap returns what the registry answered.
func (e *ExactError) Unwrap() error { return e.Err }

// others tells of the tags that were not considered.
func (s TagStats) others() string {
	var parts []string
	add := func(n int, one, many string) {
		if n > 0 {
			parts = append(parts, count(n, one, many))
		}
	}
	add(s.Prereleases, "pre-release", "pre-releases")
	add(s.Builds, "version with build metadata", "versions with build metadata")
	add(s.Tags-s.Releases-s.Prereleases-s.Builds, "tag that is not a version", "tags that are not versions")
	if parts == nil {
		return ""
	}
	return "; not considered: " + strings.Join(parts, ", ")
}

// UnsuitableError means that versions match but each was passed over.
type UnsuitableError struct {
	Constraint addr.Constraint
	Considered []Considered
	More       bool // the search ended at its bound
}

func (e *UnsuitableError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "no version that matches %q can be used", e.Constraint)
	if e.More {
		fmt.Fprintf(&b, " among the newest %d", len(e.Considered))
	}
	b.WriteString(":")
	for _, c := range e.Considered {
		fmt.Fprintf(&b, "\n  %s: %s", c.Version, c.Reason)
	}
	return b.String()
}

// NotOfferedError means that a version does not exist for a platform.
type NotOfferedError struct {
	Version  addr.Version
	Platform addr.Platform
	Offered  []addr.Platform
	Newest   addr.Version // the newest version that has it, zero where none was found
}

func (e *NotOfferedError) Error() string {
	s := fmt.Sprintf("version %s is not offered for %s; it is offered for %s", e.Version, e.Platform, text.Join(e.Offered))
	if !e.Newest.IsZero() {
		s += fmt.Sprintf("; the newest version that is offered for %s is %s", e.Platform, e.Newest)
	}
	return s
}

// SpellingsError means that two tags spell one version but hold two images.
type SpellingsError struct {
	Tags    [2]string
	Digests [2]addr.Digest
}

func (e *SpellingsError) Error() string {
	return fmt.Sprintf("tags %q and %q are the same version but hold different images, %s and %s; its publisher has to remove one of them",
		e.Tags[0], e.Tags[1], e.Digests[0], e.Digests[1])
}

// RepublishedError means that a version's tag holds another image than the
// lock file says.
type RepublishedError struct {
	Version addr.Version
	Locked  addr.Digest
	Found   addr.Digest
	Kept    bool // the locked image stays in use, and this is a warning
}

func (e *RepublishedError) Error() string {
	s := fmt.Sprintf("version %s was published again: the lock file has %s, the registry now has %s", e.Version, e.Locked, e.Found)
	if e.Kept {
		s += "; the locked image is kept"
	}
	return s
}

// OlderError warns that an update found only versions older than the locked
// one, which it kept.
type OlderError struct {
	Locked addr.Version
	Newest addr.Version // that is offered now and can be used
}

func (e *OlderError) Error() string {
	return fmt.Sprintf("the newest version that is offered now is %s, which is older than the locked %s: the locked one is kept", e.Newest, e.Locked)
}

// GoneError means that the registry no longer has a locked digest.
type GoneError struct {
	Digest addr.Digest
	Tag    string
	Now    addr.Digest // what the tag points to now, zero where it is gone too
	Err    error
}

func (e *GoneError) Error() string {
	if e.Now.IsZero() {
		return fmt.Sprintf("locked digest %s is gone, and so is tag %q", e.Digest, e.Tag)
	}
	return fmt.Sprintf("locked digest %s is gone; tag %q now points to %s", e.Digest, e.Tag, e.Now)
}

// Unwrap returns what the registry answered.
func (e *GoneError) Unwrap() error { return e.Err }

// OfflineError means that something is missing which only a registry has.
type OfflineError struct {
	Source addr.Source
	Reason string // why it would have to be asked; "" where nobody said
}

func (e *OfflineError) Error() string {
	reason := e.Reason
	if reason == "" {
		reason = "the registry would have to be asked"
	}
	return fmt.Sprintf("%s: %s, and this run is offline", e.Source, reason)
}

// because gives an error for lack of a network the reason why it was needed.
func because(err error, reason string) error {
	var offline *OfflineError
	if errors.As(err, &offline) && offline.Reason == "" {
		offline.Reason = reason
	}
	return err
}

// ImageError means that an image cannot be used as the requirement says.
type ImageError struct {
	Reason string
}

func (e *ImageError) Error() string { return e.Reason }

func imageErrorf(format string, args ...any) error {
	return &ImageError{fmt.Sprintf(format, args...)}
}

// DifferenceError means that the lock file is not what it would have to be, in
// a mode that does not change it.
type DifferenceError struct {
	Changes []LockChange // never empty, by name
}

func (e *DifferenceError) Error() string {
	lines := []string{"the lock file is not up to date:"}
	for _, c := range e.Changes {
		lines = append(lines, "  "+c.String())
	}
	return strings.Join(lines, "\n")
}

// count prints a number with its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Problems is the failure of several plugins at once.
type Problems []*Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap reaches each problem.
func (p Problems) Unwrap() []error {
	errs := make([]error, len(p))
	for i, problem := range p {
		errs[i] = problem
	}
	return errs
}

// joinProblems returns nil, or a [Problems] of those that are not nil.
func joinProblems(problems []*Problem) error {
	problems = slices.DeleteFunc(slices.Clone(problems), func(p *Problem) bool { return p == nil })
	if len(problems) == 0 {
		return nil
	}
	return Problems(problems)
}
