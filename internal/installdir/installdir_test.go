package installdir

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/extract"
)

func sortStrings(s []string) { slices.Sort(s) }

func run(program string) (string, error) {
	out, err := exec.Command(program).Output()
	return string(out), err
}

func TestApply(t *testing.T) {
	for _, mode := range []LinkMode{Symlink, Copy} {
		t.Run(string(mode), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), ".plugins")
			aws, gcp := makePlugin(t, "aws", "1.4.2"), makePlugin(t, "gcp", "0.3.0")
			d := desire(mode, gcp, aws)
			if plan := mustCheck(t, dir, d); plan.Empty() || len(plan.Actions) != 2 || plan.Actions[0].Kind != Install || plan.Actions[0].Name != "aws" {
				t.Errorf("before: %+v", plan)
			}
			if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("Check made the directory: %v", err)
			}
			mustApply(t, dir, d)
			requireExact(t, dir, d)
			if ignore, err := os.ReadFile(filepath.Join(dir, ".gitignore")); err != nil || string(ignore) != "*\n" {
				t.Errorf(".gitignore: %q, %v", ignore, err)
			}
			state, err := Read(dir)
			if err != nil {
				t.Fatal(err)
			}
			if got := state.Plugins["aws"]; !got.equal(aws.Description) || state.Platform != linux || state.LinkMode != mode {
				t.Errorf("state: %+v", state)
			}
			if target, _ := os.Readlink(filepath.Join(dir, "bin", "aws")); target != filepath.Join("..", "plugins", "aws", "plugin", "aws") {
				t.Errorf("bin/aws -> %q", target)
			}
			before := content(t, dir, true)
			mustCheck(t, dir, d)
			mustApply(t, dir, d)
			if after := content(t, dir, true); after != before {
				t.Errorf("a second run wrote: %s", firstDifference(before, after))
			}
		})
	}
}

func TestApplyNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".plugins")
	if plan := mustCheck(t, dir, desire(Symlink)); !plan.Empty() {
		t.Errorf("nothing installed, nothing wanted: %+v", plan)
	}
	mustApply(t, dir, desire(Symlink, makePlugin(t, "aws", "1.0.0")))
	mustApply(t, dir, desire(Symlink))
	requireExact(t, dir, desire(Symlink))
}

func TestChanges(t *testing.T) {
	aws1, aws2, gcp := makePlugin(t, "aws", "1.0.0"), makePlugin(t, "aws", "2.0.0"), makePlugin(t, "gcp", "1.0.0")
	moved := aws1
	moved.StoreRoot = makePlugin(t, "aws", "1.0.0").StoreRoot
	local := aws2
	local.Override, local.Digest, local.Manifest, local.Source, local.Version = local.StoreRoot, "", "", addr.Source{}, aws2.Version
	windows := desire(Copy, aws1)
	windows.Platform = addr.Platform{OS: "windows", Arch: "amd64"}
	tests := map[string]struct {
		from, to Desired
		kinds    []Kind
	}{
		"version":            {desire(Symlink, aws1), desire(Symlink, aws2), []Kind{Change}},
		"version of a copy":  {desire(Copy, aws1, gcp), desire(Copy, aws2, gcp), []Kind{Change, Keep}},
		"removed":            {desire(Symlink, aws1, gcp), desire(Symlink, gcp), []Kind{Remove, Keep}},
		"removed copy":       {desire(Copy, aws1, gcp), desire(Copy, gcp), []Kind{Remove, Keep}},
		"added":              {desire(Symlink, gcp), desire(Symlink, aws1, gcp), []Kind{Install, Keep}},
		"to copies":          {desire(Symlink, aws1, gcp), desire(Copy, aws1, gcp), []Kind{Change, Change}},
		"to links":           {desire(Copy, aws1, gcp), desire(Symlink, aws2, gcp), []Kind{Change, Change}},
		"another store":      {desire(Symlink, aws1), desire(Symlink, moved), []Kind{Change}},
		"copy, other store":  {desire(Copy, aws1), desire(Copy, moved), []Kind{Keep}},
		"override":           {desire(Symlink, aws1), desire(Symlink, local), []Kind{Change}},
		"no override":        {desire(Copy, local), desire(Copy, aws1), []Kind{Change}},
		"platform":           {windows, desire(Copy, aws1), []Kind{Change}},
		"platform and links": {desire(Symlink, aws1), windows, []Kind{Change}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), ".plugins")
			mustApply(t, dir, test.from)
			requireExact(t, dir, test.from)
			plan := mustApply(t, dir, test.to)
			var kinds []Kind
			for _, a := range plan.Actions {
				kinds = append(kinds, a.Kind)
				if (a.Kind == Change || a.Kind == Remove) && (a.Previous == nil || a.Reason == "") {
					t.Errorf("incomplete: %+v", a)
				}
			}
			if !slices.Equal(kinds, test.kinds) {
				t.Errorf("did %v, want %v", kinds, test.kinds)
			}
			requireExact(t, dir, test.to)
		})
	}
}

// Everything that can be wrong on disk is found by Check and put right.
func TestDamage(t *testing.T) {
	bin, plugin := filepath.Join("bin", "aws"), filepath.Join("plugins", "aws")
	program := filepath.Join(plugin, "plugin", "aws")
	tests := map[string]struct {
		mode   LinkMode
		damage func(dir string) error
	}{
		"link gone":          {Symlink, func(dir string) error { return os.Remove(filepath.Join(dir, plugin)) }},
		"link elsewhere":     {Symlink, func(dir string) error { return relink(filepath.Join(dir, plugin), "/nowhere") }},
		"bin gone":           {Symlink, func(dir string) error { return os.Remove(filepath.Join(dir, bin)) }},
		"bin elsewhere":      {Copy, func(dir string) error { return relink(filepath.Join(dir, bin), "/bin/true") }},
		"bin directory gone": {Symlink, func(dir string) error { return os.RemoveAll(filepath.Join(dir, "bin")) }},
		"copy gone":          {Copy, func(dir string) error { return os.RemoveAll(filepath.Join(dir, plugin)) }},
		"copy edited": {Copy, func(dir string) error {
			return os.WriteFile(filepath.Join(dir, program), []byte("#!/bin/sh\necho evil\n"), 0o755)
		}},
		"copy cut": {Copy, func(dir string) error { return os.Truncate(filepath.Join(dir, program), 0) }},
		"copy with more": {Copy, func(dir string) error {
			return os.WriteFile(filepath.Join(dir, plugin, "plugin", "more"), nil, 0o644)
		}},
		"copy with less":    {Copy, func(dir string) error { return os.Remove(filepath.Join(dir, plugin, "plugin", "share", "doc")) }},
		"copy with set-uid": {Copy, func(dir string) error { return os.Chmod(filepath.Join(dir, program), 0o755|fs.ModeSetuid) }},
		"copy not executable": {Copy, func(dir string) error {
			return os.Chmod(filepath.Join(dir, program), 0o644)
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), ".plugins")
			d := desire(test.mode, makePlugin(t, "aws", "1.0.0"), makePlugin(t, "gcp", "1.0.0"))
			mustApply(t, dir, d)
			if err := test.damage(dir); err != nil {
				t.Fatal(err)
			}
			plan := mustCheck(t, dir, d)
			if a := plan.Actions[0]; a.Kind != Change || a.Reason == "" {
				t.Errorf("not noticed: %+v", plan)
			}
			mustApply(t, dir, d)
			requireExact(t, dir, d)
		})
	}
}

func relink(path, target string) error {
	return errors.Join(os.Remove(path), os.Symlink(target, path))
}

// A copy that was restored, with other inodes and times, is read and found
// right; nothing has to be written, and it may be.
func TestRestoredCopy(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".plugins")
	d := desire(Copy, makePlugin(t, "aws", "1.0.0"))
	mustApply(t, dir, d)
	restored := filepath.Join(t.TempDir(), ".plugins")
	if out, err := exec.Command("cp", "-R", dir, restored).CombinedOutput(); err != nil {
		t.Skipf("cp -R: %v: %s", err, out)
	}
	before := content(t, restored, true)
	if plan := mustCheck(t, restored, d); !plan.Empty() || !plan.Untidy {
		t.Errorf("restored: %+v", plan)
	}
	if after := content(t, restored, true); after != before {
		t.Error("Check wrote something")
	}
	mustApply(t, restored, d)
	requireExact(t, restored, d)
}

// A local build in place of a locked plugin: its program alone is copied, and
// again when it was built again.
func TestOverride(t *testing.T) {
	for _, mode := range []LinkMode{Symlink, Copy} {
		build := makePlugin(t, "aws", "0.0.0")
		local := Plugin{Name: "aws", StoreRoot: filepath.Join(build.StoreRoot, "plugin")}
		local.Executable, local.Override = "aws", filepath.Join(local.StoreRoot, "aws")
		dir := filepath.Join(t.TempDir(), ".plugins")
		for _, said := range []string{"one", "two"} {
			if err := os.WriteFile(local.Override, []byte("#!/bin/sh\necho "+said+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			mustApply(t, dir, desire(mode, local))
			if plan := mustCheck(t, dir, desire(mode, local)); !plan.Empty() {
				t.Errorf("%s: %+v", mode, plan)
			}
			if got, err := run(filepath.Join(dir, "bin", "aws")); err != nil || got != said+"\n" {
				t.Errorf("%s: %q, %v", mode, got, err)
			}
			if wrong, err := Verify(context.Background(), dir, desire(mode, local)); err != nil || len(wrong) != 0 {
				t.Errorf("%s: %v, %v", mode, wrong, err)
			}
		}
		if mode == Copy {
			requireNames(t, PluginDir(dir, "aws"), []string{"aws"})
		}
		locked := desire(mode, makePlugin(t, "aws", "1.0.0"))
		mustApply(t, dir, locked)
		requireExact(t, dir, locked)
	}
}

// Verify reads copies, where Check believes the stamps.
func TestVerify(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".plugins")
	aws := makePlugin(t, "aws", "1.0.0")
	aws.Records = slices.DeleteFunc(aws.Records, func(r extract.Record) bool { return r.Link != "" })
	d := desire(Copy, aws, makePlugin(t, "gcp", "1.0.0"))
	mustApply(t, dir, desire(Copy, d.Plugins[1]))
	if _, err := Apply(context.Background(), dir, d, Options{symlink: noLinks}); err != nil {
		t.Fatal(err)
	}
	verify := func(want ...string) {
		t.Helper()
		wrong, err := Verify(context.Background(), dir, d)
		if got := slices.Sorted(maps.Keys(wrong)); err != nil || !slices.Equal(got, want) {
			t.Errorf("got %v, %v, want %v", wrong, err, want)
		}
	}
	verify()
	bin := filepath.Join(dir, "bin", "aws")
	program := filepath.Join(dir, "plugins", "gcp", "plugin", "gcp")
	if err := os.WriteFile(bin, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	verify("aws")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	verify("aws", "gcp")
	if err := os.RemoveAll(PluginDir(dir, "aws")); err != nil {
		t.Fatal(err)
	}
	verify("aws", "gcp")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Verify(ctx, dir, d); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestMovedProject(t *testing.T) {
	for _, mode := range []LinkMode{Symlink, Copy} {
		project := filepath.Join(t.TempDir(), "a")
		if err := os.Mkdir(project, 0o755); err != nil {
			t.Fatal(err)
		}
		d := desire(mode, makePlugin(t, "aws", "1.0.0"))
		mustApply(t, filepath.Join(project, ".plugins"), d)
		moved := filepath.Join(t.TempDir(), "b")
		if err := os.Rename(project, moved); err != nil {
			t.Fatal(err)
		}
		requireExact(t, filepath.Join(moved, ".plugins"), d)
	}
}

func TestForeignFiles(t *testing.T) {
	write := func(path string) error { return os.WriteFile(path, []byte("mine"), 0o644) }
	mkdir := func(path string) error {
		return errors.Join(os.Mkdir(path, 0o755), write(filepath.Join(path, "notes")))
	}
	link := func(path string) error { return os.Symlink("/somewhere", path) }
	tests := map[string]struct {
		place string
		make  func(path string) error
	}{
		"file for a plugin": {"plugins/gcp", write}, "directory for a plugin": {"plugins/gcp", mkdir}, "link for a plugin": {"plugins/gcp", link},
		"file for a program": {"bin/gcp", write}, "directory for a program": {"bin/gcp", mkdir}, "link for a program": {"bin/gcp", link},
		"plugin swapped": {"plugins/aws", mkdir}, "program swapped": {"bin/aws", write},
	}
	for name, test := range tests {
		for _, mode := range []LinkMode{Symlink, Copy} {
			if mode == Copy && test.place == "plugins/aws" {
				continue // a directory there is ours
			}
			t.Run(name+" "+string(mode), func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), ".plugins")
				aws := makePlugin(t, "aws", "1.0.0")
				mustApply(t, dir, desire(mode, aws))
				path := filepath.Join(dir, filepath.FromSlash(test.place))
				if err := errors.Join(os.RemoveAll(path), test.make(path)); err != nil {
					t.Fatal(err)
				}
				before := content(t, dir, false)
				_, err := Apply(context.Background(), dir, desire(mode, aws, makePlugin(t, "gcp", "1.0.0")), Options{})
				var foreign *ForeignFileError
				if !errors.As(err, &foreign) || foreign.Path != path || foreign.Found == "" {
					t.Errorf("got %v, want a ForeignFileError for %s", err, path)
				}
				if after := content(t, dir, false); after != before {
					t.Errorf("changed: %s", firstDifference(before, after))
				}
			})
		}
	}
}

// What somebody put in the place of a plugin stays when the plugin goes.
func TestRemoveLeavesForeignFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".plugins")
	mustApply(t, dir, desire(Symlink, makePlugin(t, "aws", "1.0.0")))
	mine := filepath.Join(dir, "bin", "aws")
	own := filepath.Join(dir, "bin", "own-tool")
	if err := errors.Join(os.Remove(mine), os.WriteFile(mine, []byte("mine"), 0o644), os.WriteFile(own, []byte("mine"), 0o644)); err != nil {
		t.Fatal(err)
	}
	mustApply(t, dir, desire(Symlink))
	requireNames(t, filepath.Join(dir, "bin"), []string{"aws", "own-tool"})
	requireNames(t, filepath.Join(dir, "plugins"), nil)
}

// The very link that would be made may be there, as after a lost installed.json.
func TestAdoptsEqualLinks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".plugins")
	d := desire(Symlink, makePlugin(t, "aws", "1.0.0"))
	mustApply(t, dir, d)
	if err := os.Remove(filepath.Join(dir, "installed.json")); err != nil {
		t.Fatal(err)
	}
	mustApply(t, dir, d)
	requireExact(t, dir, d)
}

func TestSymlinkedDirectories(t *testing.T) {
	d := desire(Symlink, makePlugin(t, "aws", "1.0.0"))
	for _, name := range []string{".", "bin", "plugins"} {
		elsewhere := t.TempDir()
		dir := filepath.Join(t.TempDir(), ".plugins")
		if name != "." {
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(elsewhere, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		var foreign *ForeignFileError
		if _, err := Check(context.Background(), dir, d); !errors.As(err, &foreign) {
			t.Errorf("Check with a symlinked %s: %v", name, err)
		}
		if _, err := Apply(context.Background(), dir, d, Options{}); !errors.As(err, &foreign) || foreign.Found != "a symbolic link" {
			t.Errorf("Apply with a symlinked %s: %v", name, err)
		}
		requireNames(t, elsewhere, nil)
	}
}

func TestBadState(t *testing.T) {
	good := `{"format":1,"run":"x","platform":"linux/amd64","link_mode":"symlink","plugins":{"aws":{"executable":"plugin/aws","bin":"aws","target":"/x"}}}`
	if _, err := decode([]byte(good)); err != nil {
		t.Fatalf("the good one is bad: %v", err)
	}
	for name, change := range map[string][2]string{
		"cut":         {good[40:], ""},
		"newer":       {`"format":1`, `"format":2`},
		"platform":    {"linux/amd64", "linux"},
		"mode":        {`"symlink"`, `"hardlink"`},
		"name":        {`"aws":{`, `"../aws":{`},
		"upper case":  {`"aws":{`, `"AWS":{`},
		"bin":         {`"bin":"aws"`, `"bin":"../../etc/passwd"`},
		"executable":  {`"plugin/aws"`, `"../aws"`},
		"version":     {`"bin":`, `"version":"v1","bin":`},
		"source":      {`"bin":`, `"source":"https://x","bin":`},
		"digest":      {`"bin":`, `"digest":"md5:x","bin":`},
		"receipt":     {`"bin":`, `"receipt":{"format":1},"bin":`},
		"copy of one": {`"symlink"`, `"copy"`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			bad := strings.Replace(good, change[0], change[1], 1)
			if err := os.WriteFile(filepath.Join(dir, "installed.json"), []byte(bad), 0o644); err != nil {
				t.Fatal(err)
			}
			before := content(t, dir, false)
			var state *StateError
			if _, err := Read(dir); !errors.As(err, &state) {
				t.Errorf("Read: %v", err)
			}
			if _, err := Apply(context.Background(), dir, desire(Symlink, makePlugin(t, "aws", "1.0.0")), Options{}); !errors.As(err, &state) {
				t.Errorf("Apply: %v", err)
			}
			if after := content(t, dir, false); after != before {
				t.Errorf("changed: %s", firstDifference(before, after))
			}
		})
	}
}

func TestDesiredIsChecked(t *testing.T) {
	aws := makePlugin(t, "aws", "1.0.0")
	for name, change := range map[string]func(*Desired){
		"mode":                       func(d *Desired) { d.LinkMode = "" },
		"name":                       func(d *Desired) { d.Plugins[0].Name = "../x" },
		"twice":                      func(d *Desired) { d.Plugins = append(d.Plugins, aws) },
		"executable":                 func(d *Desired) { d.Plugins[0].Executable = "../x" },
		"root":                       func(d *Desired) { d.Plugins[0].StoreRoot = "x" },
		"no program among the files": func(d *Desired) { d.LinkMode, d.Plugins[0].Records = Copy, aws.Records[:0] },
		"no program":                 func(d *Desired) { d.Plugins[0].Executable = "plugin/gcp" },
		"not a program": func(d *Desired) {
			d.Plugins[0].Executable = "plugin/share/doc"
		},
	} {
		d := desire(Symlink, aws)
		change(&d)
		dir := filepath.Join(t.TempDir(), ".plugins")
		if _, err := Apply(context.Background(), dir, d, Options{}); err == nil {
			t.Errorf("%s: no error", name)
		}
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the directory was left: %v", name, err)
		}
	}
}

// The store was damaged after it was checked: nothing of it is copied.
func TestCopyComparesDigests(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".plugins")
	aws := makePlugin(t, "aws", "1.0.0")
	if err := os.WriteFile(filepath.Join(aws.StoreRoot, "plugin", "aws"), []byte("#!/bin/sh\necho evil\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Apply(context.Background(), dir, desire(Copy, aws), Options{}); err == nil || !strings.Contains(err.Error(), "digest") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory was left: %v", err)
	}
}

var errNoLinks = errors.New("no links here")

func noLinks(*os.Root, string, string) error { return errNoLinks }

// A file system without links: a copy gets a copied program too.
func TestWithoutLinks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".plugins")
	aws := makePlugin(t, "aws", "1.0.0")
	aws.Records = slices.DeleteFunc(aws.Records, func(r extract.Record) bool { return r.Link != "" })
	d := desire(Copy, aws)
	var refused *SymlinkError
	if _, err := Apply(context.Background(), dir, desire(Symlink, aws), Options{symlink: noLinks}); !errors.As(err, &refused) || !errors.Is(err, errNoLinks) {
		t.Errorf("symlinks: %v", err)
	}
	if _, err := Apply(context.Background(), dir, d, Options{symlink: noLinks}); err != nil {
		t.Fatal(err)
	}
	requireExact(t, dir, d)
	bin := filepath.Join(dir, "bin", "aws")
	if info, err := os.Lstat(bin); err != nil || !info.Mode().IsRegular() {
		t.Errorf("bin/aws: %v, %v", info, err)
	}
	damage := []func() error{
		func() error { return os.WriteFile(bin, []byte("#!/bin/sh\necho evil\n"), 0o755) },
		func() error { return os.Remove(bin) },
		func() error { return os.Chmod(bin, 0o644) },
	}
	for _, harm := range damage {
		if err := harm(); err != nil {
			t.Fatal(err)
		}
		if plan := mustCheck(t, dir, d); plan.Empty() {
			t.Error("not noticed")
		}
		if _, err := Apply(context.Background(), dir, d, Options{symlink: noLinks}); err != nil {
			t.Fatal(err)
		}
		requireExact(t, dir, d)
	}
	newer := makePlugin(t, "aws", "2.0.0")
	newer.Records = slices.DeleteFunc(newer.Records, func(r extract.Record) bool { return r.Link != "" })
	if _, err := Apply(context.Background(), dir, desire(Copy, newer), Options{symlink: noLinks}); err != nil {
		t.Fatal(err)
	}
	requireExact(t, dir, desire(Copy, newer))
	mustApply(t, dir, desire(Symlink, newer))
	requireExact(t, dir, desire(Symlink, newer))
}

// Each step fails once; the directory is as before, and the next run succeeds.
func TestFailingSteps(t *testing.T) {
	aws1, aws2 := makePlugin(t, "aws", "1.0.0"), makePlugin(t, "aws", "2.0.0")
	gcp, azure := makePlugin(t, "gcp", "1.0.0"), makePlugin(t, "azure", "1.0.0")
	for _, modes := range [][2]LinkMode{{Symlink, Symlink}, {Symlink, Copy}, {Copy, Symlink}, {Copy, Copy}} {
		from, to := desire(modes[0], aws1, gcp), desire(modes[1], aws2, azure)
		dir := filepath.Join(t.TempDir(), ".plugins")
		mustApply(t, dir, from)
		before := content(t, dir, false)
		failed := 0
		for fail := 0; ; fail++ {
			count, boom := 0, errors.New("boom")
			_, err := Apply(context.Background(), dir, to, Options{step: func(string) error {
				if count++; count > fail {
					return boom
				}
				return nil
			}})
			if err == nil {
				break
			}
			failed++
			if !errors.Is(err, boom) {
				t.Fatalf("step %d: %v", fail, err)
			}
			if after := content(t, dir, false); after != before {
				t.Fatalf("%v, step %d, changed: %s", modes, fail, firstDifference(before, after))
			}
			// A copy that came back has a new change time, and is read once.
			if plan := mustCheck(t, dir, from); !plan.Empty() {
				t.Fatalf("%v, step %d: %+v", modes, fail, plan)
			}
		}
		if failed < 10 {
			t.Errorf("only %d steps failed", failed)
		}
		requireExact(t, dir, to)
	}
}

// Ready is called before the first place changes, and can stop it all.
func TestReady(t *testing.T) {
	aws1, aws2 := makePlugin(t, "aws", "1.0.0"), makePlugin(t, "aws", "2.0.0")
	dir := filepath.Join(t.TempDir(), ".plugins")
	mustApply(t, dir, desire(Symlink, aws1))
	before := content(t, dir, false)
	boom := errors.New("boom")
	if _, err := Apply(t.Context(), dir, desire(Symlink, aws2), Options{Ready: func() error { return boom }}); !errors.Is(err, boom) {
		t.Errorf("got %v", err)
	}
	if after := content(t, dir, false); after != before {
		t.Errorf("changed: %s", firstDifference(before, after))
	}
	calls := 0
	count := Options{Ready: func() error {
		calls++
		linked, err := os.Readlink(filepath.Join(dir, "plugins", "aws"))
		if err != nil || linked != aws1.StoreRoot {
			t.Errorf("aws leads to %q already (%v)", linked, err)
		}
		return nil
	}}
	for range 2 { // the second has nothing to do
		if _, err := Apply(t.Context(), dir, desire(Symlink, aws2), count); err != nil {
			t.Fatal(err)
		}
	}
	if calls != 1 {
		t.Errorf("called %d times", calls)
	}
}

func TestCancelled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".plugins")
	d := desire(Copy, makePlugin(t, "aws", "1.0.0"))
	ctx, cancel := context.WithCancel(context.Background())
	_, err := Apply(ctx, dir, d, Options{step: func(name string) error {
		if name == "announce" {
			cancel()
		}
		return nil
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory was left: %v", err)
	}
}

// A program that runs is replaced, whatever the mode.
func TestRunningProgram(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip("there is no sleep program to run")
	}
	binary, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	old := makePlugin(t, "aws", "1.0.0")
	path := filepath.Join(old.StoreRoot, "plugin", "aws")
	if err := os.WriteFile(path, binary, 0o755); err != nil {
		t.Fatal(err)
	}
	old.ExecutableDigest = addr.DigestOf(binary)
	for i := range old.Records {
		if old.Records[i].Path == old.Executable {
			old.Records[i].Digest, old.Records[i].Size = old.ExecutableDigest, int64(len(binary))
		}
	}
	dir := filepath.Join(t.TempDir(), ".plugins")
	mustApply(t, dir, desire(Copy, old))
	process := exec.Command(filepath.Join(dir, "bin", "aws"), "1000")
	if err := process.Start(); err != nil {
		t.Skipf("%s does not run under another name: %v", sleep, err)
	}
	defer func() { _ = process.Process.Kill(); _ = process.Wait() }()
	d := desire(Copy, makePlugin(t, "aws", "2.0.0"))
	mustApply(t, dir, d)
	requireExact(t, dir, d)
}

func TestManyAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".plugins")
	d := desire(Copy, makePlugin(t, "aws", "1.0.0"), makePlugin(t, "gcp", "1.0.0"))
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if _, err := Apply(context.Background(), dir, d, Options{}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	requireExact(t, dir, d)
}
