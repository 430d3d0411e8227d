package lock

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/pluginlock/plugins/internal/text"
)

// This file reads expressions without evaluating any: a lock file holds plain
// values, and what has to be computed could come out in two ways.

// literal returns the string that e is.
func (r *reader) literal(e hclsyntax.Expression, what string) (string, bool) {
	s, ok := plainString(e)
	if !ok {
		r.notLiteral(e, what, "a string in double quotes")
	}
	return s, ok
}

// plainString returns the text of a string without templates. The parser cuts
// one with escapes such as $${ into several parts.
func plainString(e hclsyntax.Expression) (string, bool) {
	template, ok := e.(*hclsyntax.TemplateExpr)
	if !ok {
		return "", false
	}
	var b strings.Builder
	for _, part := range template.Parts {
		l, ok := part.(*hclsyntax.LiteralValueExpr)
		if !ok || l.Val.Type() != cty.String || l.Val.IsNull() {
			return "", false
		}
		b.WriteString(l.Val.AsString())
	}
	return b.String(), true
}

// notLiteral refuses e, which is not of the wanted form.
func (r *reader) notLiteral(e hclsyntax.Expression, what, wanted string) {
	switch e.(type) {
	case *hclsyntax.LiteralValueExpr, *hclsyntax.TupleConsExpr, *hclsyntax.ObjectConsExpr, *hclsyntax.UnaryOpExpr:
		r.refuse(e.Range(), "Wrong type", "The %s must be %s. %s", what, wanted, restore)
	case *hclsyntax.TemplateExpr:
		if _, plain := plainString(e); plain {
			r.refuse(e.Range(), "Wrong type", "The %s must be %s. %s", what, wanted, restore)
			return
		}
		r.refuse(e.Range(), "Not a plain value", "The %s must be %s, without a template in it. %s", what, wanted, restore)
	default:
		r.refuse(e.Range(), "Not a plain value",
			"The %s must be %s. A lock file has no variables, functions or templates. %s", what, wanted, restore)
	}
}

// protocols reads a list of numbers that ascend.
func (r *reader) protocols(attr *hclsyntax.Attribute) []int {
	const wanted = "a list of numbers such as [5, 6]"
	list, ok := attr.Expr.(*hclsyntax.TupleConsExpr)
	if !ok {
		r.notLiteral(attr.Expr, "protocols", wanted)
		return nil
	}
	if len(list.Exprs) == 0 {
		r.refuse(attr.Expr.Range(), "Invalid protocols", "The list is empty. A plugin that declares no protocol has no such attribute. %s", restore)
	}
	var all []int
	for _, e := range list.Exprs {
		written := r.source(e)
		n, err := strconv.Atoi(written)
		switch {
		case err != nil || n < 1 || strconv.Itoa(n) != written:
			r.refuse(e.Range(), "Invalid protocols", "%s is not a protocol: these are whole numbers from 1. %s", text.Clip(written), restore)
		case len(all) > 0 && n == all[len(all)-1]:
			r.refuse(e.Range(), "Invalid protocols", "The protocol %d is given twice. %s", n, restore)
		case len(all) > 0 && n < all[len(all)-1]:
			r.refuse(e.Range(), "Invalid protocols", "The protocol %d stands after %d; protocols ascend. %s", n, all[len(all)-1], restore)
		default:
			all = append(all, n)
		}
	}
	return all
}

// normal reports whether written, which was read as what parsed prints, is
// spelt that way.
func (r *reader) normal(at hcl.Range, what, written, parsed string) bool {
	if written == parsed {
		return true
	}
	r.refuse(at, upperFirst(what)+" not in normal form", "The %s %s must be written %q. %s", what, text.Quote(written), parsed, restore)
	return false
}

// suggest ends a sentence about name, with what was probably meant instead.
func suggest(name string, known []string) string {
	nearest := text.Nearest(name, known)
	if nearest == "" {
		return "."
	}
	return "; did you mean " + strconv.Quote(nearest) + "?"
}

func contains(names []string, name string) bool { return slices.Contains(names, name) }

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
