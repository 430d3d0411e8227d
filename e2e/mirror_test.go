package e2e

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Who has only a mirror, filled by skopeo, installs with the same lock file, and
// would have written the same one: from a private registry, and from a directory
// that was carried there.
func TestMirror(t *testing.T) {
	sampleHost(t)
	program := debian(t, "skopeo", "skopeo")
	forEach(t, func(t *testing.T, _, private server) {
		var source, lock string
		layout := filepath.Join(t.TempDir(), "layouts")
		// The origin runs only in this part: after it, nobody can ask it.
		t.Run("origin", func(t *testing.T) {
			sample := publishSample(t, serve(t), "plugins/sample")
			p := newProject(t, nil, sampleConfiguration(sample.source))
			p.run(t, "init")
			source, lock = sample.source, p.read(t, ".plugins.lock.hcl")
			copyAll := func(destination ...string) {
				args := append([]string{"copy", "--insecure-policy", "--all", "--src-tls-verify=false", "docker://" + sample.ref()}, destination...)
				output(t, command(t, []server{private}, program, args...))
			}
			copyAll("--dest-tls-verify=false", "docker://"+private.Host+"/copies/sample:"+sampleVersion)
			copyAll("oci:" + layout + ":" + sample.ref())
		})
		if lock == "" {
			t.Fatal("there is nothing to mirror")
		}
		host, _, _ := strings.Cut(source, "/")
		if c, err := net.Dial("tcp", host); err == nil {
			_ = c.Close()
			t.Fatal("the origin still runs")
		}
		t.Run("registry", func(t *testing.T) { requireMirror(t, private, source, private.Host+"/copies/sample", lock) })
		t.Run("directory", func(t *testing.T) { requireMirror(t, private, source, layout, lock) })
	})
}

// requireMirror installs the sample from a mirror of its source: as a lock file
// says, and without one, which must end in the same lock file and say what the
// mirror decided.
func requireMirror(t *testing.T, known server, source, mirror, lock string) {
	t.Helper()
	start := func() project {
		p := newProject(t, []server{known}, sampleConfiguration(source))
		p.write(t, "settings.hcl", fmt.Sprintf("registry %q {\n  mirror = %q\n}\n", source, mirror))
		p.env = append(p.env, "PLUGINS_SETTINGS_FILE="+filepath.Join(p.dir, "settings.hcl"))
		return p
	}
	init := func(p project, args ...string) string {
		out, err := p.command(t, append([]string{"init"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("init %s: %v\n%s", args, err, out)
		}
		p.requireProgram(t, "sample", sampleSays(sampleHost(t), os.Getuid()))
		if got := p.read(t, ".plugins.lock.hcl"); got != lock {
			t.Errorf("init %s: the lock is\n%s\nthat of the origin\n%s", args, got, lock)
		}
		return string(out)
	}

	colleague := start()
	colleague.write(t, ".plugins.lock.hcl", lock)
	if said := init(colleague, "--locked"); strings.Contains(said, "mirror") {
		t.Errorf("the lock left nothing to choose, and init says:\n%s", said)
	}
	if said := init(start()); !strings.Contains(said, "mirror") {
		t.Errorf("the version was chosen from the tags of a mirror, which init does not say:\n%s", said)
	}
}
