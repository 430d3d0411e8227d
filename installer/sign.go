package installer

import (
	"context"

	"github.com/pluginlock/plugins/internal/fingerprint"
	"github.com/pluginlock/plugins/internal/installdir"
	"github.com/pluginlock/plugins/internal/store"
)

// Sign takes the fingerprint of a project after a plan for it was applied, or
// was empty. ok is false where there is something that a fingerprint cannot
// tell, such as a local program. The plan's results must have been taken
// before.
func (in *Installer) Sign(ctx context.Context, plan *Plan) (f *fingerprint.Fingerprint, ok bool) {
	if !plan.links() || plan.project.LockOnly {
		return nil, false
	}
	state, err := installdir.Read(plan.project.InstallDir)
	if err != nil {
		return nil, false
	}
	shared, installed := state.Watched()
	f = &fingerprint.Fingerprint{
		Dirs:   fingerprint.Dirs{Install: plan.project.InstallDir, Store: in.Store.Dir()},
		Shared: fingerprint.State{Installed: shared},
	}
	for i := range plan.Items {
		item := &plan.Items[i]
		if item.Entry == nil && item.Override == "" {
			continue // it was removed
		}
		signed, ok := item.sign(installed[item.Name])
		if !ok {
			return nil, false
		}
		f.Plugins = append(f.Plugins, signed)
	}
	if f.Take() != nil {
		return nil, false
	}
	return f, in.holds(ctx, plan)
}

// sign says what a fingerprint holds of one plugin, but for the state of its
// files; installed are their names in the install directory.
func (item *Item) sign(installed []string) (signed fingerprint.Plugin, ok bool) {
	if item.Override != "" {
		return signed, false
	}
	signed = fingerprint.Plugin{Name: item.Name, Version: item.Entry.Version.String(), Source: item.Entry.Source.String(),
		Digest: item.Entry.Digest, Protocols: item.Entry.Protocols}
	if item.Action == ActionSkip {
		return signed, true
	}
	fetch := &item.Targets[0].fetch
	if fetch.stored == nil {
		return signed, false
	}
	signed.Platform, signed.Manifest, signed.Executable = fetch.platform.String(), fetch.key.Manifest, fetch.pinned.Executable
	stored, ok := fetch.stored.Watched()
	stored = append(stored, store.WatchedDocument(fetch.source, fetch.entry.Digest))
	signed.State.Installed, signed.State.Stored = installed, stored
	return signed, ok
}

// holds looks once more whether everything is in place: what was signed counts
// only if nobody changed it between the look at the files and the signature.
func (in *Installer) holds(ctx context.Context, plan *Plan) bool {
	plan.forget()
	plan.documents = newDocuments(nil, in.Store)
	if in.locate(ctx, plan) != nil || plan.compareInstalled(ctx) != nil {
		return false
	}
	return len(plan.missing()) == 0 && !plan.dirty && !plan.untidy
}
