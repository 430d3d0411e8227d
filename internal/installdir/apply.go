package installdir

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pluginlock/plugins/internal/store/durable"
	"github.com/pluginlock/plugins/internal/store/filelock"
	"github.com/pluginlock/plugins/internal/store/tree"
)

// Options changes how [Apply] works. The zero value is fine.
type Options struct {
	// OnWait is told once, after a second, that another run changes the same
	// install directory; may be nil.
	OnWait func(what string)
	// Ready is called once, when all is prepared and before the first place is
	// changed; after an error of it the directory is as it was. Where nothing
	// has to be changed it is not called. May be nil.
	Ready func() error

	step    func(name string) error                        // tests fail or stop here
	symlink func(root *os.Root, target, name string) error // tests take links away
}

// Apply brings an install directory to what it should hold and returns what it
// did. Everything is made ready before the first place is changed; where a
// later step fails, those that were taken are taken back, so that after an
// error the directory is as it was. A run that is killed leaves a directory
// that the next one completes.
//
// Errors: [*ForeignFileError]; [*StateError]; [*SymlinkError]; what the file
// system said, with the directory's path; the context's.
func Apply(ctx context.Context, dir string, d Desired, o Options) (done Plan, err error) {
	if plan, err := Check(ctx, dir, d); err != nil || plan.done() {
		return plan, err
	}
	made, err := makeDirs(dir)
	if err == nil {
		done, err = applyLocked(ctx, dir, d, o)
	}
	if err != nil {
		for _, path := range slices.Backward(made) {
			_ = os.Remove(path) // unless somebody put something there
		}
		return Plan{}, locate(dir, err)
	}
	return done, nil
}

// locate adds the directory to errors that name a path inside of it only.
func locate(dir string, err error) error {
	var path *fs.PathError
	var link *os.LinkError
	if errors.As(err, &path) && !filepath.IsAbs(path.Path) || errors.As(err, &link) && !filepath.IsAbs(link.New) {
		return fmt.Errorf("install directory %s: %w", dir, err)
	}
	return err
}

// makeDirs creates the directories that are missing and returns them.
func makeDirs(dir string) (made []string, err error) {
	for _, path := range []string{dir, filepath.Join(dir, pluginsDir), filepath.Join(dir, binDir)} {
		err := os.Mkdir(path, 0o755)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return made, err
		}
		made = append(made, path)
	}
	return made, nil
}

func applyLocked(ctx context.Context, dir string, d Desired, o Options) (Plan, error) {
	wait := filelock.Wait{}
	if o.OnWait != nil {
		wait.Announce = func() { o.OnWait("another run to change " + dir) }
	}
	lock, err := filelock.Acquire(ctx, filepath.Join(dir, lockFile), wait)
	if err != nil {
		return Plan{}, err
	}
	defer lock.Release()
	x, err := inspect(ctx, dir, d) // again: who held the lock may have done it
	if err != nil {
		return Plan{}, err
	}
	if x.plan.done() {
		return x.plan, nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Plan{}, err
	}
	defer func() { _ = root.Close() }() // a directory; nothing can be lost
	run := strings.ToLower(rand.Text())
	a := &applier{inspection: x, ctx: ctx, options: o, root: root, run: run, work: workPrefix + run, next: map[string]Installed{}}
	if err := a.apply(); err != nil {
		return Plan{}, err
	}
	return x.plan, nil
}

// applier is one run of [Apply].
type applier struct {
	*inspection
	ctx     context.Context
	options Options
	root    *os.Root // the install directory
	run     string
	work    string // directory for what is not in its place yet, or no more

	changes   []change
	undo      []func() error
	announced int // how many of undo were there when the first place changed
	next      map[string]Installed
}

// change is one place that gets something else, or nothing.
type change struct {
	place  string // "plugins/aws"
	ready  string // what comes there, below work; empty where it becomes free
	kind   kind   // of what comes there
	target string // of a link that comes there
}

func (a *applier) apply() error {
	if err := a.clearWork(); err != nil {
		return err
	}
	if err := a.root.Mkdir(a.work, 0o700); err != nil {
		return err
	}
	defer func() { _ = durable.RemoveAll(a.root, a.work) }() // else the next run does
	for _, part := range []func() error{a.prepare, a.ready, a.announce, a.commit} {
		if err := part(); err != nil {
			return errors.Join(err, a.takeBack())
		}
	}
	// Where this fails the file stays, and means nothing: its run has ended.
	_ = a.root.Remove(pendingFile)
	return nil
}

// clearWork removes what killed runs have left to themselves.
func (a *applier) clearWork() error {
	entries, err := fs.ReadDir(a.root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), workPrefix) {
			if err := durable.RemoveAll(a.root, e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *applier) ready() error {
	if a.options.Ready == nil {
		return nil
	}
	return a.options.Ready()
}

// announce writes down which places are about to change, with those that an
// earlier run had begun.
func (a *applier) announce() error {
	if err := a.step("announce"); err != nil {
		return err
	}
	p := pending{Format: format, Run: a.run, Places: map[string][]kind{}}
	known := owned(a.state, a.pending)
	for _, c := range a.changes {
		p.Places[c.place] = known[c.place]
		if c.ready != "" && !slices.Contains(p.Places[c.place], c.kind) {
			p.Places[c.place] = append(slices.Clone(p.Places[c.place]), c.kind)
		}
	}
	encoded, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	err = a.replaceFile(pendingFile, append(encoded, '\n'))
	a.announced = len(a.undo)
	return err
}

func (a *applier) step(name string) error {
	if err := a.ctx.Err(); err != nil {
		return err
	}
	if a.options.step == nil {
		return nil
	}
	return a.options.step(name)
}

// commit changes the places one by one and ends with installed.json.
func (a *applier) commit() error {
	for _, c := range a.changes {
		if err := a.step(c.place); err != nil {
			return err
		}
		if err := a.exchange(c); err != nil {
			return err
		}
	}
	if err := a.stamp(); err != nil {
		return err
	}
	for _, dir := range []string{pluginsDir, binDir} {
		if err := durable.SyncDir(a.path(dir)); err != nil {
			return err
		}
	}
	if err := a.step("installed"); err != nil {
		return err
	}
	state := State{Platform: a.desired.Platform, LinkMode: a.desired.LinkMode, Plugins: a.next, run: a.run}
	encoded, err := state.encode()
	if err != nil {
		return err
	}
	if err := a.replaceFile(installedFile, encoded); err != nil {
		return err
	}
	return a.step("end")
}

// stamp makes the receipts of new copies, now that they are in their places:
// a rename changes the stamp of what is renamed.
func (a *applier) stamp() error {
	for _, p := range a.desired.Plugins {
		i, isNew := a.next[p.Name]
		if !isNew {
			continue
		}
		var err error
		if a.desired.LinkMode == Copy && i.receipt == nil {
			if i.receipt, err = a.survey(p); err != nil {
				return err
			}
		}
		if i.binCopy != nil && i.binCopy.Digest.IsZero() {
			if i.binCopy, err = describeBin(a.ctx, a.dir, i.Bin); err != nil {
				return err
			}
		}
		a.next[p.Name] = i
	}
	return nil
}

func (a *applier) survey(p Plugin) (*tree.Receipt, error) {
	root, err := a.root.OpenRoot(pluginsDir + "/" + p.Name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // only read from
	receipt, err := tree.Survey(a.ctx, root, tree.Executables(p.Records))
	if err != nil {
		return nil, err
	}
	return receipt, receipt.Adopt(p.Records)
}
