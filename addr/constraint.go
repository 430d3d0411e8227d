package addr

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pluginlock/plugins/internal/text"
)

// maxConstraint bounds, in characters, the text that is looked at; a hundred
// terms fit.
const maxConstraint = 1024

// Constraint says which versions are acceptable: terms of an operator and a
// version, all of which must admit a version. docs/versions.md has the table of
// what each means. The zero value is no constraint and admits nothing.
type Constraint struct {
	terms []term
}

// ConstraintError is why a text is no constraint.
type ConstraintError struct {
	Input       string   // the whole text
	Term        string   // the part that is wrong; "" where a term is missing
	Reason      string   // a clause that follows the quoted term: "needs all three numbers"
	Suggestions []string // whole constraints, each valid, that may be what was meant
}

// Error names the text, the term in it, the reason and the suggestions.
func (e *ConstraintError) Error() string {
	subject := text.Quote(e.Input)
	if e.Term != "" && e.Term != strings.Trim(e.Input, blanks) {
		subject += ": " + text.Quote(e.Term)
	}
	message := fmt.Sprintf("version constraint %s %s", subject, e.Reason)
	if len(e.Suggestions) == 0 {
		return message
	}
	quoted := make([]string, len(e.Suggestions))
	for i, s := range e.Suggestions {
		quoted[i] = text.Quote(s)
	}
	return message + "; write " + strings.Join(quoted, " or ")
}

// Verdict is what a constraint says of one version.
type Verdict int

// The verdicts of [Constraint.Judge]. The first three are told apart so that a
// message can say why nothing matches.
const (
	Outside    Verdict = iota // some term does not admit it
	Prerelease                // a pre-release in the range, which no term names
	Build                     // a build of a version in the range, which no term names
	Admitted
)

// ParseConstraint reads terms separated by commas. Every term is an operator
// (=, !=, >, >=, <, <=, ~>, or none, which is =) and a version; trailing
// numbers may be missing after >, >=, <, <= and ~>. The error is a
// *[ConstraintError] for the first term that is wrong.
func ParseConstraint(s string) (Constraint, error) {
	c, err := parseConstraint(s)
	if err != nil {
		return Constraint{}, err
	}
	return c, nil
}

func parseConstraint(s string) (Constraint, *ConstraintError) {
	switch {
	case strings.Trim(s, blanks) == "":
		return Constraint{}, &ConstraintError{Input: s, Reason: `is empty; it must say which versions are accepted, such as "~> 1.2"`}
	case len(s) > maxConstraint:
		return Constraint{}, &ConstraintError{Input: s, Term: strings.Trim(s, blanks), Reason: fmt.Sprintf("is longer than %d characters", maxConstraint)}
	}
	var c Constraint
	var first *ConstraintError
	var texts [][]string // for each term the texts that could stand there
	for part := range strings.SplitSeq(s, ",") {
		part = strings.Trim(part, blanks)
		t, problem := parseTerm(part)
		if problem != nil {
			if first == nil {
				first = &ConstraintError{Input: s, Term: part, Reason: problem.reason}
			}
			if part != "" { // a comma too many is repaired by leaving it out
				texts = append(texts, problem.repairs)
			}
			continue
		}
		c.terms = append(c.terms, t)
		texts = append(texts, []string{t.String()})
	}
	if first != nil {
		if len(texts) > 0 {
			first.Suggestions = combine(texts)
		}
		return Constraint{}, first
	}
	return c, nil
}

// combine joins one text for each term to whole constraints. Only the first
// term that has several texts is varied: that is the one being explained. Nil
// where a term has none.
func combine(texts [][]string) []string {
	whole := []string{""}
	varied := false
	for i, choices := range texts {
		if len(choices) == 0 {
			return nil
		}
		if varied {
			choices = choices[:1]
		}
		varied = varied || len(choices) > 1
		var next []string
		for _, prefix := range whole {
			for _, choice := range choices {
				if i > 0 {
					choice = prefix + ", " + choice
				}
				next = append(next, choice)
			}
		}
		whole = next
	}
	return whole
}

// String returns the canonical text, which [ParseConstraint] reads back to an
// equal value: one space after each operator and comma, no = operator, all
// three numbers except after ~>, where their number has a meaning.
func (c Constraint) String() string {
	texts := make([]string, len(c.terms))
	for i, t := range c.terms {
		texts[i] = t.String()
	}
	return strings.Join(texts, ", ")
}

// IsZero reports whether c is no constraint.
func (c Constraint) IsZero() bool { return len(c.terms) == 0 }

// Equal reports whether c and d have the same terms in the same order.
func (c Constraint) Equal(d Constraint) bool { return slices.Equal(c.terms, d.terms) }

// Exact returns the version that an exact term names, if c admits it: no other
// can be admitted then, and a registry can be asked for it without a list of
// its tags.
func (c Constraint) Exact() (Version, bool) {
	for _, t := range c.terms {
		if t.op == equal && c.Allows(t.version) {
			return t.version, true
		}
	}
	return Version{}, false
}

// Allows reports whether c admits v.
func (c Constraint) Allows(v Version) bool { return c.Judge(v) == Admitted }

// Judge says whether c admits v and, if not, why. Besides the range of each
// term two rules hold: a pre-release is admitted only where a term other than
// <, <= and != names a pre-release of the same three numbers, and a version
// with build metadata only where an exact term names that build.
func (c Constraint) Judge(v Version) Verdict {
	if v.IsZero() || c.IsZero() {
		return Outside
	}
	for _, t := range c.terms {
		if !t.contains(v) {
			return Outside
		}
	}
	if v.build != "" && !c.namesBuild(v) {
		return Build
	}
	if v.prerelease != "" && !slices.ContainsFunc(c.terms, func(t term) bool { return t.optsIn(v) }) {
		return Prerelease
	}
	return Admitted
}

// namesBuild reports whether there are exact terms and all of them name the
// build that v is.
func (c Constraint) namesBuild(v Version) bool {
	named := false
	for _, t := range c.terms {
		if t.op == equal {
			if t.version != v {
				return false
			}
			named = true
		}
	}
	return named
}
