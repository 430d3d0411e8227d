//go:build unix

package store_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/extract"
	"github.com/pluginlock/plugins/internal/store"
)

// The test binary runs itself as another process on the same store.
const (
	envRole = "STORE_TEST_ROLE"
	envDir  = "STORE_TEST_DIR"

	// noSleep spares a process that the race detector built a second at its end.
	noSleep = "GORACE=atexit_sleep_ms=10"
)

var roles = map[string]func(dir string) error{"share": share, "loop": loop}

func TestMain(m *testing.M) {
	if role, ok := roles[os.Getenv(envRole)]; ok {
		if err := role(os.Getenv(envDir)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func process(role, dir string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envRole+"="+role, envDir+"="+dir, noSleep)
	cmd.Stderr = os.Stderr
	return cmd
}

const sharedPlugins = 5

// share puts the shared plugins from 16 goroutines, once its input ends, and
// notes each fill in a file beside the cache.
func share(dir string) error {
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	var group sync.WaitGroup
	errs := make([]error, 16)
	for n := range errs {
		group.Go(func() {
			for i := range sharedPlugins {
				errs[n] = errors.Join(errs[n], putNoted(s, dir, (i+n)%sharedPlugins))
			}
		})
	}
	group.Wait()
	return errors.Join(append(errs, s.Sync())...)
}

func putNoted(s *store.Store, dir string, n int) error {
	p := makePlugin(fmt.Sprint("shared ", n))
	fill := p.fill
	p.fill = func(ctx context.Context, root *os.Root) ([]extract.Record, error) {
		log, err := os.OpenFile(dir+".fills", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return nil, err
		}
		_, err = fmt.Fprintln(log, n)
		if err := errors.Join(err, log.Close()); err != nil {
			return nil, err
		}
		return fill(ctx, root)
	}
	entry, err := p.put(s)
	if err != nil {
		return err
	}
	return entry.Verify(context.Background(), p.want)
}

// C49: two processes with 16 goroutines each on one cold store fetch each
// plugin once.
func TestProcessesShare(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	var inputs []io.WriteCloser
	var processes []*exec.Cmd
	for range 2 {
		cmd := process("share", cache)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
			t.Errorf("got %q, %v", line, err)
		}
		inputs, processes = append(inputs, in), append(processes, cmd)
	}
	for _, in := range inputs {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, cmd := range processes {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	fills, err := os.ReadFile(cache + ".fills")
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Fields(string(fills)); len(lines) != sharedPlugins {
		t.Errorf("filled %v, want each of %d once", lines, sharedPlugins)
	}
	s := open(t, cache)
	for n := range sharedPlugins {
		requireSound(t, s, makePlugin(fmt.Sprint("shared ", n)))
	}
	requireTidy(t, cache)
}

const loopPlugins = 4

// loop puts and discards plugins for ever and prints a line at every turn, so
// that it can be killed anywhere.
func loop(dir string) error {
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		return err
	}
	for {
		for n := range loopPlugins {
			p := makePlugin(fmt.Sprint("loop ", n))
			fill := p.fill
			p.fill = func(ctx context.Context, root *os.Root) ([]extract.Record, error) {
				fmt.Println("fill")
				records, err := fill(ctx, root)
				fmt.Println("filled")
				return records, err
			}
			fmt.Println("put")
			if _, err := p.put(s); err != nil {
				return err
			}
			fmt.Println("root")
			if err := s.AddRoot(fmt.Sprint("/project/", n)); err != nil {
				return err
			}
			fmt.Println("discard")
			if err := s.Discard(context.Background(), makePlugin(fmt.Sprint("loop ", (n+2)%loopPlugins)).key); err != nil {
				return err
			}
		}
	}
}

// C51: killed at any time, a store holds whole entries only; the next run
// completes it and removes what was left.
func TestKilledWriter(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	missing, whole := 0, 0
	for round := range 30 {
		killAfter(t, cache, 1+rand.IntN(60))
		s := open(t, cache)
		for n := range loopPlugins {
			p := makePlugin(fmt.Sprint("loop ", n))
			entry, err := s.Lookup(p.key)
			if errors.Is(err, store.ErrNotFound) {
				missing++
				continue
			}
			if err == nil {
				whole++
				err = entry.Check(context.Background(), p.want)
			}
			if err != nil {
				t.Fatalf("round %d: %v", round, err)
			}
		}
		if _, err := s.Roots(); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if left := names(t, filepath.Join(cache, "v1", "staging")); len(left) > 4 {
			t.Fatalf("round %d: leftovers pile up: %v", round, left)
		}
	}
	if missing == 0 || whole == 0 {
		t.Errorf("%d missing, %d whole: the rounds were too alike", missing, whole)
	}
	s := open(t, cache)
	makePlugin("after").mustPut(t, s)
	for n := range loopPlugins {
		makePlugin(fmt.Sprint("loop ", n)).mustPut(t, s)
		requireSound(t, s, makePlugin(fmt.Sprint("loop ", n)))
	}
	if left := names(t, filepath.Join(cache, "v1", "staging")); left != nil {
		t.Errorf("left in staging: %v", left)
	}
	if _, err := s.Prune(context.Background(), store.PruneOptions{Keep: keepNothing}); err != nil {
		t.Error(err)
	}
	requireTidy(t, cache)
}

// killAfter runs loop and kills it when it has printed some lines.
func killAfter(t *testing.T, cache string, lines int) {
	t.Helper()
	cmd := process("loop", cache)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	scanner := bufio.NewScanner(out)
	for range lines {
		if !scanner.Scan() {
			break
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	err = cmd.Wait()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Errorf("not killed: %v", err)
	}
}

func TestUmask(t *testing.T) {
	for _, mask := range []int{0, 0o002, 0o027, 0o077} {
		old := syscall.Umask(mask)
		cache := filepath.Join(t.TempDir(), "cache")
		s, p := open(t, cache), makePlugin("a")
		_, err := p.put(s)
		err = errors.Join(err, s.AddRoot("/project/lock"))
		syscall.Umask(old)
		if err != nil {
			t.Fatal(err)
		}
		requireSound(t, open(t, cache), p)
		for _, name := range []string{".", "v1", "v1/sha256", "v1/roots", "v1/sha256/" + p.key.Manifest.Hex()} {
			info, err := os.Stat(filepath.Join(cache, filepath.FromSlash(name)))
			if err != nil || info.Mode().Perm() != 0o755&^os.FileMode(mask) {
				t.Errorf("umask %03o: %s has %v, %v", mask, name, info.Mode(), err)
			}
		}
	}
}

func TestUnsafe(t *testing.T) {
	p := makePlugin("a")
	for _, name := range []string{".", "v1", "v1/sha256"} {
		for _, mode := range []os.FileMode{0o775, 0o757, 0o777 | os.ModeSticky} {
			cache := t.TempDir()
			p.mustPut(t, open(t, cache))
			path := filepath.Join(cache, filepath.FromSlash(name))
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
			s, err := store.Open(cache, store.Options{})
			if err == nil {
				_, err = s.Lookup(p.key)
			}
			var unsafe *store.UnsafeError
			if !errors.As(err, &unsafe) || unsafe.Path != path || !strings.Contains(err.Error(), path+" (mode 0") {
				t.Errorf("%s with %v: %v", name, mode, err)
			}
		}
	}
	cache := t.TempDir()
	s := open(t, cache)
	p.mustPut(t, s)
	if err := os.Chmod(filepath.Join(cache, "v1", "staging"), 0o777); err != nil {
		t.Fatal(err)
	}
	var unsafe *store.UnsafeError
	if _, err := makePlugin("b").put(s); !errors.As(err, &unsafe) {
		t.Errorf("staging that others can write: %v", err)
	}
}

// A store of another user is read on every check, so that a forged receipt
// does not help its owner.
func TestAnotherOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a store to another user")
	}
	cache := t.TempDir()
	p := makePlugin("a")
	p.mustPut(t, open(t, cache))
	file := filepath.Join(entryDir(cache, p), filepath.FromSlash("root/"+program))
	digests := map[string]addr.Digest{program: p.want.ExecutableDigest}
	if err := errors.Join(os.WriteFile(file, []byte(evil), 0o755), forge(entryDir(cache, p), digests)); err != nil {
		t.Fatal(err)
	}
	s := open(t, cache)
	entry, err := s.Lookup(p.key)
	if err != nil || s.NeedsRehash() {
		t.Fatalf("%v, rehash %t", err, s.NeedsRehash())
	}
	if err := entry.Check(context.Background(), p.want); err != nil {
		t.Fatalf("the forged receipt is no good: %v", err)
	}
	for _, name := range []string{cache, filepath.Join(cache, "v1"), entryDir(cache, p)} {
		if err := os.Lchown(name, 12345, 12345); err != nil {
			t.Fatal(err)
		}
		entry, err := open(t, cache).Lookup(p.key)
		if err != nil {
			t.Fatal(err)
		}
		var damaged *store.DamagedError
		if err := entry.Check(context.Background(), p.want); !errors.As(err, &damaged) {
			t.Errorf("%s of another owner: %v", name, err)
		}
		if err := os.Lchown(name, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
}
