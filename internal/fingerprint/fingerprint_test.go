package fingerprint

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/pluginlock/plugins/addr"
)

var inputs = addr.DigestOf([]byte("what decided"))

// makeProject builds an install directory and a store for n plugins and takes the
// fingerprint of them.
func makeProject(t testing.TB, n int) (*Fingerprint, Dirs) {
	t.Helper()
	dir := t.TempDir()
	d := Dirs{Install: filepath.Join(dir, "project", ".plugins"), Store: filepath.Join(dir, "cache")}
	f := &Fingerprint{
		Inputs: inputs,
		Shared: State{Installed: []string{".", "installed.json", "plugins", "bin"}},
	}
	write(t, d.Install, "installed.json", "{}")
	write(t, d.Store, "v1/README", "")
	for _, dir := range []string{"plugins", "bin"} {
		if err := os.Mkdir(filepath.Join(d.Install, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		name := fmt.Sprintf("p%04d", i)
		entry := "v1/sha256/" + name
		write(t, d.Store, entry+"/root/plugin/"+name, "program "+name)
		link(t, d.Install, "plugins/"+name, filepath.Join(d.Store, filepath.FromSlash(entry), "root"))
		link(t, d.Install, "bin/"+name, filepath.Join("..", "plugins", name, "plugin", name))
		f.Plugins = append(f.Plugins, Plugin{
			Name: name, Version: "1.2.3", Source: "registry.example.com/" + name, Digest: inputs, Protocols: []int{5, 6},
			Platform: "linux/amd64", Manifest: inputs, Executable: "plugin/" + name,
			State: State{
				Installed: []string{"bin/" + name, "plugins/" + name},
				Stored:    []string{entry, entry + "/root", entry + "/root/plugin", entry + "/root/plugin/" + name},
			},
		})
	}
	f.Plugins = append(f.Plugins, Plugin{Name: "skipped", Version: "2.0.0", Source: "registry.example.com/skipped", Digest: inputs})
	if err := f.Take(d); err != nil {
		t.Fatal(err)
	}
	return f, d
}

func write(t testing.TB, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}

func link(t testing.TB, dir, name, target string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Skip("no symbolic links here")
	}
}

func encode(t testing.TB, f *Fingerprint) []byte {
	t.Helper()
	encoded, err := f.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

func TestRecognizeReturnsWhatWasSigned(t *testing.T) {
	for _, n := range []int{0, 1, 3 * worthwhile} {
		f, d := makeProject(t, n)
		of, plugins, ok := Recognize(encode(t, f), d)
		if !ok || of != inputs || len(plugins) != len(f.Plugins) {
			t.Fatalf("%d plugins: recognised %t, %d plugins, inputs %s", n, ok, len(plugins), of)
		}
		for i, got := range plugins {
			want := f.Plugins[i]
			got.State, want.State = State{}, State{}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("plugin %d is %+v, want %+v", i, got, want)
			}
		}
	}
}

func TestEveryChangeIsSeen(t *testing.T) {
	const program, entry = "v1/sha256/p0070/root/plugin/p0070", "v1/sha256/p0070"
	changes := map[string]func(t *testing.T, install, store string){
		"the program has another size": func(t *testing.T, _, store string) { write(t, store, program, "longer than it was before") },
		"the program is another file": func(t *testing.T, _, store string) {
			remove(t, store, program)
			write(t, store, program, "program p0070")
		},
		"the program is gone":           func(t *testing.T, _, store string) { remove(t, store, program) },
		"the program is not executable": func(t *testing.T, _, store string) { chmod(t, store, program, 0o644) },
		"the program is a link": func(t *testing.T, _, store string) {
			remove(t, store, program)
			link(t, store, program, filepath.Join(store, "v1/sha256/p0071/root/plugin/p0071"))
		},
		"a file was added":             func(t *testing.T, _, store string) { write(t, store, entry+"/root/plugin/other", "x") },
		"a file was added above":       func(t *testing.T, _, store string) { write(t, store, entry+"/root/other", "x") },
		"others can write the entry":   func(t *testing.T, _, store string) { chmod(t, store, entry, 0o777) },
		"the store is gone":            func(t *testing.T, _, store string) { remove(t, store, ".") },
		"a link below bin is gone":     func(t *testing.T, install, _ string) { remove(t, install, "bin/p0070") },
		"a link below plugins is gone": func(t *testing.T, install, _ string) { remove(t, install, "plugins/p0070") },
		"a link leads elsewhere": func(t *testing.T, install, _ string) {
			remove(t, install, "bin/p0070")
			link(t, install, "bin/p0070", "../x")
		},
		"something was added below bin": func(t *testing.T, install, _ string) { write(t, install, "bin/x", "") },
		"a killed run left something":   func(t *testing.T, install, _ string) { write(t, install, "pending.json", "{}") },
		"installed.json is another":     func(t *testing.T, install, _ string) { write(t, install, "installed.json", "{ }") },
		"the install directory is gone": func(t *testing.T, install, _ string) { remove(t, install, ".") },
		"the install directory is a link": func(t *testing.T, install, _ string) {
			if err := os.Rename(install, install+"-moved"); err != nil {
				t.Fatal(err)
			}
			link(t, filepath.Dir(install), filepath.Base(install), install+"-moved")
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			f, d := makeProject(t, 100)
			encoded := encode(t, f)
			if _, _, ok := Recognize(encoded, d); !ok {
				t.Fatal("it is not recognised as it is")
			}
			change(t, d.Install, d.Store)
			if _, _, ok := Recognize(encoded, d); ok {
				t.Error("this was not seen")
			}
		})
	}
}

// A program that was changed keeps its size and gets its time back: the time of
// the change itself cannot be set.
func TestTouchedTimesAreNoDisguise(t *testing.T) {
	if _, ctime := identityOf(t); ctime == 0 {
		t.Skip("this system has no change times")
	}
	f, d := makeProject(t, 1)
	encoded := encode(t, f)
	path := filepath.Join(d.Store, "v1/sha256/p0000/root/plugin/p0000")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond) // the clock of a file system ticks a hundred times a second at least
	if _, err := file.WriteString("PROGRAM"); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := Recognize(encoded, d); ok {
		t.Error("the change was not seen")
	}
}

// identityOf is what this system knows of some file.
func identityOf(t *testing.T) (inode uint64, ctime int64) {
	t.Helper()
	p, err := openPlace(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	s, err := p.stamp(".")
	if err != nil {
		t.Fatal(err)
	}
	return s.inode, s.ctime
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
		t.Fatal(err)
	}
}

func chmod(t *testing.T, dir, name string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(filepath.Join(dir, filepath.FromSlash(name)), mode); err != nil {
		t.Fatal(err)
	}
}

// Half a fingerprint, as a full disk or a crash may leave it, is none.
func TestNothingIsRecognizedInPart(t *testing.T) {
	f, d := makeProject(t, 2)
	encoded := encode(t, f)
	for n := range encoded {
		if _, _, ok := Recognize(encoded[:n], d); ok {
			t.Errorf("the first %d of %d bytes were recognised", n, len(encoded))
		}
	}
	for _, garbage := range []string{"", "\n", "{}\n", "1|a|b\n", "a|b|c\n", "2" + string(encoded[1:]), string(encoded) + "x\n", string(encoded) + "\n"} {
		if _, _, ok := Recognize([]byte(garbage), d); ok {
			t.Errorf("%q was recognised", garbage)
		}
	}
}

func TestWhatCannotBeEncodedIsRefused(t *testing.T) {
	for _, name := range []string{"a|b", "a\nb"} {
		f := &Fingerprint{Plugins: []Plugin{{Name: "x", Executable: name}}}
		if encoded, err := f.Encode(); err == nil {
			t.Errorf("%q was encoded: %s", name, encoded)
		}
	}
}

// On a system without inodes and times of change the other fields are all there
// is.
func TestEveryFieldOfAStampCounts(t *testing.T) {
	one := stamp{mode: 1, device: 2, size: 3, inode: 4, mtime: 5, ctime: 6}
	if got := one.appendTo(nil); len(got) != stampLength {
		t.Errorf("a stamp has %d bytes, not %d", len(got), stampLength)
	}
	for _, other := range []stamp{{9, 2, 3, 4, 5, 6}, {1, 9, 3, 4, 5, 6}, {1, 2, 9, 4, 5, 6}, {1, 2, 3, 9, 5, 6}, {1, 2, 3, 4, 9, 6}, {1, 2, 3, 4, 5, 9}} {
		if bytes.Equal(one.appendTo(nil), other.appendTo(nil)) {
			t.Errorf("%+v and %+v look alike", one, other)
		}
	}
}

// A fingerprint names no program outside of the plugin, whoever has written it.
func TestForgedProgramsAreRefused(t *testing.T) {
	for _, forged := range []Plugin{
		{Name: "aws", Executable: "../../evil"}, {Name: "aws", Executable: "/bin/sh"}, {Name: "../aws", Executable: "plugin/aws"},
		{Name: "", Executable: "plugin/aws"}, {Name: "aws", Executable: "plugin//aws"},
	} {
		f, d := makeProject(t, 1)
		f.Plugins[0].Name, f.Plugins[0].Executable = forged.Name, forged.Executable
		if _, plugins, ok := Recognize(encode(t, f), d); ok {
			t.Errorf("recognised %+v", plugins)
		}
	}
}

func TestTakeNeedsWhatItNames(t *testing.T) {
	f, d := makeProject(t, 1)
	f.Plugins[0].State.Stored = append(f.Plugins[0].State.Stored, "v1/nothing")
	if err := f.Take(d); err == nil {
		t.Error("no error for a name that nothing has")
	}
}

func FuzzRecognize(f *testing.F) {
	project, d := makeProject(f, 2)
	f.Add(encode(f, project))
	f.Add([]byte("1|sha256:0|e3b0c44298fc1c149afbf4c8996fb924|1\na|b|c|d|5|f|g|h|i||.\n"))
	f.Fuzz(func(t *testing.T, encoded []byte) {
		_, plugins, ok := Recognize(encoded, d)
		if ok && len(plugins) > bytes.Count(encoded, []byte("\n")) {
			t.Errorf("%d plugins in %q", len(plugins), encoded)
		}
	})
}
