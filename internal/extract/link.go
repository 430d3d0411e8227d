package extract

import (
	"slices"
	"strings"
)

// checkTarget refuses the target of a symbolic link that, as text, is absolute
// or leaves the root; depth is how many directories stand above the link.
func checkTarget(entry, target string, depth int, lim Limits) error {
	switch {
	case target == "":
		return refuse(KindLink, entry, "is a symbolic link without a target")
	case len(target) > lim.PathBytes:
		return exceeds(limitPathBytes, int64(lim.PathBytes), entry)
	case target[0] == '/':
		return refuse(KindLink, entry, "is a symbolic link to an absolute path")
	}
	if err := checkText(entry, target, "its target"); err != nil {
		return err
	}
	for c := range strings.SplitSeq(target, "/") {
		switch c {
		case "", ".":
		case "..":
			depth--
		default:
			depth++
		}
		if depth < 0 {
			return refuse(KindLink, entry, "is a symbolic link that leaves the root")
		}
	}
	return nil
}

// checkLinks resolves every link of the finished tree and returns the links,
// those first that lead to their target over the fewest others.
func (t *tree) checkLinks() ([]int, error) {
	var links []int
	for id := range t.nodes {
		if t.nodes[id].kind != kindLink {
			continue
		}
		if err := t.resolve(id, 0); err != nil {
			return nil, err
		}
		links = append(links, id)
	}
	slices.SortStableFunc(links, func(a, b int) int { return t.nodes[a].hops - t.nodes[b].hops })
	return links, nil
}

// resolve follows the link id as a kernel would, ".." taken after links, and
// notes where it leads. depth is how many links wait for this one.
func (t *tree) resolve(id, depth int) error {
	if t.nodes[id].hops > 0 {
		return nil
	}
	refused := func(reason string) error { return refuse(KindLink, t.path(id), "is a symbolic link that %s", reason) }
	if depth >= maxLinkHops {
		return refused("goes in a circle or over too many others")
	}
	at, hops := t.nodes[id].parent, 1
	for c := range strings.SplitSeq(t.nodes[id].target, "/") {
		if t.nodes[at].kind != kindDir {
			return refused("leads to nothing in the archive")
		}
		switch c {
		case "", ".":
			continue
		case "..":
			if at == 0 {
				return refused("leaves the root")
			}
			at = t.nodes[at].parent
			continue
		}
		next, ok := t.children[edge{at, foldKey(c)}]
		if !ok || t.nodes[next].name != c {
			return refused("leads to nothing in the archive")
		}
		if t.nodes[next].kind == kindLink {
			if err := t.resolve(next, depth+1); err != nil {
				return err
			}
			hops += t.nodes[next].hops
			next = t.nodes[next].leads
		}
		at = next
	}
	if hops > maxLinkHops {
		return refused("goes in a circle or over too many others")
	}
	t.nodes[id].hops, t.nodes[id].leads = hops, at
	return nil
}
