package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// problem makes an error that points at rng.
func problem(summary string, rng hcl.Range, format string, args ...any) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  summary,
		Detail:   fmt.Sprintf(format, args...),
		Subject:  &rng,
	}
}

// fileRange points at a file as a whole: a diagnostic without a range prints
// as "<nil>".
func fileRange(name string) hcl.Range {
	return hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos}
}

// tidy sorts diagnostics by file and position, and drops repeated ones.
func tidy(diags hcl.Diagnostics) hcl.Diagnostics {
	if len(diags) == 0 {
		return nil
	}
	slices.SortStableFunc(diags, func(a, b *hcl.Diagnostic) int {
		return cmp.Or(compareRanges(subject(a), subject(b)), cmp.Compare(a.Severity, b.Severity),
			strings.Compare(a.Summary, b.Summary), strings.Compare(a.Detail, b.Detail))
	})
	return slices.CompactFunc(diags, func(a, b *hcl.Diagnostic) bool {
		return subject(a) == subject(b) && a.Severity == b.Severity && a.Summary == b.Summary && a.Detail == b.Detail
	})
}

func subject(d *hcl.Diagnostic) hcl.Range {
	if d.Subject == nil {
		return hcl.Range{}
	}
	return *d.Subject
}

func compareRanges(a, b hcl.Range) int {
	return cmp.Or(strings.Compare(a.Filename, b.Filename),
		cmp.Compare(a.Start.Byte, b.Start.Byte), cmp.Compare(a.End.Byte, b.End.Byte))
}

// didYouMean is a sentence for the end of a message, or "".
func didYouMean(suggestion string) string {
	if suggestion == "" {
		return ""
	}
	return fmt.Sprintf(" Did you mean %q?", suggestion)
}

// list joins names as prose does: "a", "a and b", "a, b and c".
func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// names lists things that have a text of their own.
func names[T fmt.Stringer](things []T) string {
	var texts []string
	for _, thing := range things {
		texts = append(texts, thing.String())
	}
	return list(texts)
}
