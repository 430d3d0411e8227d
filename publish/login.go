package publish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
	"oras.land/oras-go/v2/registry/remote/credentials/trace"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/getter"
	"github.com/pluginlock/plugins/internal/text"
)

// LoginOptions say which credentials are kept.
type LoginOptions struct {
	Registry           string // host and port, as sources name it
	Username, Password string // the password may be a token
	ConfigFile         string // of Docker, see [ConfigFile]

	// Client says how the registry is reached; its Credentials are not used.
	Client getter.Options
}

// LoginResult says what became of credentials.
type LoginResult struct {
	Registry string
	Store    string // the file, or the helper program, that has them
	Plain    bool   // they are in a file, as plain text
	Unproven bool   // the registry did not ask for them, so they may be wrong
	Removed  bool   // by [Logout]: there were some
}

// ConfigFile is [getter.DockerConfigFile], where what [Login] keeps is found by
// all other commands. getenv is os.Getenv in a command.
//
// Errors: the environment names no home.
func ConfigFile(getenv func(string) string) (string, error) {
	file := getter.DockerConfigFile(getenv)
	if file == "" {
		return "", errors.New("there is no home directory to keep credentials in: set HOME or DOCKER_CONFIG")
	}
	return file, nil
}

// Login asks the registry whether it accepts the credentials, and then keeps
// them where Docker's and ORAS's tools look for them: with the helper program
// that the file names for the registry or for all, else in the file itself,
// which others cannot read (mode 0600). Credentials that are refused are not
// kept.
//
// Errors: [*getter.Error], of kind [getter.ErrUnauthorized] where they are
// refused; those of the helper and the file system. None holds the password.
func Login(ctx context.Context, o LoginOptions) (*LoginResult, error) {
	host, err := parseHost(o.Registry)
	switch {
	case err != nil:
		return nil, err
	case o.Username == "" || o.Password == "":
		return nil, errors.New("a login needs a user name and a password")
	case strings.Contains(o.Username, ":"):
		return nil, errors.New("a user name cannot hold a colon")
	}
	o.Client.Credentials = getter.StaticCredential(host, getter.Credential{Username: o.Username, Password: o.Password, Origin: "this login"})
	client, err := getter.New(o.Client)
	if err != nil {
		return nil, err
	}
	defer client.CloseIdleConnections()
	asked, err := client.Ping(ctx, host)
	if err != nil {
		return nil, err
	}
	s, err := openCredentials(o.ConfigFile)
	if err != nil {
		return nil, err
	}
	ctx = s.watch(ctx)
	err = await(ctx, func() error {
		return s.store.Put(ctx, serverAddress(host), auth.Credential{Username: o.Username, Password: o.Password})
	})
	if err != nil {
		return nil, s.explain(ctx, "keep", host, err, o.Password)
	}
	return &LoginResult{Registry: host, Store: s.where(), Plain: s.helper == "", Unproven: !asked}, nil
}

// Logout removes what [Login], or another tool, has kept for a registry. That
// there was nothing is no error.
func Logout(ctx context.Context, registry, configFile string) (*LoginResult, error) {
	host, err := parseHost(registry)
	if err != nil {
		return nil, err
	}
	s, err := openCredentials(configFile)
	if err != nil {
		return nil, err
	}
	ctx = s.watch(ctx)
	var there auth.Credential
	var none bool
	err = await(ctx, func() (err error) {
		if there, err = s.store.Get(ctx, serverAddress(host)); err == nil && there == auth.EmptyCredential {
			none = true
			return nil
		}
		return s.store.Delete(ctx, serverAddress(host))
	})
	if err != nil {
		return nil, s.explain(ctx, "remove", host, err, "")
	}
	return &LoginResult{Registry: host, Store: s.where(), Plain: s.helper == "", Removed: !none}, nil
}

// await waits for a helper no longer than ctx lasts. The library that runs it
// waits on for whoever holds its pipes, such as a program that it started.
func await(ctx context.Context, run func() error) error {
	done := make(chan error, 1)
	go func() { done <- run() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// credentialStore is Docker's file with the helpers that it names.
type credentialStore struct {
	store  *credentials.DynamicStore
	file   string
	helper string // the program that was run, or ""
}

func openCredentials(file string) (*credentialStore, error) {
	if file == "" {
		return nil, errors.New("no file for credentials is given")
	}
	if resolved, err := filepath.EvalSymlinks(file); err == nil {
		file = resolved // writing replaces the file, not a link to it
	}
	store, err := credentials.NewStore(file, credentials.StoreOptions{AllowPlaintextPut: true, DetectDefaultNativeStore: true})
	if err != nil {
		return nil, fmt.Errorf("%s cannot be used for credentials: %w", file, storeWords(file, err))
	}
	return &credentialStore{store: store, file: file}, nil
}

// storeWords takes off the layers of the library's text that name the file once
// more.
func storeWords(file string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	if raw, readErr := os.ReadFile(file); readErr == nil && !json.Valid(raw) {
		return errors.New("it is not valid JSON")
	}
	return err
}

// watch notes which helper is run.
func (s *credentialStore) watch(ctx context.Context) context.Context {
	return trace.WithExecutableTrace(ctx, &trace.ExecutableTrace{ExecuteStart: func(name, _ string) { s.helper = name }})
}

func (s *credentialStore) where() string {
	if s.helper != "" {
		return s.helper
	}
	return s.file
}

// explain says what failed, without what must stay secret: a helper may repeat
// what it was given.
func (s *credentialStore) explain(ctx context.Context, verb, host string, err error, secret string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%s is not installed (not in PATH), so it did not %s the credentials for %s", s.where(), verb, host)
	}
	words := err.Error()
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		words = path.Err.Error() // the library's path is that of a temporary file
	}
	if secret != "" {
		words = strings.ReplaceAll(words, secret, "***")
	}
	if before, _, quoted := strings.Cut(words, "{"); quoted { // by the helpers' protocol credentials are JSON
		words = before + "…"
	}
	return fmt.Errorf("%s did not %s the credentials for %s: %s", s.where(), verb, host, text.Clip(words))
}

// serverAddress is the key under which credentials are kept.
func serverAddress(host string) string { return credentials.ServerAddressFromRegistry(host) }

// RegistryNameError means that a text does not name a registry.
type RegistryNameError struct {
	Name string
}

func (e *RegistryNameError) Error() string {
	return fmt.Sprintf("%q is no registry: give its host alone, such as registry.example.com", text.Clip(e.Name))
}

// parseHost reads a registry as sources spell it.
func parseHost(registry string) (string, error) {
	source, err := addr.ParseSource(registry + "/a/b")
	if err != nil || registry == "" || strings.ContainsAny(registry, "/@?#") {
		return "", &RegistryNameError{registry}
	}
	return source.Host(), nil
}
