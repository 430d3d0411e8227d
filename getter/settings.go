package getter

import (
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"strings"

	"github.com/pluginlock/plugins/addr"
)

// Settings is what the administrator of a machine decides about registries.
// The zero value asks every source's own registry.
type Settings struct {
	Registries []Registry // the one with the longest matching prefix applies
	Allow      []string   // prefixes of the only sources allowed; nil allows all
}

// Registry holds the settings for the sources under one prefix.
type Registry struct {
	Prefix string // host or host/path, matched by whole segments

	// Mirror serves the same repositories: a registry prefix, which takes the
	// place of Prefix, or the directory of an OCI layout, absolute or beginning
	// with "./" or "../".
	Mirror string

	// Fallback lets a digest that the mirror cannot give come from the source's
	// own registry; FallbackTags lets tags, too.
	Fallback     bool
	FallbackTags bool

	PlainHTTP bool   // speak HTTP without TLS to the hosts under Prefix
	CAFile    string // certificates in PEM to trust for the host of Prefix, besides the system's
}

// registry returns the settings that apply to a repository, and whether any do.
// name is host/path, or a host alone.
func (s Settings) registry(name string) (Registry, bool) {
	best, found := Registry{}, false
	for _, r := range s.Registries {
		if under(name, r.Prefix) && (!found || len(r.Prefix) > len(best.Prefix)) {
			best, found = r, true
		}
	}
	return best, found
}

// allowed reports whether the settings let source be used.
func (s Settings) allowed(source addr.Source) bool {
	if s.Allow == nil {
		return true
	}
	for _, prefix := range s.Allow {
		if under(source.String(), prefix) {
			return true
		}
	}
	return false
}

// normalize brings prefixes to the spelling of sources and refuses what can't
// be meant.
func (s Settings) normalize() (Settings, error) {
	out := Settings{}
	seen := map[string]bool{}
	for _, r := range s.Registries {
		prefix, err := normalPrefix(r.Prefix)
		if err != nil {
			return Settings{}, fmt.Errorf("registry prefix %q: %w", r.Prefix, err)
		}
		if seen[prefix] {
			return Settings{}, fmt.Errorf("registry prefix %q: it is given twice", r.Prefix)
		}
		seen[prefix], r.Prefix = true, prefix
		if r.Mirror != "" && !isLayoutPath(r.Mirror) {
			if r.Mirror, err = normalPrefix(r.Mirror); err != nil {
				return Settings{}, fmt.Errorf("mirror of %q: %w", r.Prefix, err)
			}
		}
		if r.Mirror == "" && (r.Fallback || r.FallbackTags) {
			return Settings{}, fmt.Errorf("registry prefix %q: a fallback without a mirror", r.Prefix)
		}
		if r.FallbackTags && !r.Fallback {
			return Settings{}, fmt.Errorf("registry prefix %q: tags fall back only where digests do", r.Prefix)
		}
		out.Registries = append(out.Registries, r)
	}
	if s.Allow != nil {
		out.Allow = []string{}
	}
	for _, p := range s.Allow {
		prefix, err := normalPrefix(p)
		if err != nil {
			return Settings{}, fmt.Errorf("allowed source %q: %w", p, err)
		}
		out.Allow = append(out.Allow, prefix)
	}
	return out, nil
}

// normalPrefix reads host or host/path by the grammar of sources.
func normalPrefix(prefix string) (string, error) {
	prefix = strings.TrimSuffix(prefix, "/")
	first, path, hasPath := strings.Cut(prefix, "/")
	probe, err := addr.ParseSource(first + "/a/b")
	if err != nil {
		return "", err
	}
	if !hasPath {
		return probe.Host(), nil
	}
	if _, err := addr.ParseSource(first + "/" + path + "/b"); err != nil {
		return "", err
	}
	return probe.Host() + "/" + path, nil
}

// under reports whether name is prefix or lies below it.
func under(name, prefix string) bool {
	return name == prefix || strings.HasPrefix(name, prefix+"/")
}

// isLayoutPath tells a directory from a registry, whose name never begins with
// a dot or a slash.
func isLayoutPath(mirror string) bool {
	return filepath.IsAbs(mirror) || strings.HasPrefix(mirror, ".")
}

// isLoopback reports whether host, with or without a port, is this machine.
// Names below "localhost" are not taken for it: resolvers differ.
func isLoopback(host string) bool {
	name := hostname(host)
	if name == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Unmap().IsLoopback()
}

// hostname cuts the port and the brackets off a host.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}
