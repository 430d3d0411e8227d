package installer

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/installdir"
	"github.com/pluginlock/plugins/lock"
)

// Apply carries out a plan: it fills the store, then writes the lock file, then
// the install directory, the last two only when everything before succeeded.
// After an error both are as they were, and what the store gained is kept.
// lockWritten reports whether the lock file changed.
//
// Errors: [Problems]; those of the lock, store and install directory.
func (in *Installer) Apply(ctx context.Context, plan *Plan) (lockWritten bool, err error) {
	release, err := in.Store.Use(ctx)
	if err != nil {
		return false, err
	}
	defer release()
	project := plan.project
	if !project.LockOnly {
		if err := in.fillStore(ctx, plan); err != nil {
			return false, err
		}
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	w := &lockWriter{path: project.LockPath, file: plan.Lock, needless: !plan.LockChanges()}
	if !project.LockOnly {
		if err := in.Store.AddRoot(project.LockPath); err != nil {
			return false, err
		}
	}
	if !project.LockOnly && plan.links() && plan.dirty {
		_, err = installdir.Apply(ctx, project.InstallDir, plan.desired, installdir.Options{OnWait: in.waiting, Ready: w.write})
	}
	if err == nil {
		err = w.write()
	}
	if err != nil {
		return false, errors.Join(err, w.takeBack())
	}
	return w.changed, nil
}

// lockWriter writes the lock file of a plan once, and takes that back where
// what comes after it fails.
type lockWriter struct {
	path     string
	file     *lock.File
	needless bool // also: it was done
	before   []byte
	changed  bool
}

func (w *lockWriter) write() (err error) {
	if w.needless {
		return nil
	}
	w.before, err = os.ReadFile(w.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	w.changed, err = lock.Save(w.path, w.file)
	w.needless = err == nil
	return err
}

func (w *lockWriter) takeBack() error {
	if !w.changed {
		return nil
	}
	w.changed = false
	return lock.Restore(w.path, w.before)
}

// Tidy clears away what killed runs have left in the install directory, and
// notes what of a restored copy had to be read. Nothing is lost where it fails.
// A project that was moved or copied is recorded where it is now, so that prune
// asks for what it needs. Tidy reports whether there was something to do.
func (in *Installer) Tidy(ctx context.Context, plan *Plan) bool {
	if len(plan.desired.Plugins) > 0 {
		_ = in.Store.AddRoot(plan.project.LockPath)
	}
	if plan.untidy {
		_, _ = installdir.Apply(ctx, plan.project.InstallDir, plan.desired, installdir.Options{OnWait: in.waiting})
	}
	return plan.untidy || in.Store.Written()
}

// fillStore brings everything that the plan needs into the store. What was there
// when the plan was made is looked at again: prune may have run since.
func (in *Installer) fillStore(ctx context.Context, plan *Plan) error {
	plan.forget()
	if err := in.locate(ctx, plan); err != nil {
		return err
	}
	if len(plan.missing()) > 0 {
		if err := in.fetchAll(ctx, plan); err != nil {
			return err
		}
		if err := in.Store.Sync(); err != nil {
			return err
		}
	}
	if err := in.keepDocuments(plan); err != nil {
		return err
	}
	return plan.compareInstalled(ctx)
}

// keepDocuments stores the documents that vouch for what the plan installs,
// also where the files had come earlier: from locking a foreign image, or for
// another source that has the same manifest.
func (in *Installer) keepDocuments(plan *Plan) error {
	for i := range plan.Items {
		for _, t := range plan.Items[i].Targets {
			top := plan.documents.recall(t.fetch.source, t.fetch.entry.Digest)
			if top == nil { // it came from the store
				continue
			}
			if err := in.Store.PutDocument(t.fetch.source, top.Raw); err != nil {
				return err
			}
		}
	}
	return nil
}

// forget makes every target one that has to be located again.
func (p *Plan) forget() {
	for i := range p.Items {
		for j := range p.Items[i].Targets {
			p.Items[i].Targets[j].ready = false
		}
	}
}

// links reports whether the plan is for one platform, which is the one that the
// install directory shows.
func (p *Plan) links() bool { return len(p.project.Targets) == 1 }

// compareInstalled works out what the install directory has to hold and whether
// it does. Before everything is in the store only what the directory says of
// itself can be compared.
func (p *Plan) compareInstalled(ctx context.Context) error {
	if !p.links() {
		return nil
	}
	p.desired = installdir.Desired{Platform: p.project.Targets[0], LinkMode: cmp.Or(p.project.LinkMode, installdir.Symlink)}
	for i := range p.Items {
		if plugin, ok := p.Items[i].toInstall(); ok {
			p.desired.Plugins = append(p.desired.Plugins, plugin)
		}
	}
	dir := p.project.InstallDir
	if len(p.missing()) > 0 {
		state, err := installdir.Read(dir)
		if err != nil {
			return err
		}
		p.actions, p.dirty = installdir.Diff(state, p.desired), true
		return nil
	}
	found, err := installdir.Check(ctx, dir, p.desired)
	p.actions, p.dirty, p.untidy = found.Actions, !found.Empty(), found.Untidy
	return err
}

// label gives every item the action that results name.
func (p *Plan) label() {
	if !p.links() {
		p.actionsOfStore()
	}
	for _, a := range p.actions {
		p.setAction(a)
	}
}

// setAction notes what happens to a plugin in the install directory; one that
// is there though neither configuration nor lock file know it joins the items.
func (p *Plan) setAction(a installdir.Action) {
	action := map[installdir.Kind]Action{
		installdir.Keep: ActionKeep, installdir.Install: ActionInstall,
		installdir.Change: ActionChange, installdir.Remove: ActionRemove,
	}[a.Kind]
	item := p.item(a.Name)
	item.Action = action
	if a.Previous == nil {
		return
	}
	item.Installed = a.Previous.Version
	if action == ActionChange && !item.ready() && a.Previous.Manifest == item.Manifest() {
		item.Action = ActionInstall // the same image, which the store has lost
	}
}

// toInstall describes what the install directory shows of an item, if anything.
func (item *Item) toInstall() (installdir.Plugin, bool) {
	p := installdir.Plugin{Name: item.Name}
	if item.Override != "" {
		p.Override, p.StoreRoot, p.Executable = item.Override, filepath.Dir(item.Override), filepath.Base(item.Override)
		return p, true
	}
	if item.Entry == nil || len(item.Targets) == 0 {
		return p, false
	}
	f := item.Targets[0].fetch
	p.Description = installdir.Description{
		Version: item.Entry.Version, Source: item.Entry.Source, Digest: item.Entry.Digest, Manifest: f.key.Manifest,
		Protocols: item.Entry.Protocols, Executable: f.pinned.Executable, ExecutableDigest: f.locked.ExecutableDigest,
	}
	if f.stored != nil {
		p.StoreRoot, p.Records = f.stored.Root(), f.stored.Records()
	}
	return p, true
}

// actionsOfStore names what happens to each plugin where several platforms only
// fill the store.
func (p *Plan) actionsOfStore() {
	for i := range p.Items {
		switch item := &p.Items[i]; {
		case item.Entry == nil:
			item.Action = ActionRemove
		case item.Action == ActionSkip:
		case item.ready():
			item.Action = ActionKeep
		default:
			item.Action = ActionInstall
		}
	}
}

// ready reports whether the store has all of an item.
func (item *Item) ready() bool {
	return !slices.ContainsFunc(item.Targets, func(t Target) bool { return !t.ready })
}

// Manifest is the digest of the manifest that the install directory shows.
func (item *Item) Manifest() addr.Digest {
	if len(item.Targets) == 0 {
		return ""
	}
	return item.Targets[0].fetch.key.Manifest
}

// item returns the item called name, which is added where it is new.
func (p *Plan) item(name string) *Item {
	i, found := slices.BinarySearchFunc(p.Items, name, func(item Item, name string) int { return cmp.Compare(item.Name, name) })
	if !found {
		p.Items = slices.Insert(p.Items, i, Item{Name: name})
	}
	return &p.Items[i]
}
