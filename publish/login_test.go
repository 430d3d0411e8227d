package publish

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pluginlock/plugins/getter"
	"github.com/pluginlock/plugins/internal/registrytest"
)

func TestLogin(t *testing.T) {
	for name, auth := range map[string]*registrytest.Auth{"basic": {Username: "u", Password: "right"}, "bearer": {Username: "u", Password: "right", Bearer: true}} {
		t.Run(name, func(t *testing.T) {
			r := registrytest.New(t, registrytest.Options{Auth: auth})
			file := filepath.Join(t.TempDir(), "new", "config.json")
			o := LoginOptions{Registry: r.Host(), Username: "u", Password: "wrong-secret", ConfigFile: file}
			_, err := Login(t.Context(), o)
			if !errors.Is(err, getter.ErrUnauthorized) || strings.Contains(err.Error(), "wrong-secret") {
				t.Fatalf("refused credentials: %v", err)
			}
			if _, err := os.Lstat(file); !os.IsNotExist(err) {
				t.Fatal("refused credentials were kept")
			}
			o.Password = "right"
			got, err := Login(t.Context(), o)
			must(t, err)
			if got.Store != file || !got.Plain || got.Unproven || got.Registry != r.Host() {
				t.Errorf("%+v", got)
			}
			info, err := os.Stat(file)
			must(t, err)
			if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("mode is %v", info.Mode())
			}
			ambient := getter.AmbientCredentials(getter.Ambient{Getenv: func(name string) string {
				return map[string]string{"DOCKER_CONFIG": filepath.Dir(file)}[name]
			}})
			found, err := ambient(t.Context(), getter.Place{Host: r.Host(), Path: repository})
			if err != nil || found.Username != "u" || found.Password != "right" {
				t.Errorf("what an installer finds: %v, %v", found, err)
			}
			for _, there := range []bool{true, false} {
				got, err := Logout(t.Context(), r.Host(), file)
				must(t, err)
				if got.Removed != there {
					t.Errorf("removed %v, want %v", got.Removed, there)
				}
			}
			if raw, err := os.ReadFile(file); err != nil || strings.Contains(string(raw), r.Host()) {
				t.Errorf("after the logout: %s, %v", raw, err)
			}
		})
	}
}

// TestLoginKeepsOthers adds to a file what it does not know.
func TestLoginKeepsOthers(t *testing.T) {
	r := registrytest.New(t, registrytest.Options{})
	file := filepath.Join(t.TempDir(), "config.json")
	must(t, os.WriteFile(file, []byte(`{"auths":{"example.com":{"auth":"dTpw"}},"detachKeys":"ctrl-x"}`), 0o644))
	link := filepath.Join(t.TempDir(), "config.json")
	must(t, os.Symlink(file, link))
	got, err := Login(t.Context(), LoginOptions{Registry: r.Host(), Username: "u", Password: "p", ConfigFile: link})
	must(t, err)
	if !got.Unproven {
		t.Error("an open registry proves nothing")
	}
	raw, err := os.ReadFile(file)
	must(t, err)
	for _, want := range []string{r.Host(), "example.com", "ctrl-x"} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("%s is gone: %s", want, raw)
		}
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link to the file was replaced: %v, %v", info.Mode(), err)
	}
}

func TestLoginHelper(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the helper of this test is a shell script")
	}
	r := registrytest.New(t, registrytest.Options{Auth: &registrytest.Auth{Username: "u", Password: "right"}})
	bin := t.TempDir()
	log := filepath.Join(bin, "log")
	must(t, os.WriteFile(filepath.Join(bin, "docker-credential-test"), []byte(`#!/bin/sh
input=$(cat)
echo "$1 $input" >>"`+log+`"
case $1 in
get) test -e "`+log+`.kept" || { echo "credentials not found in native keychain"; exit 1; }
     echo '{"Username":"u","Secret":"right"}' ;;
store) touch "`+log+`.kept" ;;
erase) rm "`+log+`.kept" ;;
esac
`), 0o755))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	file := filepath.Join(t.TempDir(), "config.json")
	must(t, os.WriteFile(file, []byte(`{"credsStore":"test"}`), 0o600))
	got, err := Login(t.Context(), LoginOptions{Registry: r.Host(), Username: "u", Password: "right", ConfigFile: file})
	must(t, err)
	if got.Store != "docker-credential-test" || got.Plain {
		t.Errorf("%+v", got)
	}
	raw, err := os.ReadFile(file)
	must(t, err)
	if strings.Contains(string(raw), r.Host()) {
		t.Errorf("the file has credentials though a helper keeps them: %s", raw)
	}
	calls, err := os.ReadFile(log)
	must(t, err)
	if !strings.Contains(string(calls), "store ") || !strings.Contains(string(calls), `"Secret":"right"`) {
		t.Errorf("the helper was called with %s", calls)
	}
	for _, there := range []bool{true, false} {
		out, err := Logout(t.Context(), r.Host(), file)
		must(t, err)
		if out.Removed != there {
			t.Errorf("removed %v, want %v", out.Removed, there)
		}
	}
}

// What cannot keep credentials is named in words of ours, without them; a
// helper that leaves a program behind does not outlast an interrupt.
func TestLoginCannotKeep(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the helpers of this test are shell scripts")
	}
	r := registrytest.New(t, registrytest.Options{})
	bin := t.TempDir()
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	for name, script := range map[string]string{"echo": "cat\nexit 1", "hang": "exec 2>/dev/null\nsleep 20 & sleep 20"} {
		must(t, os.WriteFile(filepath.Join(bin, "docker-credential-"+name), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	}
	for config, want := range map[string]string{
		`{"credsStore":"absent"}`: "docker-credential-absent is not installed (not in PATH)",
		`{"credsStore":"echo"}`:   "docker-credential-echo did not keep the credentials for " + r.Host(),
		`{"auths": s3cr3t`:        "cannot be used for credentials: it is not valid JSON",
	} {
		file := filepath.Join(t.TempDir(), "config.json")
		must(t, os.WriteFile(file, []byte(config), 0o600))
		_, err := Login(t.Context(), LoginOptions{Registry: r.Host(), Username: "u", Password: `s3cr3t"<pw`, ConfigFile: file})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cr3t") || strings.Contains(err.Error(), "exec:") {
			t.Errorf("%s: %v", config, err)
		}
	}
	readOnly := fmt.Errorf("failed to save config file: %w", &os.PathError{Op: "open", Path: "/home/oras_temp_1", Err: os.ErrPermission})
	err := (&credentialStore{file: "config.json"}).explain(t.Context(), "keep", "example.com", readOnly, "")
	if want := "config.json did not keep the credentials for example.com: permission denied"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	file := filepath.Join(t.TempDir(), "config.json")
	must(t, os.WriteFile(file, []byte(`{"credsStore":"hang"}`), 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := Logout(ctx, r.Host(), file); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 10*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

func TestLoginRefuses(t *testing.T) {
	for _, o := range []LoginOptions{
		{Registry: "https://example.com", Username: "u", Password: "p"}, {Registry: "example.com/x", Username: "u", Password: "p"},
		{Registry: "", Username: "u", Password: "p"}, {Registry: "u:p@example.com", Username: "u", Password: "p"},
		{Registry: "example.com", Password: "p"}, {Registry: "example.com", Username: "u"}, {Registry: "example.com", Username: "u:x", Password: "p"},
	} {
		o.ConfigFile = filepath.Join(t.TempDir(), "config.json")
		if _, err := Login(context.Background(), o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

func TestConfigFile(t *testing.T) {
	env := map[string]string{"HOME": "/home/u"}
	for _, test := range []struct{ name, value, want string }{
		{"", "", filepath.Join("/home/u", ".docker", "config.json")}, {"DOCKER_CONFIG", "/etc/docker", filepath.Join("/etc/docker", "config.json")},
	} {
		env[test.name] = test.value
		if got, err := ConfigFile(func(name string) string { return env[name] }); err != nil || got != test.want {
			t.Errorf("%s: %s, %v", test.name, got, err)
		}
	}
	if _, err := ConfigFile(func(string) string { return "" }); err == nil {
		t.Error("without a home")
	}
}
