package lock

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// ErrNewerFormat is what [ParseError] matches where the file was written by a
// newer version of the tool, in a format that this one does not know.
var ErrNewerFormat = errors.New("lock was written by a newer version")

// ParseError is a lock file that was refused. It matches [ErrConflict] and
// [ErrNewerFormat] where that is the reason.
type ParseError struct {
	Diagnostics hcl.Diagnostics // at least one error, each with a Subject, in the order of the file
}

// Error returns the first problem and how many more there are.
func (e *ParseError) Error() string { return e.Diagnostics.Error() }

// Unwrap returns the sentinel errors that apply.
func (e *ParseError) Unwrap() []error {
	var all []error
	for _, d := range e.Diagnostics {
		if r, ok := hcl.DiagnosticExtra[refusal](d); ok {
			all = append(all, r.reason)
		}
	}
	return all
}

// IsNewerFormat reports whether Parse refused the file because a newer version
// of the tool wrote it.
func IsNewerFormat(diags hcl.Diagnostics) bool {
	return errors.Is(&ParseError{Diagnostics: diags}, ErrNewerFormat)
}

// refusal is the Extra of a diagnostic that refuses the file as a whole.
type refusal struct{ reason error }

// What to do about an entry, a file, or a part that cannot be read.
const (
	restore     = "Restore the file from version control, or delete this entry and have it resolved anew with:\n\n  plugins init"
	restoreFile = "Restore the file from version control, or delete it and write a new one with:\n\n  plugins lock"
	deleteIt    = "Delete it, or restore the file from version control."
)

func detail(format string, args ...any) string { return fmt.Sprintf(format, args...) }

// more says that there are n other problems of the kind just named.
func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", n)
}

// unite joins diagnostics in the order of the file, each once.
func unite(all ...hcl.Diagnostics) hcl.Diagnostics {
	diags := slices.Concat(all...)
	slices.SortStableFunc(diags, func(a, b *hcl.Diagnostic) int {
		return cmp.Or(
			cmp.Compare(a.Subject.Start.Byte, b.Subject.Start.Byte),
			cmp.Compare(a.Subject.End.Byte, b.Subject.End.Byte),
			cmp.Compare(a.Summary, b.Summary),
		)
	})
	return slices.CompactFunc(diags, func(a, b *hcl.Diagnostic) bool {
		return *a.Subject == *b.Subject && a.Summary == b.Summary && a.Detail == b.Detail
	})
}
