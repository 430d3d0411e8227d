package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/pluginlock/plugins"
)

// printer writes what one command has to say: results to standard output, the
// rest to standard error; with --json one document and nothing else to standard
// output.
type printer struct {
	out, errOut io.Writer
	terminal    bool // errOut is one
	quiet, json bool
	printed     bool  // the document was written
	lost        error // what kept a part of the result from being written
}

// Write writes to standard output. Nobody looks at its error where a line is
// printed; finish does.
func (p *printer) Write(b []byte) (int, error) {
	n, err := p.out.Write(b)
	if p.lost == nil {
		p.lost = err
	}
	return n, err
}

// line prints a line of the result.
func (p *printer) line(format string, args ...any) {
	if !p.json && !p.quiet {
		fmt.Fprintf(p, format+"\n", args...)
	}
}

// result prints what the command was asked for, also with --quiet.
func (p *printer) result(s string) { fmt.Fprintln(p, s) }

// note prints a line beside the result.
func (p *printer) note(format string, args ...any) {
	if !p.quiet {
		fmt.Fprintf(p.errOut, format+"\n", args...)
	}
}

// document prints the JSON document of a command.
func (p *printer) document(v any) {
	p.printed = true
	encoder := json.NewEncoder(p)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(v)
}

// finish reports how a command ended, and returns that: a result that could not
// be written is a failure, too.
func (p *printer) finish(c *cobra.Command, err error) error {
	if p.json && !p.printed && err != nil {
		p.document(struct {
			Errors []problemDocument `json:"errors"`
		}{problemDocuments(err)})
	}
	var usage *usageError
	var silent *silentError
	if p.lost != nil && (err == nil || errors.As(err, &silent)) {
		err = p.lost
	}
	switch {
	case err == nil || errors.As(err, &silent):
	case errors.As(err, &usage):
		usage.reported = true
		printUsageError(p.errOut, c, usage)
	default:
		p.failure(err)
	}
	return err
}

func printUsageError(w io.Writer, c *cobra.Command, usage *usageError) {
	fmt.Fprintf(w, "Error: %v\n\nSee '%s --help'.\n", usage, c.CommandPath())
}

// failure prints an error, each problem as a diagnostic with an excerpt of the
// file it is about.
func (p *printer) failure(err error) {
	all := plugins.AsError(err)
	p.diagnostics(all.Diagnostics(), all.Files)
}

// warnings prints what a user should know though it is no failure.
func (p *printer) warnings(result *plugins.Result) {
	if p.quiet {
		return
	}
	var diags hcl.Diagnostics
	for i := range result.Warnings {
		diags = append(diags, result.Warnings[i].Diagnostic(hcl.DiagWarning))
	}
	p.diagnostics(diags, result.Files)
}

func (p *printer) diagnostics(diags hcl.Diagnostics, files map[string]*hcl.File) {
	color := p.terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	writer := hcl.NewDiagnosticTextWriter(p.errOut, files, 0, color)
	bare := hcl.NewDiagnosticTextWriter(p.errOut, nil, 0, color)
	for i, d := range diags {
		if i >= mostExcerpts || hasLongLine(files, d.Subject) || hasLongLine(files, d.Context) {
			_ = bare.WriteDiagnostic(d)
			continue
		}
		_ = writer.WriteDiagnostic(d)
	}
}

// mostExcerpts is how many problems are shown with an excerpt. HCL reads the
// whole file again for each, which takes minutes where a big file has thousands.
const mostExcerpts = 100

// longestLine is how many bytes a line of an excerpt may have: longer ones are
// written by programs, and would fill the screen in place of the message.
const longestLine = 500

// hasLongLine reports whether one of the lines of a range is too long to show.
func hasLongLine(files map[string]*hcl.File, at *hcl.Range) bool {
	if at == nil || files[at.Filename] == nil || at.End.Byte > len(files[at.Filename].Bytes) {
		return false
	}
	src := files[at.Filename].Bytes
	start := bytes.LastIndexByte(src[:at.Start.Byte], '\n') + 1
	end := len(src)
	if i := bytes.IndexByte(src[at.End.Byte:], '\n'); i >= 0 {
		end = at.End.Byte + i
	}
	for line := range bytes.SplitSeq(src[start:end], []byte("\n")) {
		if len(line) > longestLine {
			return true
		}
	}
	return false
}

// draws reports whether bars can be drawn on standard error: on a terminal that
// can move its cursor and has a size.
func (p *printer) draws() bool {
	f, ok := p.errOut.(*os.File)
	if !ok || !p.terminal || os.Getenv("TERM") == "dumb" {
		return false
	}
	width, height, err := term.GetSize(int(f.Fd()))
	return err == nil && width > 0 && height > 0
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// problemDocument is a problem in a JSON document.
type problemDocument struct {
	Plugin  string     `json:"plugin,omitempty"`
	Source  string     `json:"source,omitempty"`
	Version string     `json:"version,omitempty"`
	Summary string     `json:"summary"`
	Detail  string     `json:"detail,omitempty"`
	File    string     `json:"file,omitempty"`
	Line    int        `json:"line,omitempty"`
	Column  int        `json:"column,omitempty"`
	Hint    [][]string `json:"hint,omitempty"`
}

// problemDocuments lists the problems of an error; never nil, so that it is
// [] in JSON.
func problemDocuments(err error) []problemDocument {
	if err == nil {
		return []problemDocument{}
	}
	documents := documentsOf(plugins.AsError(err).Problems)
	var usage *usageError
	if errors.As(err, &usage) {
		documents[0].Summary = "Wrong usage"
	}
	return documents
}

func documentsOf(problems []plugins.Problem) []problemDocument {
	documents := make([]problemDocument, 0, len(problems))
	for i := range problems {
		problem := &problems[i]
		diagnostic := problem.Diagnostic(hcl.DiagError)
		d := problemDocument{
			Plugin: problem.Plugin, Source: problem.Source, Version: problem.Version,
			Summary: diagnostic.Summary, Detail: strings.TrimSpace(diagnostic.Detail), Hint: problem.Hint,
		}
		if at := diagnostic.Subject; at != nil {
			d.File, d.Line, d.Column = at.Filename, at.Start.Line, at.Start.Column
		}
		documents = append(documents, d)
	}
	return documents
}
