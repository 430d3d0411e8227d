package getter

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Retry bounds how a client deals with a registry that throttles, stumbles or
// falls silent. The zero value means the defaults named at each field.
type Retry struct {
	Tries       int           // of one request, and of a host in a row; default 5
	FirstWait   time.Duration // before the second try, doubled for each further one; default 1 s
	LongestWait time.Duration // a registry that asks for more is given up on at once; default 1 min
	Stall       time.Duration // without a byte after which a connection is given up; default 30 s
}

func (r Retry) withDefaults() Retry {
	if r.Tries <= 0 {
		r.Tries = 5
	}
	if r.FirstWait <= 0 {
		r.FirstWait = time.Second
	}
	if r.LongestWait <= 0 {
		r.LongestWait = time.Minute
	}
	if r.Stall <= 0 {
		r.Stall = 30 * time.Second
	}
	return r
}

// backOff is how long to wait after so many failures where the registry does
// not say. A quarter of it is left to chance, so that the jobs of one machine
// park do not come back all at once.
func (r Retry) backOff(failures int) time.Duration {
	wait := min(r.FirstWait<<min(failures-1, 16), r.LongestWait)
	return wait - time.Duration(rand.Int64N(int64(wait/4)+1))
}

// gate holds back the requests to one host while it throttles or is out of
// reach. After a failure nobody gets through until the wait is over; then one
// request is let through to try, in the order of arrival, and its outcome
// holds for all. So twenty workers cost a troubled host no more than one.
type gate struct {
	clock clock
	retry Retry

	mu       sync.Mutex
	failures int           // in a row; 0 means open
	round    uint64        // counts failures: an outcome of an earlier round is old news
	until    time.Time     // closed until then
	probing  bool          // one request is on its way to try
	waiting  []uint64      // tickets in order of arrival
	tickets  uint64        // given out so far
	changed  chan struct{} // closed at the next change
	refusal  error         // what everybody gets until refused
	refused  time.Time
}

// pass is the permission to send one request; it must be given back with one
// of succeed, fail, refuse and abandon.
type pass struct {
	round uint64
	probe bool
}

func newGate(c clock, r Retry) *gate {
	return &gate{clock: c, retry: r, changed: make(chan struct{})}
}

// enter waits for permission to send a request.
//
// Errors: what the host was given up with; the error of ctx.
func (g *gate) enter(ctx context.Context) (pass, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.failures == 0 {
		return pass{round: g.round}, nil
	}
	g.tickets++
	mine := g.tickets
	g.waiting = append(g.waiting, mine)
	defer g.leaveQueue(mine)
	for {
		now := g.clock.Now()
		if g.refusal != nil && !now.Before(g.refused) {
			g.refusal, g.failures = nil, g.retry.Tries-1 // one more try
		}
		switch {
		case g.failures == 0:
			return pass{round: g.round}, nil
		case g.refusal != nil:
			return pass{}, g.refusal
		case !g.probing && g.waiting[0] == mine && !now.Before(g.until):
			g.probing = true
			return pass{round: g.round, probe: true}, nil
		}
		if err := g.sleep(ctx, g.until.Sub(now)); err != nil {
			return pass{}, err
		}
	}
}

// sleep waits, without the lock, until the gate changes or d is over; where
// nothing but a change can help, until that.
func (g *gate) sleep(ctx context.Context, d time.Duration) error {
	changed := g.changed
	g.mu.Unlock()
	defer g.mu.Lock()
	if d > 0 {
		return g.clock.Sleep(ctx, d, changed)
	}
	select {
	case <-changed:
	case <-ctx.Done():
	}
	return ctx.Err()
}

func (g *gate) leaveQueue(ticket uint64) {
	g.waiting = slices.DeleteFunc(g.waiting, func(t uint64) bool { return t == ticket })
	g.signal()
}

func (g *gate) signal() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// succeed opens the gate.
func (g *gate) succeed(p pass) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p.probe {
		g.probing = false
	}
	if p.round == g.round && g.failures > 0 {
		g.failures, g.refusal = 0, nil
	}
	g.signal()
}

// abandon gives a pass back without an outcome.
func (g *gate) abandon(p pass) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p.probe {
		g.probing = false
	}
	g.signal()
}

// fail closes the gate for wait, or for the back-off where wait is 0. Of
// failures that were under way at the same time only the first counts: it gets
// told for how long the gate is closed, the others 0, and so does one that no
// wait follows because it was the host's last. After the last try err is
// what everybody gets who comes before the wait is over, and then one request
// at a time is let through to see whether anything has changed.
func (g *gate) fail(p pass, wait time.Duration, err error) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	counts := p.round == g.round
	if p.probe {
		g.probing = false
	}
	if counts {
		g.round++
		g.failures++
	}
	if wait == 0 && counts { // an old failure says nothing of a host that has answered since
		wait = g.retry.backOff(g.failures)
	}
	now := g.clock.Now()
	if counts || wait > g.until.Sub(now) {
		g.until = now.Add(wait)
	}
	if g.failures >= g.retry.Tries && g.refusal == nil {
		g.refusal, g.refused = err, g.until
	}
	g.signal()
	if !counts || g.refusal != nil {
		return 0
	}
	return wait
}

// refuse gives the host up at once: err is what everybody gets for a while.
func (g *gate) refuse(p pass, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if p.probe {
		g.probing = false
	}
	g.round++
	g.failures = g.retry.Tries
	g.refusal, g.refused = err, g.clock.Now().Add(g.retry.LongestWait/2)
	g.signal()
}
