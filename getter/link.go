package getter

import (
	"net/url"
	"strings"
)

// nextPage returns the address of the next page of tags, or nil at the end.
// list is the list's own address and at the page that the headers came with.
//
// The address is used as it is, byte for byte, with two exceptions, in which
// registries behind a proxy are known to be wrong. A path that ends in
// /tags/list and is not ours has lost a prefix (Artifactory) or has one of the
// inside (Nexus), and an address on our host may name the inner scheme or
// port: of both only the query counts. An address on another host is refused.
func nextPage(list, at *url.URL, headers []string) (*url.URL, error) {
	raw, ok := nextLink(headers)
	if !ok {
		return nil, nil
	}
	link, err := at.Parse(raw)
	if err != nil {
		return nil, fail(ErrProtocol, at.Host, "%s links to a next page of tags at no address", at.Host)
	}
	if !strings.EqualFold(link.Hostname(), at.Hostname()) || link.User != nil || (link.Scheme != "http" && link.Scheme != "https") {
		return nil, fail(ErrUnsafe, at.Host, "%s links to a next page of tags on another host, %s", at.Host, link.Host)
	}
	next := *list
	next.RawQuery = link.RawQuery
	if path := link.EscapedPath(); path != list.EscapedPath() && !strings.HasSuffix(path, "/tags/list") {
		next.Path, next.RawPath = link.Path, link.RawPath
	}
	return &next, nil
}

// nextLink finds the target of the link with the relation "next" (RFC 8288).
func nextLink(headers []string) (target string, ok bool) {
	for _, h := range headers {
		for h != "" {
			var params string
			if target, params, h, ok = cutLink(h); !ok {
				break
			}
			if hasRelation(params, "next") {
				return target, true
			}
		}
	}
	return "", false
}

// cutLink cuts one link, <target>; params, off the beginning of a header.
func cutLink(s string) (target, params, rest string, ok bool) {
	open := strings.IndexByte(s, '<')
	if open < 0 {
		return "", "", "", false
	}
	target, rest, ok = strings.Cut(s[open+1:], ">")
	if !ok {
		return "", "", "", false
	}
	params, rest, _ = cutUnquoted(rest, ',')
	return target, params, rest, true
}

// cutUnquoted is strings.Cut at a separator that stands in no quotes.
func cutUnquoted(s string, separator byte) (before, after string, found bool) {
	quoted := false
	for i := range len(s) {
		switch s[i] {
		case '"':
			quoted = !quoted
		case separator:
			if !quoted {
				return s[:i], s[i+1:], true
			}
		}
	}
	return s, "", false
}

// hasRelation reports whether the parameters of a link name a relation. The
// quotes may be left out, and several relations may stand in one parameter.
func hasRelation(params, want string) bool {
	for more := true; more; {
		var param string
		param, params, more = cutUnquoted(params, ';')
		name, value, _ := strings.Cut(param, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "rel") {
			continue
		}
		for _, rel := range strings.Fields(strings.Trim(strings.TrimSpace(value), `"'`)) {
			if strings.EqualFold(rel, want) {
				return true
			}
		}
	}
	return false
}
