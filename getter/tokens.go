package getter

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote/auth"
)

// tokens is the memory of one registry's tokens, in the form the library that
// authenticates wants (auth.Cache). Beyond that library's own it knows that
// credentials may differ by repository, that a token for many scopes serves
// each of them, and that a token which was just refused is no good.
type tokens struct {
	endpoint *endpoint

	mu      sync.Mutex
	scheme  auth.Scheme
	held    []token
	flights map[flightKey]*flight
}

type token struct {
	owner  principal
	scheme auth.Scheme
	scopes []string // sorted; nil for Basic
	value  string
}

type flightKey struct {
	owner  principal
	scheme auth.Scheme
	scopes string
}

// flight is a request for a token that others wait for.
type flight struct {
	done chan struct{}
	err  error
}

// GetScheme returns how the registry authenticates.
func (t *tokens) GetScheme(context.Context, string) (auth.Scheme, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.scheme == auth.SchemeUnknown {
		return auth.SchemeUnknown, errdef.ErrNotFound
	}
	return t.scheme, nil
}

// GetToken returns a token that covers the scopes in key, unless it is the one
// that the same call was refused with.
func (t *tokens) GetToken(ctx context.Context, _ string, scheme auth.Scheme, key string) (string, error) {
	c := callOf(ctx)
	owner, known := t.endpoint.known(c)
	if !known {
		return "", errdef.ErrNotFound
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	found, ok := t.find(owner, scheme, strings.Fields(key))
	if !ok || found.value == c.attempted {
		return "", errdef.ErrNotFound
	}
	c.attempted, c.authenticated = found.value, true
	return found.value, nil
}

// Set gets a token, once for all who ask for the same at the same time.
func (t *tokens) Set(ctx context.Context, _ string, scheme auth.Scheme, key string, fetch func(context.Context) (string, error)) (string, error) {
	c := callOf(ctx)
	owner, err := t.endpoint.owner(ctx, c)
	if err != nil {
		return "", err
	}
	if err := c.check(scheme); err != nil {
		return "", err
	}
	c.authenticated = true
	scopes, id := strings.Fields(key), flightKey{owner, scheme, key}
	for {
		t.mu.Lock()
		if found, ok := t.find(owner, scheme, scopes); ok && found.value != c.attempted {
			t.mu.Unlock()
			c.attempted = found.value
			return found.value, nil
		}
		f := t.flights[id]
		if f == nil {
			f = &flight{done: make(chan struct{})}
			t.flights[id] = f
			t.mu.Unlock()
			return t.fly(ctx, c, id, f, fetch)
		}
		t.mu.Unlock()
		select {
		case <-f.done:
		case <-ctx.Done():
			return "", ctx.Err()
		}
		if f.err != nil && !errors.Is(f.err, context.Canceled) && !errors.Is(f.err, context.DeadlineExceeded) {
			return "", f.err
		}
	}
}

// fly gets the token and lets the others go on.
func (t *tokens) fly(ctx context.Context, c *call, id flightKey, f *flight, fetch func(context.Context) (string, error)) (string, error) {
	value, err := fetch(ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		t.endpoint.client.secrets.add(value)
		t.keep(token{id.owner, id.scheme, strings.Fields(id.scopes), value})
		c.attempted = value
	}
	f.err = err
	delete(t.flights, id)
	close(f.done)
	return value, err
}

// find returns the newest token that covers scopes.
func (t *tokens) find(owner principal, scheme auth.Scheme, scopes []string) (token, bool) {
	for _, held := range slices.Backward(t.held) {
		if held.owner == owner && held.scheme == scheme && (scheme == auth.SchemeBasic || covers(held.scopes, scopes)) {
			return held, true
		}
	}
	return token{}, false
}

// keep adds a token in place of those that it covers.
func (t *tokens) keep(fresh token) {
	t.scheme = fresh.scheme
	t.held = slices.DeleteFunc(t.held, func(old token) bool {
		return old.owner == fresh.owner && old.scheme == fresh.scheme && covers(fresh.scopes, old.scopes)
	})
	t.held = append(t.held, fresh)
}

// scopesFor returns the scopes of a token that covers the one scope that a
// call needs, so that the call asks for exactly that token.
func (t *tokens) scopesFor(c *call) []string {
	owner, known := t.endpoint.known(c)
	if !known || c.actions == "" {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if found, ok := t.find(owner, auth.SchemeBearer, []string{c.scope()}); ok {
		return found.scopes
	}
	return nil
}

// dropCombined forgets the tokens for more than one scope.
func (t *tokens) dropCombined() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held = slices.DeleteFunc(t.held, func(held token) bool { return len(held.scopes) > 1 })
}

func covers(have, want []string) bool {
	for _, w := range want {
		if !slices.Contains(have, w) {
			return false
		}
	}
	return true
}
