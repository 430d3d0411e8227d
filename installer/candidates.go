package installer

import (
	"slices"

	"github.com/pluginlock/plugins/addr"
)

// Candidate is a version that a constraint admits, with the tags that spell it.
type Candidate struct {
	Version addr.Version
	Tags    []string // the version's own spelling first; more than one where v1.2.0 and 1.2.0 both exist
}

// TagStats counts what a registry listed, for messages.
type TagStats struct {
	Tags        int          // all of them
	Releases    int          // those that are versions without pre-release and build metadata
	Prereleases int          // those that are pre-releases
	Builds      int          // those with build metadata, which only "=" can name
	Newest      addr.Version // newest release, else newest pre-release; zero where there is none
}

// Candidates sorts the tags that constraint admits, the newest version first.
// The order in which a registry lists them does not matter.
func Candidates(constraint addr.Constraint, tags []string) ([]Candidate, TagStats) {
	stats := TagStats{Tags: len(tags)}
	for _, tag := range tags {
		if v, ok := addr.ParseTag(tag); ok {
			stats.count(v)
		}
	}
	return candidates(tags, constraint.Allows), stats
}

// candidates joins the spellings of each version that is wanted.
func candidates(tags []string, wanted func(addr.Version) bool) []Candidate {
	byVersion := map[addr.Version][]string{}
	for _, tag := range tags {
		v, ok := addr.ParseTag(tag)
		if ok && wanted(v) && !slices.Contains(byVersion[v], tag) {
			byVersion[v] = append(byVersion[v], tag)
		}
	}
	sorted := make([]Candidate, 0, len(byVersion))
	for v, spellings := range byVersion {
		sortSpellings(v, spellings)
		sorted = append(sorted, Candidate{v, spellings})
	}
	slices.SortFunc(sorted, func(a, b Candidate) int { return b.Version.Compare(a.Version) })
	return sorted
}

func (s *TagStats) count(v addr.Version) {
	switch {
	case v.Build() != "":
		s.Builds++
	case v.Prerelease() != "":
		s.Prereleases++
	default:
		s.Releases++
	}
	better := s.Newest.IsZero() || v.Compare(s.Newest) > 0
	if (s.Newest.Prerelease() == "") != (v.Prerelease() == "") {
		better = v.Prerelease() == "" || s.Newest.IsZero()
	}
	if better && v.Build() == "" {
		s.Newest = v
	}
}

// sortSpellings puts the version's own spelling before the others.
func sortSpellings(v addr.Version, tags []string) {
	slices.SortFunc(tags, func(a, b string) int {
		switch own := v.Tag(); {
		case a == b:
			return 0
		case a == own:
			return -1
		case b == own:
			return 1
		case a < b:
			return -1
		}
		return 1
	})
}

// spellings lists the tags under which an exact version may stand.
func spellings(v addr.Version) []string { return []string{v.Tag(), "v" + v.Tag()} }

// preferred moves the candidate of version v to the front, if there is one.
func preferred(candidates []Candidate, v addr.Version) []Candidate {
	i := slices.IndexFunc(candidates, func(c Candidate) bool { return c.Version == v })
	if v.IsZero() || i < 0 {
		return candidates
	}
	chosen := candidates[i]
	return slices.Insert(slices.Delete(slices.Clone(candidates), i, i+1), 0, chosen)
}
