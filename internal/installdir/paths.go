package installdir

import "path"

// Paths lists, with slashes and from the install directory, what [Check] looks
// at in one with this state: what does not belong to one plugin, and what
// belongs to each, by its name.
func (s *State) Paths() (shared []string, plugins map[string][]string) {
	shared = []string{".", installedFile, pluginsDir, binDir}
	plugins = map[string][]string{}
	for name, i := range s.Plugins {
		below := []string{"."} // a link
		if i.receipt != nil {
			below = i.receipt.Names()
		}
		names := []string{path.Join(binDir, i.Bin)}
		for _, n := range below {
			names = append(names, path.Join(pluginsDir, name, n))
		}
		plugins[name] = names
	}
	return shared, plugins
}
