package registrytest

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Front stands before a registry, or any handler: it logs every request and
// lets rules answer in its place. All methods may be called at any time.
type Front struct {
	next http.Handler

	mu      sync.Mutex
	log     []*Request
	rules   []*countedRule
	arrived chan struct{} // closed and replaced with every request
	serving sync.WaitGroup
}

// Request is a line of the log.
type Request struct {
	Method string
	Host   string
	Path   string
	Query  string // as sent, without "?"
	Header http.Header
	Status int   // 0 while unanswered, or where the connection was cut before
	Bytes  int64 // of the body that was answered
	Rule   string
}

// String is "GET /v2/plugins/aws/tags/list?n=100".
func (r Request) String() string {
	if r.Query == "" {
		return r.Method + " " + r.Path
	}
	return r.Method + " " + r.Path + "?" + r.Query
}

// NewFront puts a front before next.
func NewFront(next http.Handler, rules ...Rule) *Front {
	f := &Front{next: next, arrived: make(chan struct{})}
	f.Add(rules...)
	return f
}

// Add appends rules; of those that match a request the first one decides.
func (f *Front) Add(rules ...Rule) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, rule := range rules {
		f.rules = append(f.rules, &countedRule{Rule: rule})
	}
}

// ClearRules takes all rules away.
func (f *Front) ClearRules() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = nil
}

// Requests returns the log in order of arrival.
func (f *Front) Requests() []Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	requests := make([]Request, len(f.log))
	for i, r := range f.log {
		requests[i] = *r
		requests[i].Header = r.Header.Clone()
	}
	return requests
}

// Count says how many requests there were with a method and a path that fits a
// pattern (see [Match]); "" stands for every method, and for every path.
func (f *Front) Count(method, path string) int {
	return len(f.Find(method, path))
}

// Find returns the requests that [Front.Count] counts.
func (f *Front) Find(method, path string) []Request {
	return slices.DeleteFunc(f.Requests(), func(r Request) bool {
		return method != "" && r.Method != method || path != "" && !Match(path, r.Path)
	})
}

// Await returns when [Front.Count] is at least n, or with the error of ctx.
func (f *Front) Await(ctx context.Context, n int, method, path string) error {
	for {
		f.mu.Lock()
		arrived := f.arrived
		f.mu.Unlock()
		if f.Count(method, path) >= n {
			return nil
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Reset empties the log. Rules go on counting.
func (f *Front) Reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.log = nil
}

// ServeHTTP logs the request and passes it to the first rule that wants it, or
// to the registry.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.serving.Add(1)
	defer f.serving.Done()
	line, rule := f.arrive(r)
	recorder := &recorder{ResponseWriter: w, note: func(status, bytes int) {
		f.mu.Lock()
		defer f.mu.Unlock()
		if line.Status == 0 {
			line.Status = status
		}
		line.Bytes += int64(bytes)
	}}
	if rule == nil {
		f.next.ServeHTTP(recorder, r)
		return
	}
	rule.serve(recorder, r, f.next)
}

// arrive logs r and finds its rule, in one step, so that the n-th request in
// the log is the n-th for the rule.
func (f *Front) arrive(r *http.Request) (*Request, *Rule) {
	f.mu.Lock()
	defer f.mu.Unlock()
	line := &Request{Method: r.Method, Host: r.Host, Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header.Clone()}
	f.log = append(f.log, line)
	close(f.arrived)
	f.arrived = make(chan struct{})
	for _, rule := range f.rules {
		if rule.wants(r) {
			line.Rule = rule.Name
			return line, &rule.Rule
		}
	}
	return line, nil
}

// drain waits until no request is being answered.
func (f *Front) drain() { f.serving.Wait() }

// Match reports whether s fits a pattern in which each "*" stands for any run
// of characters, slashes included: "/v2/*/manifests/*".
func Match(pattern, s string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == s
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(s) < len(first)+len(last) || !strings.HasPrefix(s, first) || !strings.HasSuffix(s, last) {
		return false
	}
	s = s[len(first) : len(s)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return true
}

// recorder notes what is answered, before the client can see it.
type recorder struct {
	http.ResponseWriter
	note func(status, bytes int)
}

func (r *recorder) WriteHeader(status int) {
	r.note(status, 0)
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(p []byte) (int, error) {
	r.note(http.StatusOK, len(p))
	n, err := r.ResponseWriter.Write(p)
	r.note(http.StatusOK, n-len(p)) // what did not go out
	return n, err
}

// Unwrap lets http.ResponseController flush and hijack.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
