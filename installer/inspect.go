package installer

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/installdir"
	"github.com/pluginlock/plugins/lock"
)

// Status says how a plugin stands on disk.
type Status string

// The statuses, as output spells them.
const (
	StatusInstalled Status = "installed"
	StatusMissing   Status = "missing" // locked or required, but not installed
	StatusChanged   Status = "changed" // what is installed is not what the lock file says
	StatusDamaged   Status = "damaged" // its files are not what the lock file leads to
	StatusSkipped   Status = "skipped" // its requirement excludes this platform
)

// Inspected is one plugin that is required, locked or installed.
type Inspected struct {
	Name       string
	Entry      *lock.Entry // nil where the lock file has none
	Platform   addr.Platform
	Manifest   addr.Digest
	Dir        string // of its files in the install directory; "" where it is not installed
	Executable string // path of its program below Dir; "" as there
	Override   string // path of the local program that is installed in its place; "" where none is
	Installed  installdir.Description
	Status     Status
	Required   bool  // the configuration asks for it
	Err        error // why it is damaged
}

// Inspect compares requirements, lock file, store and install directory without
// asking a registry or writing. With all it reads every file, trusting no
// receipt; else files are compared by stat.
func (in *Installer) Inspect(ctx context.Context, project *Project, all bool) ([]Inspected, error) {
	plan := &Plan{project: project, documents: newDocuments(nil, in.Store)}
	for _, e := range project.Lock.Entries {
		plan.Items = append(plan.Items, lockedItem(project, e))
	}
	failures := in.inspectStore(ctx, plan, all)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := plan.compareInstalled(ctx); err != nil {
		return nil, err
	}
	for _, req := range project.Requirements {
		if _, ok := project.Lock.Entry(req.Name); !ok {
			plan.item(req.Name)
		}
	}
	for _, a := range plan.actions {
		plan.item(a.Name)
	}
	var inspected []Inspected
	for i := range plan.Items {
		inspected = append(inspected, plan.inspected(&plan.Items[i], failures))
	}
	if all {
		return inspected, plan.inspectCopies(ctx, inspected)
	}
	return inspected, nil
}

// inspectCopies reads the files that were copied to the install directory.
func (p *Plan) inspectCopies(ctx context.Context, inspected []Inspected) error {
	wrong, err := installdir.Verify(ctx, p.project.InstallDir, p.desired)
	for i := range inspected {
		if reason := wrong[inspected[i].Name]; reason != "" {
			inspected[i].Status, inspected[i].Err = StatusDamaged, &CopyError{reason}
		}
	}
	return err
}

// CopyError means that files which were copied to the install directory are not
// those of the store any more.
type CopyError struct {
	Reason string
}

func (e *CopyError) Error() string { return "the installed copy: " + e.Reason }

// lockedItem is the item of an entry as it stands in the lock file.
func lockedItem(project *Project, entry lock.Entry) Item {
	item := Item{Name: entry.Name, Entry: &entry}
	for _, target := range project.Targets {
		excludes := func(req Requirement) bool { return req.Name == entry.Name && skips(req, target) }
		if slices.ContainsFunc(project.Requirements, excludes) {
			item.Action = ActionSkip
		} else if locked, ok := lockedFor(&entry, target); ok {
			item.Targets = append(item.Targets, Target{Wanted: target, fetch: newFetch(&entry, locked)})
		}
	}
	return item
}

// inspectStore looks at the store's side of every item and returns what is
// wrong with it, by name.
func (in *Installer) inspectStore(ctx context.Context, plan *Plan, all bool) map[string]error {
	failures := map[string]error{}
	for _, target := range plan.missing() {
		f := &target.fetch
		err := in.locateOne(ctx, plan.documents, target, all)
		if err != nil {
			failures[f.plugin] = err
		}
	}
	return failures
}

// inspected joins what the store and the install directory show of one item.
func (p *Plan) inspected(item *Item, failures map[string]error) Inspected {
	in := Inspected{Name: item.Name, Entry: item.Entry, Required: required(p.project.Requirements, item.Name), Err: failures[item.Name]}
	if len(item.Targets) > 0 {
		in.Platform, in.Manifest = item.Targets[0].fetch.platform, item.Targets[0].fetch.key.Manifest
	}
	kind := installdir.Install
	for _, a := range p.actions {
		if a.Name == item.Name {
			kind = a.Kind
			if a.Previous != nil {
				in.Installed, in.Override = a.Previous.Description, a.Previous.Override
			}
		}
	}
	switch {
	case item.Action == ActionSkip:
		in.Status = StatusSkipped
	case kind == installdir.Install:
		in.Status, in.Err = StatusMissing, nil
	case in.Override != "":
		in.Status = StatusChanged
	case in.Err != nil:
		in.Status = StatusDamaged
	case kind == installdir.Change && !item.ready() && in.Installed.Manifest == item.Manifest():
		in.Status, in.Err = StatusDamaged, p.notStored()
	case kind == installdir.Keep && !item.ready():
		in.Status, in.Err = StatusDamaged, p.notStored()
	case kind == installdir.Change:
		in.Status = StatusChanged
	default:
		in.Status = StatusInstalled
	}
	if kind != installdir.Install && in.Installed.Executable != "" {
		in.Dir = installdir.PluginDir(p.project.InstallDir, item.Name)
		in.Executable = filepath.Join(in.Dir, filepath.FromSlash(in.Installed.Executable))
	}
	return in
}

// notStored is why a plugin that is linked to the store is damaged.
func (p *Plan) notStored() error {
	return imageErrorf("its files are not in the store %s", p.documents.store.Dir())
}
