package cmd

import (
	"strings"

	"github.com/spf13/cobra"
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
		return usageErrorf("\"%s\" takes %s, and got %d arguments", c.CommandPath(), names, len(args))
	}
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
