package plugins

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/config"
	"github.com/pluginlock/plugins/getter"
	"github.com/pluginlock/plugins/installer"
	"github.com/pluginlock/plugins/internal/extract"
	"github.com/pluginlock/plugins/internal/store"
	"github.com/pluginlock/plugins/internal/text"
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
	lockFile     *lock.File // nil before it was read
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
	for _, p := range o.Platforms {
		if p = p.Normalize(); !slices.Contains(r.targets, p) {
			r.targets = append(r.targets, p)
		}
	}
	if len(r.targets) == 0 && !o.LockOnly { // a lock file is for every system, also for those that plugins lack
		r.targets = []addr.Platform{addr.HostPlatform()}
	}
	return r, r.open()
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

// readProject reads configuration and lock file, which happens twice in a run
// that writes: once to see that there is something to do, once under the lock.
func (r *run) readProject() error {
	cfg, diags := r.readConfig()
	r.setWarnings(r.problemsOf(diags, hcl.DiagWarning, nil))
	if diags.HasErrors() {
		return diags
	}
	if err := r.setPaths(cfg.Dir); err != nil {
		return err
	}
	r.requirements = cfg.Requirements
	var err error
	if r.typed, err = typedRequirements(cfg); err != nil {
		return err
	}
	if err := r.checkNames(); err != nil {
		return err
	}
	return r.readLock()
}

// setPaths makes the paths of the options absolute, below the project directory.
func (r *run) setPaths(dir string) (err error) {
	if r.dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	r.lockPath = r.inDir(r.options.LockFile, lock.FileName)
	r.installDir = r.inDir(r.options.InstallDir, InstallDirName)
	return nil
}

func (r *run) readConfig() (*config.Config, hcl.Diagnostics) {
	if r.options.Requirements != nil {
		dir := r.options.Dir
		if dir == "" {
			dir = "."
		}
		return &config.Config{Dir: dir, Requirements: r.options.Requirements}, nil
	}
	cfg, diags := config.Load(config.Options{
		Dir:           r.options.Dir,
		Files:         r.options.ConfigFiles,
		ToolVersion:   Version(),
		DefaultPrefix: r.options.DefaultPrefix,
	})
	r.files = cfg.Files
	return cfg, diags
}

func (r *run) readLock() error {
	file, src, err := lock.Load(r.lockPath)
	r.lockAbsent = errors.Is(err, fs.ErrNotExist)
	switch {
	case r.lockAbsent:
		file, err = &lock.File{}, nil
	case r.options.ResolveConflicts && errors.Is(err, lock.ErrConflict):
		file, err = r.mergeLock(src)
	case err != nil && src == nil:
		err = &LockFileError{err}
	}
	if err != nil {
		return r.excerpt(r.lockPath, src, err)
	}
	r.lockFile = file
	return nil
}

// mergeLock keeps what both sides of a conflict agree on; the rest is resolved
// anew. There is then no lock file that could be left as it is.
func (r *run) mergeLock(src []byte) (*lock.File, error) {
	ours, theirs, diags := lock.ParseConflicted(src, r.lockPath)
	if diags.HasErrors() {
		return nil, diags
	}
	merged, _ := lock.Merge(ours, theirs)
	r.lockAbsent = true
	return merged, nil
}

// excerpt lets messages about err show the lines of a file that are at fault,
// and name the file as the user would from the working directory.
func (r *run) excerpt(path string, src []byte, err error) error {
	shown := path
	if wd, wdErr := os.Getwd(); wdErr == nil {
		if relative, relErr := filepath.Rel(wd, path); relErr == nil && filepath.IsLocal(relative) {
			shown = relative
		}
	}
	var parse *lock.ParseError
	if errors.As(err, &parse) {
		rename(parse.Diagnostics, path, shown)
	}
	if src != nil {
		if r.files == nil {
			r.files = map[string]*hcl.File{}
		}
		r.files[shown] = &hcl.File{Bytes: text.Printable(src)}
	}
	return err
}

// rename gives a file another name wherever diagnostics name it.
func rename(diags hcl.Diagnostics, from, to string) {
	for _, d := range diags {
		for _, at := range []*hcl.Range{d.Subject, d.Context} {
			if at != nil && at.Filename == from {
				at.Filename = to
			}
		}
	}
}

// inDir returns path, or the default name, below the project directory.
func (r *run) inDir(path, name string) string {
	if path == "" {
		path = name
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(r.dir, path)
}

// checkNames refuses names and overrides of plugins that nobody requires, and
// overrides that are no programs.
func (r *run) checkNames() error {
	named := slices.Concat(r.options.Names, slices.Sorted(maps.Keys(r.options.Overrides)))
	unknown := slices.DeleteFunc(named, func(name string) bool {
		return slices.ContainsFunc(r.requirements, func(q Requirement) bool { return q.Name == name })
	})
	if len(unknown) > 0 {
		slices.Sort(unknown)
		return &UnknownPluginError{slices.Compact(unknown)}
	}
	for name, path := range r.options.Overrides {
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			return &OverrideError{Name: name, Path: path, Reason: "it is not a file", Err: err}
		}
	}
	return nil
}

// OverrideError means that a local program cannot be used in place of a plugin.
type OverrideError struct {
	Name, Path string // "" where overriding as such is at fault
	Reason     string
	Err        error // may be nil
}

func (e *OverrideError) Error() string {
	if e.Name == "" {
		return e.Reason
	}
	return fmt.Sprintf("%s cannot take the place of plugin %q: %s", e.Path, e.Name, e.Reason)
}

// Unwrap returns what the file system said.
func (e *OverrideError) Unwrap() error { return e.Err }

// open prepares store, registries and installer; it contacts nobody.
func (r *run) open() error {
	if r.options.CacheDir == "" {
		return store.ErrNoDirectory
	}
	var err error
	if r.store, err = store.Open(r.options.CacheDir, store.Options{OnWait: r.waiting}); err != nil {
		return err
	}
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
	if err == nil {
		result.LockChanged, result.Lock = changed, plan.Lock
	}
	return result, r.fail(err)
}

// event passes an event on, one at a time.
func (r *run) event(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.options.OnEvent != nil {
		r.options.OnEvent(e)
	}
}

// waiting tells that the run waits for another process.
func (r *run) waiting(what string) {
	r.event(Event{Kind: installer.EventWaiting, Text: "waiting for " + what})
}

// notice turns what the getter has to tell into an event or a warning.
func (r *run) notice(n getter.Notice) {
	if n.Kind == getter.NoticeWaiting {
		r.event(Event{Kind: installer.EventWaiting, Text: n.Text})
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	again := func(p Problem) bool {
		var said *NoticeError
		return errors.As(p.Err, &said) && said.Notice.Kind == n.Kind && said.Notice.Host == n.Host
	}
	if n.Kind == getter.NoticeFallback && slices.ContainsFunc(r.warnings, again) {
		return // a mirror without a plugin is passed over for each of its parts
	}
	r.warnings = append(r.warnings, Problem{Err: &NoticeError{n}})
}

// setWarnings starts the list of warnings over with those of the configuration.
func (r *run) setWarnings(problems []Problem) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.configWarnings = problems
}

func (r *run) allWarnings() []Problem {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Concat(r.configWarnings, r.warnings)
}

// NoticeError is what a registry's client has to tell though the work went on.
type NoticeError struct {
	Notice getter.Notice
}

func (e *NoticeError) Error() string { return e.Notice.Text }

// typedRequirements checks the requirements and folds the project's platforms
// into those that do not list their own.
func typedRequirements(cfg *config.Config) ([]installer.Requirement, error) {
	var typed []installer.Requirement
	var diags hcl.Diagnostics
	for _, requirement := range cfg.Requirements {
		checked, err := requirement.Check()
		if err != nil {
			diags = append(diags, &hcl.Diagnostic{
				Severity: hcl.DiagError, Summary: "Invalid requirement", Detail: err.Error(), Subject: rangeOf(requirement), Extra: err})
			continue
		}
		r := installer.Requirement{
			Name: checked.Name, Source: checked.Source, Constraint: checked.Constraint, Protocols: checked.Protocols,
			Executable: checked.Executable, Platforms: checked.Platforms, OnlyPlatforms: len(checked.Platforms) > 0,
		}
		if !r.OnlyPlatforms {
			r.Platforms = cfg.Platforms
		}
		typed = append(typed, r)
	}
	slices.SortFunc(typed, func(a, b installer.Requirement) int { return cmp.Compare(a.Name, b.Name) })
	if diags.HasErrors() {
		return nil, diags
	}
	return typed, nil
}

// rangeOf returns where a requirement is written; nil where its host filled it
// from something that has no ranges.
func rangeOf(r Requirement) *hcl.Range {
	if r.Range.Filename == "" {
		return nil
	}
	return &r.Range
}

func limits(l config.Limits) extract.Limits {
	return extract.Limits{
		Entries: l.Entries, Bytes: l.Bytes, FileBytes: l.FileBytes, PathBytes: l.PathBytes, Depth: l.Depth,
		Ratio: l.Ratio, RatioFrom: l.RatioFrom, ZstdWindow: l.ZstdWindow, LayerEntries: l.LayerEntries, LayerBytes: l.LayerBytes,
	}
}
