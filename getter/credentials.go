package getter

import (
	"context"
	"errors"
	"fmt"
)

// Place is what credentials are looked up for.
type Place struct {
	Host string // as sources name it: "docker.io", "localhost:5000"
	Path string // the repository, for places that tell repositories apart
}

// Credential is what proves to one registry who we are. The zero value means
// anonymous access.
type Credential struct {
	Username, Password string
	IdentityToken      string // exchanged for access tokens (OAuth 2 refresh token)
	RegistryToken      string // sent as it is

	// Ambient credentials were found lying around and not chosen by the user
	// for this registry. Where they are refused, reading is tried without them.
	Ambient bool

	// Origin says where they were found, such as a file or a helper program.
	Origin string

	// Problem says what kept better credentials from being found, such as a
	// helper that failed. It is shown once, and again if access is refused.
	Problem error
}

// CredentialFunc finds the credentials for a place. It is called only when a
// registry asks for some, and once for each repository. An error ends the
// request; where anonymous access is worth a try, return that with a Problem.
type CredentialFunc func(ctx context.Context, place Place) (Credential, error)

// principal is the secret part of a credential, for comparison.
type principal struct{ username, password, identity, registry string }

func (c Credential) principal() principal {
	return principal{c.Username, c.Password, c.IdentityToken, c.RegistryToken}
}

func (c Credential) isEmpty() bool { return c.principal() == principal{} }

// String names the origin and no secret, so that no log can hold one by
// accident.
func (c Credential) String() string {
	if c.isEmpty() {
		return "no credentials"
	}
	return "credentials from " + c.Origin
}

// GoString is String, for the same reason.
func (c Credential) GoString() string { return c.String() }

// StaticCredential gives credential to one host and nothing to others.
func StaticCredential(host string, credential Credential) CredentialFunc {
	if credential.Origin == "" {
		credential.Origin = "the explicit setting"
	}
	return func(_ context.Context, place Place) (Credential, error) {
		if place.Host != host {
			return Credential{}, nil
		}
		return credential, nil
	}
}

// FirstCredential asks finders in their order and takes the first answer that
// is not anonymous. Problems of those that were passed over are kept.
func FirstCredential(finders ...CredentialFunc) CredentialFunc {
	return func(ctx context.Context, place Place) (Credential, error) {
		var problems []error
		for _, find := range finders {
			if find == nil {
				continue
			}
			found, err := find(ctx, place)
			if err != nil {
				return Credential{}, err
			}
			problems = append(problems, found.Problem)
			if !found.isEmpty() {
				found.Problem = join(problems)
				return found, nil
			}
		}
		return Credential{Problem: join(problems)}, nil
	}
}

// join is errors.Join on one line.
func join(problems []error) error {
	var all error
	for _, p := range problems {
		switch {
		case p == nil:
		case all == nil:
			all = p
		default:
			all = fmt.Errorf("%w; %w", all, p)
		}
	}
	return all
}

// lookUp asks the client's finder, notes every secret, and tells the user of
// problems.
func (c *Client) lookUp(ctx context.Context, place Place) (Credential, error) {
	if c.credentials == nil {
		return Credential{}, nil
	}
	found, err := c.credentials(ctx, place)
	if err != nil {
		if ctxErr := ctx.Err(); ctxErr != nil {
			return Credential{}, ctxErr
		}
		return Credential{}, &Error{Kind: ErrUnauthorized, Host: place.Host,
			Err:    hiddenError{err, c.secrets.scrub(err.Error())},
			Detail: fmt.Sprintf("the credentials for %s: %s", place.Host, c.secrets.scrub(err.Error()))}
	}
	c.secrets.add(found.Password, found.IdentityToken, found.RegistryToken)
	if found.Username != "" {
		c.secrets.add(found.Username + ":" + found.Password)
	}
	if found.Problem != nil && !errors.Is(found.Problem, context.Canceled) {
		c.notifier.say(Notice{NoticeCredentials, place.Host, c.secrets.scrub(found.Problem.Error())})
	}
	return found, nil
}
