package filelock_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pluginlock/plugins/internal/store/filelock"
)

// Locks exclude one another although each holder removes the file, so that a
// lock may be taken on one that is gone.
func TestExclusion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	const holders, turns = 8, 25
	var inside, taken atomic.Int32
	var group sync.WaitGroup
	for range holders {
		group.Go(func() {
			for attempts, mine := 0, 0; mine < turns && attempts < 1_000_000; attempts++ {
				lock, err := filelock.Try(path)
				if err != nil {
					t.Error(err)
					return
				}
				if lock == nil {
					runtime.Gosched()
					continue
				}
				mine++
				if inside.Add(1) != 1 {
					t.Error("two hold the lock")
				}
				taken.Add(1)
				for range 20 {
					runtime.Gosched() // for the others to come in, if they can
				}
				inside.Add(-1)
				lock.Release()
			}
		})
	}
	group.Wait()
	if n := taken.Load(); n != holders*turns {
		t.Errorf("taken %d times, want %d", n, holders*turns)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is left: %v", err)
	}
}

// All who wait get their turn.
func TestTurns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var count atomic.Int32
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			lock, err := filelock.Acquire(context.Background(), path, filelock.Wait{})
			if err != nil {
				t.Error(err)
				return
			}
			count.Add(1)
			lock.Release()
		})
	}
	group.Wait()
	if n := count.Load(); n != 8 {
		t.Errorf("%d turns, want 8", n)
	}
}

func TestTry(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := filelock.Try(path)
	if err != nil || first == nil || !first.Supported() {
		t.Fatalf("first: %v, %v", first, err)
	}
	if second, err := filelock.Try(path); second != nil || err != nil {
		t.Errorf("second: %v, %v", second, err)
	}
	first.Release()
	third, err := filelock.Try(path)
	if err != nil || third == nil {
		t.Fatalf("third: %v, %v", third, err)
	}
	third.Release()
	if _, err := filelock.Try(filepath.Join(path, "below", "nothing")); err == nil {
		t.Error("a lock in no directory")
	}
}

func TestShared(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	shared := filelock.Wait{Shared: true}
	a, err := filelock.Acquire(context.Background(), path, shared)
	if err != nil {
		t.Fatal(err)
	}
	b, err := filelock.Acquire(context.Background(), path, shared)
	if err != nil {
		t.Fatal(err)
	}
	a.Release()
	if c, err := filelock.Try(path); c != nil || err != nil {
		t.Errorf("alone while shared: %v, %v", c, err)
	}
	b.Release()
	c, err := filelock.Try(path)
	if err != nil || c == nil {
		t.Fatalf("alone: %v, %v", c, err)
	}
	c.Release()
}

func TestWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	held, err := filelock.Try(path)
	if err != nil || held == nil {
		t.Fatal(held, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	announced := 0
	_, err = filelock.Acquire(ctx, path, filelock.Wait{After: time.Nanosecond, Announce: func() { announced++; cancel() }})
	if !errors.Is(err, context.Canceled) || announced != 1 {
		t.Errorf("got %v, announced %d times", err, announced)
	}
	// One that is released while it is announced is got.
	got, err := filelock.Acquire(context.Background(), path, filelock.Wait{After: time.Nanosecond, Announce: held.Release})
	if err != nil {
		t.Fatal(err)
	}
	got.Release()
}
