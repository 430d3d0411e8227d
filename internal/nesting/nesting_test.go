package nesting

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
)

const depth = 100

func TestFind(t *testing.T) {
	many := func(s string) string { return strings.Repeat(s, maxOperators+1) }
	for name, test := range map[string]struct {
		text string
		deep bool
	}{
		"lists": {"x = " + many("["), true}, "objects": {"x = " + many("{a="), true},
		"parentheses": {"x = " + many("("), true}, "calls": {"x = " + many("f("), true},
		"blocks": {many("a {\n"), true}, "templates": {"x = " + many(`"${`), true},
		"directives": {`x = "` + many("%{ if a }"), true}, "for": {"x = " + many("[for x in "), true},
		"minus": {"x = " + many("-"), true}, "not": {"x = " + many("!"), true}, "conditions": {"x = " + many("a ? b : "), true},
		"closed before they are opened": {"x = " + many("]") + many("["), true},
		"as deep as allowed":            {"x = " + strings.Repeat("[", depth) + strings.Repeat("]", depth), false},
		"one deeper":                    {"x = " + strings.Repeat("[", depth+1), true},
		"side by side":                  {"x = [" + many("[], ") + "]", false},
		"closed at once":                {"x = " + many("[]"), false},
		"in comments":                   {many("# [{(!-\n"), false},
		"in text":                       {`x = "` + many("[{(!-?") + `"`, false},
		"in a heredoc":                  {"x = <<END\n" + many("[\n") + "END\n", false},
		"empty":                         {"", false},
		"signs in one string":           {`x = "` + strings.Repeat("$ ", maxSigns+1) + `"`, true},
		"signs in a heredoc":            {"x = <<END\n" + strings.Repeat("$\n", maxSigns+1) + "END\n", true},
	} {
		at := Find([]byte(test.text), "f.hcl", depth)
		if (at != nil) != test.deep {
			t.Errorf("%s: found %v", name, at)
		}
		if at == nil {
			_, _ = hclsyntax.ParseConfig([]byte(test.text), "f.hcl", hcl.InitialPos) // survives
		}
	}
}

func TestFindJSON(t *testing.T) {
	many := func(s string) string { return strings.Repeat(s, depth+1) }
	for name, test := range map[string]struct {
		text string
		deep bool
	}{
		"lists": {many("["), true}, "objects": {many(`{"a":`), true}, "mixed": {many(`[{"a":`), true},
		"closed before they are opened": {many("]") + many("["), true},
		"after an escaped quote":        {`{"a": "\"", "b": ` + many("["), true},
		"as deep as allowed":            {strings.Repeat("[", depth), false},
		"side by side":                  {"[" + many("[],") + "[]]", false},
		"in text":                       {`"` + many("[") + `"`, false},
		"in text after a quote":         {`"\"` + many("[") + `"`, false},
		"open text":                     {`"` + many("["), false},
		"escape at the end":             {`"\`, false},
		"minus":                         {strings.Repeat("-", maxOperators+1), false},
	} {
		at := FindJSON([]byte(test.text), "f.json", depth)
		if (at != nil) != test.deep {
			t.Errorf("%s: found %v", name, at)
		}
	}
}

func TestRanges(t *testing.T) {
	at := Find([]byte("a = 1\nä = [[[["), "f.hcl", 2)
	if at == nil || at.String() != "f.hcl:2,7-8" || at.Start.Byte != 13 {
		t.Errorf("HCL: %v", at)
	}
	at = FindJSON([]byte("{\n\"ä\": [["), "f.json", 2)
	if at == nil || at.String() != "f.json:2,7-8" || at.Start.Byte != 9 {
		t.Errorf("JSON: %v", at)
	}
}

// FuzzFind holds both to what they are for: whatever they let through, the
// parsers survive.
func FuzzFind(f *testing.F) {
	f.Add([]byte("x = [[-!a ? b : \"${c}%{ if d }\"]]"))
	f.Add([]byte(`{"a": ["\"[", {}]}`))
	f.Add([]byte("a {\n}\n}}}((("))
	f.Fuzz(func(t *testing.T, text []byte) {
		if at := Find(text, "f.hcl", depth); at == nil {
			_, _ = hclsyntax.ParseConfig(text, "f.hcl", hcl.InitialPos)
		} else if at.Start.Byte >= len(text) {
			t.Errorf("%v is beyond the text", at)
		}
		if at := FindJSON(text, "f.json", depth); at == nil {
			_, _ = json.Parse(text, "f.json")
		} else if c := text[at.Start.Byte]; c != '[' && c != '{' {
			t.Errorf("%v is %q", at, c)
		}
	})
}
