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

// times are the rounds of one side.
type times []time.Duration

func (t times) median() time.Duration { return slices.Sorted(slices.Values(t))[len(t)/2] }

// ratio compares two sides that were measured in turns. The result is the ratio
// of the medians; the detail has the ratio of the fastest rounds too, which a
// busy machine disturbs least, and the medians.
func ratio(b *testing.B, metric, what string, aim float64, ours, theirs times) {
	b.Helper()
	median := float64(ours.median()) / float64(theirs.median())
	fastest := float64(slices.Min(ours)) / float64(slices.Min(theirs))
	b.ReportMetric(0, "ns/op") // the time of the whole benchmark says nothing
	b.ReportMetric(median, metric)
	limit := ""
	if aim > 0 {
		limit = fmt.Sprintf("<= %.2f", aim)
	}
	results.add(what, fmt.Sprintf("%.2f x", median), limit, median <= aim,
		fmt.Sprintf("fastest rounds %.2f x; medians %s and %s of %d rounds", fastest, short(ours.median()), short(theirs.median()), len(ours)))
}

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
