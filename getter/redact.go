package getter

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/pluginlock/plugins/internal/text"
)

// A secret of fewer characters is not looked for in foreign text: replacing it
// everywhere would tell more than it hides.
const shortestSecret = 4

// maxSecrets bounds what a client that lives for months remembers; tokens are
// replaced every few minutes, and the oldest are long expired.
const maxSecrets = 512

// hidden is written in place of a secret.
const hidden = "***"

// secrets knows every credential that a client has read or sent, so that none
// of them gets into a message by way of a registry that echoes it.
type secrets struct {
	mu     sync.Mutex
	values []string // oldest first
}

// add remembers values and the spellings in which they travel.
func (s *secrets) add(values ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range values {
		if len(v) < shortestSecret || slices.Contains(s.values, v) {
			continue
		}
		s.values = append(s.values, v)
		for _, spelt := range []string{url.QueryEscape(v), url.PathEscape(v), base64.StdEncoding.EncodeToString([]byte(v))} {
			if spelt != v {
				s.values = append(s.values, spelt)
			}
		}
	}
	if over := len(s.values) - maxSecrets; over > 0 {
		s.values = slices.Delete(s.values, 0, over)
	}
}

// addHeader remembers what an Authorization header carries.
func (s *secrets) addHeader(header string) {
	scheme, value, _ := strings.Cut(header, " ")
	s.add(value)
	if !strings.EqualFold(scheme, "basic") {
		return
	}
	if pair, err := base64.StdEncoding.DecodeString(value); err == nil {
		_, password, _ := strings.Cut(string(pair), ":")
		s.add(password)
	}
}

// scrub makes foreign text fit for a message: without known secrets, without
// the queries and user information of URLs, escaped and cut.
func (s *secrets) scrub(foreign string) string {
	s.mu.Lock()
	values := slices.Clone(s.values)
	s.mu.Unlock()
	// The longest first: what is left of one whose part is another is no secret,
	// but nothing to show either.
	slices.SortStableFunc(values, func(a, b string) int { return len(b) - len(a) })
	for _, v := range values {
		foreign = strings.ReplaceAll(foreign, v, hidden)
	}
	return text.ClipTo(scrubURLs(foreign), 300)
}

// scrubURLs hides what may be signed or secret in the URLs of a text: user
// information and query. It looks for their marks and not for whole URLs,
// because error texts quote and cut them in many ways.
func scrubURLs(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		i := strings.IndexAny(s, "?:")
		if i < 0 {
			break
		}
		rest := s[i:]
		end := urlEnd(rest)
		switch {
		case strings.HasPrefix(rest, "://"):
			authority := rest[3:end]
			if slash := strings.IndexAny(authority, "/?"); slash >= 0 {
				authority = authority[:slash]
			}
			b.WriteString(s[:i] + "://")
			s = rest[3+strings.LastIndex(authority, "@")+1:]
		case rest[0] == '?' && strings.Contains(rest[:end], "="):
			b.WriteString(s[:i] + "?" + hidden)
			s = rest[end:]
		default:
			b.WriteString(s[:i+1])
			s = s[i+1:]
		}
	}
	return b.String() + s
}

// urlEnd returns where a URL that s is the rest of must end at the latest.
func urlEnd(s string) int {
	if i := strings.IndexAny(s, " \t\r\n\"'<>`"); i >= 0 {
		return i
	}
	return len(s)
}
