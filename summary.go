package plugins

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/pluginlock/plugins/getter"
	"github.com/pluginlock/plugins/installer"
	"github.com/pluginlock/plugins/internal/chain"
	"github.com/pluginlock/plugins/internal/extract"
	"github.com/pluginlock/plugins/internal/image"
	"github.com/pluginlock/plugins/internal/installdir"
	"github.com/pluginlock/plugins/internal/store"
	"github.com/pluginlock/plugins/lock"
	"github.com/pluginlock/plugins/publish"
)

// summary gives the short, fixed heading under which an error is shown and
// documented; docs/messages.md lists them all.
func summary(err error) string {
	for _, s := range summaries {
		if s.matches(err) {
			return s.text
		}
	}
	return "Failure"
}

// summaries are tried in order: what is nearer to the cause comes first.
var summaries = []struct {
	text    string
	matches func(error) bool
}{
	{"Interrupted", is(context.Canceled)},
	{"Timed out", is(context.DeadlineExceeded)},
	{"Disk full", is(syscall.ENOSPC)},
	{"Lock file not up to date", as[*installer.DifferenceError]},
	{"Not fit to be packaged", as[*publish.Problem]},
	{"Invalid metadata", as[*publish.MetadataError]},
	{"Not a registry", as[*publish.RegistryNameError]},
	{"No such version", is(publish.ErrNoMatch)},
	{"Nothing to package", is(publish.ErrNoInput)},
	{"Version published already", as[*publish.TagExistsError]},
	{"Tag changed meanwhile", as[*publish.TagChangedError]},
	{"Image and version differ", as[*publish.MismatchError]},
	{"Not a plugin image", as[*publish.NotPluginError]},
	{"Layout unusable", as[*publish.LayoutError]},
	{"Images cannot be joined", as[*publish.PlatformConflictError]},
	{"Images cannot be joined", as[*publish.AnnotationConflictError]},
	{"Plugin not verified", as[*NotVerifiedError]},
	{"Plugin not required", as[*UnknownPluginError]},
	{"Plugin not installed", as[*NotInstalledError]},
	{"Unusable override", as[*OverrideError]},
	{"Lock file unusable", as[*LockFileError]},
	{"Lock file not written", as[*lock.WriteError]},
	{"No matching version", as[*installer.NoMatchError]},
	{"No usable version", as[*installer.UnsuitableError]},
	{"Platform not offered", as[*installer.NotOfferedError]},
	{"Two images for one version", as[*installer.SpellingsError]},
	{"Version published again", as[*installer.RepublishedError]},
	{"Locked version kept", as[*installer.OlderError]},
	{"Locked digest is gone", as[*installer.GoneError]},
	{"Network needed", as[*installer.OfflineError]},
	{"Unusable image", as[*installer.ImageError]},
	{"Lock file and image differ", as[*chain.Error]},
	{"Ambiguous image", as[*image.AmbiguousPlatformError]},
	{"Not an image", as[*image.NotImageError]},
	{"Malformed image", as[*image.DocumentError]},
	{"Executable not in the image", as[*extract.NotFoundError]},
	{"Wrong kind of program", as[*extract.HeaderError]},
	{"Archive refused", as[*extract.EntryError]},
	{"Archive refused", as[*extract.LimitError]},
	{"Archive refused", as[*extract.ArchiveError]},
	{"Image and annotations differ", as[*store.MismatchError]},
	{"No cache directory", is(store.ErrNoDirectory)},
	{"Cache cannot be written", as[*store.ReadOnlyError]},
	{"Cache can be changed by others", as[*store.UnsafeError]},
	{"Cache damaged", as[*store.DamagedError]},
	{"File in the way", as[*installdir.ForeignFileError]},
	{"Install directory unreadable", as[*installdir.StateError]},
	{"Symbolic links not possible", as[*installdir.SymlinkError]},
	{"Source not allowed", is(getter.ErrNotAllowed)},
	{"Refused as unsafe", is(getter.ErrUnsafe)},
	{"Tags cannot be listed", is(getter.ErrTagsUnsupported)},
	{"Rate limit", is(getter.ErrRateLimited)},
	{"Authentication failed", is(getter.ErrUnauthorized)},
	{"Access denied", is(getter.ErrForbidden)},
	{"Not found in the registry", is(getter.ErrNotFound)},
	{"Wrong content from the registry", is(getter.ErrDigestMismatch)},
	{"Download incomplete", is(getter.ErrTruncated)},
	{"Mirror directory unusable", isBrokenLayout},
	{"Unexpected answer from the registry", is(getter.ErrProtocol)},
	{"Registry failure", is(getter.ErrServer)},
	{"Registry not reachable", is(getter.ErrNetwork)},
	{"File or directory cannot be used", as[*fs.PathError]},
	{"One plugin under two names", as[*DoubleError]},
	{"Credentials not used", notice(getter.NoticeCredentials)},
	{"Mirror passed over", notice(getter.NoticeFallback)},
}

func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func notice(kind getter.NoticeKind) func(error) bool {
	return func(err error) bool {
		var n *NoticeError
		return errors.As(err, &n) && n.Notice.Kind == kind
	}
}

func as[T error](err error) bool {
	var target T
	return errors.As(err, &target)
}

// isBrokenLayout reports whether what was asked is a directory and no registry,
// and cannot be read.
func isBrokenLayout(err error) bool {
	var broken *getter.Error
	return errors.As(err, &broken) && broken.Host == "" && broken.Mirror != "" && errors.Is(err, getter.ErrProtocol)
}
