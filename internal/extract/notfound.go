package extract

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/agext/levenshtein"

	"github.com/pluginlock/plugins/internal/text"
)

// NotFoundError means that a foreign image does not have the program.
type NotFoundError struct {
	Names     []string // the paths that were looked for, absolute
	Directory string   // the deepest directory on the way that exists, absolute
	Missing   string   // what it has not, or has as something else than is needed
	Similar   []string // names in Directory, the nearest first, at most five, escaped
	Layers    int      // that were read; lower ones could not have changed the answer
}

func (e *NotFoundError) Error() string {
	var names []string
	for _, n := range e.Names {
		names = append(names, fmt.Sprintf("%q", text.Clip(n)))
	}
	message := fmt.Sprintf("the image has no file %s: there is no usable %q in its directory %q",
		strings.Join(names, " or "), text.Clip(e.Missing), text.Clip(e.Directory))
	if len(e.Similar) == 0 {
		return message
	}
	return message + ", which has " + strings.Join(e.Similar, ", ")
}

const (
	maxSimilar  = 5
	maxCompared = 1000 // names of one directory
)

func (s *search) notFound() error {
	end := s.view.resolve(s.wanted[0])
	e := &NotFoundError{Directory: "/" + end.dir, Layers: len(s.view.layers)}
	for _, w := range s.wanted {
		e.Names = append(e.Names, "/"+w)
	}
	missing := strings.TrimPrefix(strings.TrimPrefix(end.path, end.dir), "/")
	e.Missing, _, _ = strings.Cut(missing, "/")
	if e.Missing == "" { // a directory stands where the file should
		e.Directory, e.Missing = path.Split("/" + end.path)
	}
	e.Similar = s.view.similar(end.dir, e.Missing)
	return e
}

// similar lists what the image shows in a directory, the nearest names first.
func (v *view) similar(dir, name string) []string {
	seen := map[string]bool{}
	for _, l := range v.layers {
		for p := range l.entries {
			base := path.Base(p)
			if parent := strings.TrimSuffix(strings.TrimSuffix(p, base), "/"); parent != dir || len(base) > MaxComponentBytes {
				continue
			}
			if _, _, o, _ := v.lookup(p, 0, len(v.layers)); o == found {
				seen[base] = true
			}
		}
	}
	names := slices.Sorted(maps.Keys(seen))
	names = nearest(names[:min(len(names), maxCompared)], name)
	for i, n := range names {
		names[i] = fmt.Sprintf("%q", text.Clip(n))
	}
	return names
}

// nearest orders names by their distance from name and keeps the first few.
func nearest(names []string, name string) []string {
	name = name[:min(len(name), MaxComponentBytes)]
	distance := map[string]int{}
	for _, n := range names {
		distance[n] = levenshtein.Distance(n, name, nil)
	}
	slices.SortStableFunc(names, func(a, b string) int { return distance[a] - distance[b] })
	return names[:min(len(names), maxSimilar)]
}
