package plugins

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/config"
	"github.com/pluginlock/plugins/installer"
	"github.com/pluginlock/plugins/internal/fingerprint"
	"github.com/pluginlock/plugins/internal/installdir"
	"github.com/pluginlock/plugins/internal/store/tree"
	"github.com/pluginlock/plugins/launch"
	"github.com/pluginlock/plugins/lock"
)

// recognize returns the result of an earlier run that had found everything in
// place, if nothing has changed since that it rested on; else nil, and all has
// to be looked at. Whatever goes wrong here will go wrong there, and be told.
func recognize(ctx context.Context, o Options) *Result {
	if o.Mode == Update || len(o.Names) > 0 || o.lookAgain || !memorable(&o) || ctx.Err() != nil { // an update always asks
		return nil
	}
	r := &run{options: o}
	defer r.close()
	// open: wrong settings are an error also where no registry is asked.
	if r.openStore() != nil || r.open() != nil || r.digestProject() != nil {
		return nil
	}
	encoded := r.store.Fingerprint(r.lockPath)
	if encoded == nil {
		return nil
	}
	locked := &lockFile{path: r.lockPath}
	var lockErr error
	var reading sync.WaitGroup // beside the look at the files: a megabyte for a thousand plugins
	reading.Go(func() {
		locked.src, lockErr = lock.Read(r.lockPath)
		r.lockDigest = addr.DigestOf(locked.src)
	})
	recorded, known, ok := fingerprint.Recognize(encoded, fingerprint.Dirs{Install: r.installDir, Store: r.store.Dir()})
	reading.Wait()
	if inputs, err := r.inputs(); !ok || lockErr != nil || err != nil || inputs != recorded {
		return nil
	}
	result := &Result{Plugins: make(map[string]Plugin, len(known)), lock: locked}
	for i := range known {
		result.Plugins[known[i].Name] = r.recognized(&known[i])
	}
	return result
}

// memorable reports whether a run with these options leaves an install directory
// of which the next one may find that nothing has changed. A run for several
// platforms only fills the store.
func memorable(o *Options) bool {
	return !o.LockOnly && !o.DryRun && !o.ResolveConflicts && len(o.Overrides) == 0 && len(o.Platforms) <= 1
}

// digestProject finds the project's paths and takes the digest of its
// configuration, without parsing it.
func (r *run) digestProject() error {
	dir := cmp.Or(r.options.Dir, ".")
	if r.options.Requirements == nil {
		found, digest, diags := config.Digest(config.Options{Dir: r.options.Dir, Files: r.options.ConfigFiles})
		if diags.HasErrors() {
			return diags
		}
		dir, r.configDigest = found, digest
	}
	r.setTargets()
	return r.setPaths(dir)
}

// recognized is a plugin of which nothing has changed.
func (r *run) recognized(k *fingerprint.Plugin) Plugin {
	p := Plugin{Action: installer.ActionKeep, Previous: k.Version, Plugin: launch.Plugin{
		Name: k.Name, Version: k.Version, Source: k.Source, Digest: k.Digest, Protocols: k.Protocols, Manifest: k.Manifest}}
	if k.Platform == "" {
		p.Action = installer.ActionSkip
		return p
	}
	p.Platform, _ = addr.ParsePlatform(k.Platform) // it was written by its String
	p.Dir = installdir.PluginDir(r.installDir, k.Name)
	p.Executable = filepath.Join(p.Dir, filepath.FromSlash(k.Executable))
	return p
}

// leaveFingerprint keeps the fingerprint of a run for [recognize]. It is for
// runs that have written something: one that has nothing to do writes nothing,
// this neither. There is none where the run has warnings that every run has to
// repeat. That the store cannot be written is no failure: the next run then
// looks at everything.
func (r *run) leaveFingerprint(ctx context.Context, plan *installer.Plan) {
	if !memorable(&r.options) || len(r.configWarnings) > 0 || len(r.doubles(plan)) > 0 {
		return
	}
	inputs, err := r.inputs()
	if err != nil {
		return
	}
	f, ok := r.installer.Fingerprint(ctx, plan)
	if !ok {
		return
	}
	f.Inputs = inputs
	if encoded, err := f.Encode(); err == nil {
		_ = r.store.PutFingerprint(r.lockPath, encoded)
	}
}

// inputs is the digest of everything that decides what a run comes to, but for
// what a fingerprint looks at.
func (r *run) inputs() (addr.Digest, error) {
	judge, err := judge()
	if err != nil {
		return "", err
	}
	o := &r.options
	return addr.DigestOf(fmt.Appendf(nil, "%#v", struct { // in Go's syntax nothing looks like something else
		Judge         string
		Store         string // links lead there by its path, which their files do not know
		InstallDir    string
		Target        string
		LinkMode      LinkMode
		DefaultPrefix string
		OfHost        bool // configuration files, in which less is ours
		Requirements  []Requirement
		Config, Lock  addr.Digest
	}{
		judge, r.store.Dir(), r.installDir, r.targets[0].String(), cmp.Or(o.LinkMode, installdir.Symlink), o.DefaultPrefix,
		len(o.ConfigFiles) > 0, o.Requirements, r.configDigest, r.lockDigest,
	})), nil
}

// judge names the version of this module, another of which may come to another
// result. A build from a checkout has none that says enough: then it is the
// program that runs.
func judge() (string, error) {
	if version := Version(); version != unknownVersion && !strings.HasSuffix(version, "+dirty") {
		return version, nil
	}
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	if runtime.GOOS == "linux" {
		path = "/proc/self/exe" // also where another program has taken its place since it started
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d %v", info.Size(), tree.StampOf(info)), nil
}
