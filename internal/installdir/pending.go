package installdir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pluginlock/plugins/internal/store/plain"
)

// pending is written before the first place is changed and says which places
// are about to be, so that a run that is killed leaves nothing that nobody
// knows of. One whose run also wrote installed.json has come to its end.
type pending struct {
	Format int               `json:"format"`
	Run    string            `json:"run"`
	Places map[string][]kind `json:"places"` // "plugins/aws" → what may stand there
}

// readPending returns what an earlier run had begun, or nil.
func readPending(dir string, s *State) (*pending, error) {
	path := filepath.Join(dir, pendingFile)
	encoded, err := plain.ReadFile(path, maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &StateError{path, err}
	}
	var p pending
	if err := json.Unmarshal(encoded, &p); err != nil {
		return nil, &StateError{path, err}
	}
	if p.Format != format {
		return nil, &StateError{path, fmt.Errorf("format %d is not known to this version", p.Format)}
	}
	for place := range p.Places {
		parent, name, _ := strings.Cut(place, "/")
		if (parent != pluginsDir && parent != binDir) || !validName(strings.TrimSuffix(name, ".exe")) {
			return nil, &StateError{path, fmt.Errorf("%q is no place for a plugin", place)}
		}
	}
	if p.Run == s.run {
		return nil, nil
	}
	return &p, nil
}

// owned lists what in the directory was made by earlier runs: what the state
// says, and what a killed run had begun.
func owned(s *State, p *pending) map[string][]kind {
	places := map[string][]kind{}
	add := func(place string, kinds ...kind) {
		for _, k := range kinds {
			if !slices.Contains(places[place], k) {
				places[place] = append(places[place], k)
			}
		}
	}
	for name, i := range s.Plugins {
		plugin, bin := kindLink, kindLink
		if i.receipt != nil {
			plugin = kindDir
		}
		if i.binCopy != nil {
			bin = kindFile
		}
		add(pluginsDir+"/"+name, plugin)
		add(binDir+"/"+i.Bin, bin)
	}
	if p != nil {
		for place, kinds := range p.Places {
			add(place, kinds...)
		}
	}
	return places
}
