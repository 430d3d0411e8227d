package plugins

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"github.com/pluginlock/plugins/installer"
	"github.com/pluginlock/plugins/lock"
)

// Error is what the functions of this package return: every problem of a run.
type Error struct {
	Problems []Problem            // never empty
	Files    map[string]*hcl.File // the configuration, for excerpts
}

func (e *Error) Error() string {
	if len(e.Problems) == 1 {
		return e.Problems[0].Error()
	}
	return fmt.Sprintf("%s (and %d more)", e.Problems[0].Error(), len(e.Problems)-1)
}

// AsError returns err as an [*Error], in the form that messages are printed
// from, with the commands that help. Errors of other packages of this module,
// such as publish, become its only problem.
func AsError(err error) *Error {
	var all *Error
	if errors.As(err, &all) {
		return all
	}
	return &Error{Problems: []Problem{{Err: err, Hint: hints(err, "")}}}
}

// Unwrap reaches the typed causes.
func (e *Error) Unwrap() []error {
	errs := make([]error, len(e.Problems))
	for i := range e.Problems {
		errs[i] = &e.Problems[i]
	}
	return errs
}

// Diagnostics gives the problems in the form in which HCL tools print them.
func (e *Error) Diagnostics() hcl.Diagnostics {
	var diags hcl.Diagnostics
	for i := range e.Problems {
		diags = append(diags, e.Problems[i].Diagnostic(hcl.DiagError))
	}
	return diags
}

// Problem is one thing that went wrong, or that a user should know.
type Problem struct {
	Plugin  string     // "" where it is not about one plugin
	Source  string     // canonical, never a mirror
	Version string     // "" where none was selected
	Range   *hcl.Range // where in the user's files the cause is written, nil where nowhere
	Err     error      // typed: of getter, installer, lock, config
	Hint    [][]string // commands that help, as arguments
}

func (p *Problem) Error() string {
	message := p.Err.Error()
	var diagnostic *DiagnosticError
	if p.Plugin != "" && !errors.As(p.Err, &diagnostic) {
		message = fmt.Sprintf("plugin %q (%s): %s", p.Plugin, p.Source, p.cause())
	}
	if p.Range != nil {
		message = fmt.Sprintf("%s: %s", p.Range, message)
	}
	return message
}

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Err }

// Diagnostic gives the problem as a diagnostic of HCL.
func (p *Problem) Diagnostic(severity hcl.DiagnosticSeverity) *hcl.Diagnostic {
	var own *DiagnosticError
	if errors.As(p.Err, &own) {
		return own.Diagnostic
	}
	return &hcl.Diagnostic{Severity: severity, Summary: summary(p.Err), Subject: p.Range, Detail: p.detail()}
}

// detail says what happened to which plugin, and ends with the commands that
// help, each on a line of its own.
func (p *Problem) detail() string {
	var b strings.Builder
	cause := p.cause()
	if p.Plugin != "" {
		fmt.Fprintf(&b, "Plugin %q", p.Plugin)
		if !strings.Contains(cause, p.Version) {
			fmt.Fprintf(&b, " %s", p.Version)
		}
		if p.Source != "" {
			fmt.Fprintf(&b, " from %s", p.Source)
		}
		b.WriteString(": ")
	}
	b.WriteString(cause)
	if text := b.String(); !strings.Contains(text, "\n") && !strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "?") {
		b.WriteString(".")
	}
	if len(p.Hint) > 0 {
		lead, _ := advise(p.Err, p.Plugin)
		b.WriteString("\n\n" + cmp.Or(lead, "This helps") + ":\n")
	}
	for _, argv := range p.Hint {
		fmt.Fprintf(&b, "\n  %s", strings.Join(argv, " "))
	}
	return b.String()
}

// cause is the error's text as part of a sentence that has named plugin and
// source, or as a sentence of its own.
func (p *Problem) cause() string {
	var differs *installer.DifferenceError
	if errors.As(p.Err, &differs) {
		lines := []string{"These would change it:"}
		for _, c := range differs.Changes {
			lines = append(lines, "  "+c.String())
		}
		return strings.Join(lines, "\n")
	}
	switch { // Go's words for these mean nothing to most people
	case errors.Is(p.Err, context.Canceled):
		return "Stopped before everything was done."
	case errors.Is(p.Err, context.DeadlineExceeded):
		return "The time that was allowed for it is over."
	}
	cause := p.withoutSource(p.Err.Error())
	if file, ok := p.Err.(*fs.PathError); ok { //nolint:errorlint // deeper ones are part of a text of ours
		cause = fmt.Sprintf("cannot use %s: %v (%s)", file.Path, file.Err, file.Op)
	}
	cause = strings.TrimPrefix(cause, strings.ToLower(summary(p.Err))+": ") // it is the heading
	if p.Plugin != "" {
		return cause
	}
	return capitalised(cause)
}

// capitalised makes a sentence of a text, unless it begins with a name.
func capitalised(s string) string {
	word, _, _ := strings.Cut(s, " ")
	if strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) {
		return s
	}
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// withoutSource takes the source off an error's text, since the sentence has
// named it; a mirror stays.
func (p *Problem) withoutSource(text string) string {
	if p.Source == "" {
		return text
	}
	if rest, ok := strings.CutPrefix(text, p.Source+": "); ok {
		return rest
	}
	before, rest, ok := strings.Cut(text, p.Source+" (mirror ")
	if !ok {
		return strings.Replace(text, ": "+p.Source+": ", ": ", 1) // within what the installer says of it
	}
	mirror, rest, _ := strings.Cut(rest, "): ")
	if i := strings.Index(rest, mirror); i >= 0 { // a directory names itself
		return before + rest[:i] + "mirror " + rest[i:]
	}
	return fmt.Sprintf("%smirror %s: %s", before, mirror, rest)
}

// DiagnosticError is a problem of the user's text, as the parser found it.
type DiagnosticError struct {
	Diagnostic *hcl.Diagnostic
	Err        error // the typed cause, nil where there is none
}

func (e *DiagnosticError) Error() string {
	return fmt.Sprintf("%s; %s", e.Diagnostic.Summary, e.Diagnostic.Detail)
}

// Unwrap returns the typed cause.
func (e *DiagnosticError) Unwrap() error { return e.Err }

// problemsOf turns the diagnostics of one severity into problems. cause is what
// those stand for that do not carry an error themselves; nil for none.
func (r *run) problemsOf(diags hcl.Diagnostics, severity hcl.DiagnosticSeverity, cause error) []Problem {
	var problems []Problem
	for _, d := range diags {
		if d.Severity != severity {
			continue
		}
		err := cause
		if own, ok := d.Extra.(error); ok {
			err = own
		}
		if at := d.Subject; at != nil && at.Empty() && r.files[at.Filename] == nil {
			d.Subject = nil // a file that could not be read has no line to show
		}
		problems = append(problems, Problem{Range: d.Subject, Err: &DiagnosticError{d, err}})
	}
	return problems
}

// fail turns whatever went wrong into an [*Error]; nil stays nil.
func (r *run) fail(err error) error {
	if err == nil {
		return nil
	}
	return &Error{Problems: r.collect(err), Files: r.files}
}

func (r *run) collect(err error) []Problem {
	switch e := err.(type) { //nolint:errorlint // the outermost error decides the shape
	case hcl.Diagnostics:
		return r.problemsOf(e, hcl.DiagError, nil)
	case *lock.ParseError:
		return r.problemsOf(e.Diagnostics, hcl.DiagError, e)
	case installer.Problems:
		if interrupted(e) {
			return []Problem{{Err: e}}
		}
		var problems []Problem
		for _, p := range e {
			problems = append(problems, r.problem(p))
		}
		return problems
	}
	return []Problem{{Err: err, Hint: r.hints(err, "")}}
}

// interrupted reports whether nothing is wrong but that the run was stopped,
// which is no plugin's fault.
func interrupted(problems installer.Problems) bool {
	return !slices.ContainsFunc(problems, func(p *installer.Problem) bool {
		return !errors.Is(p, context.Canceled) && !errors.Is(p, context.DeadlineExceeded)
	})
}

// LockFileError means that what is in the place of the lock file cannot be read
// as a file. What is in the file is a [*lock.ParseError].
type LockFileError struct {
	Err error
}

func (e *LockFileError) Error() string { return e.Err.Error() }

// Unwrap returns what the file system said.
func (e *LockFileError) Unwrap() error { return e.Err }

// problem adds to an installer's problem where its requirement is written, and
// what to do about it.
func (r *run) problem(p *installer.Problem) Problem {
	full := Problem{Plugin: p.Plugin, Source: p.Source.String(), Version: p.Version, Err: p.Err, Hint: r.hints(p.Err, p.Plugin)}
	for _, req := range r.requirements {
		if req.Name != p.Plugin {
			continue
		}
		full.Source = cmp.Or(full.Source, req.Source)
		if req.Range.Filename != "" {
			full.Range = tightest(&req, p.Err)
		}
	}
	return full
}

// tightest picks the part of a requirement that an error is about.
func tightest(req *Requirement, err error) *hcl.Range {
	var noMatch *installer.NoMatchError
	var unsuitable *installer.UnsuitableError
	if errors.As(err, &noMatch) || errors.As(err, &unsuitable) {
		return &req.VersionRange
	}
	return &req.SourceRange
}
