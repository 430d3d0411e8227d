package getter

import (
	"errors"
	"strings"
	"testing"

	"github.com/pluginlock/plugins/internal/registrytest"
)

func TestPing(t *testing.T) {
	tests := map[string]struct {
		auth     *registrytest.Auth
		password string
		asked    bool
		err      error
	}{
		"open":              {nil, "right", false, nil},
		"basic":             {&registrytest.Auth{Username: "u", Password: "right"}, "right", true, nil},
		"basic, refused":    {&registrytest.Auth{Username: "u", Password: "right"}, "wrong-secret", true, ErrUnauthorized},
		"bearer":            {&registrytest.Auth{Username: "u", Password: "right", Bearer: true}, "right", true, nil},
		"bearer, refused":   {&registrytest.Auth{Username: "u", Password: "right", Bearer: true}, "wrong-secret", true, ErrUnauthorized},
		"bearer, anonymous": {&registrytest.Auth{Username: "u", Password: "right", Bearer: true, Anonymous: true}, "wrong-secret", true, ErrUnauthorized},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := registrytest.New(t, registrytest.Options{Auth: test.auth})
			c, err := New(Options{Credentials: StaticCredential(r.Host(), Credential{Username: "u", Password: test.password})})
			if err != nil {
				t.Fatal(err)
			}
			defer c.CloseIdleConnections()
			asked, err := c.Ping(t.Context(), r.Host())
			if !errors.Is(err, test.err) || (err == nil && asked != test.asked) {
				t.Errorf("asked %v, error %v", asked, err)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error holds the password: %v", err)
			}
			for _, q := range r.Front.Requests() {
				if strings.Contains(q.Query, "scope") {
					t.Errorf("a scope was asked for: %s", q)
				}
			}
		})
	}
}
