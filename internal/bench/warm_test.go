package bench

import (
	"fmt"
	"testing"
)

// BenchmarkWarm runs init where nothing is missing, against a program that does
// nothing: what is left is what every call in a script or a CI job costs.
func BenchmarkWarm(b *testing.B) {
	for _, c := range []struct {
		plugins, rounds int
		aim             float64
	}{{10, 60, 4}, {1000, 30, 15}} {
		b.Run(fmt.Sprint(c.plugins), func(b *testing.B) { warm(b, c.plugins, c.rounds, c.aim) })
	}
}

func warm(b *testing.B, number, rounds int, aim float64) {
	p, r, done := warmProject(b, number)
	defer done()
	var commands []command
	for range rounds {
		commands = append(commands, command{Args: []string{build(b).empty}, Env: environment(p.dir)}, p.command("init"), p.command("version"))
	}
	outcomes := launch(b, 1, commands...).Outcomes
	var empty, init, started side
	for i, o := range outcomes {
		to := []*side{&empty, &init, &started}[i%3]
		to.wall, to.cpu = append(to.wall, o.Wall), append(to.cpu, o.CPU)
	}
	ratio(b, "x-empty", fmt.Sprintf("warm init of %d plugins / empty program", number), aim, init, empty)
	if number == 10 {
		ratio(b, "x-empty-version", "plugins version / empty program", 0, started, empty)
	}
	count(b, "requests", fmt.Sprintf("requests of %d warm runs", rounds), 0, len(r.requests()), "")
}

// warmProject installs small plugins once, so that the next init is warm.
func warmProject(t testing.TB, number int) (*project, *registry, func()) {
	t.Helper()
	build(t) // fails early, if it does
	r, dir := newRegistry(t), fresh(t)
	p := newProject(t, dir, r.host, smallPlugins(t, r, number))
	launch(t, 1, p.command("init"))
	r.requests()
	return p, r, func() { remove(t, dir, r.dir) }
}
