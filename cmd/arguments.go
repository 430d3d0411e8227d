package cmd

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pluginlock/plugins/internal/text"
)

// usageArgs makes a mistake in the arguments a usage error.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if check(c, args) == nil {
			return nil
		}
		_, names, _ := strings.Cut(c.Use, " ")
		if names == "" {
			return usageErrorf("\"%s\" takes no arguments, and got %q", c.CommandPath(), args[0])
		}
		if len(args) == 0 {
			return usageErrorf("\"%s\" needs %s", c.CommandPath(), names)
		}
		return usageErrorf("\"%s\" takes %s, and got %d arguments", c.CommandPath(), names, len(args))
	}
}

// noEmptyFlag refuses flags without a value, which are a variable of somebody's
// script that is not set, and would mean the default.
func noEmptyFlag(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		if err == nil && f.Value.Type() == "string" && f.Value.String() == "" {
			err = usageErrorf("--%s has an empty value", f.Name)
		}
	})
	return err
}

// exclusive makes it a usage error to give more than one of some flags. It does
// so where arguments are checked: cobra's own groups of flags fail only after
// that, with an error that cannot be told from a command's.
func exclusive(c *cobra.Command, flags ...string) {
	next := c.Args
	if next == nil {
		next = cobra.ArbitraryArgs
	}
	c.Args = func(c *cobra.Command, args []string) error {
		var given []string
		for _, name := range flags {
			if c.Flags().Changed(name) {
				given = append(given, "--"+name)
			}
		}
		if len(given) > 1 {
			return usageErrorf("%s exclude each other", strings.Join(given, " and "))
		}
		return next(c, args)
	}
}

func noCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if c.SuggestionsMinimumDistance <= 0 {
		c.SuggestionsMinimumDistance = 2 // letters that may be wrong
	}
	suggestions := c.SuggestionsFor(args[0])
	if len(suggestions) == 0 {
		return usageErrorf("unknown command %q", args[0])
	}
	return usageErrorf("unknown command %q; did you mean %s?", args[0], strings.Join(suggestions, " or "))
}

// flagError makes a mistake in a flag a usage error. That a value does not
// parse is said in words of ours, not in those of Go's parsers.
func flagError(c *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		return unknownFlag(c, unknown)
	}
	if !errors.As(err, &invalid) {
		return &usageError{err: err}
	}
	flag, value := invalid.GetFlag(), invalid.GetValue()
	switch flag.Value.Type() {
	case "bool":
		return usageErrorf("--%s: %q is neither true nor false", flag.Name, value)
	case "duration":
		return usageErrorf("--%s: %q is not a duration, such as 720h or 90m", flag.Name, value)
	}
	return usageErrorf("--%s: %q: %w", flag.Name, value, invalid.Unwrap())
}

// unknownFlag suggests what may have been meant: a flag of nearly that name, or
// one that was written with a single dash.
func unknownFlag(c *cobra.Command, e *pflag.NotExistError) error {
	word, _, _ := strings.Cut(e.GetSpecifiedShortnames(), "=")
	switch {
	case word == "":
	case c.Flags().Lookup(word) != nil:
		return usageErrorf("unknown flag -%s; did you mean --%s, with two dashes?", word, word)
	default:
		return usageErrorf("unknown flag -%s", e.GetSpecifiedName())
	}
	var known []string
	c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	if near := text.Nearest(e.GetSpecifiedName(), known); near != "" {
		return usageErrorf("unknown flag --%s; did you mean --%s?", e.GetSpecifiedName(), near)
	}
	return usageErrorf("unknown flag --%s", e.GetSpecifiedName())
}

// strictHelpers makes words that cobra's own commands do not know a usage
// error; left alone they print help and succeed.
func strictHelpers(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion":
			c.Args = noCommand
			c.RunE = func(c *cobra.Command, _ []string) error {
				return usageErrorf("%q needs the name of a shell: bash, zsh, fish or powershell", c.CommandPath())
			}
			for _, shell := range c.Commands() {
				shell.Args = usageArgs(cobra.NoArgs)
			}
		case "help":
			c.Args = func(_ *cobra.Command, args []string) error {
				found, rest, err := root.Find(args)
				if err != nil || len(rest) > 0 {
					return noCommand(found, rest)
				}
				return nil
			}
		}
	}
}

// asksForJSON reports whether arguments hold --json. It is for those that could
// not be parsed.
func asksForJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.ContainsFunc(args, func(arg string) bool {
		value, found := strings.CutPrefix(arg, "--json=")
		yes, err := strconv.ParseBool(value)
		return arg == "--json" || found && (yes || err != nil)
	})
}
