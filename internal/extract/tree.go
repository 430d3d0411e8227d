package extract

import (
	"strings"
)

// nodeKind says what stands at a path.
type nodeKind uint8

const (
	kindDir nodeKind = iota
	kindFile
	kindLink
)

func (k nodeKind) String() string { return [...]string{"a directory", "a file", "a symbolic link"}[k] }

// tree is the final tree of an archive as far as its entries were read. Nodes
// know their parent and their own component only, so that long paths with
// common beginnings cost little. Node 0 is the root.
type tree struct {
	nodes    []node
	children map[edge]int
	limit    int // of nodes
}

type node struct {
	parent int
	name   string
	kind   nodeKind
	record int    // index of a file's record; -1 for others
	target string // of a link
	hops   int    // links followed by resolving this one; 0 while unknown
	leads  int    // node that a resolved link leads to
}

// edge leads from a directory to one of its entries, by the key of its name.
type edge struct {
	parent int
	key    string
}

func newTree(limit int) *tree {
	return &tree{nodes: []node{{record: -1}}, children: map[edge]int{}, limit: limit}
}

// add places an entry. A directory may be named again, nothing else may.
func (t *tree) add(entry string, components []string, n node) (int, error) {
	at := 0
	for i, c := range components {
		if t.nodes[at].kind != kindDir {
			return 0, collide(entry, t.path(at), "lies below "+t.nodes[at].kind.String()+",")
		}
		step := node{kind: kindDir, record: -1}
		last := i == len(components)-1
		if last {
			step = n
		}
		step.parent, step.name = at, c
		next, existed, err := t.child(entry, step)
		if err != nil {
			return 0, err
		}
		if last && existed && (n.kind != kindDir || t.nodes[next].kind != kindDir) {
			return 0, collide(entry, t.path(next), "is "+n.kind.String()+" in the place of "+t.nodes[next].kind.String()+",")
		}
		at = next
	}
	return at, nil
}

// child finds or makes the node for step below its parent.
func (t *tree) child(entry string, step node) (id int, existed bool, err error) {
	e := edge{step.parent, foldKey(step.name)}
	if id, ok := t.children[e]; ok {
		if t.nodes[id].name != step.name {
			return 0, false, collide(entry, t.path(id), "is on some systems the same as")
		}
		return id, true, nil
	}
	if len(t.nodes) > t.limit {
		return 0, false, exceeds(limitEntries, int64(t.limit), entry)
	}
	step.name = strings.Clone(step.name) // not to keep the whole path alive
	t.nodes = append(t.nodes, step)
	t.children[e] = len(t.nodes) - 1
	return len(t.nodes) - 1, false, nil
}

// find returns the node at exactly these components.
func (t *tree) find(components []string) (int, bool) {
	at := 0
	for _, c := range components {
		id, ok := t.children[edge{at, foldKey(c)}]
		if !ok || t.nodes[id].name != c {
			return 0, false
		}
		at = id
	}
	return at, true
}

// path spells the path of a node from the root.
func (t *tree) path(id int) string {
	var reversed []string
	for ; id != 0; id = t.nodes[id].parent {
		reversed = append(reversed, t.nodes[id].name)
	}
	var b strings.Builder
	for i := len(reversed) - 1; i >= 0; i-- {
		b.WriteString(reversed[i])
		if i > 0 {
			b.WriteByte('/')
		}
	}
	return b.String()
}
