package plugins

import (
	"errors"
	"slices"
	"syscall"

	"github.com/pluginlock/plugins/getter"
	"github.com/pluginlock/plugins/installer"
	"github.com/pluginlock/plugins/internal/chain"
	"github.com/pluginlock/plugins/internal/installdir"
	"github.com/pluginlock/plugins/internal/store"
	"github.com/pluginlock/plugins/publish"
)

// advise returns the commands that help against an error and the words that
// introduce them; both are empty where no command does. plugin is whose error
// it is, "" where it is nobody's.
func advise(err error, plugin string) (lead string, commands [][]string) {
	command := func(lead string, argv ...string) (string, [][]string) { return lead, [][]string{argv} }
	var noMatch *installer.NoMatchError
	var notOffered *installer.NotOfferedError
	var unsafe *store.UnsafeError
	var exists *publish.TagExistsError
	switch {
	case plugin != "" && (errors.As(err, &noMatch) && noMatch.Stats.Tags > 0 || as[*installer.UnsuitableError](err)):
		return command("To see what the registry has, and why each version is chosen or not", "plugins", "inspect", plugin)
	case as[*installer.DifferenceError](err):
		return command("To bring it up to date", "plugins", "init")
	case plugin != "" && as[*installer.RepublishedError](err):
		return command("To take the new image, once its publisher has said that it is right", "plugins", "update", plugin, "--accept-republished")
	case plugin != "" && as[*installer.GoneError](err):
		return command("To select a version anew", "plugins", "update", plugin)
	case errors.As(err, &notOffered) && len(notOffered.Offered) > 0:
		return command("To install it for another platform", "plugins", "init", "--platform", notOffered.Offered[0].String())
	case as[*installer.OfflineError](err):
		return command("To get it, where the registry can be reached", "plugins", "init")
	case as[*chain.Error](err):
		return command("Restore the lock file from version control, or delete this entry of it and have it resolved anew with", "plugins", "init")
	case as[*NotInstalledError](err):
		return command("To install what the lock file says", "plugins", "init")
	case as[*NotVerifiedError](err):
		return command("To discard what is damaged and install it again", "plugins", "verify", "--repair")
	case errors.As(err, &unsafe):
		return command("To take that right from them", "chmod", "go-w", unsafe.Path)
	case as[*UnknownPluginError](err):
		return command("To see which plugins there are", "plugins", "list")
	case errors.Is(err, getter.ErrNotAllowed):
		return command("To see where these settings are", "plugins", "env")
	case errors.As(err, &exists):
		return command("Give the image another version; to overwrite what is there all the same",
			"plugins", "push", "PATH", exists.Source.String()+":"+exists.Tag, "--force")
	case errors.Is(err, syscall.ENOSPC):
		return command("Make room; where it is the cache's disk, what no project needs can go", "plugins", "prune")
	case loginHost(err) != "":
		return command("To log in, with the password or a token on standard input", "plugins", "login", loginHost(err), "--username", "NAME", "--password-stdin")
	case errors.Is(err, store.ErrNoDirectory):
		return command("To say where the cache is", "plugins", "init", "--cache-dir", "DIRECTORY")
	case as[*store.ReadOnlyError](err):
		return command("To use another cache", "plugins", "init", "--cache-dir", "DIRECTORY")
	case as[*installdir.SymlinkError](err):
		return command("To install copies", "plugins", "init", "--link-mode", "copy")
	}
	return "", nil
}

// hints are the commands of [advise].
func hints(err error, plugin string) [][]string {
	_, commands := advise(err, plugin)
	return commands
}

// hints are the commands of [advise], for the project of this run.
func (r *run) hints(err error, plugin string) [][]string {
	return r.options.inContext(hints(err, plugin))
}

// inContext adds to commands about a project where that project is, so that
// they can be typed where the failed one was.
func (o *Options) inContext(commands [][]string) [][]string {
	var place []string
	add := func(flag, value string) {
		if value != "" {
			place = append(place, flag, value)
		}
	}
	add("--dir", o.Dir)
	for _, file := range o.ConfigFiles {
		add("--config", file)
	}
	add("--lock-file", o.LockFile)
	add("--install-dir", o.InstallDir)
	for i, argv := range commands {
		if argv[0] == "plugins" && slices.Contains(aboutProject, argv[1]) {
			commands[i] = slices.Concat(argv, place)
		}
	}
	return commands
}

// aboutProject are the commands that look at a project.
var aboutProject = []string{"init", "update", "lock", "list", "verify", "inspect", "outdated"}

// loginHost is the registry, or mirror, that wants other credentials than it
// was shown; "" where that is not what is wrong.
func loginHost(err error) string {
	var refused *getter.Error
	if !errors.As(err, &refused) {
		return ""
	}
	return refused.WantsLogin()
}
