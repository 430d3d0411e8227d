package getter

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
)

// maxConfig bounds a file of credentials, in bytes.
const maxConfig = 4 << 20

// dockerConfig is the part of Docker's config.json, and of podman's auth.json,
// that says how to authenticate.
type dockerConfig struct {
	path        string
	Auths       map[string]authEntry `json:"auths"`
	CredHelpers map[string]string    `json:"credHelpers"`
	CredsStore  string               `json:"credsStore"`
}

type authEntry struct {
	Auth          string `json:"auth"` // base64 of user:password
	Username      string `json:"username"`
	Password      string `json:"password"`
	IdentityToken string `json:"identitytoken"`
	RegistryToken string `json:"registrytoken"`
}

// readDockerConfig reads a file; one that is not there is an empty one.
func readDockerConfig(path string) (*dockerConfig, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &dockerConfig{path: path}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the credentials in %s cannot be read: %w", path, pathCause(err))
	}
	defer f.Close() //nolint:errcheck // only read
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("the credentials in %s cannot be read: not a regular file", path)
	}
	raw, err := readAll(f, maxConfig)
	if err != nil {
		return nil, fmt.Errorf("the credentials in %s cannot be read: %w", path, pathCause(err))
	}
	return parseDockerConfig(path, raw)
}

// pathCause takes the path off an error whose text names it already.
func pathCause(err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// parseDockerConfig reads the bytes of a file. Its errors name the file and
// the place in it, and repeat nothing of the content.
func parseDockerConfig(path string, raw []byte) (*dockerConfig, error) {
	config := &dockerConfig{path: path}
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(raw)) == 0 {
		return config, nil
	}
	err := json.Unmarshal(raw, config)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return config, nil
	case errors.As(err, &syntax):
		return nil, fmt.Errorf("%s is not valid JSON (at byte %d): its credentials are not used", path, syntax.Offset)
	case errors.As(err, &kind):
		where := fmt.Sprintf("at byte %d", kind.Offset)
		if kind.Field != "" {
			where = kind.Field + ", " + where
		}
		return nil, fmt.Errorf("%s has %s in place of %s (%s): its credentials are not used",
			path, kindOfJSON(strings.Fields(kind.Value)[0]), kindOfGo(kind.Type.Kind()), where)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("%s ends in the middle: its credentials are not used", path)
	}
	return nil, fmt.Errorf("%s cannot be read as JSON: its credentials are not used", path)
}

// kindOfJSON is what a file has, with its article.
func kindOfJSON(value string) string {
	switch value {
	case "array", "object":
		return "an " + value
	}
	return "a " + value
}

// kindOfGo is what the file should have had, in JSON's words.
func kindOfGo(kind reflect.Kind) string {
	switch kind {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice:
		return "an array"
	}
	return "a " + kind.String()
}

// helper returns the program to ask for a place and the key to ask it with;
// ok is false where the file names none.
func (c *dockerConfig) helper(place Place) (helper, key string, ok bool) {
	keys := make([]string, 0, len(c.CredHelpers))
	for k := range c.CredHelpers {
		keys = append(keys, k)
	}
	key, ok = bestKey(keys, place)
	return c.CredHelpers[key], key, ok
}

// storeKey returns what the store of a file is asked for: the spelling of the
// file where the place is listed there, as Docker does after a login.
func (c *dockerConfig) storeKey(place Place) string {
	if key, ok := bestKey(c.authKeys(), place); ok {
		return key
	}
	if place.Host == "docker.io" {
		return "https://index.docker.io/v1/"
	}
	return place.Host
}

func (c *dockerConfig) authKeys() []string {
	keys := make([]string, 0, len(c.Auths))
	for k := range c.Auths {
		keys = append(keys, k)
	}
	return keys
}

// entry returns the credentials that stand in the file itself.
func (c *dockerConfig) entry(place Place) (Credential, error) {
	key, ok := bestKey(c.authKeys(), place)
	if !ok {
		return Credential{}, nil
	}
	a := c.Auths[key]
	found := Credential{Username: a.Username, Password: a.Password, IdentityToken: a.IdentityToken, RegistryToken: a.RegistryToken,
		Ambient: true, Origin: c.path}
	if a.Auth != "" {
		user, password, err := decodeAuth(a.Auth)
		if err != nil {
			return Credential{}, fmt.Errorf("%s: the entry %q: %w: it is not used", c.path, key, err)
		}
		found.Username, found.Password = user, password
	}
	return found, nil
}

// decodeAuth reads base64 of user:password, with or without padding. The error
// says nothing of the content.
func decodeAuth(s string) (user, password string, err error) {
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.TrimSpace(s), "="))
	if err != nil {
		return "", "", errors.New("auth is not base64")
	}
	user, password, ok := strings.Cut(string(raw), ":")
	if !ok {
		return "", "", errors.New("auth is not base64 of user:password")
	}
	return user, strings.Trim(password, "\x00"), nil
}

// bestKey picks the key that says most about a place: the one with the longest
// path, of several spellings of it the plainest.
func bestKey(keys []string, place Place) (string, bool) {
	slices.Sort(keys)
	best, bestName := "", ""
	for _, key := range keys {
		name := keyName(key)
		if !under(place.Host+"/"+place.Path, name) {
			continue
		}
		if bestName == "" || len(name) > len(bestName) || (len(name) == len(bestName) && len(key) < len(best)) {
			best, bestName = key, name
		}
	}
	return best, bestName != ""
}

// keyName brings the spellings of a registry in files of credentials to the
// one of sources: "https://127.0.0.1:5000/v2/" is "127.0.0.1:5000".
func keyName(key string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(key, "https://"), "http://")
	name = strings.TrimRight(name, "/")
	for _, api := range []string{"/v1", "/v2"} {
		name = strings.TrimSuffix(name, api)
	}
	host, path, hasPath := strings.Cut(name, "/")
	host = strings.TrimSuffix(strings.ToLower(host), ":443")
	if host == "index.docker.io" || host == "registry-1.docker.io" {
		host = "docker.io"
	}
	if !hasPath {
		return host
	}
	return host + "/" + path
}
