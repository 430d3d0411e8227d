// Package cmd is the command line of plugins: it parses flags, calls the
// library, prints what came of it and maps errors to exit codes. Everything
// else is in the library, package plugins.
//
// A host program mounts the same commands below its own with [New]; the plugins
// command itself is [Main].
package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/pluginlock/plugins"
	"github.com/pluginlock/plugins/installer"
)

// Options say how the commands are mounted.
type Options struct {
	// Use is the name of the tree's root; empty means "plugins".
	Use string
	// Commands are the names of those to include; empty means all.
	Commands []string
	// Load returns the library's options in place of flags and environment;
	// the commands then have no flags for paths.
	Load func(context.Context) (plugins.Options, error)
}

// Exit codes, as every --help shows them.
const (
	exitFailure    = 1
	exitUsage      = 2
	exitDifference = 3
)

const exitCodesHelp = `
Exit codes:
  0  done
  1  failure
  2  wrong usage of the command line
  3  a difference was found
  130, 143  ended by a signal
`

// New returns the tree of commands. Commands print their error and return it;
// [ExitCode] says what a program should exit with. A mounted tree has no
// one-letter flags, so that they cannot collide with the host's.
func New(o Options) *cobra.Command {
	return newTree(o, o.Use != "" || o.Load != nil)
}

func newTree(o Options, mounted bool) *cobra.Command {
	if o.Use == "" {
		o.Use = "plugins"
	}
	root := &cobra.Command{
		Use:   o.Use,
		Short: "Install plugins from OCI registries, pinned by a lock file",
		Long: `plugins installs the plugins that a program needs from any OCI registry.

plugins.hcl says which plugins and which versions are acceptable,
.plugins.lock.hcl records what was chosen, and "` + o.Use + ` init" makes the
install directory match.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	app := &app{use: o.Use, load: o.Load}
	app.addFlags(root, mounted)
	for _, command := range []*cobra.Command{
		newInitCommand(app), newUpdateCommand(app), newLockCommand(app),
		newListCommand(app), newOutdatedCommand(app), newInspectCommand(app), newVerifyCommand(app), newWhichCommand(app),
		newPruneCommand(app),
		newPackageCommand(app), newPushCommand(app), newTagCommand(app), newLoginCommand(app), newLogoutCommand(app),
		newEnvCommand(app), newVersionCommand(app),
	} {
		if len(o.Commands) == 0 || slices.Contains(o.Commands, command.Name()) {
			root.AddCommand(command)
		}
	}
	root.SetFlagErrorFunc(flagError)
	usage := root.UsageFunc()
	root.SetUsageFunc(func(c *cobra.Command) error { // a template links text/template, 2 MB of program
		err := usage(c)
		fmt.Fprint(c.OutOrStderr(), exitCodesHelp)
		return err
	})
	app.reportErrors(root)
	return root
}

// garbageBefore is how much a heap grows, in per cent, before the collector
// runs: from 8 MB on and not from 4, which most runs never reach.
const garbageBefore = 200

// Main runs the command line and returns the exit code.
func Main(args []string) int {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbageBefore)
	}
	ctx, caught, stop := signalContext()
	defer stop()
	root := newTree(Options{}, false)
	root.SetArgs(args)
	strictHelpers(root)
	failed, err := root.ExecuteContextC(ctx)
	var usage *usageError
	if errors.As(err, &usage) && !usage.reported {
		p := &printer{out: os.Stdout, errOut: os.Stderr, json: asksForJSON(args)}
		_ = p.finish(failed, err)
	}
	if signal := caught(); signal != 0 && err != nil {
		return 128 + int(signal)
	}
	return ExitCode(err)
}

// ExitCode maps an error of a command to an exit code. A failure beats a
// difference.
func ExitCode(err error) int {
	var usage *usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		return exitUsage
	case errors.Is(err, errOutdated):
		return exitDifference
	case onlyDifferences(err):
		return exitDifference
	}
	return exitFailure
}

// onlyDifferences reports whether every problem is a difference that was found.
func onlyDifferences(err error) bool {
	problems := []error{err}
	var joined *plugins.Error
	if errors.As(err, &joined) {
		problems = joined.Unwrap()
	}
	return !slices.ContainsFunc(problems, func(err error) bool {
		var locked *installer.DifferenceError
		var verified *plugins.NotVerifiedError
		return !errors.As(err, &locked) && !errors.As(err, &verified)
	})
}

// usageError is a mistake on the command line.
type usageError struct {
	err      error
	reported bool // a command has printed it
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// silentError decides the exit code after everything was said.
type silentError struct {
	err error
}

func (e *silentError) Error() string { return e.err.Error() }
func (e *silentError) Unwrap() error { return e.err }

func usageErrorf(format string, args ...any) error {
	return &usageError{err: fmt.Errorf(format, args...)}
}

// signalContext is cancelled by the first signal; a second one ends the program
// at once, and so does one in the first millisecond, before anything has begun.
func signalContext() (ctx context.Context, caught func() syscall.Signal, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals, ready := make(chan os.Signal, 2), make(chan struct{})
	var last atomic.Int32
	go func() { // Notify waits for a thread of its own, which takes longer than the command's start
		signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
		close(ready)
		for s := range signals {
			number, _ := s.(syscall.Signal)
			if last.Swap(int32(number)) != 0 {
				os.Exit(128 + int(number))
			}
			cancel()
		}
	}()
	return ctx, func() syscall.Signal { return syscall.Signal(last.Load()) }, func() {
		cancel()
		go func() {
			<-ready
			signal.Stop(signals)
			close(signals)
		}()
	}
}
