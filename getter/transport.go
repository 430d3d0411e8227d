package getter

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// retrier is the one place where requests are repeated. It sits below
// redirects and authentication, so that every hop and every token request is
// treated alike.
//
// Repeated are requests that a host throttles (429, 503), and, where the
// method is GET or HEAD, those it stumbles over (500, 502, 504, 408) and those
// that find no connection.
type retrier struct {
	next     http.RoundTripper
	retry    Retry
	clock    clock
	secrets  *secrets
	notifier *notifier
	log      *slog.Logger

	mu    sync.Mutex
	gates map[string]*gate // by host and port
}

// maxStalls is how often a host may fall silent before it is given up: each
// time costs the whole of Retry.Stall.
const maxStalls = 2

// RoundTrip sends req until it is answered, or given up: then the error is an
// [*Error] that says how often and why.
func (t *retrier) RoundTrip(req *http.Request) (*http.Response, error) {
	t.secrets.addHeader(req.Header.Get("Authorization"))
	g := t.gate(req.URL)
	for try := 1; ; try++ {
		p, err := g.enter(req.Context())
		if err != nil {
			closeBody(req)
			return nil, err
		}
		sent, err := rewind(req, try)
		if err != nil {
			g.abandon(p)
			return nil, err
		}
		resp, err := t.send(sent)
		v := judge(req, resp, err, t.clock.Now())
		switch {
		case v.trouble == none:
			g.succeed(p)
			return resp, nil
		case err == nil && !v.repeatable:
			g.abandon(p)
			return resp, nil
		}
		if err := t.pause(req, g, p, v, try, resp, err); err != nil {
			return nil, err
		}
	}
}

// pause deals with a failed try: it returns nil when there should be another
// one, after the wait.
func (t *retrier) pause(req *http.Request, g *gate, p pass, v verdict, try int, resp *http.Response, err error) error {
	host := req.URL.Host
	failure := t.failure(host, v, try, resp, err)
	if ctxErr := req.Context().Err(); ctxErr != nil {
		g.abandon(p)
		return ctxErr
	}
	switch {
	case v.wait > t.retry.LongestWait:
		failure.Detail += fmt.Sprintf(" and asks to wait %s, longer than the %s that is waited at most", v.wait.Round(time.Second), t.retry.LongestWait)
		g.refuse(p, failure)
		return failure
	case v.final, errors.Is(err, errStalled) && try >= maxStalls:
		g.refuse(p, failure)
		return failure
	case v.trouble == stumbled:
		g.abandon(p)
		if try >= t.retry.Tries || !v.repeatable {
			return failure
		}
		wait := t.retry.backOff(try)
		t.announce(host, failure, wait)
		return t.clock.Sleep(req.Context(), wait, nil)
	}
	wait := g.fail(p, v.wait, failure)
	if try >= t.retry.Tries || !v.repeatable {
		return failure
	}
	t.announce(host, failure, wait)
	return nil
}

// announce tells of a wait that somebody would wonder about.
func (t *retrier) announce(host string, failure *Error, wait time.Duration) {
	if wait >= time.Second {
		t.notifier.say(Notice{NoticeWaiting, host, fmt.Sprintf("%s: waiting %s before the next try", failure.Detail, wait.Round(time.Second/10))})
	}
}

// failure puts one failed try into words.
func (t *retrier) failure(host string, v verdict, try int, resp *http.Response, err error) *Error {
	var e *Error
	switch {
	case resp != nil:
		e = newAnswer(resp, t.secrets).error(kindOfStatus(resp.StatusCode))
	case errors.As(err, &e):
		return e
	default:
		e = networkError(host, err, t.secrets)
	}
	e.Wait = v.wait
	if try > 1 {
		e.Detail += fmt.Sprintf(" (try %d)", try)
	}
	return e
}

func (t *retrier) gate(u *url.URL) *gate {
	key := u.Scheme + "://" + hostPort(u)
	t.mu.Lock()
	defer t.mu.Unlock()
	g := t.gates[key]
	if g == nil {
		g = newGate(t.clock, t.retry)
		t.gates[key] = g
	}
	return g
}

// send is one try, with a line in the log.
func (t *retrier) send(req *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(req)
	if !t.log.Enabled(req.Context(), slog.LevelDebug) {
		return resp, err
	}
	at := []any{"method", req.Method, "host", req.URL.Host, "path", t.secrets.scrub(req.URL.Path)}
	if err != nil {
		t.log.DebugContext(req.Context(), "request failed", append(at, "error", t.secrets.scrub(withoutURL(err).Error()))...)
		return nil, err
	}
	t.log.DebugContext(req.Context(), "request", append(at, "status", resp.StatusCode, "request_id", t.secrets.scrub(requestID(resp)))...)
	return resp, nil
}

// rewind gives a later try a body of its own.
func rewind(req *http.Request, try int) (*http.Request, error) {
	if try == 1 || req.Body == nil || req.Body == http.NoBody {
		return req, nil
	}
	body, err := req.GetBody()
	if err != nil {
		return nil, err
	}
	again := req.Clone(req.Context())
	again.Body = body
	return again, nil
}

// trouble is what kind of failure a try met.
type trouble int

const (
	none      trouble = iota
	throttled         // the host wants fewer requests: it is left alone
	unreached         // no connection: likewise
	stumbled          // this request failed; others may be fine
)

type verdict struct {
	trouble    trouble
	repeatable bool          // the request may be sent again
	final      bool          // no request to this host can succeed
	wait       time.Duration // what the host asked for, or 0
}

// judge decides on the outcome of one try.
func judge(req *http.Request, resp *http.Response, err error, now time.Time) verdict {
	harmless := req.Method == http.MethodGet || req.Method == http.MethodHead
	replayable := req.Body == nil || req.Body == http.NoBody || req.GetBody != nil
	if err != nil {
		return verdict{trouble: unreached, repeatable: harmless, final: !mayPass(err)}
	}
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return verdict{trouble: throttled, repeatable: replayable, wait: retryAfter(resp.Header.Get("Retry-After"), now)}
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout, http.StatusRequestTimeout:
		return verdict{trouble: stumbled, repeatable: harmless}
	}
	return verdict{}
}

// mayPass reports whether an error of the connection may be gone next time.
func mayPass(err error) bool {
	var known *Error
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var header tls.RecordHeaderError
	var proxy *proxyError
	switch {
	case errors.As(err, &known):
		return false // ours: the settings or a rule are in the way
	case errors.As(err, &proxy):
		return proxy.status >= http.StatusInternalServerError || proxy.status == http.StatusTooManyRequests
	case errors.As(err, &dns):
		return !dns.IsNotFound
	case errors.As(err, &cert), errors.As(err, &unknown), errors.As(err, &name), errors.As(err, &header):
		return false
	case strings.Contains(err.Error(), "HTTP response to HTTPS client"):
		return false
	}
	return true
}

// retryAfter reads both forms of the header: seconds and a date. A date in the
// past, a negative number and nonsense ask for nothing.
func retryAfter(header string, now time.Time) time.Duration {
	header = strings.TrimSpace(header)
	if seconds, err := strconv.ParseInt(header, 10, 64); err == nil {
		const most = int64(1<<63-1) / int64(time.Second)
		return time.Duration(max(0, min(seconds, most))) * time.Second
	} else if errors.Is(err, strconv.ErrRange) && !strings.HasPrefix(header, "-") {
		return time.Duration(1<<63 - 1)
	}
	if date, err := http.ParseTime(header); err == nil {
		return max(0, date.Sub(now))
	}
	return 0
}

// networkError puts an error of the connection into words.
func networkError(host string, err error, s *secrets) *Error {
	err = withoutURL(err)
	e := fail(ErrNetwork, host, "no answer from %s: %s", host, s.scrub(words(err)))
	e.Err = hiddenError{err, s.scrub(err.Error())}
	return e
}

// hiddenError keeps an error for errors.Is and errors.As, and shows a text
// without secrets.
type hiddenError struct {
	err  error
	text string
}

func (e hiddenError) Error() string { return e.text }
func (e hiddenError) Unwrap() error { return e.err }

// withoutURL takes off the layer in which net/http repeats the whole URL, with
// its query.
func withoutURL(err error) error {
	var e *url.Error
	for errors.As(err, &e) {
		err = e.Err
	}
	return err
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}

// maxDrain is how much of an answer that nobody wants is read so that its
// connection can be used again; more is cheaper to break off.
const maxDrain = 64 << 10

// discard ends a response.
func discard(resp *http.Response) {
	if resp == nil {
		return
	}
	_, _ = io.CopyN(io.Discard, resp.Body, maxDrain)
	_ = resp.Body.Close()
}
