package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/pluginlock/plugins/internal/registrytest"
)

// dir is where everything of the demo lies.
const dir = ".demo"

const repository = "demo/sample"

// stage is the demo's folder with what was built, and its registry.
type stage struct {
	root     string // absolute path of dir
	registry *registrytest.Registry
}

// demo is the main job, command by command.
func demo(ctx context.Context) error {
	s, err := prepare(ctx, "")
	if err != nil {
		return err
	}
	defer s.registry.Close()
	for _, step := range []func(context.Context) error{
		s.first, s.again, s.upgrade, s.committed,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	fmt.Printf("\nAll of this is in %s; \"make registry\" leaves the registry running to play with.\n", dir)
	return nil
}

// first installs from nothing.
func (s *stage) first(ctx context.Context) error {
	say("A project asks for a plugin.")
	if err := s.require("~> 1.0.0"); err != nil {
		return err
	}
	return s.run(ctx, "cat plugins.hcl", "plugins init", "cat .plugins.lock.hcl", "ls -l .plugins/bin .plugins/plugins", ".plugins/bin/sample")
}

func (s *stage) again(ctx context.Context) error {
	say("Where everything is in place, init asks nobody and writes nothing.")
	before := s.registry.Front.Count("", "")
	if err := s.run(ctx, "plugins init", "plugins list"); err != nil {
		return err
	}
	fmt.Printf("(requests to the registry meanwhile: %d)\n", s.registry.Front.Count("", "")-before)
	return nil
}

func (s *stage) upgrade(ctx context.Context) error {
	say("The constraint changes.")
	if err := s.require("~> 1.1"); err != nil {
		return err
	}
	return s.run(ctx, "plugins init", "grep -m1 version .plugins.lock.hcl", ".plugins/bin/sample")
}

func (s *stage) committed(ctx context.Context) error {
	say("A CI job has the committed files and nothing else.")
	return s.run(ctx, "rm -rf .plugins ../cache", "plugins init --locked", "plugins verify", ".plugins/bin/sample")
}

// prepare builds the command and serves a registry on loopback that has two
// versions of a sample plugin; address "" is any free port.
func prepare(ctx context.Context, address string) (*stage, error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	s := &stage{root: root}
	if err := os.RemoveAll(root); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.path("project"), 0o755); err != nil {
		return nil, err
	}
	say("Building the command, and a sample plugin in two versions for two systems.")
	if err := goBuild(ctx, nil, "", s.path("bin", exe("plugins", runtime.GOOS)), "./cmd/plugins"); err != nil {
		return nil, err
	}
	if s.registry, err = registrytest.Start(registrytest.Options{Addr: address}); err != nil {
		return nil, err
	}
	fmt.Printf("A registry listens on %s, on loopback only.\n", s.registry.Host())
	for _, version := range versions {
		if err := s.build(ctx, version); err != nil {
			s.registry.Close()
			return nil, err
		}
	}
	if err := s.publish(ctx); err != nil {
		s.registry.Close()
		return nil, err
	}
	return s, nil
}

// versions of the sample plugin that the registry has.
var versions = []string{"1.0.0", "1.1.0"}

// build compiles one version of the sample plugin for this system and one other
// into dist/VERSION/OS/ARCH, the tree that package reads.
func (s *stage) build(ctx context.Context, version string) error {
	platforms := []string{runtime.GOOS + "/" + runtime.GOARCH, "linux/arm64"}
	if platforms[0] == platforms[1] {
		platforms[1] = "linux/amd64"
	}
	for _, platform := range platforms {
		goos, goarch, _ := strings.Cut(platform, "/")
		program := s.path("dist", version, goos, goarch, exe("sample", goos))
		if err := goBuild(ctx, []string{"GOOS=" + goos, "GOARCH=" + goarch}, "-s -w -X main.version="+version, program, "./internal/demo/sample"); err != nil {
			return err
		}
	}
	return nil
}

// publish is what the plugin's author does.
func (s *stage) publish(ctx context.Context) error {
	say("The author of a plugin packs and pushes it.")
	source := s.registry.Host() + "/" + repository
	if err := s.run(ctx, "plugins package ../dist/1.0.0 --version 1.0.0 --protocols 1 --output ../image", "plugins push ../image "+source+":1.0.0"); err != nil {
		return err
	}
	return s.run(ctx, "plugins push ../dist/1.1.0 "+source+":1.1.0 --protocols 1")
}

// require writes the project's plugins.hcl.
func (s *stage) require(constraint string) error {
	return os.WriteFile(s.path("project", "plugins.hcl"), fmt.Appendf(nil, `required_plugins {
  sample = {
    source  = "%s/%s"
    version = "%s"
  }
}
`, s.registry.Host(), repository, constraint), 0o644)
}

// run prints and executes commands in the project, one after the other.
func (s *stage) run(ctx context.Context, commands ...string) error {
	for _, command := range commands {
		fmt.Printf("\n$ %s\n", command)
		c := exec.CommandContext(ctx, "sh", "-c", command)
		c.Dir = s.path("project")
		c.Env = append(os.Environ(), "PATH="+s.path("bin")+string(filepath.ListSeparator)+os.Getenv("PATH"), "PLUGINS_CACHE_DIR="+s.path("cache"))
		c.Stdout, c.Stderr = os.Stdout, os.Stdout
		if err := c.Run(); err != nil {
			return fmt.Errorf("%s: %w", command, err)
		}
	}
	return nil
}

func (s *stage) path(elements ...string) string {
	return filepath.Join(append([]string{s.root}, elements...)...)
}

// goBuild compiles a package of this module without cgo.
func goBuild(ctx context.Context, env []string, ldflags, output, pkg string) error {
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", ldflags, "-o", output, pkg)
	c.Env = append(append(os.Environ(), "CGO_ENABLED=0"), env...)
	c.Stdout, c.Stderr = os.Stderr, os.Stderr
	return c.Run()
}

func exe(name, goos string) string {
	if goos == "windows" {
		return name + ".exe"
	}
	return name
}

func say(text string) { fmt.Printf("\n== %s\n", text) }
