package plugins

import (
	"context"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/config"
	"github.com/pluginlock/plugins/getter"
	"github.com/pluginlock/plugins/installer"
	"github.com/pluginlock/plugins/internal/extract"
	"github.com/pluginlock/plugins/internal/store"
	"github.com/pluginlock/plugins/lock"
)

// run is one call of this package: the options made absolute, what was read
// under them, and the machinery that acts on it.
type run struct {
	options    Options
	dir        string
	lockPath   string
	installDir string
	targets    []addr.Platform

	files        map[string]*hcl.File
	requirements []Requirement
	typed        []installer.Requirement
	configDigest addr.Digest // of the files, as they were read
	lockFile     *lock.File  // nil before it was read
	lockDigest   addr.Digest // of the file's bytes, as they were read
	lockAbsent   bool

	store     *store.Store
	client    *getter.Client // nil offline
	installer *installer.Installer

	mu             sync.Mutex
	configWarnings []Problem // of the last reading
	warnings       []Problem
}

// prepare reads configuration and lock file and opens the store. The run is
// never nil, so that an error can be reported with what was read.
func prepare(o Options) (*run, error) {
	r := &run{options: o}
	if o.Mode == Locked && len(o.Overrides) > 0 {
		return r, &OverrideError{Reason: "nothing can be overridden where the lock file has to be followed"}
	}
	if err := r.readProject(); err != nil {
		return r, err
	}
	r.setTargets()
	if err := r.openStore(); err != nil {
		return r, err
	}
	return r, r.open()
}

// setTargets works out the platforms to install for.
func (r *run) setTargets() {
	for _, p := range r.options.Platforms {
		if p = p.Normalize(); !slices.Contains(r.targets, p) {
			r.targets = append(r.targets, p)
		}
	}
	if len(r.targets) == 0 && !r.options.LockOnly { // a lock file is for every system, also for those that plugins lack
		r.targets = []addr.Platform{addr.HostPlatform()}
	}
}

// close lets go of what the run holds open.
func (r *run) close() {
	if r.store != nil {
		_ = r.store.Close() // what was written was synced before
	}
	if r.client != nil {
		r.client.CloseIdleConnections()
	}
}

func (r *run) openStore() (err error) {
	if r.options.CacheDir == "" {
		return store.ErrNoDirectory
	}
	r.store, err = store.Open(r.options.CacheDir, store.Options{OnWait: r.waiting})
	return err
}

// open prepares registries and installer; it contacts nobody.
func (r *run) open() (err error) {
	r.installer = &installer.Installer{Store: r.store, Limits: limits(r.options.Settings.Limits), OnEvent: r.event}
	if r.options.Offline {
		return nil
	}
	if r.client, err = getter.New(r.getterOptions()); err != nil {
		return err
	}
	r.installer.Open = func(source addr.Source) (installer.Repository, error) { return r.client.Repository(source) }
	return nil
}

func (r *run) getterOptions() getter.Options {
	o := r.options.Registries(r.notice)
	o.PartialDir = r.store.PartialDir()
	return o
}

func (r *run) plan(ctx context.Context) (*installer.Plan, error) {
	return r.installer.Plan(ctx, r.project())
}

// project is the run in the installer's terms.
func (r *run) project() *installer.Project {
	o := &r.options
	return &installer.Project{
		Requirements: r.typed,
		Lock:         r.lockFile, LockAbsent: r.lockAbsent, LockPath: r.lockPath, LockOnly: o.LockOnly,
		Mode: o.Mode, Names: o.Names, AcceptRepublished: o.AcceptRepublished,
		Targets: r.targets, InstallDir: r.installDir, LinkMode: o.LinkMode, Overrides: o.Overrides,
	}
}

// apply takes the project's lock, sees whether configuration or lock file
// changed while it waited, and applies the plan or a new one.
func (r *run) apply(ctx context.Context, plan *installer.Plan) (*Result, error) {
	unlock, err := r.store.LockProject(ctx, r.lockPath)
	if err != nil {
		return r.result(plan), r.fail(err)
	}
	defer unlock()
	before, typed := r.lockFile, r.typed
	if err := r.readProject(); err != nil {
		return r.result(plan), r.fail(err)
	}
	if !r.lockFile.Equal(before) || !installer.SameRequirements(r.typed, typed) {
		if plan, err = r.plan(ctx); err != nil {
			return r.result(plan), r.fail(err)
		}
	}
	changed, err := r.installer.Apply(ctx, plan)
	result := r.result(plan)
	if err != nil {
		return result, r.fail(err)
	}
	result.LockChanged = changed
	result.lock = &lockFile{file: plan.Lock}
	if changed {
		r.lockDigest = addr.DigestOf(plan.Lock.Bytes())
	}
	r.leaveFingerprint(ctx, plan)
	return result, nil
}

func limits(l config.Limits) extract.Limits {
	return extract.Limits{
		Entries: l.Entries, Bytes: l.Bytes, FileBytes: l.FileBytes, PathBytes: l.PathBytes, Depth: l.Depth,
		Ratio: l.Ratio, RatioFrom: l.RatioFrom, ZstdWindow: l.ZstdWindow, LayerEntries: l.LayerEntries, LayerBytes: l.LayerBytes,
	}
}
