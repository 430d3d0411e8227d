package config

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// HCL's parser descends for each bracket and operator, and Go ends a program
// whose stack is exhausted: a file of 256 KiB of "[" does that. These bounds
// keep it under a tenth of the stack.
const (
	maxDepth     = 500    // brackets within each other
	maxOperators = 10_000 // prefix operators, conditions and template directives in one file
)

// tooDeep reports whether text must be kept from the parser. Counting bytes
// settles it for every ordinary file.
func tooDeep(text []byte, name string) bool {
	if count(text, "[{(") <= maxDepth && count(text, "-!?%") <= maxOperators {
		return false
	}
	if isJSON(name) {
		return jsonDepth(text) > maxDepth
	}
	tokens, _ := hclsyntax.LexConfig(text, name, hcl.InitialPos)
	return tokensTooDeep(tokens)
}

func count(text []byte, chars string) int {
	n := 0
	for _, char := range []byte(chars) {
		n += bytes.Count(text, []byte{char})
	}
	return n
}

func tokensTooDeep(tokens hclsyntax.Tokens) bool {
	depth, operators := 0, 0
	for _, token := range tokens {
		switch token.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenTemplateInterp:
			depth++
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen:
			depth--
		case hclsyntax.TokenTemplateControl:
			depth++
			operators++
		case hclsyntax.TokenTemplateSeqEnd:
			depth--
		case hclsyntax.TokenMinus, hclsyntax.TokenBang, hclsyntax.TokenQuestion:
			operators++
		}
		if depth > maxDepth || operators > maxOperators {
			return true
		}
		// A closing bracket too many ends nothing that the parser has opened.
		depth = max(depth, 0)
	}
	return false
}

// jsonDepth returns how deeply brackets are nested outside of strings.
func jsonDepth(text []byte) int {
	depth, deepest, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch char := text[i]; {
		case quoted && char == '\\':
			i++
		case char == '"':
			quoted = !quoted
		case quoted:
		case char == '[' || char == '{':
			depth++
			deepest = max(deepest, depth)
		case char == ']' || char == '}':
			depth = max(depth-1, 0)
		}
	}
	return deepest
}
