package publish

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func newServer(t testing.TB, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}
