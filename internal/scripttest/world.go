package scripttest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pluginlock/plugins/internal/registrytest"
)

// names are what scripts call their registries: that of _registry/, of
// _registry2/ and of _registry3/. Each is as long as "127.0.0.1:40123".
var names = []string{"oci.example.com", "two.example.com", "tri.example.com"}

// folder is where the i-th registry's images are declared; folder + ".json" has
// its settings.
func folder(i int) string {
	if i == 0 {
		return "_registry"
	}
	return fmt.Sprintf("_registry%d", i+1)
}

// variable is the environment variable with the i-th registry's address.
func variable(i int) string { return strings.ToUpper(strings.TrimPrefix(folder(i), "_")) }

// world is what one script has beside its files.
type world struct {
	dir        string
	registries []*registrytest.Registry
	toAddress  *strings.Replacer
	toName     *strings.Replacer
	secrets    []string
	before     tree // of the last `snapshot`
	updates    map[string]string
}

type worldKey struct{}

func worldOf(ts *testscript.TestScript) *world { return ts.Value(worldKey{}).(*world) }

// newWorld starts the registries that dir declares, translates the names in its
// other files and takes the declarations away.
func newWorld(dir string) (*world, error) {
	w := &world{dir: dir, updates: map[string]string{}}
	var declared []int
	for i := range names {
		if exists(filepath.Join(dir, folder(i))) || exists(filepath.Join(dir, folder(i)+".json")) {
			declared = append(declared, i)
		}
	}
	for at, i := range declared {
		if at != i {
			return nil, fmt.Errorf("there is a %s but no %s", folder(i), folder(at))
		}
	}
	listeners, err := listen(len(declared))
	if err != nil {
		return nil, err
	}
	w.translate(listeners)
	if err := w.rewrite(); err != nil {
		return nil, err
	}
	for i, listener := range listeners {
		if err := w.start(i, listener); err != nil {
			w.close()
			for _, rest := range listeners[i:] {
				_ = rest.Close() // unused, or closed by the registry
			}
			return nil, fmt.Errorf("%s: %w", folder(i), err)
		}
	}
	return w, nil
}

func (w *world) close() {
	for _, r := range w.registries {
		r.Close()
	}
}

func (w *world) translate(listeners []net.Listener) {
	var there, back []string
	for i, listener := range listeners {
		address := listener.Addr().String()
		there = append(there, names[i], address)
		back = append(back, address, names[i])
	}
	w.toAddress, w.toName = strings.NewReplacer(there...), strings.NewReplacer(back...)
}

// rewrite puts addresses in the place of names in every file.
func (w *world) rewrite() error {
	return filepath.WalkDir(w.dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		translated := w.toAddress.Replace(string(content))
		if translated == string(content) {
			return nil
		}
		return os.WriteFile(name, []byte(translated), 0o666)
	})
}

// start starts the i-th registry and removes its declarations from the
// script's directory.
func (w *world) start(i int, listener net.Listener) error {
	var options registrytest.Options
	declarations := filepath.Join(w.dir, folder(i))
	settings := declarations + ".json"
	content, err := os.ReadFile(settings)
	if err == nil {
		err = decodeStrictly(content, &options)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("settings: %w", err)
	}
	options.Listener = listener
	registry, err := registrytest.Start(options)
	if err != nil {
		return err
	}
	w.registries = append(w.registries, registry)
	if a := options.Auth; a != nil {
		w.keepSecret(a.Password, a.Refresh, base64.StdEncoding.EncodeToString([]byte(a.Username+":"+a.Password)))
	}
	if exists(declarations) {
		if err := registry.Load(os.DirFS(declarations)); err != nil {
			return err
		}
	}
	return errors.Join(os.RemoveAll(declarations), os.RemoveAll(settings))
}

func (w *world) keepSecret(secrets ...string) {
	for _, s := range secrets {
		if s != "" {
			w.secrets = append(w.secrets, s)
		}
	}
}

// registry finds a registry by the name that scripts use.
func (w *world) registry(name string) (*registrytest.Registry, error) {
	for i, r := range w.registries {
		if names[i] == name {
			return r, nil
		}
	}
	return nil, fmt.Errorf("no registry %q: there are %v", name, names[:len(w.registries)])
}

// repository splits "oci.example.com/plugins/aws".
func (w *world) repository(source string) (*registrytest.Registry, string, error) {
	host, path, ok := strings.Cut(source, "/")
	if !ok {
		return nil, "", fmt.Errorf("%q is not HOST/REPOSITORY", source)
	}
	r, err := w.registry(host)
	return r, path, err
}

// listen opens n loopback ports whose addresses have 15 characters.
func listen(n int) ([]net.Listener, error) {
	var listeners []net.Listener
	for range 100 {
		if len(listeners) == n {
			return listeners, nil
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		if len(l.Addr().String()) != len(names[0]) {
			defer func() { _ = l.Close() }() // nobody knows it yet
			continue
		}
		listeners = append(listeners, l)
	}
	return nil, errors.New("no free port of five digits")
}

func decodeStrictly(content []byte, v any) error {
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	return decoder.Decode(v)
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
