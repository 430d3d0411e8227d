package addr

import (
	"fmt"
	"math"
	"strings"

	"github.com/pluginlock/plugins/internal/text"
)

// This file explains terms that other tools understand, or that are nearly
// right, and finds the term that was meant.

// misspelt returns what is wrong with a term before its version is read.
func misspelt(whole, sign, version string, known bool) *problem {
	switch {
	case whole == "":
		return &problem{reason: "has an empty term; there is a comma too many, or a term is missing"}
	case strings.Contains(whole, "||"):
		return &problem{reason: `has alternatives; only "and" can be said, by a comma`}
	case !known:
		return &problem{fmt.Sprintf("has the unknown operator %s; known are =, !=, >, >=, <, <= and ~>", text.Quote(sign)), valid(repairOperator(sign, version))}
	case version == "":
		return &problem{reason: "has no version after its operator"}
	case strings.ContainsAny(version, blanks):
		return &problem{"has a blank inside a version; terms are separated by commas", valid(insertCommas(whole))}
	case version[0] == 'v' || version[0] == 'V':
		if len(version) > 1 && version[1] >= '0' && version[1] <= '9' {
			return &problem{"has a v before the version; tags may have one, constraints are written without", valid(sign + " " + version[1:])}
		}
	}
	if head, build, found := strings.Cut(version, "_"); found && !strings.Contains(version, "+") {
		return &problem{"writes build metadata as a tag does; a version has a plus sign", valid(sign + " " + head + "+" + build)}
	}
	if version == "latest" {
		return &problem{"is a tag that moves, not a version", valid(repairWildcard(sign, ""))}
	}
	if numbers, isWildcard := wildcard(version); isWildcard {
		return &problem{"has a wildcard; ranges are written with ~> or >=", valid(repairWildcard(sign, numbers))}
	}
	return nil
}

// valid returns the term or terms that text stands for: itself where it is
// right, else what it could be repaired to, else nothing. Each repair brings
// the text nearer to a term, so that this comes to an end.
func valid(text string) []string {
	if text == "" {
		return nil
	}
	c, err := parseConstraint(text)
	if err != nil {
		return err.Suggestions
	}
	return []string{c.String()}
}

// repairOperator gives the nearest known operators to those of other tools.
func repairOperator(sign, text string) string {
	switch sign {
	case "==", "===":
		return text
	case "=>":
		return ">= " + text
	case "=<":
		return "<= " + text
	case "<>", "!", "!==":
		return "!= " + text
	case "~", "~=", "~>=":
		return "~> " + text
	case "^":
		return repairCaret(text)
	}
	return ""
}

// repairCaret says what ^1.2.3 means; what ^0.2.3 means differs between tools.
func repairCaret(text string) string {
	version, count, reason := parsePartial(strings.TrimPrefix(text, "v"))
	switch {
	case reason != "" || version.major == 0 || version.major == math.MaxUint64:
		return ""
	case count < 3:
		return fmt.Sprintf("~> %d.%d", version.major, version.minor)
	}
	return fmt.Sprintf(">= %s, < %d.0.0", version, version.major+1)
}

// insertCommas sets a comma before each operator that follows a blank, and
// writes "1.0.0 - 2.0.0" as two terms.
func insertCommas(s string) string {
	if low, high, found := strings.Cut(s, " - "); found {
		return ">= " + low + ", <= " + high
	}
	var fixed []string
	for field := range strings.FieldsSeq(s) {
		last := len(fixed) - 1
		switch {
		case last >= 0 && strings.Trim(fixed[last], "=!<>~^") == "":
			fixed[last] += " " + field
		case last >= 0 && !strings.ContainsAny(field[:1], "=!<>~^"):
			return ""
		default:
			fixed = append(fixed, field)
		}
	}
	if len(fixed) < 2 {
		return ""
	}
	return strings.Join(fixed, ", ")
}

// wildcard reports whether text is * or x, or numbers followed by that, and
// returns the numbers.
func wildcard(text string) (numbers string, found bool) {
	for strings.HasSuffix(text, "*") || strings.HasSuffix(strings.ToLower(text), "x") {
		text, found = strings.TrimSuffix(text[:len(text)-1], "."), true
	}
	if text == "" {
		return "", found
	}
	_, _, reason := parseNumbers(text)
	return text, found && reason == ""
}

// repairWildcard says with ~> what 1.x and 1.2.* mean.
func repairWildcard(sign, numbers string) string {
	switch {
	case sign != "" && sign != "=" && sign != "~>":
		return ""
	case numbers == "":
		return ">= 0.0.0"
	}
	return "~> " + numbers + ".0"
}

// repairVersion strips leading zeros and fills in the numbers that a
// pre-release needs.
func repairVersion(sign, text string) string {
	end := strings.IndexAny(text, "-+")
	if end < 0 {
		end = len(text)
	}
	numbers := strings.Split(text[:end], ".")
	if len(numbers) > 3 {
		return ""
	}
	for i, n := range numbers {
		if !digits(n) {
			return ""
		}
		if numbers[i] = strings.TrimLeft(n, "0"); numbers[i] == "" {
			numbers[i] = "0"
		}
	}
	for end < len(text) && len(numbers) < 3 {
		numbers = append(numbers, "0")
	}
	fixed := strings.Join(numbers, ".") + text[end:]
	if fixed == text {
		return ""
	}
	return sign + " " + fixed
}

// complete fills in the numbers that an exact term lacks, and offers the range
// that it was more likely meant to be.
func complete(op operator, v Version, count int) []string {
	exact := term{op, v, 3}.String()
	if op == notEqual {
		return []string{exact}
	}
	return []string{term{pessimistic, v, count + 1}.String(), exact}
}
