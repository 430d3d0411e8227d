package bench

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// crowd is how many processes start at once on one cold store.
const crowd = 8

// BenchmarkCrowd compares that with a process alone: the jobs of one machine that
// start with the same lock file.
func BenchmarkCrowd(b *testing.B) {
	c := largePlugins(b)
	const rounds = 4
	var alone, together side
	most := 0
	for range rounds {
		in(b, func(dir string) {
			alone.add(launch(b, 1, c.project(b, dir, true).command("init", "--locked")))
		})
		c.registry.requests()
		in(b, func(dir string) {
			var commands []command
			for i := range crowd {
				p := c.project(b, filepath.Join(dir, fmt.Sprint(i)), true)
				p.cache = filepath.Join(dir, "cache")
				commands = append(commands, p.command("init", "--locked"))
			}
			together.add(launch(b, crowd, commands...))
		})
		most = max(most, mostOften(c.registry.requests()))
	}
	ratio(b, "x-alone", fmt.Sprintf("%d processes on one cold store / one", crowd), 1.3, together, alone)
	count(b, "blob-requests", "the most requests for one blob meanwhile", 1, most, "")
}

// mostOften is how often the blob was asked for that was asked for most.
func mostOften(requests []string) (most int) {
	counts := map[string]int{}
	for _, request := range requests {
		if strings.HasPrefix(request, "GET blobs ") {
			counts[request]++
			most = max(most, counts[request])
		}
	}
	return most
}
