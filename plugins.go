// Package plugins installs the plugins that a program needs, from OCI
// registries, pinned by a lock file. It is what the plugins command is made of
// and what a host program embeds as the first step of loading its
// configuration.
//
// [Init] makes a project's install directory match its configuration and lock
// file. [List] and [Verify] look at what is there. All of them take [Options],
// whose zero value means the working directory and no network settings;
// [FromEnvironment] fills in what the command line tool uses.
//
// The package prints nothing, exits nothing, installs no signal handlers,
// changes no global state and reads no environment variables but in
// [FromEnvironment]. Any number of calls may run at once. Errors are an
// [*Error], whose problems unwrap to typed causes.
package plugins

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/config"
	"github.com/pluginlock/plugins/getter"
	"github.com/pluginlock/plugins/installer"
	"github.com/pluginlock/plugins/internal/installdir"
)

// InstallDirName is the install directory's name in a project directory.
const InstallDirName = ".plugins"

// The types of other packages that options and results are made of.
type (
	// Requirement is one required plugin, as text; see [config.Requirement].
	Requirement = config.Requirement
	// Settings are the machine's settings: mirrors, limits, allowed sources.
	Settings = config.Settings
	// Event is one step of a run, for progress displays.
	Event = installer.Event
	// Action says what happened to a plugin.
	Action = installer.Action
	// LockChange is one difference between the lock file and what it has to be.
	LockChange = installer.LockChange
	// Mode says how far the lock file may be left behind.
	Mode = installer.Mode
	// LinkMode says how the install directory refers to the store.
	LinkMode = installdir.LinkMode
	// CredentialFunc returns the credentials for a registry host.
	CredentialFunc = getter.CredentialFunc
)

// The modes of [Init].
const (
	Keep   = installer.Keep
	Locked = installer.Locked
	Update = installer.Update
)

// Options say which project is meant and how it may be installed.
type Options struct {
	// Dir is the project directory; empty means the directory that ConfigFiles
	// share, else the working directory.
	Dir string
	// ConfigFiles are a host's own files, read instead of plugins.hcl and
	// *.plugins.hcl in Dir; only their required_plugins blocks count.
	ConfigFiles []string
	// Requirements, where not nil, are used instead of any file.
	Requirements []Requirement
	// DefaultPrefix is put before a source that names no registry host.
	DefaultPrefix string

	LockFile   string // empty: .plugins.lock.hcl in Dir; relative to Dir
	InstallDir string // empty: .plugins in Dir; relative to Dir
	CacheDir   string // the store; needed by whatever installs
	LinkMode   LinkMode

	// Platforms to install for; empty is this program's own, or none with
	// LockOnly. One is linked into the install directory, several only fill the
	// store.
	Platforms []addr.Platform

	Mode              Mode
	Names             []string          // in mode Update: which plugins; empty is all
	AcceptRepublished bool              // in mode Update with Names: take a new digest of the same version
	LockOnly          bool              // write the lock file, install nothing
	DryRun            bool              // plan and report, change nothing that a project sees
	ResolveConflicts  bool              // of a lock file with git's conflict markers keep what both sides agree on
	Overrides         map[string]string // name → path of a local program used instead
	Offline           bool              // ask no registry; what is missing is an error

	Settings    Settings
	Transport   http.RoundTripper // nil: one of the library's own
	Proxy       func(*http.Request) (*url.URL, error)
	Credentials CredentialFunc // nil: anonymous

	Repair  bool         // in [Verify]: discard what is damaged and install it again
	Logger  *slog.Logger // nil: silent
	OnEvent func(Event)  // nil: silent; called by one goroutine at a time

	lookAgain    bool   // do not believe a fingerprint
	settingsFile string // where Settings were read from, for [Environment]
}

// Init makes lock file, store and install directory match the configuration,
// and the configuration's constraints and the lock file decide what that is.
// Where everything is in place it makes no request and writes nothing, but for
// the first run after project or store were moved or restored, which notes that
// in the store where it can.
//
// The result is never nil; after an error it says what is known, and lock file
// and install directory are as they were.
func Init(ctx context.Context, o Options) (*Result, error) {
	if result := recognize(ctx, o); result != nil {
		return result, nil
	}
	prepare := prepare
	if o.Mode == Update && !o.LockOnly {
		prepare = prepareInstalled // an update is of what is installed, for whatever platform and by whatever links
	}
	r, err := prepare(o)
	defer r.close()
	if err != nil {
		return r.result(nil), r.fail(err)
	}
	plan, err := r.plan(ctx)
	switch {
	case err != nil || o.DryRun:
		return r.result(plan), r.fail(err)
	case plan.Empty():
		if r.installer.Tidy(ctx, plan) {
			r.leaveFingerprint(ctx, plan)
		}
		return r.result(plan), nil
	}
	return r.apply(ctx, plan)
}

// Check says whether the lock file is up to date, which is decided as in mode
// [Locked], and changes nothing. Where it is not the error holds an
// [*installer.DifferenceError].
func Check(ctx context.Context, o Options) (*Result, error) {
	o.Mode, o.LockOnly = Locked, true
	r, err := prepare(o)
	defer r.close()
	if err != nil {
		return r.result(nil), r.fail(err)
	}
	plan, err := r.plan(ctx)
	return r.result(plan), r.fail(err)
}
