package cmd

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// table is rows under a heading, in columns.
type table struct {
	rows [][]string
}

func newTable(heading ...string) *table { return &table{rows: [][]string{heading}} }

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

// table prints t unless it has no rows.
func (p *printer) table(t *table) {
	if p.quiet || len(t.rows) == 1 {
		return
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range t.rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	_ = w.Flush()
	for line := range strings.Lines(b.String()) {
		fmt.Fprintln(p, strings.TrimRight(line, " \n"))
	}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// shortDigest cuts a digest to what tells it apart for a person.
func shortDigest(d string) string {
	const shown = len("sha256:") + 12
	if len(d) <= shown {
		return d
	}
	return d[:shown]
}
