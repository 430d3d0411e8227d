package getter

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"
)

// Ambient says where to look for credentials that other tools have stored.
type Ambient struct {
	// Getenv reads an environment variable; nil means os.Getenv. These are
	// read: REGISTRY_AUTH_FILE, DOCKER_CONFIG, HOME (on Windows USERPROFILE),
	// XDG_RUNTIME_DIR, XDG_CONFIG_HOME. Helpers are looked for in PATH.
	Getenv func(string) string

	// HelperTimeout is how long a credential helper may take; 0 means
	// [DefaultHelperTimeout].
	HelperTimeout time.Duration
}

// AmbientCredentials finds what other tools have stored, in this order: the
// file that REGISTRY_AUTH_FILE names, Docker's config.json, podman's files. In
// each file helpers come first, then the store, then the entries themselves;
// the most specific key wins. Files are read once, when first needed; a file
// or a helper that can't be used is passed over, with a Problem.
func AmbientCredentials(a Ambient) CredentialFunc {
	if a.Getenv == nil {
		a.Getenv = os.Getenv
	}
	if a.HelperTimeout <= 0 {
		a.HelperTimeout = DefaultHelperTimeout
	}
	h := &helpers{timeout: a.HelperTimeout, runs: map[[2]string]*helperRun{}}
	read := sync.OnceValues(func() ([]*dockerConfig, []error) { return readConfigs(a) })
	return func(ctx context.Context, place Place) (Credential, error) {
		configs, problems := read()
		problems = append([]error{}, problems...)
		for _, config := range configs {
			found, err := config.find(ctx, h, place)
			if ctx.Err() != nil {
				return Credential{}, ctx.Err()
			}
			problems = append(problems, err)
			if !found.isEmpty() {
				found.Problem = join(problems)
				return found, nil
			}
		}
		return Credential{Problem: join(problems)}, nil
	}
}

// find asks one file: helper, store, entry.
func (c *dockerConfig) find(ctx context.Context, h *helpers, place Place) (Credential, error) {
	var problems []error
	ask := func(name, key string) Credential {
		found, err := h.get(ctx, name, key)
		problems = append(problems, err)
		if !found.isEmpty() {
			found.Origin += " (named in " + c.path + ")"
		}
		return found
	}
	if name, key, ok := c.helper(place); ok {
		if found := ask(name, key); !found.isEmpty() {
			return found, join(problems)
		}
	}
	if c.CredsStore != "" {
		if found := ask(c.CredsStore, c.storeKey(place)); !found.isEmpty() {
			return found, join(problems)
		}
	}
	found, err := c.entry(place)
	return found, join(append(problems, err))
}

// readConfigs reads all files that there are. One that is named and not there
// is a problem; one that is looked for where it usually is, is not.
func readConfigs(a Ambient) (configs []*dockerConfig, problems []error) {
	if named := a.Getenv("REGISTRY_AUTH_FILE"); named != "" {
		if _, err := os.Stat(named); errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, errors.New("REGISTRY_AUTH_FILE names "+named+", which does not exist"))
		}
	}
	for _, path := range configPaths(a.Getenv) {
		config, err := readDockerConfig(path)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		configs = append(configs, config)
	}
	return configs, problems
}

// DockerConfigFile is where Docker's and ORAS's tools keep credentials, or name
// the helper that does: $DOCKER_CONFIG/config.json, else .docker/config.json in
// the user's home; "" where the environment names neither.
func DockerConfigFile(getenv func(string) string) string {
	if dir := getenv("DOCKER_CONFIG"); dir != "" {
		return filepath.Join(dir, "config.json")
	}
	if home := homeDir(getenv); home != "" {
		return filepath.Join(home, ".docker", "config.json")
	}
	return ""
}

func homeDir(getenv func(string) string) string {
	if home := getenv("HOME"); home != "" || runtime.GOOS != "windows" {
		return home
	}
	return getenv("USERPROFILE")
}

// configPaths lists the files in the order in which they are asked.
func configPaths(getenv func(string) string) []string {
	var paths []string
	add := func(dir string, rest ...string) {
		if dir != "" {
			paths = append(paths, filepath.Join(append([]string{dir}, rest...)...))
		}
	}
	add(getenv("REGISTRY_AUTH_FILE"))
	add(DockerConfigFile(getenv))
	if runtime.GOOS == "linux" {
		if dir := getenv("XDG_RUNTIME_DIR"); dir != "" {
			add(dir, "containers", "auth.json")
		} else {
			add("/run/containers", strconv.Itoa(os.Getuid()), "auth.json")
		}
	}
	if dir := getenv("XDG_CONFIG_HOME"); dir != "" {
		add(dir, "containers", "auth.json")
	} else {
		add(homeDir(getenv), ".config", "containers", "auth.json")
	}
	return paths
}
