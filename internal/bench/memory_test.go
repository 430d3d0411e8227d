package bench

import (
	"fmt"
	"slices"
	"testing"

	"github.com/pluginlock/plugins/internal/imagetest"
)

const mib = 1 << 20

// BenchmarkMemory measures the peak of the command's memory.
func BenchmarkMemory(b *testing.B) {
	if peak := launch(b, 1, command{Args: []string{build(b).empty}}).Outcomes[0].Peak; peak == 0 {
		b.Skip("the system does not tell the peak of a process's memory in a unit known here")
	}
	b.Run("ten", func(b *testing.B) {
		c := largePlugins(b)
		peaks := peaksOf(b, 3, func(dir string) command { return c.project(b, dir, true).command("init", "--locked") })
		memory(b, "MiB", "peak memory, ten plugins, cold and locked", 48*mib, slices.Max(peaks), spread(peaks))
	})
	b.Run("gigabyte", benchmarkGigabyte)
	b.Run("tags", benchmarkTags)
}

// peaksOf runs a command in a new folder, several times.
func peaksOf(b *testing.B, rounds int, make func(dir string) command) (peaks []int64) {
	b.Helper()
	for range rounds {
		in(b, func(dir string) { peaks = append(peaks, launch(b, 1, make(dir)).Outcomes[0].Peak) })
	}
	return peaks
}

func spread(peaks []int64) string {
	return fmt.Sprintf("%.1f to %.1f MiB in %d runs", float64(slices.Min(peaks))/mib, float64(slices.Max(peaks))/mib, len(peaks))
}

// benchmarkGigabyte compares one plugin of a gigabyte with one of 20 MB.
func benchmarkGigabyte(b *testing.B) {
	r := newRegistry(b)
	defer remove(b, r.dir)
	piece := make([]byte, 20*mib)
	_, _ = newCode(1).Read(piece)
	peaks := map[string][]int64{}
	for _, plugin := range []struct {
		name   string
		pieces int
	}{{"small", 1}, {"big", 51}} {
		l, err := writeLarge(r.dir, plugin.name, hostPlatform, piece, plugin.pieces)
		if err != nil {
			b.Fatal(err)
		}
		r.add(b, l.name, l.image(b, version, hostPlatform), version)
		peaks[l.name] = peaksOf(b, 2, func(dir string) command {
			return newProject(b, dir, r.host, []string{l.name}).command("init")
		})
	}
	more := slices.Max(peaks["big"]) - slices.Max(peaks["small"])
	memory(b, "MiB-more", "peak memory, one plugin of 1 GB less that of one of 20 MB", 8*mib, more,
		"1 GB: "+spread(peaks["big"])+"; 20 MB: "+spread(peaks["small"]))
}

// benchmarkTags resolves a constraint in a repository of 10,000 releases: in a
// registry that gives them at once, and in one that gives a thousand at a time.
func benchmarkTags(b *testing.B) {
	const tags = 10_000
	for _, page := range []int{0, 1000} {
		r := newRegistry(b)
		r.page = page
		plugin := imagetest.Plugin{Name: "tagged", Version: version, Platforms: []string{hostPlatform}}.Build(b)
		r.add(b, "tagged", plugin, version)
		for i := range tags - 1 {
			r.lists["tagged"] = append(r.lists["tagged"], fmt.Sprintf("0.%d.%d", i/100, i%100))
		}
		peaks := peaksOf(b, 1, func(dir string) command { return newProject(b, dir, r.host, []string{"tagged"}).command("init") })
		lists := 0
		for _, request := range r.requests() {
			if request == "GET tags list" {
				lists++
			}
		}
		what, least := "at once", 1
		if page > 0 {
			what, least = fmt.Sprintf("%d a page", page), tags/page
		}
		memory(b, fmt.Sprintf("MiB-%d", least), "peak memory, 10,000 tags, "+what, 64*mib, slices.Max(peaks), "")
		count(b, fmt.Sprintf("pages-%d", least), "requests for 10,000 tags, "+what, least, lists, "")
		remove(b, r.dir)
	}
}
