package plugins_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/pluginlock/plugins"
	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/config"
	"github.com/pluginlock/plugins/installer"
	"github.com/pluginlock/plugins/internal/imagetest"
	"github.com/pluginlock/plugins/internal/registrytest"
	"github.com/pluginlock/plugins/lock"
)

// installed is a project with two plugins that a run has just installed.
func installed(t *testing.T) *project {
	t.Helper()
	p := newProject(t, registrytest.Options{})
	p.publish("aws", "1.2.0")
	p.publish("gcp", "2.0.0")
	p.require("aws", "~> 1.0", "gcp", "~> 2.0")
	p.init()
	return p
}

// forget removes all fingerprints, so that the next run looks at everything.
func (p *project) forget() {
	p.t.Helper()
	if err := os.RemoveAll(filepath.Join(p.options.CacheDir, "v1", "fingerprints")); err != nil {
		p.t.Fatal(err)
	}
}

// What a run recognises is what a run that looks at everything comes to.
func TestRecognizedIsTheSame(t *testing.T) {
	tests := map[string]func(p *project){
		"plugins": func(*project) {},
		"copies":  func(p *project) { p.options.LinkMode = "copy" },
		"requirements of a host": func(p *project) {
			p.options.Requirements = []plugins.Requirement{{Name: "aws", Source: p.registry.Host() + "/plugins/aws", Version: "1.2.0"}}
		},
		"other paths": func(p *project) {
			p.options.InstallDir, p.options.LockFile = "elsewhere", "other.lock.hcl"
		},
		"a skipped plugin": func(p *project) {
			p.write("linux.plugins.hcl", "required_plugins {\n  arm = {\n    source = \""+p.registry.Host()+"/plugins/aws\"\n"+
				"    version = \"1.1.0\"\n    platforms = [\"linux/arm64\"]\n  }\n}\n")
		},
		"a foreign image": func(p *project) {
			p.registry.MustAdd(t, "foreign", imagetest.Foreign{Name: "tool", Version: "1.0.0", Platforms: []string{"linux/amd64"}, Executable: "/bin/tool"}.Build(t), "1.0.0")
			p.write("foreign.plugins.hcl", "required_plugins {\n  tool = {\n    source = \""+p.registry.Host()+"/foreign\"\n"+
				"    version = \"1.0.0\"\n    executable = \"/bin/tool\"\n    platforms = [\"linux/amd64\"]\n  }\n}\n")
		},
	}
	for name, set := range tests {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, registrytest.Options{})
			p.publish("aws", "1.1.0", "1.2.0")
			p.publish("gcp", "2.0.0")
			p.require("aws", "1.2.0", "gcp", "~> 2.0")
			set(p)
			p.init()
			if !plugins.Recognizes(p.options) {
				t.Fatal("a second run does not recognise it")
			}
			recognized := p.init()
			p.forget()
			looked := p.init()
			if !reflect.DeepEqual(recognized.Plugins, looked.Plugins) || !reflect.DeepEqual(recognized.Usable(), looked.Usable()) {
				t.Errorf("recognised\n%+v, looked at\n%+v", recognized.Plugins, looked.Plugins)
			}
			if len(looked.Changes)+len(recognized.Changes)+len(looked.Warnings)+len(recognized.Warnings) > 0 || looked.LockChanged {
				t.Errorf("recognised\n%+v, looked at\n%+v", recognized, looked)
			}
			if !recognized.Lock().Equal(looked.Lock()) || len(recognized.Lock().Entries) == 0 || recognized.LockChanged || len(recognized.Changes) > 0 {
				t.Errorf("recognised with the lock file %+v, changed %t, %v", recognized.Lock(), recognized.LockChanged, recognized.Changes)
			}
			if plugins.Recognizes(p.options) {
				t.Error("a run that changed nothing has written a fingerprint")
			}
		})
	}
}

// Whatever decides what a run comes to is an input.
func TestEveryInputIsSeen(t *testing.T) {
	tests := map[string]func(p *project){
		"a comment in the configuration": func(p *project) { appendTo(p.t, filepath.Join(p.dir, "plugins.hcl"), "# x\n") },
		"another configuration file":     func(p *project) { p.write("more.plugins.hcl", "") },
		"a comment in the lock file":     func(p *project) { appendTo(p.t, filepath.Join(p.dir, lock.FileName), "# x\n") },
		"no lock file":                   func(p *project) { removeAll(p.t, filepath.Join(p.dir, lock.FileName)) },
		"conflict markers":               func(p *project) { p.write(lock.FileName, "<<<<<<< a\n=======\n>>>>>>> b\n") },
		"no configuration":               func(p *project) { removeAll(p.t, filepath.Join(p.dir, "plugins.hcl")) },
		"configuration files":            func(p *project) { p.options.ConfigFiles = []string{filepath.Join(p.dir, "plugins.hcl")} },
		"requirements":                   func(p *project) { p.options.Requirements = []plugins.Requirement{} },
		"a prefix":                       func(p *project) { p.options.DefaultPrefix = "registry.example.com" },
		"the lock file's name":           func(p *project) { p.options.LockFile = "x" },
		"the install directory":          func(p *project) { p.options.InstallDir = "x" },
		"the store":                      func(p *project) { p.options.CacheDir = p.t.TempDir() },
		"no store":                       func(p *project) { p.options.CacheDir = "" },
		"the link mode":                  func(p *project) { p.options.LinkMode = "copy" },
		"another platform":               func(p *project) { p.options.Platforms = []addr.Platform{{OS: "darwin", Arch: "arm64"}} },
		"two platforms": func(p *project) {
			p.options.Platforms = append(p.options.Platforms, addr.Platform{OS: "darwin", Arch: "arm64"})
		},
		"an override":       func(p *project) { p.options.Overrides = map[string]string{"aws": "/bin/true"} },
		"an update":         func(p *project) { p.options.Mode = plugins.Update },
		"a name":            func(p *project) { p.options.Names = []string{"nobody"} },
		"the lock only":     func(p *project) { p.options.LockOnly = true },
		"a dry run":         func(p *project) { p.options.DryRun = true },
		"another program":   func(p *project) { touchProgram(p.t) },
		"a lost plugin":     func(p *project) { removeAll(p.t, filepath.Join(p.dir, ".plugins", "bin", "aws")) },
		"a lost directory":  func(p *project) { removeAll(p.t, filepath.Join(p.dir, ".plugins")) },
		"a touched program": func(p *project) { rewrite(p.t, filepath.Join(p.dir, ".plugins", "bin", "aws")) },
		"a touched manifest": func(p *project) {
			rewrite(p.t, p.entry("manifest.json"))
		},
		"a damaged receipt": func(p *project) { rewrite(p.t, p.entry("receipt.json")) },
		"an install directory elsewhere": func(p *project) {
			dir := filepath.Join(p.dir, ".plugins")
			other := p.t.TempDir()
			if err := os.Rename(p.dir, filepath.Join(other, "moved")); err != nil {
				p.t.Fatal(err)
			}
			if err := os.Mkdir(p.dir, 0o755); err != nil {
				p.t.Fatal(err)
			}
			for _, name := range []string{"plugins.hcl", lock.FileName} {
				if err := os.Rename(filepath.Join(other, "moved", name), filepath.Join(p.dir, name)); err != nil {
					p.t.Fatal(err)
				}
			}
			if err := os.Symlink(filepath.Join(other, "moved", ".plugins"), dir); err != nil {
				p.t.Fatal(err)
			}
		},
		"settings that are wrong": func(p *project) {
			p.options.Settings.Registries = []config.Registry{{Prefix: "https://x"}}
		},
		"a file that was added": func(p *project) {
			if err := os.WriteFile(filepath.Join(p.dir, ".plugins", "plugins", "aws", "plugin", "more"), nil, 0o644); err != nil {
				p.t.Fatal(err)
			}
		},
		"a lost store":   func(p *project) { removeAll(p.t, filepath.Join(p.options.CacheDir, "v1", "sha256")) },
		"lost documents": func(p *project) { removeAll(p.t, filepath.Join(p.options.CacheDir, "v1", "index")) },
		"a fingerprint that is half there": func(p *project) {
			files, _ := filepath.Glob(filepath.Join(p.options.CacheDir, "v1", "fingerprints", "*"))
			if len(files) != 1 {
				p.t.Fatalf("fingerprints: %q", files)
			}
			if err := os.Truncate(files[0], 400); err != nil {
				p.t.Fatal(err)
			}
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			p := installed(t)
			if !plugins.Recognizes(p.options) {
				t.Fatal("a second run does not recognise it")
			}
			change(p)
			if plugins.Recognizes(p.options) {
				t.Error("this made no difference")
			}
		})
	}
	t.Run("harmless", func(t *testing.T) {
		p := installed(t)
		p.options.Mode, p.options.Offline, p.options.OnEvent = plugins.Locked, true, func(plugins.Event) {}
		if !plugins.Recognizes(p.options) {
			t.Error("--locked, --offline and a progress display make a difference")
		}
	})
}

// touchProgram makes the running program one of another time, and back.
func touchProgram(t *testing.T) {
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chtimes(path, time.Time{}, info.ModTime()) })
	if err := os.Chtimes(path, time.Time{}, info.ModTime().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
}

// A plugin that is no longer for this platform is removed once, and then skipped.
func TestPluginThatIsNoLongerForThisPlatform(t *testing.T) {
	p := installed(t)
	p.write("plugins.hcl", "required_plugins {\n  aws = {\n    source = \""+p.registry.Host()+"/plugins/aws\"\n"+
		"    version = \"~> 1.0\"\n    platforms = [\"linux/arm64\"]\n  }\n}\n")
	if removed := p.init().Plugins; removed["aws"].Action != installer.ActionRemove || removed["gcp"].Action != installer.ActionRemove {
		t.Errorf("%+v", removed)
	}
	if !plugins.Recognizes(p.options) {
		t.Error("the next run looks at everything")
	}
	recognized := p.init().Plugins
	p.forget()
	if looked := p.init().Plugins; len(looked) != 1 || looked["aws"].Action != installer.ActionSkip || !reflect.DeepEqual(recognized, looked) {
		t.Errorf("recognised %+v, looked at %+v", recognized, looked)
	}
}

// A store that was moved is another one for links to it.
func TestMovedStoreIsAnother(t *testing.T) {
	p := installed(t)
	moved := p.options.CacheDir + "-moved"
	if err := os.Rename(p.options.CacheDir, moved); err != nil {
		t.Fatal(err)
	}
	p.options.CacheDir = moved
	if plugins.Recognizes(p.options) {
		t.Error("it was recognised")
	}
	aws := p.init().Plugins["aws"]
	if _, err := os.Stat(aws.Executable); err != nil || aws.Action != installer.ActionChange {
		t.Errorf("action %s, %v", aws.Action, err)
	}
}

// Paths need not be UTF-8.
func TestPathsOfAnyBytes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("file names are UTF-8 here")
	}
	p := newProject(t, registrytest.Options{})
	p.publish("aws", "1.2.0")
	p.dir = filepath.Join(t.TempDir(), "inv\xff\xfe")
	p.options.Dir, p.options.CacheDir = p.dir, filepath.Join(t.TempDir(), "c\xff")
	if err := os.Mkdir(p.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	p.require("aws", "1.2.0")
	p.init()
	if !plugins.Recognizes(p.options) {
		t.Error("it is not recognised")
	}
	p.forget()
	if action := p.init().Plugins["aws"].Action; action != installer.ActionKeep {
		t.Errorf("action %s", action)
	}
	removed, err := plugins.Prune(context.Background(), plugins.PruneOptions{CacheDir: p.options.CacheDir})
	if err != nil || len(removed) > 0 {
		t.Errorf("prune removed %v, %v", removed, err)
	}
}

// A project that was moved keeps what it uses.
func TestMovedProjectIsKept(t *testing.T) {
	p := installed(t)
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(p.dir, moved); err != nil {
		t.Fatal(err)
	}
	p.options.Dir = moved
	if plugins.Recognizes(p.options) {
		t.Error("it was recognised")
	}
	if action := p.init().Plugins["aws"].Action; action != installer.ActionKeep {
		t.Errorf("action %s", action)
	}
	if !plugins.Recognizes(p.options) {
		t.Error("it is not recognised in its new place")
	}
	removed, err := plugins.Prune(context.Background(), plugins.PruneOptions{CacheDir: p.options.CacheDir})
	if err != nil || len(removed) > 0 {
		t.Errorf("prune removed %v, %v", removed, err)
	}
}

// One project is the same however its directory is spelled.
func TestSpellingsOfADirectory(t *testing.T) {
	p := installed(t)
	t.Chdir(p.dir)
	for _, dir := range []string{"", ".", filepath.Join("..", filepath.Base(p.dir))} {
		p.options.Dir = dir
		if !plugins.Recognizes(p.options) {
			t.Errorf("as %q it is another one", dir)
		}
	}
}

// Warnings about registries are of the run that asked them.
func TestPassingWarningsAreForgotten(t *testing.T) {
	p := newProject(t, registrytest.Options{})
	p.publish("aws", "1.2.0")
	p.require("aws", "1.2.0")
	p.options.Settings.Registries = []config.Registry{{
		Prefix: p.registry.Host(), Mirror: filepath.Join(t.TempDir(), "nowhere"), Fallback: true, FallbackTags: true}}
	if first := p.init(); len(first.Warnings) == 0 {
		t.Fatal("no warning of a mirror that is not there")
	}
	if !plugins.Recognizes(p.options) {
		t.Error("the next run looks at everything")
	}
}

// A warning is given by every run, not only by the one that installs.
func TestWarningsAreNotForgotten(t *testing.T) {
	p := newProject(t, registrytest.Options{})
	p.publish("aws", "1.2.0")
	p.require("aws", "1.2.0", "aws_too", "1.2.0")
	for n := range 3 {
		if result := p.init(); len(result.Warnings) != 1 {
			t.Errorf("run %d has %d warnings", n+1, len(result.Warnings))
		}
	}
}

// Where what the file system says proves nothing, nothing is recognised.
func TestNothingIsRecognizedInTheStoreOfAnother(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() != 0 {
		t.Skip("only root can give a file away")
	}
	p := installed(t)
	if err := os.Chown(filepath.Join(p.options.CacheDir, "v1"), 4321, 4321); err != nil {
		t.Fatal(err)
	}
	if plugins.Recognizes(p.options) {
		t.Error("a project was recognised there")
	}
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(before, text...), 0o644); err != nil {
		t.Fatal(err)
	}
}

// entry is the path of a file of the store's entry for aws.
func (p *project) entry(name string) string {
	p.t.Helper()
	root, err := filepath.EvalSymlinks(filepath.Join(p.dir, ".plugins", "plugins", "aws"))
	if err != nil {
		p.t.Fatal(err)
	}
	return filepath.Join(filepath.Dir(root), name)
}

// rewrite writes what is in a file already.
func rewrite(t *testing.T, path string) {
	t.Helper()
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	appendTo(t, path, "")
}

func removeAll(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

// A run that had to read a restored store has written its receipts anew, and
// then leaves a fingerprint, too.
func TestRestoredStoreIsRecognized(t *testing.T) {
	for _, mode := range []plugins.LinkMode{"symlink", "copy"} {
		p := newProject(t, registrytest.Options{})
		p.publish("aws", "1.2.0")
		p.require("aws", "~> 1.0")
		p.options.LinkMode = mode
		p.init()
		program := p.init().Plugins["aws"].Executable
		past := time.Now().Add(-time.Hour)
		if err := os.Chtimes(program, past, past); err != nil {
			t.Fatal(err)
		}
		if plugins.Recognizes(p.options) {
			t.Errorf("%s: recognised with another time", mode)
		}
		if action := p.init().Plugins["aws"].Action; action != installer.ActionKeep {
			t.Errorf("%s: action %q", mode, action)
		}
		if !plugins.Recognizes(p.options) {
			t.Errorf("%s: not recognised after it was read again", mode)
		}
	}
}
