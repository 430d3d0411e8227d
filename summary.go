package plugins

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/pluginlock/plugins/getter"
	"github.com/pluginlock/plugins/installer"
	"github.com/pluginlock/plugins/internal/chain"
	"github.com/pluginlock/plugins/internal/extract"
	"github.com/pluginlock/plugins/internal/image"
	"github.com/pluginlock/plugins/internal/installdir"
	"github.com/pluginlock/plugins/internal/store"
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
	{"Lock file not up to date", as[*installer.DifferenceError]},
	{"Not fit to be packaged", as[*publish.Problem]},
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

// hints lists commands that help against an error.
func (r *run) hints(err error) [][]string {
	var differs *installer.DifferenceError
	var noMatch *installer.NoMatchError
	var notOffered *installer.NotOfferedError
	var republished *installer.RepublishedError
	var unsafe *store.UnsafeError
	var problem *installer.Problem
	errors.As(err, &problem)
	switch {
	case (errors.As(err, &noMatch) && noMatch.Stats.Tags > 0 || as[*installer.UnsuitableError](err)) && problem != nil:
		return [][]string{{"plugins", "inspect", problem.Plugin}}
	case errors.As(err, &differs):
		return [][]string{{"plugins", "init"}}
	case errors.As(err, &republished) && problem != nil:
		return [][]string{{"plugins", "update", problem.Plugin, "--accept-republished"}}
	case as[*installer.GoneError](err) && problem != nil:
		return [][]string{{"plugins", "update", problem.Plugin}}
	case errors.As(err, &notOffered) && len(notOffered.Offered) > 0:
		return [][]string{{"plugins", "init", "--platform", notOffered.Offered[0].String()}}
	case as[*NotInstalledError](err), as[*chain.Error](err):
		return [][]string{{"plugins", "init"}}
	case as[*NotVerifiedError](err):
		return [][]string{{"plugins", "verify", "--repair"}}
	case errors.As(err, &unsafe):
		return [][]string{{"chmod", "go-w", unsafe.Path}}
	case as[*UnknownPluginError](err):
		return [][]string{{"plugins", "list"}}
	case errors.Is(err, getter.ErrNotAllowed):
		return [][]string{{"plugins", "env"}}
	case loginHost(err) != "":
		return [][]string{{"plugins", "login", loginHost(err), "--username", "NAME", "--password-stdin"}}
	case as[*store.ReadOnlyError](err), errors.Is(err, store.ErrNoDirectory):
		return [][]string{{"plugins", "init", "--cache-dir", "DIRECTORY"}}
	case as[*installdir.SymlinkError](err):
		return [][]string{{"plugins", "init", "--link-mode", "copy"}}
	}
	return nil
}

// loginHost is the registry, or mirror, that wants other credentials than it
// was shown; "" where that is not what is wrong.
func loginHost(err error) string {
	var refused *getter.Error
	if !errors.As(err, &refused) || !errors.Is(err, getter.ErrUnauthorized) && !errors.Is(err, getter.ErrForbidden) {
		return ""
	}
	if refused.Mirror != "" {
		host, _, _ := strings.Cut(refused.Mirror, "/")
		return host
	}
	return refused.Source.Host()
}

// lead introduces the commands of hints.
func lead(err error) string {
	switch {
	case as[*installer.NoMatchError](err), as[*installer.UnsuitableError](err):
		return "To see what the registry has, and why each version is chosen or not"
	case as[*store.UnsafeError](err):
		return "To take that right from them"
	case as[*UnknownPluginError](err):
		return "To see which plugins there are"
	case errors.Is(err, getter.ErrNotAllowed):
		return "To see where these settings are"
	case loginHost(err) != "":
		return "To log in, with the password or a token on standard input"
	case as[*installer.DifferenceError](err):
		return "To bring it up to date"
	case as[*installer.RepublishedError](err):
		return "To take the new image, once its publisher has said that it is right"
	case as[*installer.GoneError](err):
		return "To select a version anew"
	case as[*installer.NotOfferedError](err):
		return "To install it for another platform"
	case as[*chain.Error](err):
		return "Restore the lock file from version control, or delete this entry of it and have it resolved anew with"
	case as[*NotInstalledError](err):
		return "To install what the lock file says"
	case as[*NotVerifiedError](err):
		return "To discard what is damaged and install it again"
	case errors.Is(err, store.ErrNoDirectory):
		return "To say where the cache is"
	case as[*store.ReadOnlyError](err):
		return "To use another cache"
	case as[*installdir.SymlinkError](err):
		return "To install copies"
	}
	return "This helps"
}
