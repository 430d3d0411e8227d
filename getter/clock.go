package getter

import (
	"context"
	"time"
)

// clock is time as the transport sees it; tests put their own in its place so
// that no test waits.
type clock interface {
	Now() time.Time
	// Sleep waits for d, or until ctx ends or wake is closed, whichever is
	// first. It returns the error of ctx if that has ended.
	Sleep(ctx context.Context, d time.Duration, wake <-chan struct{}) error
}

type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }

func (realClock) Sleep(ctx context.Context, d time.Duration, wake <-chan struct{}) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-wake:
	case <-ctx.Done():
	}
	return ctx.Err()
}
