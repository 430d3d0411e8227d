package plugins

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/installer"
	"github.com/pluginlock/plugins/internal/installdir"
	"github.com/pluginlock/plugins/launch"
)

// Status says how a plugin stands on disk.
type Status = installer.Status

// Listed is one plugin of a project.
type Listed struct {
	launch.Plugin
	Status   Status
	Required bool   // the configuration asks for it
	Override string // path of the local program that is installed in its place
	Repaired bool   // [Verify] has discarded it and installed it again
	Err      error  // what is wrong with it; nil where nothing is
}

// UnknownPluginError means that nobody requires plugins of these names.
type UnknownPluginError struct {
	Names []string
}

func (e *UnknownPluginError) Error() string {
	return fmt.Sprintf("the configuration does not require %s", quoteAll(e.Names))
}

// NotInstalledError means that a plugin is not installed, or not as the lock
// file says.
type NotInstalledError struct {
	Name     string
	Status   Status
	Override string // the local program that is installed in its place, if any
}

func (e *NotInstalledError) Error() string {
	switch {
	case e.Override != "":
		return "the local program " + e.Override + " is installed in its place"
	case e.Status == installer.StatusMissing:
		return "it is not installed"
	case e.Status == installer.StatusChanged:
		return "what is installed is not what the lock file says"
	}
	return fmt.Sprintf("it is not installed as the lock file says (%s)", e.Status)
}

// NotVerifiedError means that installed files are not what the lock file leads
// to.
type NotVerifiedError struct {
	Err error
}

func (e *NotVerifiedError) Error() string { return e.Err.Error() }

// Unwrap returns what differs.
func (e *NotVerifiedError) Unwrap() error { return e.Err }

// List tells what a project requires, has locked and has installed, by name. It
// asks no registry and writes nothing.
func List(ctx context.Context, o Options) ([]Listed, error) {
	r, err := prepareInstalled(o)
	defer r.close()
	if err != nil {
		return nil, r.fail(err)
	}
	listed, err := r.inspect(ctx, false)
	return listed, r.fail(err)
}

// Which returns an installed plugin. One that is not installed as the lock file
// says is a [*NotInstalledError].
func Which(ctx context.Context, o Options, name string) (launch.Plugin, error) {
	listed, err := List(ctx, o)
	if err != nil {
		return launch.Plugin{}, err
	}
	i := slices.IndexFunc(listed, func(l Listed) bool { return l.Name == name })
	switch {
	case i < 0:
		err := &UnknownPluginError{[]string{name}}
		return launch.Plugin{}, &Error{Problems: []Problem{{Err: err, Hint: o.inContext(hints(err, ""))}}}
	case listed[i].Status != installer.StatusInstalled:
		err := &NotInstalledError{name, listed[i].Status, listed[i].Override}
		return launch.Plugin{}, &Error{Problems: []Problem{{Plugin: name, Err: err, Hint: o.inContext(hints(err, name))}}}
	}
	return listed[i].Plugin, nil
}

// Verify reads every file of every plugin that the project has locked and
// compares it with what the lock file leads to. Each difference is a
// [*NotVerifiedError]. With Options.Repair what is damaged is discarded and
// installed again first.
func Verify(ctx context.Context, o Options) ([]Listed, error) {
	r, err := prepareInstalled(o)
	defer r.close()
	if err != nil {
		return nil, r.fail(err)
	}
	listed, err := r.inspect(ctx, true)
	if !o.Repair || err == nil {
		return listed, r.fail(err)
	}
	if _, err := r.installer.DiscardDamaged(ctx, r.project()); err != nil {
		return listed, r.fail(err)
	}
	o.Repair, o.lookAgain, o.Platforms, o.LinkMode = false, true, r.targets, r.options.LinkMode
	if _, err := Init(ctx, o); err != nil {
		return listed, err
	}
	bad := map[string]bool{}
	for _, l := range listed {
		bad[l.Name] = l.Err != nil
	}
	listed, err = Verify(ctx, o)
	for i := range listed {
		listed[i].Repaired = bad[listed[i].Name] && listed[i].Err == nil
	}
	return listed, err
}

// prepareInstalled is prepare for what looks at an installation: what the
// options leave open is taken from the install directory, so that one for
// another platform, or of copies, is seen as what it is.
func prepareInstalled(o Options) (*run, error) {
	r, err := prepare(o)
	if err != nil {
		return r, err
	}
	state, err := installdir.Read(r.installDir)
	if err != nil {
		return r, err
	}
	if len(o.Platforms) == 0 && !state.Platform.IsZero() {
		r.targets = []addr.Platform{state.Platform}
	}
	r.options.LinkMode = cmp.Or(o.LinkMode, state.LinkMode)
	return r, nil
}

// inspect compares configuration, lock file, store and install directory. With
// all, every file is read and each plugin that is not installed as locked is a
// problem.
func (r *run) inspect(ctx context.Context, all bool) ([]Listed, error) {
	inspected, err := r.installer.Inspect(ctx, r.project(), all)
	if err != nil {
		return nil, err
	}
	var listed []Listed
	var problems installer.Problems
	for i := range inspected {
		l := r.listed(&inspected[i])
		if all && l.Status != installer.StatusInstalled && l.Status != installer.StatusSkipped {
			if l.Err == nil {
				l.Err = &NotInstalledError{l.Name, l.Status, l.Override}
			}
			problems = append(problems, &installer.Problem{Plugin: l.Name, Version: l.Version, Err: &NotVerifiedError{l.Err}})
		}
		listed = append(listed, l)
	}
	if len(problems) > 0 {
		return listed, problems
	}
	return listed, nil
}

func (r *run) listed(in *installer.Inspected) Listed {
	l := Listed{Status: in.Status, Required: in.Required, Override: in.Override, Err: in.Err}
	l.Plugin = launch.Plugin{Name: in.Name, Platform: in.Platform, Manifest: in.Manifest, Dir: in.Dir, Executable: in.Executable}
	for _, req := range r.typed {
		if req.Name == in.Name {
			l.Source = req.Source.String()
		}
	}
	if e := in.Entry; e != nil {
		l.Version, l.Source, l.Digest, l.Protocols = e.Version.String(), e.Source.String(), e.Digest, e.Protocols
	} else if in.Executable != "" {
		d := in.Installed
		l.Version, l.Source, l.Digest, l.Protocols = d.Version.String(), d.Source.String(), d.Digest, d.Protocols
	}
	return l
}

// quoteAll prints names in quotes, with commas.
func quoteAll(names []string) string {
	s := ""
	for i, name := range names {
		if i > 0 {
			s += ", "
		}
		s += fmt.Sprintf("%q", name)
	}
	return s
}
