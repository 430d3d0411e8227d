package lock

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// The parser calls itself for each bracket and operator, at 5 KiB of stack each,
// and a program whose stack is used up cannot go on. A lock file needs three
// levels.
const (
	maxNesting = 100
	harmless   = 10_000 // so many can be nested without harm
)

// checkNesting refuses what the parser would not survive. Counting bytes
// settles it for every ordinary file, without a second run of the lexer.
func checkNesting(src []byte, filename string) *hcl.Diagnostic {
	candidates := 0
	for _, c := range []string{"{", "[", "(", "!", "-", "?"} {
		candidates += bytes.Count(src, []byte(c))
	}
	if candidates <= harmless {
		return nil
	}
	tokens, _ := hclsyntax.LexConfig(src, filename, hcl.InitialPos)
	deep := tooDeep(tokens)
	if deep == nil {
		return nil
	}
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Not a lock file",
		Detail:   detail("This is nested deeper than anything in a lock file. %s", restoreFile),
		Subject:  deep,
	}
}

// tooDeep returns where the nesting goes beyond what is allowed, or nil.
func tooDeep(tokens hclsyntax.Tokens) *hcl.Range {
	depth, operators := 0, 0
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen,
			hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			depth++
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd:
			depth = max(depth-1, 0) // one too many closes nothing
		case hclsyntax.TokenBang, hclsyntax.TokenMinus, hclsyntax.TokenQuestion:
			operators++
		}
		if depth > maxNesting || operators > maxNesting {
			return t.Range.Ptr()
		}
	}
	return nil
}
