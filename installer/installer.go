// Package installer decides which version of each plugin a project uses and
// makes the disk agree: it selects, plans and applies.
//
// The choice is a function of the requirements, the lock file and what the
// registries answer, never of the machine that makes it. Deciding is therefore
// kept apart from doing: [Candidates] and the decisions about lock entries are
// pure, [Installer.Plan] asks registries and changes nothing that a project
// sees, and [Installer.Apply] fills the store, then writes the lock file, then
// the install directory.
//
// The package does not read configuration, print, or know how a registry is
// spoken to; the caller gives it typed requirements and an [OpenFunc]. Start at
// [Installer].
package installer

import (
	"context"
	"io"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/extract"
	"github.com/pluginlock/plugins/internal/image"
	"github.com/pluginlock/plugins/internal/store"
)

// Requirement is what a project asks of one plugin, checked and typed.
type Requirement struct {
	Name       string
	Source     addr.Source
	Constraint addr.Constraint
	Protocols  []int           // what the host program speaks; empty accepts any
	Executable addr.Executable // for foreign images only

	// Platforms that every selected version must offer. OnlyPlatforms says
	// that they are the requirement's own: then the plugin is skipped, not
	// missed, on any other platform.
	Platforms     []addr.Platform
	OnlyPlatforms bool
}

// Repository is one source, wherever it is served from. Its errors are those
// of package getter.
type Repository interface {
	Tags(ctx context.Context) ([]string, error)
	Document(ctx context.Context, reference string) (*image.Document, error)
	Blob(ctx context.Context, d ocispec.Descriptor) (io.ReadCloser, error)
}

// OpenFunc returns the repository of a source, without asking it anything.
type OpenFunc func(addr.Source) (Repository, error)

// Mode says how far the lock file may be left behind.
type Mode int

const (
	// Keep resolves only what the lock file does not settle.
	Keep Mode = iota
	// Locked refuses whatever would change the lock file.
	Locked
	// Update resolves the named plugins anew, or all.
	Update
)

// Installer holds what planning and applying share. It has no state of its own
// between calls, so one may serve many projects at once.
type Installer struct {
	Open    OpenFunc // nil: offline, nothing is ever asked
	Store   *store.Store
	Limits  extract.Limits
	OnEvent func(Event) // may be called from several goroutines; nil is silent

	taken func() // tests change something here, when a fingerprint was taken
}

// transfers is how many requests are under way at once. Inflating is what
// limits a cold install (docs/performance.md), so more would only take memory.
const transfers = 8
