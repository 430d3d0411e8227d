package getter

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func asError(t *testing.T, err error) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%T %v is no *getter.Error", err, err)
	}
	return e
}

// C31: what a registry asks for by 429 and 503 is done, and bounded.
func TestC31ThrottledInEveryForm(t *testing.T) {
	clockStart := newFakeClock().now
	for _, test := range []struct {
		name    string
		status  int
		header  string
		times   int // how often the script answers so; 0 means for ever
		kind    error
		atLeast time.Duration
		most    time.Duration
		words   string
		tries   int
	}{
		{"429 with seconds, once", 429, "2", 1, nil, 2 * time.Second, 3 * time.Second, "", 2},
		{"429 with a date, once", 429, clockStart.Add(7 * time.Second).Format(http.TimeFormat), 1, nil, 7 * time.Second, 8 * time.Second, "", 2},
		{"429 with a date in the past", 429, clockStart.Add(-time.Hour).Format(http.TimeFormat), 1, nil, 0, 2 * time.Second, "", 2},
		{"429 with nonsense", 429, "soon", 1, nil, 0, 2 * time.Second, "", 2},
		{"429 with a day", 429, "86400", 0, ErrRateLimited, 0, 0, "asks to wait 24h0m0s, longer than the 1m0s", 1},
		{"429 with a date far away", 429, clockStart.Add(100*24*time.Hour + 1500*time.Millisecond).Format(http.TimeFormat), 0, ErrRateLimited, 0, 0, "asks to wait 2400h0m1s, longer", 1},
		{"429 with more than time can hold", 429, "99999999999999999999", 0, ErrRateLimited, 0, 0, "longer than the 1m0s", 1},
		{"429 with a negative number", 429, "-5", 1, nil, 0, 2 * time.Second, "", 2},
		{"429 without a header, for good", 429, "", 0, ErrRateLimited, 5 * time.Second, time.Minute, "429 Too Many Requests", 5},
		{"503 twice", 503, "", 2, nil, time.Second, 10 * time.Second, "", 3},
		{"503 with seconds, for good", 503, "3", 0, ErrServer, 12 * time.Second, 13 * time.Second, "503 Service Unavailable", 5},
		{"500 for good", 500, "", 0, ErrServer, time.Second, time.Minute, "500 Internal Server Error", 5},
		{"502 once", 502, "", 1, nil, 0, 2 * time.Second, "", 2},
		{"501 is final", 501, "", 0, ErrServer, 0, 0, "501 Not Implemented", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := newRegistry(t)
			g.addImage("plugins/aws", "1.4.2")
			g.script = func(w http.ResponseWriter, _ *http.Request, n int) bool {
				if test.times > 0 && n > test.times {
					return false
				}
				if test.header != "" {
					w.Header().Set("Retry-After", test.header)
				}
				w.WriteHeader(test.status)
				return true
			}
			c := newRig(t, Options{})
			_, err := c.repository(t, g.source("plugins/aws")).Document(context.Background(), "1.4.2")
			if !errors.Is(err, test.kind) {
				t.Fatalf("got %v, want kind %v", err, test.kind)
			}
			if got := c.clock.total(); got < test.atLeast || got > test.most {
				t.Errorf("waited %s, want %s to %s", got, test.atLeast, test.most)
			}
			if got := len(g.requests()); got != test.tries {
				t.Errorf("%d requests, want %d", got, test.tries)
			}
			if err == nil {
				return
			}
			e := asError(t, err)
			if e.Status != test.status || e.Host != g.host() || !e.Transient() {
				t.Errorf("status %d, host %q, transient %v", e.Status, e.Host, e.Transient())
			}
			for _, part := range []string{g.source("plugins/aws").String(), g.host(), test.words} {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("message %q lacks %q", err, part)
				}
			}
			if errors.Is(err, ErrNotFound) {
				t.Errorf("%v is taken for something that does not exist", err)
			}
		})
	}
}

// Twenty workers share one back-off: a host that throttles for good is asked
// hardly more often than by one, and all of them learn why.
func TestC31TwentyWorkersShareOneBackOff(t *testing.T) {
	g := newRegistry(t)
	var arrived sync.WaitGroup
	arrived.Add(20)
	g.script = func(w http.ResponseWriter, _ *http.Request, _ int) bool {
		if len(g.requests()) <= 20 {
			arrived.Done()
			arrived.Wait() // all are under way before the first is answered
		}
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	}
	c := newRig(t, Options{})
	var group sync.WaitGroup
	failed := make([]error, 20)
	for i := range failed {
		r := c.repository(t, g.source(fmt.Sprintf("plugins/p%d", i)))
		group.Go(func() { _, failed[i] = r.Document(context.Background(), "1.0.0") })
	}
	group.Wait()
	for _, err := range failed {
		if !errors.Is(err, ErrRateLimited) {
			t.Errorf("got %v", err)
		}
	}
	if got := len(g.requests()); got > 25 {
		t.Errorf("%d requests of 20 workers, want at most one each and five more", got)
	}
}

// After the wait everybody goes on.
func TestC31TwentyWorkersGoOn(t *testing.T) {
	g := newRegistry(t)
	g.script = func(w http.ResponseWriter, _ *http.Request, _ int) bool {
		if len(g.requests()) > 3 {
			return false
		}
		w.Header().Set("Retry-After", "2")
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	}
	c := newRig(t, Options{})
	var group sync.WaitGroup
	for i := range 20 {
		repo := fmt.Sprintf("plugins/p%d", i)
		g.addImage(repo, "1.0.0")
		r := c.repository(t, g.source(repo))
		group.Go(func() {
			if _, err := r.Document(context.Background(), "1.0.0"); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if got := c.clock.total(); got < 2*time.Second {
		t.Errorf("waited %s, want at least what was asked", got)
	}
}

// A throttled token server is waited for like a registry.
func TestC31ThrottledTokenServer(t *testing.T) {
	g := newRegistry(t)
	g.addImage("plugins/aws", "1.4.2")
	g.script = bearer(g, func(w http.ResponseWriter, r *http.Request, n int) bool {
		if r.URL.Path == "/token" && n == 1 {
			w.Header().Set("Retry-After", "4")
			w.WriteHeader(http.StatusTooManyRequests)
			return true
		}
		return false
	})
	c := newRig(t, Options{})
	if _, err := c.repository(t, g.source("plugins/aws")).Document(context.Background(), "1.4.2"); err != nil {
		t.Fatal(err)
	}
	if got := c.clock.total(); got < 4*time.Second {
		t.Errorf("waited %s, want 4 s", got)
	}
}

// Every wait ends with the context.
func TestC31CancelledInTheWait(t *testing.T) {
	g := newRegistry(t)
	ctx, cancel := context.WithCancel(context.Background())
	g.script = func(w http.ResponseWriter, _ *http.Request, _ int) bool {
		w.Header().Set("Retry-After", "50")
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	}
	c, err := New(Options{Notify: func(n Notice) {
		if n.Kind == NoticeWaiting {
			cancel()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Repository(g.source("plugins/aws"))
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			if _, err := r.Tags(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
	}
	group.Wait()
}

// One path that is broken does not keep the others from being read.
func TestOneBrokenPathAmongOthers(t *testing.T) {
	g := newRegistry(t)
	var arrived sync.WaitGroup
	arrived.Add(10)
	g.script = func(w http.ResponseWriter, r *http.Request, n int) bool {
		if n == 1 {
			arrived.Done()
			arrived.Wait() // all are under way before the first is answered
		}
		if !strings.Contains(r.URL.Path, "broken") {
			return false
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}
	c := newRig(t, Options{})
	var group sync.WaitGroup
	for i := range 10 {
		repo := fmt.Sprintf("plugins/p%d", i)
		if i == 3 {
			repo = "plugins/broken"
		}
		g.addImage(repo, "1.0.0")
		r := c.repository(t, g.source(repo))
		group.Go(func() {
			_, err := r.Document(context.Background(), "1.0.0")
			if (err != nil) != (i == 3) {
				t.Errorf("%s: %v", repo, err)
			}
		})
	}
	group.Wait()
}

func TestStalledAnswers(t *testing.T) {
	silent := make(chan struct{})
	for _, headers := range []bool{true, false} {
		g := newRegistry(t)
		g.script = func(w http.ResponseWriter, r *http.Request, _ int) bool {
			if headers {
				w.Header().Set("Content-Length", "100")
				w.WriteHeader(http.StatusOK)
				_ = http.NewResponseController(w).Flush()
			}
			select {
			case <-silent:
			case <-r.Context().Done():
			}
			return true
		}
		c := newRig(t, Options{Retry: Retry{Tries: 3, Stall: 50 * time.Millisecond}})
		_, err := c.repository(t, g.source("plugins/aws")).Tags(context.Background())
		if !errors.Is(err, ErrNetwork) || !errors.Is(err, errStalled) || !strings.Contains(err.Error(), "nothing came for 50ms") {
			t.Errorf("headers %v: got %v", headers, err)
		}
	}
	close(silent)
}

// A slow body is no stall, however long it takes in all.
func TestSlowAnswer(t *testing.T) {
	g := newRegistry(t)
	g.script = func(w http.ResponseWriter, _ *http.Request, _ int) bool {
		for _, c := range `{"name":"x","tags":["1.0.0"]}` {
			_, _ = fmt.Fprintf(w, "%c", c)
			_ = http.NewResponseController(w).Flush()
			time.Sleep(10 * time.Millisecond)
		}
		return true
	}
	c := newRig(t, Options{Retry: Retry{Stall: 200 * time.Millisecond}})
	tags, err := c.repository(t, g.source("plugins/aws")).Tags(context.Background())
	if err != nil || len(tags) != 1 {
		t.Errorf("got %q, %v", tags, err)
	}
}

// What no wait can change is final for all workers, at once.
func TestFinalFailureHoldsNobodyUp(t *testing.T) {
	g, _ := newTLSRegistry(t, "http/1.1")
	wrong := Registry{Prefix: g.host(), CAFile: filepath.Join(t.TempDir(), "ca.pem")}
	if err := os.WriteFile(wrong.CAFile, unrelatedCertificate(t), 0o600); err != nil {
		t.Fatal(err)
	}
	c := newRig(t, Options{Settings: Settings{Registries: []Registry{wrong}}})
	var group sync.WaitGroup
	for i := range 20 {
		r := c.repository(t, g.source(fmt.Sprintf("plugins/p%d", i)))
		group.Go(func() {
			if _, err := r.Tags(context.Background()); !errors.Is(err, ErrNetwork) {
				t.Errorf("got %v", err)
			}
		})
	}
	group.Wait()
	if got := c.clock.total(); got != 0 {
		t.Errorf("waited %s", got)
	}
}

// A host that was given up gets another chance later.
func TestGivenUpHostIsTriedAgain(t *testing.T) {
	g := newRegistry(t)
	g.addImage("plugins/aws", "1.0.0")
	down := true
	g.script = func(w http.ResponseWriter, _ *http.Request, _ int) bool {
		if down {
			w.WriteHeader(http.StatusTooManyRequests)
		}
		return down
	}
	c := newRig(t, Options{})
	r := c.repository(t, g.source("plugins/aws"))
	for range 3 {
		if _, err := r.Document(context.Background(), "1.0.0"); !errors.Is(err, ErrRateLimited) {
			t.Fatalf("got %v", err)
		}
	}
	if got := len(g.requests()); got != 5 {
		t.Errorf("%d requests, want those of the first call alone", got)
	}
	down = false
	if err := c.clock.Sleep(context.Background(), time.Minute, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Document(context.Background(), "1.0.0"); err != nil {
		t.Error(err)
	}
}

// Repeated is only what may be: an upload that broke is the caller's business,
// one that was throttled is sent again with its body.
func TestUploadsAreRepeatedOnlyWhereThrottled(t *testing.T) {
	for status, want := range map[int]int{429: 2, 503: 2, 500: 1, 502: 1} {
		g := newRegistry(t)
		g.script = func(w http.ResponseWriter, _ *http.Request, n int) bool {
			if n == 1 {
				w.WriteHeader(status)
			} else {
				w.WriteHeader(http.StatusCreated)
			}
			return true
		}
		target, err := newRig(t, Options{}).Target(g.source("plugins/aws"))
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequest(http.MethodPut, g.URL+"/v2/plugins/aws/manifests/1.0.0", strings.NewReader("content"))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := target.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		discard(resp)
		l := g.logged()
		if len(l) != want || l[len(l)-1].body != "content" {
			t.Errorf("%d: %d requests, the last with %q", status, len(l), l[len(l)-1].body)
		}
	}
}

// Nobody is told to wait for a try that will not be.
func TestGateLastFailure(t *testing.T) {
	g := newGate(newFakeClock(), Retry{Tries: 2, FirstWait: time.Second}.withDefaults())
	for _, want := range []bool{true, false} {
		p, err := g.enter(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if wait := g.fail(p, 0, errors.New("no")); wait > 0 != want {
			t.Errorf("wait %s, want one: %v", wait, want)
		}
	}
}

// A failure that was under way while the host recovered is old news: it neither
// closes the gate again nor counts.
func TestLateFailureAfterRecovery(t *testing.T) {
	clock := newFakeClock()
	g := newGate(clock, Retry{Tries: 3, FirstWait: time.Second}.withDefaults())
	enter := func() pass {
		t.Helper()
		p, err := g.enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first, late := enter(), enter()
	g.fail(first, 0, errors.New("broken"))
	g.succeed(enter()) // after the wait
	if wait := g.fail(late, 0, errors.New("broken")); wait != 0 {
		t.Errorf("an old failure is told to wait %v", wait)
	}
	before := clock.Now()
	g.succeed(enter())
	if waited := clock.Now().Sub(before); waited != 0 {
		t.Errorf("an old failure closed the gate for %v", waited)
	}
}
