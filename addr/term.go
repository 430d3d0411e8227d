package addr

import (
	"strings"
)

// blanks may stand around operators, versions and commas.
const blanks = " \t"

// operator of one term. The order is of no meaning.
type operator int

const (
	equal operator = iota
	notEqual
	greater
	greaterEqual
	less
	lessEqual
	pessimistic
)

// operatorOf reads an operator; none at all means equality.
func operatorOf(s string) (operator, bool) {
	switch s {
	case "", "=":
		return equal, true
	case "!=":
		return notEqual, true
	case ">":
		return greater, true
	case ">=":
		return greaterEqual, true
	case "<":
		return less, true
	case "<=":
		return lessEqual, true
	case "~>":
		return pessimistic, true
	}
	return 0, false
}

func (o operator) String() string {
	return [...]string{"", "!=", ">", ">=", "<", "<=", "~>"}[o]
}

// term is one operator with its version.
type term struct {
	op      operator
	version Version
	count   int // how many numbers ~> holds fast on, 1 to 3; else 3
}

// contains reports whether v is in the range of the term. Build metadata plays
// no part in it, except that an exact term that names a build means that one.
func (t term) contains(v Version) bool {
	order := v.precedence(t.version)
	switch t.op {
	case equal:
		return order == 0 && (t.version.build == "" || t.version.build == v.build)
	case notEqual:
		return order != 0
	case greater:
		return order > 0
	case greaterEqual:
		return order >= 0
	case less:
		return order < 0
	case lessEqual:
		return order <= 0
	default:
		// Comparing the leading numbers, instead of computing the next version,
		// cannot overflow, and keeps 2.0.0-rc.1, which is below 2.0.0, out of
		// "~> 1.2".
		return order >= 0 && v.sameNumbers(t.version, t.count-1)
	}
}

// optsIn reports whether the term asks for pre-releases such as v.
func (t term) optsIn(v Version) bool {
	switch t.op {
	case less, lessEqual, notEqual:
		return false
	default:
		return t.version.prerelease != "" && t.version.sameNumbers(v, 3)
	}
}

// String returns the canonical text of the term.
func (t term) String() string {
	return strings.TrimLeft(t.op.String()+" "+t.version.format(t.count), blanks)
}

// problem is why a text is no term.
type problem struct {
	reason  string
	repairs []string // terms, each valid, that may be what was meant
}

// parseTerm reads one term from text without blanks around it.
func parseTerm(s string) (term, *problem) {
	end := strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune("=!<>~^|&", r) })
	if end < 0 {
		end = len(s)
	}
	sign, text := s[:end], strings.TrimLeft(s[end:], blanks)
	op, known := operatorOf(sign)
	if p := misspelt(s, sign, text, known); p != nil {
		return term{}, p
	}
	version, count, reason := parsePartial(text)
	switch {
	case reason != "":
		return term{}, &problem{reason, valid(repairVersion(sign, text))}
	case count < 3 && (op == equal || op == notEqual):
		return term{}, &problem{"needs all three numbers, MAJOR.MINOR.PATCH", complete(op, version, count)}
	case version.build != "" && op != equal:
		version.build = ""
		return term{}, &problem{"names build metadata, which only an exact version can", []string{term{op, version, count}.String()}}
	case op != pessimistic:
		count = 3
	}
	return term{op, version, count}, nil
}
