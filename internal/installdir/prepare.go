package installdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/pluginlock/plugins/internal/store/durable"
	"github.com/pluginlock/plugins/internal/store/tree"
)

// prepare makes everything that is new below the working directory and lists
// the changes: programs leave bin/ before their files go, and come after them.
func (a *applier) prepare() error {
	plugins := map[string]Plugin{}
	for _, p := range a.desired.Plugins {
		plugins[p.Name] = p
	}
	var free, fill []change
	known := owned(a.state, a.pending)
	for _, action := range a.plan.Actions {
		if err := a.step("prepare " + action.Name); err != nil {
			return err
		}
		switch p := plugins[action.Name]; action.Kind {
		case Keep:
			a.next[p.Name] = *action.Previous
			if fresh, ok := a.fresh[p.Name]; ok {
				a.next[p.Name] = fresh
			}
		case Remove:
			free = append(free, a.vacate(known, binDir+"/"+action.Previous.Bin, pluginsDir+"/"+action.Name)...)
		case Install, Change:
			if action.Previous != nil && action.Previous.Bin != binName(p.Name, a.desired.Platform) {
				free = append(free, a.vacate(known, binDir+"/"+action.Previous.Bin)...)
			}
			changes, err := a.plugin(known, p)
			if err != nil {
				return err
			}
			fill = append(fill, changes...)
		}
	}
	free = append(free, a.vacate(known, a.plan.Leftovers...)...)
	a.changes = slices.Concat(free, fill)
	return a.ignore()
}

// vacate lists places to be freed, as far as there still is what was made.
// Whatever somebody else put there since stays.
func (a *applier) vacate(known map[string][]kind, places ...string) (changes []change) {
	for _, place := range places {
		info, err := a.root.Lstat(place)
		if err == nil && slices.Contains(known[place], kindOf(info.Mode())) {
			changes = append(changes, change{place: place})
		}
	}
	return changes
}

// plugin makes one plugin's files and program ready.
func (a *applier) plugin(known map[string][]kind, p Plugin) ([]change, error) {
	bin := binName(p.Name, a.desired.Platform)
	i := Installed{Description: p.Description, Bin: bin}
	if err := checkProgram(p); err != nil {
		return nil, err
	}
	files := change{pluginsDir + "/" + p.Name, a.work + "/plugin-" + p.Name, kindLink, p.StoreRoot}
	program := change{binDir + "/" + bin, a.work + "/bin-" + bin, kindLink, binTarget(p.Name, p.Executable)}
	if a.desired.LinkMode == Copy {
		files.kind, files.target = kindDir, ""
	} else {
		i.Target = p.StoreRoot
	}
	for _, c := range []change{files, program} {
		if err := a.claim(known, c); err != nil {
			return nil, err
		}
	}
	if err := a.makeFiles(p, files); err != nil {
		return nil, err
	}
	if err := a.link(program.target, program.ready); err != nil {
		if a.desired.LinkMode != Copy {
			return nil, &SymlinkError{a.path(binDir, bin), err}
		}
		program.kind, i.binCopy = kindFile, &tree.File{}
		if err := a.copyProgram(p, program.ready); err != nil {
			return nil, fmt.Errorf("copying plugin %s: %w", p.Name, err)
		}
	}
	a.next[p.Name] = i
	return []change{files, program}, nil
}

// makeFiles makes what comes below plugins/.
func (a *applier) makeFiles(p Plugin, c change) error {
	if c.kind == kindDir {
		if err := a.copyTree(p, c.ready); err != nil {
			return fmt.Errorf("copying plugin %s: %w", p.Name, err)
		}
		return nil
	}
	if err := a.link(c.target, c.ready); err != nil {
		return &SymlinkError{a.path(pluginsDir, p.Name), err}
	}
	return nil
}

// claim makes sure that a place is free, ours, or holds just the link that
// comes there.
func (a *applier) claim(known map[string][]kind, c change) error {
	info, err := a.root.Lstat(c.place)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	found := kindOf(info.Mode())
	if slices.Contains(known[c.place], found) {
		return nil
	}
	if found == kindLink && c.kind == kindLink {
		if there, err := a.root.Readlink(c.place); err == nil && there == c.target {
			return nil
		}
	}
	return &ForeignFileError{a.path(filepath.FromSlash(c.place)), found.String()}
}

func (a *applier) link(target, name string) error {
	if a.options.symlink != nil {
		return a.options.symlink(a.root, target, name)
	}
	return a.root.Symlink(target, name)
}

// checkProgram makes sure that what bin/ will lead to can be executed.
func checkProgram(p Plugin) error {
	path := filepath.Join(p.StoreRoot, filepath.FromSlash(p.Executable))
	info, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("plugin %s: %w", p.Name, err)
	}
	if !info.Mode().IsRegular() || !canExecute(info.Mode()) {
		return fmt.Errorf("plugin %s: %s is not an executable file", p.Name, path)
	}
	return nil
}

func canExecute(mode fs.FileMode) bool { return runtime.GOOS == "windows" || mode&0o111 != 0 }

// ignore keeps the directory out of version control, unless somebody decided
// otherwise.
func (a *applier) ignore() error {
	err := durable.Create(a.root, ignoreFile, []byte("*\n"), 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		a.undo = append(a.undo, func() error { return a.root.Remove(ignoreFile) })
	}
	return err
}

// replaceFile replaces a file of the install directory, durably.
func (a *applier) replaceFile(name string, content []byte) error {
	ready := a.work + "/" + name
	if err := durable.Create(a.root, ready, content, 0o644); err != nil {
		return err
	}
	if err := a.exchange(change{place: name, ready: ready, kind: kindFile}); err != nil {
		return err
	}
	return durable.SyncDir(a.dir)
}
