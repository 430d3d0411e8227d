package config

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/pluginlock/plugins/addr"
)

// ToolRequirement is the required_version of a project.
type ToolRequirement struct {
	Constraint addr.Constraint // zero where the project has none
	Range      hcl.Range       // of its text
	// Unchecked is why the running tool was not compared with it; empty where
	// it was, or where there is nothing to compare.
	Unchecked string
}

// checkToolVersion compares required_version with the running tool, in every
// file that has it and before anything else is judged.
func (l *loader) checkToolVersion() hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, s := range l.sources {
		if !s.own {
			continue
		}
		for _, required := range requiredVersions(s) {
			diags = append(diags, l.compare(&required)...)
			if l.config.RequiredVersion.Constraint.IsZero() {
				l.config.RequiredVersion = required
			}
		}
	}
	return diags
}

// compare reports a required_version that the running tool does not satisfy.
func (l *loader) compare(required *ToolRequirement) hcl.Diagnostics {
	running, unknown := parseToolVersion(l.options.ToolVersion)
	if unknown != "" {
		required.Unchecked = unknown
		return nil
	}
	if required.Constraint.Allows(running) || required.Constraint.Allows(release(running)) {
		return nil
	}
	return hcl.Diagnostics{problem("Another version of the tool required", required.Range,
		"This project is for versions %s of plugins, and this is version %s. Install one that matches, or change required_version.",
		required.Constraint, running)}
}

// parseToolVersion reads the version that a build gives itself, or says why it
// has none. A build from a commit before any release is counted as 0.0.0 by
// Go, which would fail every requirement.
func parseToolVersion(s string) (running addr.Version, unknown string) {
	if s == "" || s == "(devel)" {
		return addr.Version{}, "this build of plugins has no version"
	}
	running, err := addr.ParseVersion(strings.TrimPrefix(s, "v"))
	if err != nil {
		return addr.Version{}, fmt.Sprintf("the version of this build of plugins, %q, is no release", s)
	}
	if release(running).String() == "0.0.0" {
		return addr.Version{}, fmt.Sprintf("this build of plugins, %s, is from before any release", running)
	}
	return running, ""
}

// release is v without pre-release and build: a candidate for 0.2.0 knows what
// 0.2.0 knows, and a build from a commit after 0.1.0 calls itself 0.1.1-0.
func release(v addr.Version) addr.Version {
	bare, err := addr.ParseVersion(fmt.Sprintf("%d.%d.%d", v.Major(), v.Minor(), v.Patch()))
	if err != nil {
		return v
	}
	return bare
}

// requiredVersions finds each required_version in a file that may hold syntax
// which this version of the tool does not know. Those that are no constraint
// are left to the decoder.
func requiredVersions(s source) []ToolRequirement {
	switch {
	case !bytes.Contains(s.text, []byte("required_version")):
		return nil
	case isJSON(s.path):
		return requiredVersionsOf(s.body)
	}
	tokens, _ := hclsyntax.LexConfig(s.text, s.path, hcl.InitialPos)
	return scanRequiredVersions(tokens)
}

// requiredVersionsOf reads them from a body, if there is one.
func requiredVersionsOf(body hcl.Body) []ToolRequirement {
	if body == nil {
		return nil
	}
	var found []ToolRequirement
	var d decoder // what it reports, the full decoding reports again
	content, _, _ := body.PartialContent(ownSchema())
	for _, block := range content.Blocks.OfType(pluginsType) {
		inner, _, _ := block.Body.PartialContent(pluginsSchema())
		attr := inner.Attributes["required_version"]
		if attr == nil {
			continue
		}
		if written, ok := d.text(attr.Expr, "required_version", ">= 0.1.0"); ok {
			found = appendConstraint(found, written, attr.Expr.Range())
		}
	}
	return found
}

// scanRequiredVersions looks for required_version = "…" directly within
// plugins { … } and passes over everything else.
func scanRequiredVersions(tokens hclsyntax.Tokens) []ToolRequirement {
	var found []ToolRequirement
	depth, inPlugins := 0, false
	for i, token := range tokens {
		switch token.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen,
			hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			if depth == 0 {
				inPlugins = i > 0 && isWord(tokens[i-1], pluginsType)
			}
			depth++
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenTemplateSeqEnd:
			depth = max(depth-1, 0)
		case hclsyntax.TokenIdent:
			if depth == 1 && inPlugins && isWord(token, "required_version") {
				found = appendAssigned(found, tokens[i+1:])
			}
		}
	}
	return found
}

func isWord(token hclsyntax.Token, word string) bool {
	return token.Type == hclsyntax.TokenIdent && string(token.Bytes) == word
}

// appendAssigned takes the text out of: = "text".
func appendAssigned(found []ToolRequirement, tokens hclsyntax.Tokens) []ToolRequirement {
	want := []hclsyntax.TokenType{hclsyntax.TokenEqual, hclsyntax.TokenOQuote, hclsyntax.TokenQuotedLit, hclsyntax.TokenCQuote}
	if len(tokens) < len(want) {
		return found
	}
	for i, t := range want {
		if tokens[i].Type != t {
			return found
		}
	}
	return appendConstraint(found, string(tokens[2].Bytes), hcl.RangeBetween(tokens[1].Range, tokens[3].Range))
}

func appendConstraint(found []ToolRequirement, written string, rng hcl.Range) []ToolRequirement {
	constraint, err := addr.ParseConstraint(written)
	if err != nil {
		return found
	}
	return append(found, ToolRequirement{Constraint: constraint, Range: rng})
}
