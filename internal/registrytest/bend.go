package registrytest

import (
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// bender changes the head of an answer and the flow of its body.
type bender struct {
	http.ResponseWriter
	rule    *Rule
	request *http.Request
	asked   string // the Range that the registry was not shown
	headed  bool
	sent    int64
	end     *int64 // bytes after which the body is swallowed
}

func (b *bender) WriteHeader(status int) {
	b.headed = true
	header := b.Header()
	if b.asked != "" && status == http.StatusOK {
		status = b.bendRange(header, status)
	}
	chunked := b.rule.EndAfter != nil || b.rule.Extra > 0 || contains(b.rule.Drop, "Content-Length")
	if chunked {
		header.Del("Content-Length")
	}
	for name, value := range b.rule.Header {
		header.Set(name, expand(value, b.request))
	}
	maps.DeleteFunc(header, func(name string, _ []string) bool { return contains(b.rule.Drop, name) })
	for _, name := range b.rule.Drop {
		if http.CanonicalHeaderKey(name) == "Content-Type" || http.CanonicalHeaderKey(name) == "Date" {
			header[http.CanonicalHeaderKey(name)] = nil // else net/http adds its own
		}
	}
	b.ResponseWriter.WriteHeader(status)
	if chunked {
		b.flush() // else net/http counts a short body and says its length
	}
}

func (b *bender) bendRange(header http.Header, status int) int {
	size := header.Get("Content-Length")
	var from int64
	_, _ = fmt.Sscanf(b.asked, "bytes=%d-", &from) // 0 where it has another form
	switch b.rule.Range {
	case RangeWhole:
		header.Set("Content-Range", fmt.Sprintf("bytes 0-%d/%s", number(size)-1, size))
		return http.StatusPartialContent
	case RangeLie:
		header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%s", from, number(size)-1, size))
		left := number(size) - from
		b.end = &left
		header.Set("Content-Length", fmt.Sprint(left))
		return http.StatusPartialContent
	}
	return status
}

func number(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64) // the registry wrote it
	return n
}

func (b *bender) Write(p []byte) (int, error) {
	if !b.headed {
		b.WriteHeader(http.StatusOK)
	}
	total := len(p)
	for len(p) > 0 {
		n := b.chunk(len(p))
		if n == 0 { // EndAfter: the rest is swallowed
			return total, nil
		}
		m, err := b.ResponseWriter.Write(p[:n])
		b.sent += int64(m)
		if err != nil {
			return total - len(p) + m, err
		}
		p = p[m:]
		b.pace(m)
	}
	b.chunk(1) // a limit that was just reached acts now, not at the next write
	return total, nil
}

// chunk says how many of n bytes may go out now. Where a limit is reached it
// breaks the connection, or waits.
func (b *bender) chunk(n int) int {
	const step = 4 << 10 // small enough for a pace
	if b.rule.BytesPerSecond > 0 {
		n = min(n, step)
	}
	for _, limit := range []*int64{b.rule.CutAfter, b.rule.StallAfter, b.end} {
		if limit == nil {
			continue
		}
		left := *limit - b.sent
		if left > 0 {
			return int(min(int64(n), left))
		}
		if limit == b.end {
			return 0
		}
		b.flush()
		if limit == b.rule.StallAfter {
			stall(b.request)
		}
		panic(http.ErrAbortHandler)
	}
	return n
}

// pace is the one place of this package where time passes: the rule asks for it.
func (b *bender) pace(n int) {
	if b.rule.BytesPerSecond <= 0 {
		return
	}
	b.flush()
	select {
	case <-time.After(time.Duration(n) * time.Second / time.Duration(b.rule.BytesPerSecond)):
	case <-b.request.Context().Done():
	}
}

// flush sees to it that what was sent arrives before what comes next.
func (b *bender) flush() { _ = http.NewResponseController(b.ResponseWriter).Flush() }

// finish adds what the rule has after the body.
func (b *bender) finish() {
	if !b.headed {
		b.WriteHeader(http.StatusOK)
	}
	if b.rule.Extra > 0 {
		_, _ = b.ResponseWriter.Write([]byte(strings.Repeat("x", b.rule.Extra)))
	}
}

// Unwrap lets http.ResponseController flush.
func (b *bender) Unwrap() http.ResponseWriter { return b.ResponseWriter }

func contains(names []string, name string) bool {
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}
