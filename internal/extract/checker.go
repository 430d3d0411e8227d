package extract

import "archive/tar"

// Checker applies the rules of [Payload] to a tree that is about to be packed,
// so that what an installer would refuse is never published. Every method
// reports on one entry and leaves the Checker fit for the next, so that all
// problems can be found in one run. Names are paths from the image's root, with
// slashes: "plugin/aws".
type Checker struct {
	lim     Limits
	tree    *tree
	entries int
	bytes   int64
}

// NewChecker returns a Checker for an empty payload.
func NewChecker(lim Limits) *Checker {
	lim = lim.withDefaults()
	return &Checker{lim: lim, tree: newTree(lim.Entries)}
}

// Directory checks a directory.
//
// Errors: [*EntryError], [*LimitError].
func (c *Checker) Directory(name string) error {
	_, err := c.add(name, true, node{kind: kindDir, record: -1})
	return err
}

// File checks a regular file of size bytes.
//
// Errors: [*EntryError], [*LimitError].
func (c *Checker) File(name string, size int64) error {
	u := unpacker{lim: c.lim, written: c.bytes}
	if err := u.account(&tar.Header{Name: name}, size); err != nil {
		return err
	}
	c.bytes = u.written
	_, err := c.add(name, false, node{kind: kindFile, record: -1})
	return err
}

// Link checks a symbolic link as text; where it leads is the business of
// [Checker.Links].
//
// Errors: [*EntryError], [*LimitError].
func (c *Checker) Link(name, target string) error {
	components, err := checkName(name, false, c.lim)
	if err != nil {
		return err
	}
	if err := checkTarget(name, target, len(components)-1, c.lim); err != nil {
		return err
	}
	_, err = c.add(name, false, node{kind: kindLink, record: -1, target: target})
	return err
}

// Links follows every link of the tree that the calls before it described, and
// returns what is wrong by the name of the link.
func (c *Checker) Links() map[string]error {
	wrong := map[string]error{}
	for id := range c.tree.nodes {
		if c.tree.nodes[id].kind != kindLink {
			continue
		}
		if err := c.tree.resolve(id, 0); err != nil {
			wrong[c.tree.path(id)] = err
		}
	}
	return wrong
}

func (c *Checker) add(name string, isDir bool, n node) (int, error) {
	if c.entries++; c.entries > c.lim.Entries {
		return 0, exceeds(limitEntries, int64(c.lim.Entries), name)
	}
	components, err := checkName(name, isDir, c.lim)
	if err != nil {
		return 0, err
	}
	if err := checkPlace(name, components, isDir); err != nil {
		return 0, err
	}
	return c.tree.add(name, components, n)
}
