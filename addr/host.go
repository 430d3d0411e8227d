package addr

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/pluginlock/plugins/internal/text"
)

// This file reads the host[:port] of a source by hand: a URL parser accepts far
// more than that, and reads localhost:5000 as a scheme.

// maxLabel is the most characters between two dots of a host name (RFC 1035).
const maxLabel = 63

// parseHost returns the normal form of host[:port].
func parseHost(s string) (host, reason string) {
	for _, r := range s {
		if r > 0x7e {
			return "", "has a host name that is not ASCII; write it in its xn-- form"
		}
	}
	s = strings.ToLower(s)
	name, port, hasPort := cutPort(s)
	if strings.HasPrefix(s, "[") {
		name, reason = parseIPv6(name)
	} else {
		reason = checkName(name)
	}
	switch {
	case reason != "":
		return "", reason
	case !hasPort:
		return name, ""
	}
	if reason := checkPort(port); reason != "" {
		return "", reason
	}
	// Without its port a host of one label would read as part of a path.
	if port == "443" && isHost(name) {
		return name, ""
	}
	return name + ":" + port, ""
}

// cutPort separates the port; brackets keep the colons of an IPv6 address.
func cutPort(s string) (name, port string, found bool) {
	if end := strings.LastIndexByte(s, ']'); end >= 0 && strings.HasPrefix(s, "[") {
		if rest, hasPort := strings.CutPrefix(s[end+1:], ":"); hasPort {
			return s[:end+1], rest, true
		}
		return s, "", false
	}
	if strings.Count(s, ":") > 1 {
		return s, "", false // an IPv6 address without brackets
	}
	return strings.Cut(s, ":")
}

// parseIPv6 returns the shortest form of an address in brackets.
func parseIPv6(s string) (host, reason string) {
	inner, closed := strings.CutSuffix(s[1:], "]")
	address, err := netip.ParseAddr(inner)
	if !closed || err != nil || !address.Is6() || address.Zone() != "" {
		return "", fmt.Sprintf("has a host, %s, that is not an IPv6 address in brackets", text.Quote(s))
	}
	return "[" + address.String() + "]", ""
}

// checkName holds a host to the grammar of DNS names, and one that ends in a
// number to that of IPv4 addresses, of which resolvers know more spellings.
func checkName(name string) string {
	switch {
	case name == "":
		return "has a port but no host"
	case strings.Contains(name, ":"):
		return "has an IPv6 address without brackets, or more than one port"
	case strings.HasSuffix(name, "."):
		return "has a host that ends in a dot"
	}
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if !validLabel(label) {
			return fmt.Sprintf("has a host, %s, that is not a host name", text.Quote(name))
		}
	}
	if digits(labels[len(labels)-1]) {
		if _, err := netip.ParseAddr(name); err != nil {
			return fmt.Sprintf("has a host, %s, that is not an IPv4 address: four numbers to 255 without leading zeros", text.Quote(name))
		}
	}
	return ""
}

func validLabel(label string) bool {
	if label == "" || len(label) > maxLabel || label[0] == '-' || label[len(label)-1] == '-' {
		return false
	}
	for _, r := range label {
		if !alphanumeric(r) && r != '-' {
			return false
		}
	}
	return true
}

func checkPort(port string) string {
	if port == "" {
		return "has a colon after the host but no port"
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 || port != strconv.FormatUint(n, 10) {
		return fmt.Sprintf("has the port %s; a port is a number from 1 to 65535 without leading zeros", text.Quote(port))
	}
	return ""
}
