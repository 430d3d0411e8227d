package plugins

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/config"
	"github.com/pluginlock/plugins/installer"
	"github.com/pluginlock/plugins/internal/fingerprint"
	"github.com/pluginlock/plugins/internal/installdir"
	"github.com/pluginlock/plugins/launch"
	"github.com/pluginlock/plugins/lock"
)

// recall returns the result of an earlier run that had found everything in
// place, if nothing has changed since that it rested on; else nil, and all has
// to be looked at. Whatever goes wrong here will go wrong there, and be told.
func recall(ctx context.Context, o Options) *Result {
	if o.Mode == Update || len(o.Names) > 0 || !memorable(&o) || ctx.Err() != nil { // an update always asks
		return nil
	}
	r := &run{options: o}
	defer r.close()
	if r.openStore() != nil || r.digestProject() != nil {
		return nil
	}
	encoded := r.store.Fingerprint(r.lockPath)
	if encoded == nil {
		return nil
	}
	var lockFile []byte
	var lockErr error
	var reading sync.WaitGroup // beside the look at the files: a megabyte for a thousand plugins
	reading.Go(func() {
		lockFile, lockErr = lock.Read(r.lockPath)
		r.lockDigest = addr.DigestOf(lockFile)
	})
	of, known, ok := fingerprint.Recognize(encoded)
	reading.Wait()
	if inputs, err := r.inputs(); !ok || lockErr != nil || err != nil || inputs != of {
		return nil
	}
	return r.recalled(known, lockFile)
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
		found, digest, diags := config.Digest(r.configOptions())
		if diags.HasErrors() {
			return diags
		}
		dir, r.configDigest = found, digest
	}
	r.setTargets()
	return r.setPaths(dir)
}

// recalled is the result for plugins that a fingerprint has named.
func (r *run) recalled(known []fingerprint.Plugin, lockFile []byte) *Result {
	result := &Result{Plugins: make(map[string]Plugin, len(known))}
	result.lock = sync.OnceValue(func() *lock.File {
		f, _ := lock.Parse(lockFile, r.lockPath) // the same bytes were parsed before
		return f
	})
	for i := range known {
		k := &known[i]
		p := Plugin{Action: installer.ActionKeep, Previous: k.Version, Plugin: launch.Plugin{
			Name: k.Name, Version: k.Version, Source: k.Source, Digest: k.Digest, Protocols: k.Protocols, Manifest: k.Manifest}}
		if k.Platform == "" {
			p.Action = installer.ActionSkip
		} else {
			p.Platform, _ = addr.ParsePlatform(k.Platform) // it was written by its String
			p.Dir = installdir.PluginDir(r.installDir, k.Name)
			p.Executable = filepath.Join(p.Dir, filepath.FromSlash(k.Executable))
		}
		result.Plugins[k.Name] = p
	}
	return result
}

// remember keeps the fingerprint of a run for [recall]. It is for runs that have
// written something: one that has nothing to do writes nothing, this neither. There is
// none where the run had warnings, which every run has to repeat. That the
// store cannot be written is no failure: the next run then looks at everything.
func (r *run) remember(ctx context.Context, plan *installer.Plan, result *Result) {
	if !memorable(&r.options) || len(result.Warnings) > 0 {
		return
	}
	inputs, err := r.inputs()
	if err != nil {
		return
	}
	signed, ok := r.installer.Sign(ctx, plan)
	if !ok {
		return
	}
	signed.Inputs = inputs
	if encoded, err := signed.Encode(); err == nil {
		_ = r.store.PutFingerprint(r.lockPath, encoded)
	}
}

// inputs is the digest of everything that decides what a run comes to, but for
// the files of store and install directory.
func (r *run) inputs() (addr.Digest, error) {
	program, err := thisProgram()
	if err != nil {
		return "", err
	}
	o := &r.options
	return addr.DigestOf(fmt.Appendf(nil, "%#v", struct { // in Go's syntax nothing looks like something else
		Program                   programState
		Dir, LockFile, InstallDir string
		Store, Target             string
		LinkMode                  LinkMode
		DefaultPrefix             string
		ConfigFiles               []string
		Requirements              []Requirement
		Config, Lock              addr.Digest
	}{
		program, r.dir, r.lockPath, r.installDir, r.store.Dir(), r.targets[0].String(), cmp.Or(o.LinkMode, installdir.Symlink),
		o.DefaultPrefix, o.ConfigFiles, o.Requirements, r.configDigest, r.lockDigest,
	})), nil
}

// programState tells the running program from another version of it, which may
// come to another result. Its version would not: one that was built from a
// checkout has none.
type programState struct {
	Path     string
	Size     int64
	Modified int64 // nanoseconds since 1970
}

func thisProgram() (programState, error) {
	path, err := os.Executable()
	if err != nil {
		return programState{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return programState{}, err
	}
	return programState{path, info.Size(), info.ModTime().UnixNano()}, nil
}
