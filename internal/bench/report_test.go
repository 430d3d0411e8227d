package bench

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"text/tabwriter"
	"time"
)

// results is printed when all benchmarks are done.
var results table

// table is what was measured, a line each.
type table struct {
	mu   sync.Mutex
	rows []row
}

type row struct {
	what, got, aim, verdict, detail string
}

func (r *table) add(what, got, aim string, met bool, detail string) {
	verdict := "met"
	switch {
	case aim == "":
		verdict = ""
	case !met:
		verdict = "MISSED"
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows = append(r.rows, row{what, got, aim, verdict, detail})
}

func (r *table) print(w io.Writer) {
	if len(r.rows) == 0 {
		return
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "measured\tgot\taim\t\tdetail")
	for _, row := range r.rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", row.what, row.got, row.aim, row.verdict, row.detail)
	}
	_ = t.Flush()
}

// side is the rounds of one side of a comparison.
type side struct{ wall, cpu []time.Duration }

// add takes the time of all commands that were launched together.
func (s *side) add(r report) {
	var cpu time.Duration
	for _, o := range r.Outcomes {
		cpu += o.CPU
	}
	s.wall, s.cpu = append(s.wall, r.Total), append(s.cpu, cpu)
}

func median(t []time.Duration) time.Duration { return slices.Sorted(slices.Values(t))[len(t)/2] }

// ratio compares two sides that were measured in turns. The result is the ratio
// of the medians. The detail tells what helps to judge it: the medians
// themselves; the ratio of the fastest rounds, which a busy machine disturbs
// least; and that of the processor time, which waiting does not count in. On a
// machine that is busy with other things the last is the one to look at: there
// a program of a millisecond is over before it has to wait for its turn, and
// any longer one is not.
func ratio(b *testing.B, metric, what string, aim float64, ours, theirs side) {
	b.Helper()
	result := quotient(median(ours.wall), median(theirs.wall))
	b.ReportMetric(0, "ns/op") // the time of the whole benchmark says nothing
	b.ReportMetric(result, metric)
	limit := ""
	if aim > 0 {
		limit = fmt.Sprintf("<= %.2f", aim)
	}
	results.add(what, fmt.Sprintf("%.2f x", result), limit, result <= aim,
		fmt.Sprintf("%s / %s in %d rounds; fastest rounds %.2f x; processor time %.2f x",
			short(median(ours.wall)), short(median(theirs.wall)), len(ours.wall),
			quotient(slices.Min(ours.wall), slices.Min(theirs.wall)), quotient(median(ours.cpu), median(theirs.cpu))))
}

func quotient(a, b time.Duration) float64 { return float64(a) / float64(max(b, 1)) }

// memory compares a peak with a bound, both in bytes.
func memory(b *testing.B, metric, what string, bound, got int64, detail string) {
	b.Helper()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(got)/(1<<20), metric)
	results.add(what, fmt.Sprintf("%.1f MiB", float64(got)/(1<<20)), fmt.Sprintf("< %d MiB", bound>>20), got < bound, detail)
}

// count compares a number with what it has to be.
func count(b *testing.B, metric, what string, want, got int, detail string) {
	b.Helper()
	b.ReportMetric(float64(got), metric)
	results.add(what, fmt.Sprint(got), fmt.Sprintf("= %d", want), got == want, detail)
}

// short prints a duration with three digits at most.
func short(d time.Duration) string {
	switch {
	case d >= 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= 10*time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}
