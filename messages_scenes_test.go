package plugins_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/pluginlock/plugins"
	"github.com/pluginlock/plugins/internal/imagetest"
	"github.com/pluginlock/plugins/internal/store"
	"github.com/pluginlock/plugins/lock"
)

// projectScenes are about a project as a whole.
var projectScenes = []scene{
	{"No configuration file", "", func(s *stage) { s.run("init") }},
	{"File can't be read", "", func(s *stage) {
		s.options.ConfigFiles = []string{"runner.hcl"}
		s.run("init")
	}},
	{"Project directory not clear", "", func(s *stage) {
		for _, dir := range []string{"a", "b"} {
			must(s, os.Mkdir(dir, 0o755))
			s.write(dir+"/runner.hcl", "")
		}
		s.options.ConfigFiles = []string{"a/runner.hcl", "b/runner.hcl"}
		s.run("init")
	}},
	{"Invalid requirement", "Only a host program that fills in requirements itself, without a file, can be told this.", func(s *stage) {
		s.options.Requirements = []plugins.Requirement{{Name: "aws", Source: "https://registry.example.com/plugins/aws", Version: "~> 1.2"}}
		s.run("init")
	}},
	{"Plugin not required", "", func(s *stage) {
		s.plugin(imagetest.Plugin{})
		s.run("update", "azure")
	}},
	{"One plugin under two names", "Where that is meant, nothing has to be done.", func(s *stage) {
		s.publish("aws", "1.2.0")
		s.require("aws", "~> 1.2", "aws_too", "1.2.0")
		s.run("init")
	}},
	{"Unusable override", "", func(s *stage) {
		s.plugin(imagetest.Plugin{})
		s.run("init", "--override", "aws="+filepath.Join(s.dir, "build", "aws"))
	}},
	{"Interrupted", "The next run starts where this one ended.", func(s *stage) {
		s.plugin(imagetest.Plugin{})
		ctx, cancel := context.WithCancel(s.ctx)
		cancel()
		s.ctx = ctx
		s.run("init")
	}},
	{"Timed out", "Host programs set such a limit; the command has none.", func(s *stage) {
		s.plugin(imagetest.Plugin{})
		ctx, cancel := context.WithTimeout(s.ctx, 0)
		defer cancel()
		s.ctx = ctx
		s.run("init")
	}},
}

// lockScenes are about the lock file as a file, and about what it says.
var lockScenes = []scene{
	{"Lock file unusable", "", func(s *stage) {
		s.plugin(imagetest.Plugin{})
		must(s, os.Symlink("../shared/"+lock.FileName, lock.FileName))
		s.run("init")
	}},
	{"Disk full", "", func(s *stage) {
		s.show(&os.PathError{Op: "write", Path: "/cache/v1/staging/aws", Err: syscall.ENOSPC})
	}},
	{"Lock file not written", "", func(s *stage) {
		s.show(&lock.WriteError{Path: "/project/" + lock.FileName, Err: syscall.EROFS})
	}},
	{"Not a lock file", "", func(s *stage) {
		s.plugin(imagetest.Plugin{})
		s.write(lock.FileName, "lock_format = "+strings.Repeat("[\n", 10_001))
		s.run("init")
	}},
	{"Lock file not up to date", "The exit code is 3.", func(s *stage) {
		s.usual()
		s.registry.MustAdd(s.t, "plugins/aws", imagetest.Plugin{Name: "aws", Version: "2.0.0"}.Build(s.t), "2.0.0")
		s.publish("gcp", "2.1.0")
		s.require("aws", "~> 2.0", "gcp", "~> 2.1")
		s.run("init", "--locked")
	}},
	{"Lock file and image differ", "Somebody edited the lock file, or a merge mixed two entries.", func(s *stage) {
		s.usual()
		s.editLock(`"1.2.0"`, `"1.2.1"`)
		s.run("init")
	}},
}

// selectionScenes are about the choice of a version.
var selectionScenes = []scene{
	{"No matching version", "", func(s *stage) {
		s.publish("aws", "1.0.0", "1.4.2", "2.0.0-rc.1")
		must(s, s.registry.Tag("plugins/aws", "1.4.2", "latest"))
		s.require("aws", "~> 3.0")
		s.run("init")
	}},
	{"No matching version", "", func(s *stage) {
		s.publish("aws", "2.0.0-rc.1")
		s.require("aws", "~> 2.0")
		s.run("init")
	}},
	{"No matching version", "", func(s *stage) {
		s.registry.MustAdd(s.t, "plugins/aws", imagetest.Plugin{Name: "aws", Version: "1.2.0"}.Build(s.t), "latest", "1.2")
		s.require("aws", "~> 1.2")
		s.run("init")
	}},
	{"No matching version", "", func(s *stage) {
		s.publish("aws", "1.2.0")
		must(s, s.registry.Tag("plugins/aws", "1.2.0", "1.2.0_linux"))
		must(s, s.registry.Delete("plugins/aws", "1.2.0"))
		s.require("aws", "~> 1.2")
		s.run("init")
	}},
	{"No usable version", "", func(s *stage) {
		s.registry.MustAdd(s.t, "plugins/aws", imagetest.Chart("aws", "1.4.0"), "1.4.0")
		s.registry.MustAdd(s.t, "plugins/aws", imagetest.Plugin{Name: "aws", Version: "1.3.0", Protocols: []int{7}}.Build(s.t), "1.3.0")
		s.registry.MustAdd(s.t, "plugins/aws", imagetest.Plugin{Name: "aws", Version: "1.2.0", Platforms: []string{"darwin/arm64"}}.Build(s.t), "1.2.0")
		s.require("aws", "~> 1.2")
		s.edit("plugins.hcl", `"~> 1.2"`, `"~> 1.2"`+"\n    protocols = [5, 6]\n    platforms = [\"linux/amd64\"]")
		s.run("init")
	}},
	{"Platform not offered", "", func(s *stage) {
		s.registry.MustAdd(s.t, "plugins/aws", imagetest.Plugin{Name: "aws", Version: "1.2.0", Platforms: []string{"linux/amd64", "windows/arm64"}}.Build(s.t), "1.2.0")
		s.registry.MustAdd(s.t, "plugins/aws", imagetest.Plugin{Name: "aws", Version: "1.3.0", Platforms: []string{"linux/amd64", "linux/arm64"}}.Build(s.t), "1.3.0")
		s.require("aws", "~> 1.2")
		s.run("init", "--platform", "windows/arm64")
	}},
	{"Two images for one version", "", func(s *stage) {
		s.plugin(imagetest.Plugin{})
		s.registry.MustAdd(s.t, "plugins/aws", imagetest.Plugin{Name: "aws", Version: "1.2.0", BuildID: "2"}.Build(s.t), "v1.2.0")
		s.run("init")
	}},
	{"Version published again", "", func(s *stage) {
		s.usual()
		s.plugin(imagetest.Plugin{BuildID: "2"})
		s.run("update", "aws")
		s.run("update")
	}},
	{"Locked version kept", "", func(s *stage) {
		s.publish("aws", "1.2.0", "1.3.0")
		s.require("aws", "~> 1.2")
		s.init()
		must(s, s.registry.Delete("plugins/aws", "1.3.0"))
		s.run("update")
	}},
	{"Locked digest is gone", "", func(s *stage) {
		s.usual()
		digest, err := s.registry.Resolve("plugins/aws", "1.2.0")
		must(s, err)
		s.plugin(imagetest.Plugin{BuildID: "2"})
		must(s, s.registry.Delete("plugins/aws", digest.String()))
		s.useCache(s.t.TempDir())
		s.run("init")
	}},
	{"Network needed", "", func(s *stage) {
		s.plugin(imagetest.Plugin{})
		s.run("init", "--offline")
	}},
}

// diskScenes are about what is, or cannot be, on disk.
var diskScenes = []scene{
	{"Plugin not installed", "", func(s *stage) {
		s.plugin(imagetest.Plugin{})
		s.run("which", "aws")
	}},
	{"Plugin not verified", "The exit code is 3.", func(s *stage) {
		s.usual()
		must(s, os.RemoveAll(plugins.InstallDirName))
		s.run("verify")
	}},
	{"Plugin not verified", "", func(s *stage) {
		s.usual()
		program, err := filepath.EvalSymlinks(".plugins/bin/aws")
		must(s, err)
		must(s, os.WriteFile(program, []byte("#!/bin/sh\necho pwned\n"), 0o755))
		s.run("verify")
	}},
	{"Plugin not verified", "", func(s *stage) {
		s.options.LinkMode = "copy"
		s.usual()
		must(s, os.WriteFile(".plugins/plugins/aws/plugin/aws", []byte("#!/bin/sh\necho pwned\n"), 0o755))
		s.run("verify")
	}},
	{"File in the way", "", func(s *stage) {
		s.plugin(imagetest.Plugin{})
		must(s, os.MkdirAll(".plugins/bin", 0o755))
		s.write(".plugins/bin/aws", "#!/bin/sh\n")
		s.run("init")
	}},
	{"Install directory unreadable", "", func(s *stage) {
		s.usual()
		s.write(".plugins/installed.json", "{")
		s.run("init")
	}},
	{"Symbolic links not possible", "", func(s *stage) {
		s.show(symlinkRefused(s.dir))
	}},
	{"No cache directory", "", func(s *stage) {
		s.plugin(imagetest.Plugin{})
		s.options.CacheDir = ""
		s.run("init")
	}},
	{"Cache cannot be written", "", func(s *stage) {
		s.show(&store.ReadOnlyError{Path: "/cache", Err: &os.PathError{Op: "mkdir", Path: "/cache/v1", Err: os.ErrPermission}})
	}},
	{"Cache can be changed by others", "", func(s *stage) {
		s.plugin(imagetest.Plugin{})
		must(s, os.Mkdir(s.options.CacheDir, 0o777))
		must(s, os.Chmod(s.options.CacheDir, 0o777)) // whatever the umask
		s.run("init")
	}},
	{"Cache damaged", "", func(s *stage) {
		s.showAWS(&store.DamagedError{Path: "/cache/v1/sha256/" + strings.Repeat("1f", 32), Reason: "receipt.json is not readable", Err: errors.New("unexpected end of JSON input")})
	}},
	{"File or directory cannot be used", "Any other failure to read or write a file.", func(s *stage) {
		s.plugin(imagetest.Plugin{})
		s.write("cache", "")
		s.options.CacheDir = filepath.Join(s.dir, "cache")
		s.run("init")
	}},
}

func must(s *stage, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}
