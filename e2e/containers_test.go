package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// imageUser is who a plugin runs as in a container, by its image's config.
const imageUser = 65532

// needContainers skips where programs like runc cannot work, and says why.
func needContainers(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("containers are run by root here: rootless ones need sub-ids and more")
	}
	probe := exec.CommandContext(t.Context(), "true")
	probe.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC}
	if err := probe.Run(); err != nil {
		t.Skipf("this sandbox lets nobody make namespaces: %v", err)
	}
	const writable = 2 // W_OK of access(2)
	if err := syscall.Access("/sys/fs/cgroup", writable); err != nil {
		t.Skipf("this sandbox has no cgroups to write to: /sys/fs/cgroup: %v", err)
	}
}

// umoci makes a bundle of the image, in which the entry point is a program that
// anybody may run.
func TestUmociUnpacks(t *testing.T) {
	platform := sampleHost(t)
	umoci := debian(t, "umoci", "umoci")
	sample := publishSample(t, serve(t), "plugins/sample")

	// umoci takes no index: oras picks the image of the platform.
	layout, bundle := filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "bundle")
	output(t, command(t, nil, tool(t, "oras"), "cp", "--from-plain-http", "--platform", platform, sample.ref(), "--to-oci-layout", layout+":"+sampleVersion))
	args := []string{"unpack", "--image", layout + ":" + sampleVersion, bundle}
	if os.Getuid() != 0 {
		args = append([]string{"unpack", "--rootless"}, args[1:]...)
	}
	output(t, command(t, nil, umoci, args...))

	var config struct {
		Process struct {
			User struct{ UID, GID uint32 }
			Args []string
		}
	}
	content, err := os.ReadFile(filepath.Join(bundle, "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &config); err != nil {
		t.Fatal(err)
	}
	process := config.Process
	if len(process.Args) != 1 || process.User.UID != imageUser || process.User.GID != imageUser {
		t.Fatalf("the bundle runs %q as %d:%d", process.Args, process.User.UID, process.User.GID)
	}
	root, uid := filepath.Join(bundle, "rootfs"), os.Getuid()
	cmd := bounded(t, filepath.Join(root, process.Args[0]), "one")
	if uid == 0 { // only root can be somebody else and be shut in, as the bundle wants
		uid = imageUser
		cmd = bounded(t, process.Args[0], "one")
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: process.User.UID, Gid: process.User.GID}}
	}
	requireSays(t, output(t, cmd), sampleSays(platform, uid, "one"))
}

// podman pulls the image and runs it; an image also mounts as a volume, which
// is how another container gets the plugin.
func TestPodman(t *testing.T) {
	platform := sampleHost(t)
	program := debian(t, "podman", "podman")
	debian(t, "runc", "runc")
	needContainers(t)
	registry := serve(t)

	dir := t.TempDir()
	global := []string{"--root", filepath.Join(dir, "root"), "--runroot", filepath.Join(dir, "run"), "--tmpdir", filepath.Join(dir, "tmp"),
		"--storage-driver", "vfs", "--runtime", "runc", "--cgroup-manager", "cgroupfs", "--events-backend", "none"}
	podman := func(args ...string) string {
		return output(t, command(t, nil, program, slices.Concat(global, args)...))
	}
	afterFailure(t, program, slices.Concat(global, []string{"rm", "--all", "--force"})...)
	// Podman's own limits are above what a sandbox allows.
	run := func(args ...string) string {
		pid := filepath.Join(t.TempDir(), "pid")
		t.Cleanup(func() { awaitEnd(t, pid) })
		return podman(append([]string{"run", "--rm", "--conmon-pidfile", pid, "--network", "none", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"}, args...)...)
	}

	for _, compression := range []string{"gzip", "zstd"} {
		sample := publishSample(t, registry, "plugins/"+compression, "--compression", compression)
		podman("pull", "--quiet", "--tls-verify=false", sample.ref())
		inspected := podman("image", "inspect", "--format", "{{.Digest}} {{.Os}}/{{.Architecture}}", sample.ref())
		if want := sample.digest.String() + " " + platform; strings.TrimSpace(inspected) != want {
			t.Errorf("%s: podman has %s, want %s", compression, inspected, want)
		}
		requireSays(t, run(sample.ref(), "one", compression), sampleSays(platform, imageUser, "one", compression))

		mount := "type=image,source=" + sample.ref() + ",destination=/mnt"
		requireSays(t, run("--mount", mount, "--user", "7", "--entrypoint", "/mnt/plugin/sample", sample.ref(), "mounted"), sampleSays(platform, 7, "mounted"))
		podman("rmi", "--force", sample.ref()) // else the next one, with the same content, is not unpacked
	}
}

// containerd pulls the image and runs it.
func TestContainerd(t *testing.T) {
	platform := sampleHost(t)
	ctrProgram := debian(t, "ctr", "containerd")
	debian(t, "containerd-shim-runc-v2", "containerd")
	debian(t, "runc", "runc")
	needContainers(t)
	registry := serve(t)

	socket := startContainerd(t)
	ctr := func(args ...string) *exec.Cmd {
		return command(t, nil, ctrProgram, append([]string{"--address", socket}, args...)...)
	}
	awaitCommand(t, func() *exec.Cmd { return ctr("version") })
	for _, compression := range []string{"gzip", "zstd"} {
		sample := publishSample(t, registry, "plugins/"+compression, "--compression", compression)
		output(t, ctr("image", "pull", "--plain-http", "--snapshotter", "native", sample.ref()))
		if listed := output(t, ctr("image", "list", "name=="+sample.ref())); !strings.Contains(listed, sample.digest.String()) {
			t.Errorf("containerd does not have %s:\n%s", sample.digest, listed)
		}
		id := fmt.Sprintf("plugins-e2e-%d-%s", os.Getpid(), compression)
		afterFailure(t, ctrProgram, "--address", socket, "tasks", "delete", "--force", id)
		said := output(t, ctr("run", "--rm", "--snapshotter", "native", "--fifo-dir", t.TempDir(), sample.ref(), id, "/plugin/sample", compression))
		requireSays(t, said, sampleSays(platform, imageUser, compression))
		output(t, ctr("image", "remove", "--sync", sample.ref())) // else the next one, with the same content, is not unpacked
	}
}

// startContainerd runs containerd until the test ends and returns its socket.
func startContainerd(t *testing.T) string {
	t.Helper()
	program := debian(t, "containerd", "containerd")
	dir := t.TempDir()
	socket := filepath.Join(dir, "c.sock")
	config := fmt.Sprintf(`version = 2
root = %q
state = %q
disabled_plugins = ["io.containerd.grpc.v1.cri"]

[grpc]
address = %q

[debug]
level = "warn"
`, filepath.Join(dir, "root"), filepath.Join(dir, "state"), socket)
	file := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	startProcess(t, exec.Command(program, "--config", file))
	return socket
}

// afterFailure runs a command when a test that failed ends, to remove what it
// may have left running.
func afterFailure(t *testing.T, program string, args ...string) {
	t.Helper()
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		_ = exec.CommandContext(ctx, program, args...).Run() // an error mostly means that nothing was left
	})
}

// awaitCommand runs a command until it succeeds, for at most a minute.
func awaitCommand(t *testing.T, prepare func() *exec.Cmd) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		cmd := prepare()
		out, err := cmd.CombinedOutput()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v\n%s", cmd, err, out)
		}
	}
}

// awaitEnd waits, for at most a minute, until the process ends whose id a file
// has: podman's conmon, which may still tidy up, in the directories of the test,
// when podman has returned.
func awaitEnd(t *testing.T, pidFile string) {
	t.Helper()
	content, err := os.ReadFile(pidFile)
	if err != nil {
		return // it was never started
	}
	stat := filepath.Join("/proc", strings.TrimSpace(string(content)), "stat")
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if status, err := os.ReadFile(stat); err != nil || strings.Contains(string(status), ") Z ") {
			return
		}
	}
	t.Errorf("the process of %s does not end", stat)
}

func requireSays(t *testing.T, got, want string) {
	t.Helper()
	if strings.TrimSpace(got) != want {
		t.Errorf("it prints %q, want %q", got, want)
	}
}
