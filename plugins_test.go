package plugins_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pluginlock/plugins"
	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/config"
	"github.com/pluginlock/plugins/getter"
	"github.com/pluginlock/plugins/installer"
	"github.com/pluginlock/plugins/internal/imagetest"
	"github.com/pluginlock/plugins/internal/registrytest"
	"github.com/pluginlock/plugins/lock"
)

// project is a directory with a registry behind it.
type project struct {
	t        *testing.T
	dir      string
	registry *registrytest.Registry
	options  plugins.Options
}

func newProject(t *testing.T, o registrytest.Options) *project {
	t.Helper()
	dir := t.TempDir()
	p := &project{t: t, dir: dir, registry: registrytest.New(t, o)}
	p.options = plugins.Options{Dir: dir, CacheDir: filepath.Join(t.TempDir(), "cache"), Platforms: []addr.Platform{{OS: "linux", Arch: "amd64"}}}
	return p
}

// publish puts plugin images into the registry.
func (p *project) publish(name string, versions ...string) {
	p.t.Helper()
	for _, v := range versions {
		p.registry.MustAdd(p.t, "plugins/"+name, imagetest.Plugin{Name: name, Version: v}.Build(p.t), v)
	}
}

// require writes plugins.hcl: pairs of name and constraint.
func (p *project) require(pairs ...string) {
	p.t.Helper()
	var b strings.Builder
	b.WriteString("required_plugins {\n")
	for i := 0; i < len(pairs); i += 2 {
		repository := strings.TrimSuffix(pairs[i], "_too")
		fmt.Fprintf(&b, "  %s = {\n    source  = \"%s/plugins/%s\"\n    version = %q\n  }\n", pairs[i], p.registry.Host(), repository, pairs[i+1])
	}
	b.WriteString("}\n")
	p.write("plugins.hcl", b.String())
}

func (p *project) write(name, content string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(content), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) init() *plugins.Result {
	p.t.Helper()
	result, err := plugins.Init(context.Background(), p.options)
	if err != nil {
		p.t.Fatalf("init: %v", err)
	}
	return result
}

func (p *project) lock() string {
	p.t.Helper()
	content, err := os.ReadFile(filepath.Join(p.dir, lock.FileName))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(content)
}

func TestInitInstallsWhatRuns(t *testing.T) {
	p := newProject(t, registrytest.Options{})
	p.publish("aws", "1.0.0", "1.2.0")
	p.require("aws", "~> 1.0")
	p.options.Platforms = nil
	result := p.init()
	aws := result.Usable()["aws"]
	if !result.LockChanged || aws.Version != "1.2.0" || aws.Platform != addr.HostPlatform() {
		t.Fatalf("result %+v, aws %+v", result, aws)
	}
	printed, err := exec.Command(aws.Executable).CombinedOutput()
	want := imagetest.Text("aws", "1.2.0", addr.HostPlatform().String())
	if err != nil || strings.TrimSpace(string(printed)) != want {
		t.Errorf("it printed %q (%v), want %q", printed, err, want)
	}
	again := p.init()
	if again.LockChanged || again.Plugins["aws"].Action != installer.ActionKeep || again.Usable()["aws"].Executable != aws.Executable {
		t.Errorf("a second init: %+v", again.Plugins["aws"])
	}
}

func TestRequirementsOfAHost(t *testing.T) {
	p := newProject(t, registrytest.Options{})
	p.publish("aws", "1.2.0")
	p.options.Requirements = []plugins.Requirement{{Name: "aws", Source: p.registry.Host() + "/plugins/aws", Version: "1.2.0"}}
	if got := p.init().Plugins["aws"].Version; got != "1.2.0" {
		t.Errorf("installed %q", got)
	}
	p.options.Requirements[0].Source = "aws"
	_, err := plugins.Init(context.Background(), p.options)
	var refused *addr.SourceError
	if !errors.As(err, &refused) || strings.Contains(err.Error(), "<nil>") {
		t.Errorf("%v", err)
	}
}

func TestErrorsAreTypedAndPointAtTheirCause(t *testing.T) {
	tests := []struct {
		name  string
		setUp func(*project)
		is    error
		as    func(error) bool
		at    string // file and line of the first problem
	}{
		{"no match", func(p *project) { p.publish("aws", "1.0.0"); p.require("aws", "~> 9.0") }, nil, as[*installer.NoMatchError], "plugins.hcl:4"},
		{"no repository", func(p *project) { p.require("aws", "~> 1.0") }, getter.ErrRepositoryNotFound, as[*getter.Error], "plugins.hcl:3"},
		{"no file", func(*project) {}, nil, as[*config.NoFilesError], ""},
		{"bad constraint", func(p *project) { p.require("aws", "1.2") }, nil, as[*addr.ConstraintError], "plugins.hcl:4"},
		{"conflict", func(p *project) {
			p.require("aws", "~> 1.0")
			p.write(lock.FileName, "<<<<<<< HEAD\nlock_format = 1\n=======\nlock_format = 1\n>>>>>>> other\n")
		}, lock.ErrConflict, nil, lock.FileName + ":1"},
		{"no place for the lock", func(p *project) { p.require("aws", "~> 1.0"); p.options.LockFile = "none/lock.hcl" }, nil, as[*plugins.LockFileError], ""},
		{"newer lock", func(p *project) { p.require("aws", "~> 1.0"); p.write(lock.FileName, "lock_format = 2\n") }, lock.ErrNewerFormat, nil, lock.FileName + ":1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := newProject(t, registrytest.Options{})
			test.setUp(p)
			result, err := plugins.Init(context.Background(), p.options)
			if result == nil || result.Lock() == nil || result.Plugins == nil {
				t.Fatalf("result %+v", result)
			}
			var all *plugins.Error
			if !errors.As(err, &all) {
				t.Fatalf("%T: %v", err, err)
			}
			if test.is != nil && !errors.Is(err, test.is) || test.as != nil && !test.as(err) {
				t.Errorf("untyped: %#v", all.Problems[0].Err)
			}
			at := ""
			if r := all.Problems[0].Range; r != nil {
				at = fmt.Sprintf("%s:%d", filepath.Base(r.Filename), r.Start.Line)
			}
			if at != test.at {
				t.Errorf("points at %q, want %q", at, test.at)
			}
			for _, d := range all.Diagnostics() {
				if d.Summary == "" || d.Summary == "Failure" || d.Detail == "" {
					t.Errorf("diagnostic %+v", d)
				}
			}
		})
	}
}

func as[T error](err error) bool {
	var target T
	return errors.As(err, &target)
}

// C60: nothing is printed, and nothing leaks.
func TestC60SilentAndTidy(t *testing.T) {
	p := newProject(t, registrytest.Options{})
	p.publish("aws", "1.2.0")
	p.require("aws", "~> 1.0")
	output := captured(t, func() {
		p.init()
		p.require("aws", "~> 9.0")
		if _, err := plugins.Init(context.Background(), p.options); err == nil {
			t.Error("no error")
		}
		p.require("aws", "~> 1.0")
	})
	if output != "" {
		t.Errorf("printed %q", output)
	}
	p.init()
	goroutines, files := runtime.NumGoroutine(), openFiles(t)
	for range 300 {
		p.init()
	}
	time.Sleep(10 * time.Millisecond) // for goroutines that have just been told to end
	if now := runtime.NumGoroutine(); now > goroutines+2 {
		t.Errorf("%d goroutines became %d", goroutines, now)
	}
	if now := openFiles(t); now > files+2 {
		t.Errorf("%d open files became %d", files, now)
	}
}

func captured(t *testing.T, do func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = w, w
	defer func() { os.Stdout, os.Stderr = stdout, stderr }()
	read := make(chan string)
	go func() {
		var b bytes.Buffer
		_, _ = io.Copy(&b, r)
		read <- b.String()
	}()
	do()
	_ = w.Close()
	return <-read
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc to count open files in")
	}
	return len(entries)
}

// C60: a cancelled context ends every wait within a second, and the state is
// the old one.
func TestC60CancelInEachPhase(t *testing.T) {
	for _, pattern := range []string{"*/tags/list", "*/manifests/*", "*/blobs/*"} {
		t.Run(pattern, func(t *testing.T) {
			p := newProject(t, registrytest.Options{})
			p.publish("aws", "1.2.0")
			p.require("aws", "~> 1.0")
			p.registry.Front.Add(registrytest.Rule{Path: pattern, Stall: true})
			ctx, cancel := context.WithCancel(context.Background())
			go func() {
				_ = p.registry.Front.Await(ctx, 1, "GET", pattern)
				cancel()
			}()
			begun := time.Now()
			_, err := plugins.Init(ctx, p.options)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
			if took := time.Since(begun); took > 10*time.Second {
				t.Errorf("it took %v to notice", took)
			}
			for _, name := range []string{lock.FileName, plugins.InstallDirName} {
				if _, err := os.Lstat(filepath.Join(p.dir, name)); err == nil {
					t.Errorf("%s is there", name)
				}
			}
		})
	}
}

// C60: managers with caches, registries and credentials of their own do not
// know each other.
func TestC60TwoManagersAtOnce(t *testing.T) {
	projects := []*project{
		newProject(t, registrytest.Options{Auth: &registrytest.Auth{Username: "one", Password: "pw-one"}}),
		newProject(t, registrytest.Options{Auth: &registrytest.Auth{Username: "two", Password: "pw-two"}}),
	}
	for i, p := range projects {
		p.publish("aws", fmt.Sprintf("1.%d.0", i))
		p.require("aws", "~> 1.0")
		name := []string{"one", "two"}[i]
		p.options.Credentials = getter.StaticCredential(p.registry.Host(), getter.Credential{Username: name, Password: "pw-" + name})
	}
	var both sync.WaitGroup
	for i, p := range projects {
		both.Go(func() {
			result, err := plugins.Init(context.Background(), p.options)
			if want := fmt.Sprintf("1.%d.0", i); err != nil || result.Plugins["aws"].Version != want {
				t.Errorf("%+v, %v", result.Plugins["aws"], err)
			}
		})
	}
	both.Wait()
}

func TestOneBrokenPluginIsNamed(t *testing.T) {
	p := newProject(t, registrytest.Options{})
	p.publish("aws", "1.2.0")
	p.publish("gcp", "1.0.0")
	p.require("aws", "~> 1.0", "gcp", "~> 9.0")
	result, err := plugins.Init(context.Background(), p.options)
	var all *plugins.Error
	if !errors.As(err, &all) || len(all.Problems) != 1 || all.Problems[0].Plugin != "gcp" {
		t.Fatalf("%v", err)
	}
	if result.Plugins["gcp"].Err == nil || result.Plugins["aws"].Err != nil {
		t.Errorf("plugins: %+v", result.Plugins)
	}
}

func TestTwoNamesForOneVersionAreWarnedOf(t *testing.T) {
	p := newProject(t, registrytest.Options{})
	p.publish("aws", "1.2.0")
	p.require("aws", "~> 1.0", "aws_too", "1.2.0")
	warnings := p.init().Warnings
	if len(warnings) != 1 || !as[*plugins.DoubleError](&warnings[0]) || !strings.Contains(warnings[0].Error(), "plugins.hcl:6") {
		t.Errorf("warnings: %v", warnings)
	}
}

func TestOverrideIsForThisRunOnly(t *testing.T) {
	p := newProject(t, registrytest.Options{})
	p.publish("aws", "1.2.0")
	p.require("aws", "~> 1.0")
	p.init()
	before := p.lock()
	local := filepath.Join(t.TempDir(), "my-aws")
	if err := os.WriteFile(local, []byte("#!/bin/sh\necho local\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	overridden := p.options
	overridden.Overrides = map[string]string{"aws": local}
	result, err := plugins.Init(context.Background(), overridden)
	if err != nil || !result.Plugins["aws"].Override || p.lock() != before {
		t.Fatalf("%+v, %v", result.Plugins["aws"], err)
	}
	bin := filepath.Join(p.dir, plugins.InstallDirName, "bin", "aws")
	if printed, err := exec.Command(bin).Output(); string(printed) != "local\n" {
		t.Errorf("it printed %q, %v", printed, err)
	}
	overridden.Mode = plugins.Locked
	if _, err := plugins.Init(context.Background(), overridden); !as[*plugins.OverrideError](err) {
		t.Errorf("--locked: %v", err)
	}
	p.init()
	if printed, err := exec.Command(bin).Output(); strings.Contains(string(printed), "local") {
		t.Errorf("the override stayed: %q, %v", printed, err)
	}
}

func TestResolveConflicts(t *testing.T) {
	p := newProject(t, registrytest.Options{})
	p.publish("aws", "1.0.0", "1.2.0")
	p.publish("gcp", "2.0.0")
	p.require("aws", "1.0.0", "gcp", "2.0.0")
	p.init()
	ours := p.lock()
	p.require("aws", "1.2.0", "gcp", "2.0.0")
	p.init()
	theirs := p.lock()
	p.write(lock.FileName, "<<<<<<< HEAD\n"+ours+"=======\n"+theirs+">>>>>>> other\n")
	if _, err := plugins.Init(context.Background(), p.options); !errors.Is(err, lock.ErrConflict) {
		t.Fatalf("%v", err)
	}
	o := p.options
	o.LockOnly, o.ResolveConflicts = true, true
	if _, err := plugins.Init(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	if p.lock() != theirs {
		t.Errorf("the lock file became\n%s", p.lock())
	}
}

func TestNoCacheDirectory(t *testing.T) {
	p := newProject(t, registrytest.Options{})
	p.require("aws", "~> 1.0")
	p.options.CacheDir = ""
	_, err := plugins.Init(context.Background(), p.options)
	var all *plugins.Error
	if !errors.As(err, &all) || len(all.Problems[0].Hint) == 0 {
		t.Errorf("%v", err)
	}
}

// A bot may run where a plugin does not.
func TestLockingNeedsNoPlatformOfItsOwn(t *testing.T) {
	p := newProject(t, registrytest.Options{})
	p.registry.MustAdd(t, "plugins/aws", imagetest.Plugin{Name: "aws", Version: "1.2.0", Platforms: []string{"darwin/arm64"}}.Build(t), "1.2.0")
	p.require("aws", "~> 1.0")
	p.options.Platforms, p.options.LockOnly = nil, true
	if result := p.init(); !result.LockChanged || result.Plugins["aws"].Version != "1.2.0" {
		t.Errorf("%+v", result.Plugins["aws"])
	}
	p.options.LockOnly = false
	if _, err := plugins.Init(context.Background(), p.options); !as[*installer.NotOfferedError](err) && addr.HostPlatform().OS != "darwin" {
		t.Errorf("init on this system: %v", err)
	}
}
