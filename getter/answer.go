package getter

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// maxErrorBody is how much of a refusal is read for its words.
const maxErrorBody = 16 << 10

// answer is a response that is not what was asked for, in the words of the
// registry where it has any.
type answer struct {
	host   string
	status int
	codes  []string // such as NAME_UNKNOWN, by the distribution specification
	words  string   // without secrets
}

// newAnswer reads and ends a response.
func newAnswer(resp *http.Response, s *secrets) answer {
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	_ = resp.Body.Close()
	a := answer{host: resp.Request.URL.Host, status: resp.StatusCode}
	var body struct {
		Errors []struct{ Code, Message string } `json:"errors"`
	}
	var words []string
	if json.Unmarshal(raw, &body) == nil {
		for _, e := range body.Errors {
			a.codes = append(a.codes, e.Code)
			words = append(words, strings.Trim(e.Code+": "+e.Message, ": "))
		}
	}
	if id := requestID(resp); id != "" {
		words = append(words, "request id "+id)
	}
	a.words = s.scrub(strings.Join(words, "; "))
	return a
}

// requestID returns what an operator of the registry can look an answer up by.
func requestID(resp *http.Response) string {
	for _, name := range []string{"X-Request-Id", "X-Amzn-Requestid", "X-Github-Request-Id", "X-Correlation-Id"} {
		if id := resp.Header.Get(name); id != "" {
			return id
		}
	}
	return ""
}

// String says who answered what.
func (a answer) String() string {
	s := fmt.Sprintf("%s answered %d", a.host, a.status)
	if text := http.StatusText(a.status); text != "" {
		s += " " + text
	}
	if a.words != "" {
		s += " (" + a.words + ")"
	}
	return s
}

func (a answer) has(code string) bool { return slices.Contains(a.codes, code) }

// error makes an error of it.
func (a answer) error(kind error) *Error {
	return &Error{Kind: kind, Host: a.host, Status: a.status, Detail: a.String()}
}

// kindOfStatus is what a status means where the request does not matter.
func kindOfStatus(status int) error {
	switch {
	case status == http.StatusUnauthorized:
		return ErrUnauthorized
	case status == http.StatusForbidden:
		return ErrForbidden
	case status == http.StatusTooManyRequests:
		return ErrRateLimited
	case status == http.StatusNotFound:
		return ErrNotFound
	case status == http.StatusProxyAuthRequired:
		return ErrNetwork
	case status >= 500, status == http.StatusRequestTimeout:
		return ErrServer
	}
	return ErrProtocol
}

// errTooLong means that an answer is longer than any proper one.
var errTooLong = errors.New("too long")

// readAll reads a body of at most limit bytes.
func readAll(body io.Reader, limit int64) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(body, limit+1))
	if err == nil && int64(len(raw)) > limit {
		return nil, errTooLong
	}
	return raw, err
}
