package lock

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pluginlock/plugins/addr"
)

// old is a time that no write of the test can give a file.
var old = time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)

// saved returns the path of a lock file that holds f and is old.
func saved(t *testing.T, f *File) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), FileName)
	if changed, err := Save(path, f); !changed || err != nil {
		t.Fatal(changed, err)
	}
	age(t, path)
	return path
}

func age(t *testing.T, path string) {
	t.Helper()
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

// untouched asserts that the file has these bytes, and its time, still.
func untouched(t *testing.T, path string, want []byte) {
	t.Helper()
	if got := read(t, path); !bytes.Equal(got, want) {
		t.Errorf("the file became\n%s", got)
	}
	info, err := os.Stat(path)
	if err != nil || !info.ModTime().Equal(old) {
		t.Errorf("the file was touched: %v %v", info, err)
	}
}

// alone asserts that a directory holds the lock file and nothing else.
func alone(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != filepath.Base(path) {
			t.Errorf("left behind: %s", e.Name())
		}
	}
}

func TestSaveWritesWhatLoadReads(t *testing.T) {
	f := rich(t)
	path := saved(t, f)
	got, src, err := Load(path)
	if err != nil || !got.Equal(f) || !bytes.Equal(src, f.Bytes()) {
		t.Errorf("%v\n%s", err, src)
	}
	alone(t, path)
}

// TestSaveLeavesTheSameContentAlone: whatever its form, and its time too.
func TestSaveLeavesTheSameContentAlone(t *testing.T) {
	f := rich(t)
	crlf := append([]byte("\ufeff"), bytes.ReplaceAll(f.Bytes(), []byte("\n"), []byte("\r\n"))...)
	for name, src := range map[string][]byte{"normal": f.Bytes(), "CRLF": crlf, "commented": append([]byte("# mine\n"), f.Bytes()...)} {
		path := saved(t, &File{})
		write(t, path, src)
		age(t, path)
		changed, err := Save(path, f)
		if changed || err != nil {
			t.Errorf("%s: %v %v", name, changed, err)
		}
		untouched(t, path, src)
	}
}

func TestSaveReplacesOtherContent(t *testing.T) {
	f := rich(t)
	for _, src := range [][]byte{nil, file(entry(t, "b", "1.0.0", "linux/amd64")).Bytes(), read(t, "testdata/conflict.hcl")} {
		path := filepath.Join(t.TempDir(), FileName)
		write(t, path, src)
		if changed, err := Save(path, f); !changed || err != nil || !bytes.Equal(read(t, path), f.Bytes()) {
			t.Errorf("%v %v\n%s", changed, err, read(t, path))
		}
		alone(t, path)
	}
}

// TestC21SaveNeverReplacesANewerFormat, whatever the caller thought was there.
func TestC21SaveNeverReplacesANewerFormat(t *testing.T) {
	path := saved(t, &File{})
	src := read(t, "testdata/format_newer.hcl")
	write(t, path, src)
	age(t, path)
	if changed, err := Save(path, rich(t)); changed || !errors.Is(err, ErrNewerFormat) {
		t.Errorf("%v %v", changed, err)
	}
	untouched(t, path, src)
	alone(t, path)
}

// TestSaveRefusesWhatCannotBeRead: the writer is held to the reader's rules.
func TestSaveRefusesWhatCannotBeRead(t *testing.T) {
	path := saved(t, &File{})
	before := read(t, path)
	spoil := map[string]func(*Entry){
		"name":              func(e *Entry) { e.Name = "Not A Name" },
		"no source":         func(e *Entry) { e.Source = addr.Source{} },
		"no version":        func(e *Entry) { e.Version = addr.Version{} },
		"other tag":         func(e *Entry) { e.Tag = "v9.9.9" },
		"redundant tag":     func(e *Entry) { e.Tag = e.Version.Tag() },
		"no digest":         func(e *Entry) { e.Digest = "" },
		"no platform":       func(e *Entry) { e.Platforms = nil },
		"platform twice":    func(e *Entry) { e.Platforms = append(e.Platforms, e.Platforms[0]) },
		"negative protocol": func(e *Entry) { e.Protocols = []int{-1} },
		"relative path":     func(e *Entry) { e.Executable.Path = "x" },
		"not UTF-8":         func(e *Entry) { e.Executable.Path = "/\xff" },
		"not in form C":     func(e *Entry) { e.Executable.Path = "/e\u0301" },
		"two executables": func(e *Entry) {
			e.Executable = addr.Executable{Path: "/x", ByPlatform: map[addr.Platform]string{e.Platforms[0].Platform: "/y"}}
		},
	}
	for name, change := range spoil {
		e := entry(t, "aws", "1.4.2", "linux/amd64")
		change(&e)
		if changed, err := Save(path, file(e)); changed || err == nil {
			t.Errorf("%s: %v %v", name, changed, err)
		}
		untouched(t, path, before)
	}
	twice := &File{Entries: []Entry{entry(t, "aws", "1.0.0", "linux/amd64"), entry(t, "aws", "1.1.0", "linux/amd64")}}
	var refused *ParseError
	if _, err := Save(path, twice); !errors.As(err, &refused) || refused.Diagnostics[0].Summary != "Duplicate plugin" {
		t.Errorf("two of one name: %v", err)
	}
	if _, err := Save(path, nil); err == nil {
		t.Error("no file at all is written")
	}
	untouched(t, path, before)
	alone(t, path)
}

// failing is a file that fails at one step.
type failing struct {
	temporary
	step string
}

var errStep = errors.New("no space left on device")

func (f failing) Write(p []byte) (int, error) {
	if f.step == "write" {
		n, _ := f.temporary.Write(p[:len(p)/2])
		return n, errStep
	}
	return f.temporary.Write(p)
}

func (f failing) Chmod(mode fs.FileMode) error { return f.orElse("chmod", f.temporary.Chmod(mode)) }
func (f failing) Sync() error                  { return f.orElse("sync", f.temporary.Sync()) }
func (f failing) Close() error                 { return f.orElse("close", f.temporary.Close()) }

func (f failing) orElse(step string, err error) error {
	if f.step == step {
		return errStep
	}
	return err
}

// TestSaveFailsWithoutATrace, at whichever step.
func TestSaveFailsWithoutATrace(t *testing.T) {
	for _, step := range []string{"create", "write", "chmod", "sync", "close", "rename"} {
		path := saved(t, rich(t))
		before := read(t, path)
		d := disk{
			create: func(name string, perm fs.FileMode) (temporary, error) {
				if step == "create" {
					return nil, errStep
				}
				file, err := createExclusive(name, perm)
				return failing{file, step}, err
			},
			rename: func(from, to string) error {
				if step == "rename" {
					return errStep
				}
				return os.Rename(from, to)
			},
		}
		if changed, err := d.save(path, &File{}); changed || !errors.Is(err, errStep) {
			t.Errorf("%s: %v %v", step, changed, err)
		}
		untouched(t, path, before)
		alone(t, path)
	}
}

func TestSaveNeedsADirectory(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), nil)
	for _, path := range []string{filepath.Join(dir, "absent", FileName), filepath.Join(dir, "file", FileName)} {
		if changed, err := Save(path, &File{}); changed || err == nil {
			t.Errorf("%s: %v %v", path, changed, err)
		}
	}
	alone(t, filepath.Join(dir, "file"))
}

func TestADirectoryInThePlaceOfTheFileIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if changed, err := Save(path, &File{}); changed || err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("Save: %v %v", changed, err)
	}
	if _, _, err := Load(path); err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("Load: %v", err)
	}
	alone(t, path)
}

func link(t *testing.T, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Skipf("this system makes no symbolic links: %v", err)
	}
}

// TestSaveKeepsASymbolicLink, also one that leads to another, in another
// directory; the temporary file lies beside the file, not beside the link.
func TestSaveKeepsASymbolicLink(t *testing.T) {
	file, err := filepath.EvalSymlinks(saved(t, &File{})) // some systems have links above the temporary directory
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, FileName)
	link(t, file, filepath.Join(dir, "second"))
	link(t, "second", path)
	d := disk{rename: os.Rename, create: func(name string, perm fs.FileMode) (temporary, error) {
		if filepath.Dir(name) != filepath.Dir(file) {
			t.Errorf("the temporary file is %s, which a rename may not be able to move", name)
		}
		return createExclusive(name, perm)
	}}
	if changed, err := d.save(path, rich(t)); !changed || err != nil {
		t.Fatal(changed, err)
	}
	if to, err := os.Readlink(path); to != "second" || err != nil {
		t.Errorf("the link leads to %q: %v", to, err)
	}
	if !bytes.Equal(read(t, file), rich(t).Bytes()) {
		t.Errorf("the file holds\n%s", read(t, file))
	}
	alone(t, file)
	if f, _, err := Load(path); err != nil || !f.Equal(rich(t)) {
		t.Errorf("Load: %v", err)
	}
}

// TestADanglingLinkIsNoMissingFile: writing through it would make a file at
// some other place, and replacing it would undo what somebody set up.
func TestADanglingLinkIsNoMissingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	for _, to := range []string{"nowhere", FileName} { // the second leads to itself
		link(t, to, path)
		if changed, err := Save(path, &File{}); changed || err == nil {
			t.Errorf("Save: %v %v", changed, err)
		}
		if _, _, err := Load(path); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Load: %v", err)
		}
		alone(t, path)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLoadTellsAMissingFile(t *testing.T) {
	f, src, err := Load(filepath.Join(t.TempDir(), FileName))
	if f != nil || src != nil || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v %q %v", f, src, err)
	}
}

func TestLoadReturnsTheBytesOfWhatItRefuses(t *testing.T) {
	path := saved(t, &File{})
	src := read(t, "testdata/conflict.hcl")
	write(t, path, src)
	f, got, err := Load(path)
	if f != nil || !bytes.Equal(got, src) || !errors.Is(err, ErrConflict) {
		t.Errorf("%v %q %v", f, got, err)
	}
}

func TestLoadIsBounded(t *testing.T) {
	path := saved(t, &File{})
	if err := os.Truncate(path, maxSize+1); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Load(path); err == nil || !strings.Contains(err.Error(), "larger than 4 MiB") {
		t.Error(err)
	}
}

// TestSaveCleansUpAfterKilledRuns, but takes nothing from a run that is alive,
// and nothing that is not its own.
func TestSaveCleansUpAfterKilledRuns(t *testing.T) {
	path := saved(t, &File{})
	left, live := path+temporaryMark+"KILLED", path+temporaryMark+"ALIVE"
	foreign := []string{live, path + ".orig", filepath.Join(filepath.Dir(path), "other.tmp-X")}
	for _, name := range append(foreign, left) {
		write(t, name, []byte("half a lo"))
		if name != live {
			age(t, name)
		}
	}
	if changed, err := Save(path, &File{}); changed || err != nil {
		t.Fatal(changed, err)
	}
	if _, err := os.Stat(left); err != nil {
		t.Errorf("a Save that writes nothing removed something: %v", err)
	}
	if changed, err := Save(path, rich(t)); !changed || err != nil {
		t.Fatal(changed, err)
	}
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("still there: %v", err)
	}
	for _, name := range foreign {
		if _, err := os.Stat(name); err != nil {
			t.Errorf("removed: %v", err)
		}
	}
}

func TestSaveKeepsTheMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits")
	}
	for _, mode := range []fs.FileMode{0o600, 0o664, 0o444} {
		path := saved(t, &File{})
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := Save(path, rich(t)); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != mode {
			t.Errorf("%v became %v: %v", mode, info.Mode(), err)
		}
	}
}
