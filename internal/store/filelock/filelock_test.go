package filelock_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/pluginlock/plugins/internal/store/filelock"
)

// Locks exclude one another although each holder removes the file: the counter
// is not guarded by anything else.
func TestExclusion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	counter := filepath.Join(t.TempDir(), "counter")
	if err := os.WriteFile(counter, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 25 {
				lock, err := filelock.Acquire(context.Background(), path, filelock.Wait{})
				if err != nil {
					t.Error(err)
					return
				}
				old, readErr := os.ReadFile(counter)
				if err := errors.Join(readErr, os.WriteFile(counter, append(old, 'x'), 0o644)); err != nil {
					t.Error(err)
				}
				lock.Release()
			}
		})
	}
	group.Wait()
	if got, err := os.ReadFile(counter); err != nil || len(got) != 8*25 {
		t.Errorf("%d of %d turns counted, %v", len(got), 8*25, err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is left: %v", err)
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
