package cmd

import (
	"context"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pluginlock/plugins/publish"
)

// maxPassword bounds what is read from standard input, in bytes; tokens of
// cloud registries have a few thousand.
const maxPassword = 64 << 10

func newLoginCommand(a *app) *cobra.Command {
	var username string
	var fromStdin bool
	c := &cobra.Command{
		Use:   "login REGISTRY",
		Short: "Keep credentials for a registry",
		Long: `login asks the registry whether it accepts the credentials and keeps them where
docker login and oras login do: with the credential helper that
~/.docker/config.json names, else in that file, which only its owner can read.
The password, or a token, is read from standard input.`,
		Example: "  plugins login --username ci --password-stdin registry.example.com <token",
		Args:    usageArgs(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case username == "":
				return usageErrorf("--username is missing")
			case !fromStdin:
				return usageErrorf("--password-stdin is missing: the password is read from standard input only, where neither the list of processes nor the shell's history shows it")
			}
			return a.runLogin(c.Context(), args[0], username, c.InOrStdin())
		},
	}
	c.Flags().StringVar(&username, "username", "", "user name, or what the registry wants in its place for a token")
	c.Flags().BoolVar(&fromStdin, "password-stdin", false, "read the password from standard input")
	return c
}

func (a *app) runLogin(ctx context.Context, registry, username string, input io.Reader) error {
	raw, err := io.ReadAll(io.LimitReader(input, maxPassword))
	if err != nil {
		return err
	}
	o := publish.LoginOptions{Registry: registry, Username: username, Password: strings.TrimRight(string(raw), "\r\n")}
	if o.Password == "" {
		return usageErrorf("there is no password on standard input")
	}
	if o.ConfigFile, err = publish.ConfigFile(os.Getenv); err != nil {
		return err
	}
	if o.Client, err = a.registryOptions(ctx); err != nil {
		return err
	}
	result, err := publish.Login(ctx, o)
	if err != nil {
		return err
	}
	if result.Unproven {
		a.printer.note("Warning: %s did not ask for credentials, so these were not tried", result.Registry)
	}
	if result.Plain {
		a.printer.note("The password is in %s as plain text; a credential helper keeps it safer.", result.Store)
	}
	a.printer.loggedIn(result, "Logged in to %s.")
	return nil
}

func newLogoutCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "logout REGISTRY",
		Short: "Remove the credentials that are kept for a registry",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			file, err := publish.ConfigFile(os.Getenv)
			if err != nil {
				return err
			}
			result, err := publish.Logout(c.Context(), args[0], file)
			if err != nil {
				return err
			}
			text := "Logged out of %s."
			if !result.Removed {
				text = "There were no credentials for %s."
			}
			a.printer.loggedIn(result, text)
			return nil
		},
	}
}

// loginDocument is what login and logout print with --json.
type loginDocument struct {
	Registry string            `json:"registry"`
	Store    string            `json:"store"`
	Plain    bool              `json:"plain_text"`
	Unproven bool              `json:"unproven"`
	Removed  bool              `json:"removed"`
	Errors   []problemDocument `json:"errors"`
}

func (p *printer) loggedIn(r *publish.LoginResult, text string) {
	if p.json {
		p.document(loginDocument{r.Registry, r.Store, r.Plain, r.Unproven, r.Removed, problemDocuments(nil)})
		return
	}
	p.line(text, r.Registry)
}
