// Package nesting keeps text from HCL's parsers that they would not survive:
// they call themselves for each bracket and operator, at about 5 KiB of stack
// each, and Go ends a program whose stack is used up. Half a megabyte of "["
// does that. The dollar and percent signs of one string cost them the square
// of their number in time; a megabyte of those takes minutes.
//
// It judges nothing else about the text. Start at [Find].
package nesting

import (
	"bytes"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// maxOperators is how many prefix operators, conditions and template directives
// one file may have; their stack stays under a tenth of what Go allows. Which
// of them are nested only the parser knows, so all are counted.
const maxOperators = 10_000

// maxSigns is how many dollar and percent signs one file may have; they take
// the parser a second.
const maxSigns = 10_000

// Find returns where text opens more than depth brackets within each other or
// has too many operators, and nil where the parser can have it. Text is in
// HCL's own syntax; the file name is for the range.
func Find(text []byte, filename string, depth int) *hcl.Range {
	if at := excessSign(text); at >= 0 {
		return rangeOf(text, at, filename)
	}
	// Counting bytes settles it for every ordinary file, without a second run
	// of the lexer.
	if count(text, "[{(") <= depth && count(text, "-!?%") <= maxOperators {
		return nil
	}
	tokens, _ := hclsyntax.LexConfig(text, filename, hcl.InitialPos)
	return findToken(tokens, depth)
}

func count(text []byte, chars string) int {
	n := 0
	for _, char := range []byte(chars) {
		n += bytes.Count(text, []byte{char})
	}
	return n
}

func findToken(tokens hclsyntax.Tokens, depth int) *hcl.Range {
	open, operators := 0, 0
	for _, token := range tokens {
		switch token.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen, hclsyntax.TokenTemplateInterp:
			open++
		case hclsyntax.TokenTemplateControl:
			open++
			operators++
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd:
			open = max(open-1, 0) // one too many ends nothing that the parser has opened
		case hclsyntax.TokenMinus, hclsyntax.TokenBang, hclsyntax.TokenQuestion:
			operators++
		}
		if open > depth || operators > maxOperators {
			return &token.Range
		}
	}
	return nil
}

// excessSign returns where text goes beyond maxSigns, or -1.
func excessSign(text []byte) int {
	signs := 0
	for i, char := range text {
		if char == '$' || char == '%' {
			if signs++; signs > maxSigns {
				return i
			}
		}
	}
	return -1
}

// FindJSON is [Find] for the JSON syntax, which has no operators.
func FindJSON(text []byte, filename string, depth int) *hcl.Range {
	if at := excessSign(text); at >= 0 {
		return rangeOf(text, at, filename)
	}
	open, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch char := text[i]; {
		case quoted && char == '\\':
			i++
		case char == '"':
			quoted = !quoted
		case quoted:
		case char == '[' || char == '{':
			if open++; open > depth {
				return rangeOf(text, i, filename)
			}
		case char == ']' || char == '}':
			open = max(open-1, 0)
		}
	}
	return nil
}

// rangeOf is the range of the byte at offset.
func rangeOf(text []byte, offset int, filename string) *hcl.Range {
	line := bytes.LastIndexByte(text[:offset], '\n') + 1
	start := hcl.Pos{
		Line:   bytes.Count(text[:offset], []byte("\n")) + 1,
		Column: utf8.RuneCount(text[line:offset]) + 1,
		Byte:   offset,
	}
	end := hcl.Pos{Line: start.Line, Column: start.Column + 1, Byte: offset + 1}
	return &hcl.Range{Filename: filename, Start: start, End: end}
}
