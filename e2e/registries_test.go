package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/distribution/distribution/v3/configuration"
	"github.com/distribution/distribution/v3/registry/handlers"
	"github.com/sirupsen/logrus"
	"golang.org/x/crypto/bcrypt"

	_ "github.com/distribution/distribution/v3/registry/auth/htpasswd"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/inmemory"

	"github.com/pluginlock/plugins/internal/imagetest"
	"github.com/pluginlock/plugins/internal/registrytest"
)

// The credentials that every private registry takes.
const (
	username = "reader"
	password = "s3cret-pw"
)

// server is a running registry.
type server struct {
	Host               string // "127.0.0.1:40123"
	Username, Password string // "" where everybody is let in
}

func (s server) remote() imagetest.Remote {
	return imagetest.Remote{URL: "http://" + s.Host, Username: s.Username, Password: s.Password}
}

func (s server) push(t *testing.T, im *imagetest.Image, repository string, tags ...string) {
	t.Helper()
	if err := s.remote().Push(t.Context(), im, repository, tags...); err != nil {
		t.Fatal(err)
	}
}

// kind starts registries of one implementation until the test ends.
type kind struct {
	name  string
	start func(t *testing.T, address string, private bool)
}

var kinds = []kind{
	{"in process", startInProcess},
	{"distribution v3", startDistribution},
	{"docker-registry", startDebian},
}

// forEach runs a test for each kind of registry, with an open and a private one
// running. Their addresses are the same for all kinds, which run one after the
// other: so what records addresses, as the lock file does, can be compared.
func forEach(t *testing.T, test func(t *testing.T, open, private server)) {
	addresses := [2]string{freeAddress(t), freeAddress(t)}
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			k.start(t, addresses[0], false)
			k.start(t, addresses[1], true)
			open, private := server{Host: addresses[0]}, server{addresses[1], username, password}
			await(t, open)
			await(t, private)
			test(t, open, private)
		})
	}
}

// serve runs an open registry, for tests in which its kind does not matter.
func serve(t *testing.T) server {
	t.Helper()
	s := server{Host: freeAddress(t)}
	startDistribution(t, s.Host, false)
	await(t, s)
	return s
}

// freeAddress finds a loopback port that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// await waits until a registry answers as it should: with 200 or, without
// credentials, with 401.
func await(t *testing.T, s server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	want := http.StatusOK
	if s.Username != "" {
		want = http.StatusUnauthorized
	}
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.Host+"/v2/", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == want {
				return
			}
			err = errors.New(resp.Status)
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("registry at %s: %v", s.Host, err)
		}
	}
}

func startInProcess(t *testing.T, address string, private bool) {
	options := registrytest.Options{Addr: address}
	if private {
		options.Auth = &registrytest.Auth{Username: username, Password: password}
	}
	registrytest.New(t, options)
}

// startDistribution serves the handlers of distribution v3.
func startDistribution(t *testing.T, address string, private bool) {
	logrus.SetOutput(io.Discard) // it has a line for every request
	config := &configuration.Configuration{
		Storage: configuration.Storage{"inmemory": nil, "maintenance": {"uploadpurging": map[any]any{"enabled": false}}},
		Catalog: configuration.Catalog{MaxEntries: 1000},
	}
	config.HTTP.Secret = "e2e"
	if private {
		config.Auth = configuration.Auth{"htpasswd": {"realm": "e2e", "path": htpasswd(t)}}
	}
	ctx, cancel := context.WithCancel(context.Background())
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	app := handlers.NewApp(ctx, config)
	s := &http.Server{Handler: app, ReadHeaderTimeout: time.Minute}
	done := make(chan struct{})
	go func() {
		_ = s.Serve(listener) // ends with ErrServerClosed
		close(done)
	}()
	t.Cleanup(func() {
		_ = s.Close()
		<-done
		cancel()
		if err := app.Shutdown(); err != nil {
			t.Error(err)
		}
	})
}

// startDebian runs Debian's docker-registry, which is distribution 2.8.
func startDebian(t *testing.T, address string, private bool) {
	program, err := exec.LookPath("docker-registry")
	if err != nil {
		t.Skip("docker-registry is not installed (Debian: apt-get install docker-registry)")
	}
	dir := t.TempDir()
	config := fmt.Sprintf("version: 0.1\nlog: {level: error, accesslog: {disabled: true}}\nstorage: {filesystem: {rootdirectory: %q}, delete: {enabled: true}}\nhttp: {addr: %q, secret: e2e}\n",
		filepath.Join(dir, "data"), address)
	if private {
		config += fmt.Sprintf("auth: {htpasswd: {realm: e2e, path: %q}}\n", htpasswd(t))
	}
	file := filepath.Join(dir, "config.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	startProcess(t, exec.Command(program, "serve", file))
}

// startProcess runs a program until the test ends: it is asked to stop and,
// where it does not within five seconds, killed. Its output is shown when the
// test failed.
func startProcess(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	output, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // a program that was asked to stop may call that an error
		close(ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // fails if it has ended, which is as well
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			_ = cmd.Process.Kill()
			<-ended
		}
		_ = output.Close()
		if t.Failed() {
			said, _ := os.ReadFile(output.Name())
			t.Logf("the end of what %s said:\n%s", cmd, said[max(0, len(said)-2000):])
		}
	})
}

// htpasswd writes a password file for username and password.
func htpasswd(t *testing.T) string {
	t.Helper()
	hashed, err := bcrypt.GenerateFromPassword([]byte(password), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "htpasswd")
	if err := os.WriteFile(file, []byte(username+":"+string(hashed)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
