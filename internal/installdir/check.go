package installdir

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pluginlock/plugins/internal/store/plain"
	"github.com/pluginlock/plugins/internal/store/tree"
)

// Plan is what has to be done to an install directory.
type Plan struct {
	Actions []Action // one for each plugin, ordered by name

	// Leftovers are places that a killed run has made and nobody wants, from
	// the install directory, with slashes.
	Leftovers []string

	// Untidy reports that [Apply] could save work for later: a copy that was
	// restored had to be read, or a killed run has left temporary files. What
	// is installed is right, and failing to tidy is no reason to stop.
	Untidy bool
}

// Empty reports whether everything is as it should be.
func (p Plan) Empty() bool {
	return len(p.Leftovers) == 0 && !slices.ContainsFunc(p.Actions, func(a Action) bool { return a.Kind != Keep })
}

// done reports that there is nothing that [Apply] could do.
func (p Plan) done() bool { return p.Empty() && !p.Untidy }

// Check compares an install directory with what it should hold. It writes
// nothing and takes no lock. Links are read, copies compared by stat; a copy
// is read only where a stat differs.
//
// Errors: [*ForeignFileError] for a directory that is something else;
// [*StateError]; the context's.
func Check(ctx context.Context, dir string, d Desired) (Plan, error) {
	x, err := inspect(ctx, dir, d)
	if err != nil {
		return Plan{}, err
	}
	return x.plan, nil
}

// inspection is an install directory as it was found.
type inspection struct {
	dir     string
	desired Desired // complete
	state   *State
	pending *pending
	plan    Plan
	fresh   map[string]Installed // kept plugins whose stamps have changed
}

func inspect(ctx context.Context, dir string, d Desired) (*inspection, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	d, err := d.complete(ctx)
	if err != nil {
		return nil, err
	}
	x := &inspection{dir: dir, desired: d, state: &State{}, fresh: map[string]Installed{}}
	exists, err := checkLayout(dir)
	if err != nil {
		return nil, err
	}
	if !exists {
		x.plan.Actions = Diff(x.state, d)
		return x, nil
	}
	if x.state, err = Read(dir); err != nil {
		return nil, err
	}
	if x.pending, err = readPending(dir, x.state); err != nil {
		return nil, err
	}
	x.plan.Actions = Diff(x.state, d)
	if err := x.compare(ctx, d); err != nil {
		return nil, err
	}
	x.findLeftovers(d)
	return x, x.findTemporary()
}

// compare turns kept plugins that are not on disk as they were installed into
// changed ones.
func (x *inspection) compare(ctx context.Context, d Desired) error {
	plugins := map[string]Plugin{}
	for _, p := range d.Plugins {
		plugins[p.Name] = p
	}
	for i := range x.plan.Actions {
		a := &x.plan.Actions[i]
		if a.Kind != Keep {
			continue
		}
		reason, err := x.broken(ctx, plugins[a.Name], *a.Previous)
		if err != nil {
			return err
		}
		if reason != "" {
			a.Kind, a.Reason = Change, reason
		}
	}
	return nil
}

// broken says what is wrong on disk with a plugin that should be kept.
func (x *inspection) broken(ctx context.Context, p Plugin, i Installed) (reason string, err error) {
	now := i
	if i.receipt == nil {
		if target, err := os.Readlink(x.path(pluginsDir, p.Name)); err != nil || target != p.StoreRoot {
			return "its link is gone or leads elsewhere", nil
		}
	} else if now.receipt, reason, err = copyNow(ctx, x.path(pluginsDir, p.Name), p, i.receipt); reason != "" || err != nil {
		return reason, err
	}
	if i.binCopy == nil {
		if target, err := os.Readlink(x.path(binDir, i.Bin)); err != nil || target != binTarget(p.Name, p.Executable) {
			return "its link below bin is gone or leads elsewhere", nil
		}
	} else if now.binCopy, reason, err = x.binNow(ctx, i); reason != "" || err != nil {
		return reason, err
	}
	if now.receipt != i.receipt || now.binCopy != i.binCopy {
		x.fresh[p.Name] = now
		x.plan.Untidy = true
	}
	return "", nil
}

func (x *inspection) path(elements ...string) string {
	return filepath.Join(append([]string{x.dir}, elements...)...)
}

// copyNow returns the receipt of a copy: old if nothing was touched, a new one
// if what was touched is still right.
func copyNow(ctx context.Context, dir string, p Plugin, old *tree.Receipt) (now *tree.Receipt, reason string, err error) {
	if difference := tree.Difference(old.Records(), p.Records); difference != "" {
		return nil, difference, nil
	}
	if old.Changed(dir) == "" {
		return old, "", nil
	}
	now, reason = hashCopy(ctx, dir, p)
	if ctx.Err() != nil {
		return nil, "", ctx.Err()
	}
	return now, reason, nil
}

// binNow is [copyNow] for a program that was copied to bin/.
func (x *inspection) binNow(ctx context.Context, i Installed) (now *tree.File, reason string, err error) {
	info, err := os.Lstat(x.path(binDir, i.Bin))
	if err != nil || !info.Mode().IsRegular() {
		return nil, "its program below bin is gone", nil
	}
	if i.binCopy.Same(info) {
		return i.binCopy, "", nil
	}
	now, err = describeBin(ctx, x.dir, i.Bin)
	if ctx.Err() != nil {
		return nil, "", ctx.Err()
	}
	if err != nil || now.Digest != i.ExecutableDigest || !now.Executable {
		return nil, "its program below bin is another one", nil
	}
	return now, "", nil
}

// describeBin reads a program below bin/.
func describeBin(ctx context.Context, dir, name string) (*tree.File, error) {
	root, err := plain.OpenDir(filepath.Join(dir, binDir))
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // only read from
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	digest, err := tree.DigestOf(ctx, root, name)
	if err != nil {
		return nil, err
	}
	return &tree.File{Path: name, Digest: digest, Size: info.Size(), Executable: canExecute(info.Mode()), Stamp: tree.StampOf(info)}, nil
}

// findLeftovers lists what only a killed run knows of.
func (x *inspection) findLeftovers(d Desired) {
	if x.pending == nil {
		return
	}
	x.plan.Untidy = true
	known := owned(x.state, nil)
	for _, p := range d.Plugins {
		known[pluginsDir+"/"+p.Name] = nil
		known[binDir+"/"+binName(p.Name, d.Platform)] = nil
	}
	for place, kinds := range x.pending.Places {
		if _, ok := known[place]; ok {
			continue
		}
		info, err := os.Lstat(x.path(filepath.FromSlash(place)))
		if err == nil && slices.Contains(kinds, kindOf(info.Mode())) {
			x.plan.Leftovers = append(x.plan.Leftovers, place)
		}
	}
	slices.Sort(x.plan.Leftovers)
}

// findTemporary notices working directories of killed runs.
func (x *inspection) findTemporary() error {
	entries, err := os.ReadDir(x.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), workPrefix) || e.Name() == pendingFile {
			x.plan.Untidy = true
		}
	}
	return nil
}
