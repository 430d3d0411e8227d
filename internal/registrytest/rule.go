package registrytest

import (
	"net/http"
	"strings"
)

// Rule misbehaves for some requests. Its first fields say which; the zero value
// of each means all. The others say how; with none of them it only counts.
//
// Rules can be written as JSON, in the settings of a script's registry.
type Rule struct {
	Name       string `json:"name,omitempty"`       // shown in the log
	Method     string `json:"method,omitempty"`     // "GET"
	Path       string `json:"path,omitempty"`       // a pattern, see Match
	Query      string `json:"query,omitempty"`      // a pattern of the raw query
	Authorized *bool  `json:"authorized,omitempty"` // only with, or only without, an Authorization header
	From       int    `json:"from,omitempty"`       // the first matching request that is concerned: 1, or 0, is the first
	Times      int    `json:"times,omitempty"`      // how many are; 0: all that follow

	// An answer in the registry's place. Body and header values may hold
	// {scheme}, {host}, {path} and {query} of the request.
	Status   int               `json:"status,omitempty"` // 200 where only Body is given
	Header   map[string]string `json:"header,omitempty"` // also set on an answer that passes through
	Body     *string           `json:"body,omitempty"`
	Redirect string            `json:"redirect,omitempty"` // Location, with status 307 unless Status says otherwise

	// Changes to an answer that passes through.
	Drop           []string `json:"drop,omitempty"`             // headers that are left out
	CutAfter       *int64   `json:"cut_after,omitempty"`        // bytes of the body, then the connection breaks
	EndAfter       *int64   `json:"end_after,omitempty"`        // bytes of the body, then it ends as if it were complete
	StallAfter     *int64   `json:"stall_after,omitempty"`      // bytes of the body, then nothing until the client gives up
	Extra          int      `json:"extra,omitempty"`            // bytes that follow the body
	BytesPerSecond int      `json:"bytes_per_second,omitempty"` // pace of the body
	Range          string   `json:"range,omitempty"`            // how Range requests go wrong: one of the Range constants

	// Stall answers nothing at all until the client gives up.
	Stall bool `json:"stall,omitempty"`

	// For tests in Go.
	Wait <-chan struct{}                                                     `json:"-"` // goes on when it is closed, or the client gives up
	Func func(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) `json:"-"` // does it all
}

// The ways in which a server that does not resume answers a Range request.
const (
	RangeIgnore = "ignore" // 200 with the whole body
	RangeWhole  = "whole"  // 206 with the whole body, and says so
	RangeLie    = "lie"    // 206 with the first bytes, said to be those asked for
)

// countedRule is a rule and how often it has matched; its Front locks it.
type countedRule struct {
	Rule
	matched int
}

func (c *countedRule) wants(r *http.Request) bool {
	switch {
	case c.Method != "" && c.Method != r.Method,
		c.Path != "" && !Match(c.Path, r.URL.Path),
		c.Query != "" && !Match(c.Query, r.URL.RawQuery),
		c.Authorized != nil && *c.Authorized != (r.Header.Get("Authorization") != ""):
		return false
	}
	c.matched++
	from := max(c.From, 1)
	return c.matched >= from && (c.Times == 0 || c.matched < from+c.Times)
}

func (rule *Rule) serve(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if rule.Wait != nil {
		select {
		case <-rule.Wait:
		case <-r.Context().Done():
		}
	}
	switch {
	case rule.Func != nil:
		rule.Func(w, r, next.ServeHTTP)
	case rule.Stall:
		stall(r)
	case rule.Status != 0 || rule.Body != nil || rule.Redirect != "":
		rule.answer(w, r)
	default:
		rule.pass(w, r, next)
	}
}

// answer answers in the registry's place.
func (rule *Rule) answer(w http.ResponseWriter, r *http.Request) {
	status := rule.Status
	for name, value := range rule.Header {
		w.Header().Set(name, expand(value, r))
	}
	if rule.Redirect != "" {
		w.Header().Set("Location", expand(rule.Redirect, r))
		if status == 0 {
			status = http.StatusTemporaryRedirect
		}
	}
	if status == 0 {
		status = http.StatusOK
	}
	w.WriteHeader(status)
	if rule.Body != nil {
		_, _ = w.Write([]byte(expand(*rule.Body, r))) // the client may have gone
	}
}

// pass lets the registry answer and changes what it says.
func (rule *Rule) pass(w http.ResponseWriter, r *http.Request, next http.Handler) {
	b := &bender{ResponseWriter: w, rule: rule, request: r, end: rule.EndAfter}
	if asked := r.Header.Get("Range"); asked != "" && rule.Range != "" {
		b.asked = asked
		r = r.Clone(r.Context())
		r.Header.Del("Range")
	}
	next.ServeHTTP(b, r)
	b.finish()
}

func expand(s string, r *http.Request) string {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return strings.NewReplacer("{scheme}", scheme, "{host}", r.Host, "{path}", r.URL.Path, "{query}", r.URL.RawQuery).Replace(s)
}

// stall waits until the client gives up or the registry stops.
func stall(r *http.Request) {
	<-r.Context().Done()
	panic(http.ErrAbortHandler)
}
