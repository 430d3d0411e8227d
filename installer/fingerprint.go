package installer

import (
	"context"
	"slices"

	"github.com/pluginlock/plugins/internal/fingerprint"
	"github.com/pluginlock/plugins/internal/installdir"
	"github.com/pluginlock/plugins/internal/store"
)

// Fingerprint takes the fingerprint of a project for which a plan was carried
// out or had nothing to do; the plan must be for one platform and without
// overrides. ok is false where not everything is in place after all, or where
// what the file system says proves nothing.
func (in *Installer) Fingerprint(ctx context.Context, plan *Plan) (f *fingerprint.Fingerprint, ok bool) {
	state, err := installdir.Read(plan.project.InstallDir)
	if err != nil {
		return nil, false
	}
	shared, installed := state.Paths()
	f = &fingerprint.Fingerprint{Shared: fingerprint.State{Installed: shared}}
	for i := range plan.Items {
		item := &plan.Items[i]
		if item.Entry == nil {
			continue // it was removed
		}
		p, ok := item.fingerprint(installed[item.Name])
		if !ok {
			return nil, false
		}
		f.Plugins = append(f.Plugins, p)
	}
	if f.Take(fingerprint.Dirs{Install: plan.project.InstallDir, Store: in.Store.Dir()}) != nil {
		return nil, false
	}
	if in.taken != nil {
		in.taken()
	}
	return f, in.inPlace(ctx, plan)
}

// fingerprint is what a fingerprint holds of one plugin, but for the state of
// its files; installed are their names in the install directory.
func (item *Item) fingerprint(installed []string) (p fingerprint.Plugin, ok bool) {
	p = fingerprint.Plugin{Name: item.Name, Version: item.Entry.Version.String(), Source: item.Entry.Source.String(),
		Digest: item.Entry.Digest, Protocols: item.Entry.Protocols}
	if len(item.Targets) == 0 { // it is not for this platform, whatever became of it in this run
		return p, true
	}
	fetch := &item.Targets[0].fetch
	p.Platform, p.Manifest, p.Executable = fetch.platform.String(), fetch.key.Manifest, fetch.pinned.Executable
	stored, ok := fetch.stored.Paths()
	stored = append(stored, store.DocumentPath(fetch.source, fetch.entry.Digest))
	p.State = fingerprint.State{Installed: installed, Stored: stored}
	return p, ok
}

// inPlace looks once more whether everything of a plan is in place: a
// fingerprint counts only if nobody changed anything between the run's look at
// the files and the one that the fingerprint was taken by.
func (in *Installer) inPlace(ctx context.Context, plan *Plan) bool {
	again := &Plan{project: plan.project, documents: newDocuments(nil, in.Store), Items: slices.Clone(plan.Items)}
	for i := range again.Items {
		again.Items[i].Targets = slices.Clone(again.Items[i].Targets)
	}
	again.forget()
	if in.locate(ctx, again) != nil || again.compareInstalled(ctx) != nil {
		return false
	}
	return len(again.missing()) == 0 && !again.dirty && !again.untidy
}
