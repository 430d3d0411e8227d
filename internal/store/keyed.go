package store

import (
	"context"
	"sync"
)

// keyedMutex is a mutex for each name that is asked for, whose Lock ends with
// a context. The zero value is ready.
type keyedMutex struct {
	mu   sync.Mutex
	held map[string]*waiters
}

type waiters struct {
	turn  chan struct{} // holds one value while nobody has the lock
	count int           // holders and waiters
}

// lock waits for the mutex of name; unlock must be called unless it fails.
func (k *keyedMutex) lock(ctx context.Context, name string) (unlock func(), err error) {
	k.mu.Lock()
	if k.held == nil {
		k.held = map[string]*waiters{}
	}
	w := k.held[name]
	if w == nil {
		w = &waiters{turn: make(chan struct{}, 1)}
		w.turn <- struct{}{}
		k.held[name] = w
	}
	w.count++
	k.mu.Unlock()
	select {
	case <-w.turn:
		return func() { w.turn <- struct{}{}; k.leave(name, w) }, nil
	case <-ctx.Done():
		k.leave(name, w)
		return nil, ctx.Err()
	}
}

func (k *keyedMutex) leave(name string, w *waiters) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if w.count--; w.count == 0 {
		delete(k.held, name)
	}
}
