package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pluginlock/plugins/addr"
)

// sampleConfiguration requires the sample for all platforms.
func sampleConfiguration(source string) string {
	return fmt.Sprintf(`plugins {
  platforms = ["%s"]
}

required_plugins {
  sample = {
    source    = %q
    version   = "~> 1.4"
    protocols = [6]
  }
}
`, strings.Join(samplePlatforms, `", "`), source)
}

// What package and push send, init installs: on each platform the bytes that
// the author's compiler wrote, and here a program that runs.
func TestRoundTrip(t *testing.T) {
	host := sampleHost(t)
	first := map[string]addr.Digest{} // by compression
	forEach(t, func(t *testing.T, open, private server) {
		for compression, s := range map[string]server{"gzip": open, "zstd": private} {
			sample := publishSample(t, s, "plugins/sample", "--compression", compression)
			if first[compression].IsZero() {
				first[compression] = sample.digest
			}
			if want := first[compression]; sample.digest != want {
				t.Errorf("with %s this registry has %s, the first %s", compression, sample.digest, want)
			}
			p := newProject(t, []server{s}, sampleConfiguration(sample.source))
			p.run(t, "init")
			p.requireProgram(t, "sample", sampleSays(host, os.Getuid()))
			lock := p.read(t, ".plugins.lock.hcl")
			if !strings.Contains(lock, sample.digest.String()) {
				t.Errorf("the lock has no digest %s:\n%s", sample.digest, lock)
			}
			for _, platform := range samplePlatforms {
				requireInstalls(t, p, platform)
			}
		}
	})
}

// requireInstalls installs the locked sample for a platform and compares it
// with what was packed.
func requireInstalls(t *testing.T, p project, platform string) {
	t.Helper()
	dir := "for-" + strings.ReplaceAll(platform, "/", "-")
	p.run(t, "init", "--locked", "--platform", platform, "--install-dir", dir)
	path := strings.TrimSpace(output(t, p.command(t, "which", "sample", "--install-dir", dir)))
	if want := filepath.Join(p.dir, dir); !strings.HasPrefix(path, want+string(filepath.Separator)) {
		t.Errorf("for %s: which prints %s, want a file in %s", platform, path, want)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(content, sampleProgram(t, platform)) {
		t.Errorf("for %s: the installed file is not the one that was packed", platform)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("for %s: %v, mode %v, want 0755", platform, err, info.Mode())
	}
}

// login is what lets push and init into a private registry, logout what ends
// that. A push that is refused leaves nothing.
func TestLogin(t *testing.T) {
	forEach(t, func(t *testing.T, _, private server) {
		p := newProject(t, nil, sampleConfiguration(private.Host+"/plugins/sample"))
		to := private.Host + "/plugins/sample:" + sampleVersion
		refused := func(args ...string) {
			t.Helper()
			out, err := p.command(t, args...).CombinedOutput()
			if err == nil || !strings.Contains(string(out), private.Host) {
				t.Errorf("%s: %v, and the message does not name %s:\n%s", args, err, private.Host, out)
			}
		}
		login := func(secret string) error {
			cmd := p.command(t, "login", "--username", private.Username, "--password-stdin", private.Host)
			cmd.Stdin = strings.NewReader(secret)
			out, err := cmd.CombinedOutput()
			if strings.Contains(string(out), secret) {
				t.Errorf("login shows the password:\n%s", out)
			}
			return err
		}

		refused("push", sampleDir(t), to)
		if login("wr0ng-pw") == nil {
			t.Error("login takes a false password")
		}
		refused("push", sampleDir(t), to)
		if err := login(private.Password); err != nil {
			t.Fatal(err)
		}
		if got := get(t, private, "/v2/plugins/sample/tags/list"); strings.Contains(string(got.content), sampleVersion) {
			t.Errorf("after refused pushes the tags are %s", got.content)
		}
		p.run(t, "push", sampleDir(t), to)
		p.run(t, "lock")
		p.run(t, "logout", private.Host)
		refused("init")
	})
}
