package config

import (
	"fmt"
	"math/big"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// A pair is one attribute of an object, in HCL or in JSON.
type pair struct {
	key      string
	keyRange hcl.Range
	value    hcl.Expression
}

// literal says what expr is, in words for a message: "a string", "a number",
// "a list" and so on. For a string, number or bool it returns the value too.
// Anything that needs evaluation is reported, and the word is "".
func (d *decoder) literal(expr hcl.Expression, what string) (cty.Value, string) {
	expr = unwrap(expr)
	if native, ok := expr.(hclsyntax.Expression); ok {
		return d.nativeLiteral(native, what)
	}
	if _, diags := hcl.ExprMap(expr); !diags.HasErrors() {
		return cty.NilVal, "an object"
	}
	if _, diags := hcl.ExprList(expr); !diags.HasErrors() {
		return cty.NilVal, "a list"
	}
	// JSON keeps templates in strings, and gives them back untouched where it
	// has no context to evaluate them in.
	value, diags := expr.Value(nil)
	switch {
	case diags.HasErrors() || !value.IsWhollyKnown():
		return d.refuse(expr.Range(), what, "an expression")
	case !value.IsNull() && value.Type() == cty.String && isTemplate(value.AsString()):
		return d.refuse(expr.Range(), what, "a template")
	}
	return value, typeName(value)
}

func (d *decoder) nativeLiteral(expr hclsyntax.Expression, what string) (cty.Value, string) {
	switch e := expr.(type) {
	case *hclsyntax.LiteralValueExpr:
		return e.Val, typeName(e.Val)
	case *hclsyntax.ObjectConsExpr:
		return cty.NilVal, "an object"
	case *hclsyntax.TupleConsExpr:
		return cty.NilVal, "a list"
	case *hclsyntax.TemplateExpr:
		if e.IsStringLiteral() {
			value, _ := e.Value(nil)
			return value, typeName(value)
		}
		return d.refuse(e.Range(), what, "a template")
	case *hclsyntax.TemplateWrapExpr:
		return d.refuse(e.Range(), what, "a template")
	case *hclsyntax.ScopeTraversalExpr:
		return d.refuse(e.Range(), what, "a variable")
	case *hclsyntax.FunctionCallExpr:
		return d.refuse(e.Range(), what, "a function call")
	case *hclsyntax.UnaryOpExpr:
		if number, ok := e.Val.(*hclsyntax.LiteralValueExpr); ok && e.Op == hclsyntax.OpNegate && number.Val.Type() == cty.Number {
			return number.Val.Negate(), "a number"
		}
	}
	return d.refuse(expr.Range(), what, "an expression")
}

// refuse reports a value that would have to be evaluated.
func (d *decoder) refuse(rng hcl.Range, what, kind string) (cty.Value, string) {
	var why string
	switch kind {
	case "a template":
		why = "\"${x}\" and the like are not evaluated here. Write the whole text."
	case "a variable":
		why = "none is known here. Write the value itself, and text in quotes."
	case "a function call":
		why = "none is known here. Write the value itself."
	default:
		why = "nothing is evaluated here. Write the value itself."
	}
	d.report("Value is not a literal", rng, "The %s can't be %s: %s", what, kind, why)
	return cty.NilVal, ""
}

// wrong reports a literal of another type than wanted.
func (d *decoder) wrong(rng hcl.Range, what, wanted, is string) {
	d.report("Value of the wrong type", rng, "The %s must be %s; this is %s.", what, wanted, is)
}

// text reads a string that is not empty.
func (d *decoder) text(expr hcl.Expression, what, example string) (string, bool) {
	value, is := d.literal(expr, what)
	if is == "a string" && value.AsString() == "" {
		is = "empty"
	}
	switch is {
	case "a string":
		return value.AsString(), true
	case "":
	default:
		d.wrong(expr.Range(), what, fmt.Sprintf("a non-empty string, such as %q", example), is)
	}
	return "", false
}

// elements reads a list.
func (d *decoder) elements(expr hcl.Expression, what, example string) ([]hcl.Expression, bool) {
	_, is := d.literal(expr, what)
	switch is {
	case "a list":
		elements, _ := hcl.ExprList(expr)
		if len(elements) > 0 {
			return elements, true
		}
		d.wrong(expr.Range(), what, "a list with at least one element, such as "+example, "empty")
	case "":
	default:
		d.wrong(expr.Range(), what, "a list, such as "+example, is)
	}
	return nil, false
}

// integer reads a whole number from least to most.
func (d *decoder) integer(expr hcl.Expression, what string, least, most int64) (int64, bool) {
	value, is := d.literal(expr, what)
	wanted := fmt.Sprintf("a whole number from %d to %d", least, most)
	switch is {
	case "a number":
		number, accuracy := value.AsBigFloat().Int64()
		if accuracy == big.Exact && least <= number && number <= most {
			return number, true
		}
		d.wrong(expr.Range(), what, wanted, value.AsBigFloat().Text('g', 20))
	case "":
	default:
		d.wrong(expr.Range(), what, wanted, is)
	}
	return 0, false
}

// boolean reads true or false.
func (d *decoder) boolean(expr hcl.Expression, what string) (value, ok bool) {
	v, is := d.literal(expr, what)
	switch is {
	case "a bool":
		return v.True(), true
	case "":
	default:
		d.wrong(expr.Range(), what, "true or false", is)
	}
	return false, false
}

// pairs reads the attributes of an object. A key that is set twice is an
// error: HCL would let the last one win. In JSON the key "//" is a comment.
func (d *decoder) pairs(expr hcl.Expression, what string) []pair {
	items, _ := hcl.ExprMap(expr)
	first := map[string]hcl.Range{}
	var pairs []pair
	for _, item := range items {
		key, ok := d.key(item.Key, what)
		if !ok || key == "//" && !isNative(expr) {
			continue
		}
		rng := item.Key.Range()
		if before, again := first[key]; again {
			d.report("Attribute set twice", rng, "The attribute %q of the %s is set already at %s. Delete one of the two.", key, what, before)
			continue
		}
		first[key] = rng
		pairs = append(pairs, pair{key, rng, item.Value})
	}
	return pairs
}

// key reads the name of an attribute, quoted or not.
func (d *decoder) key(expr hcl.Expression, what string) (string, bool) {
	if native, ok := expr.(*hclsyntax.ObjectConsKeyExpr); ok {
		if word := hcl.ExprAsKeyword(native.Wrapped); word != "" && !native.ForceNonLiteral {
			return word, true
		}
		expr = native.Wrapped
	}
	var quiet decoder // what it says of values does not fit keys
	value, is := quiet.literal(expr, what)
	if is == "a string" {
		return value.AsString(), true
	}
	d.report("Name is not a literal", expr.Range(),
		"The name of an attribute in the %s must be plain text. Put it in quotes if it has other characters than letters, digits, _ and -.", what)
	return "", false
}

// typeName names the type of a value as messages do.
func typeName(value cty.Value) string {
	switch {
	case value.IsNull():
		return "null"
	case value.Type() == cty.String:
		return "a string"
	case value.Type() == cty.Number:
		return "a number"
	case value.Type() == cty.Bool:
		return "a bool"
	}
	return "another type"
}

// isTemplate reports whether HCL would evaluate something in s.
func isTemplate(s string) bool {
	for i := 0; i+1 < len(s); i++ {
		if (s[i] == '$' || s[i] == '%') && s[i+1] == '{' {
			return true
		}
	}
	return false
}

// isNative reports whether expr is written in HCL's own syntax, not in JSON.
func isNative(expr hcl.Expression) bool {
	_, native := unwrap(expr).(hclsyntax.Expression)
	return native
}

// unwrap removes what a host program's own bodies put around an expression.
func unwrap(expr hcl.Expression) hcl.Expression {
	type wrapper interface{ UnwrapExpression() hcl.Expression }
	for {
		w, ok := expr.(wrapper)
		if !ok {
			return expr
		}
		expr = w.UnwrapExpression()
	}
}
