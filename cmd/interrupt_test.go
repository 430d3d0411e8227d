//go:build unix

package cmd_test

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/pluginlock/plugins/internal/registrytest"
)

// C51: a signal ends a run in whatever it waits for, with a code that says so,
// and leaves no trace.
func TestC51InterruptedWhileWaiting(t *testing.T) {
	for name, rule := range map[string]registrytest.Rule{
		"the list of tags":    {Path: "*/tags/list", Stall: true},
		"a document":          {Path: "*/manifests/1.0.0", Stall: true},
		"the head of a layer": {Path: "*/blobs/*", From: 2, Stall: true}, // the first is the config
		"the rest of a layer": {Path: "*/blobs/*", From: 2, StallAfter: new(int64)},
		"the next try":        {Path: "*/tags/list", Status: 503, Header: map[string]string{"Retry-After": "50"}},
	} {
		for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			t.Run(name+"/"+signal.String(), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, 1, 1<<20)
				dir := w.project("p0")
				w.registry.Front.Add(rule)
				interrupt(t, w, dir, signal, rule)
			})
		}
	}
}

// interrupt runs init until it waits for what rule holds back.
func interrupt(t *testing.T, w *world, dir string, signal syscall.Signal, rule registrytest.Rule) {
	t.Helper()
	before := names(t, dir)
	c := w.command(t.Context(), dir, "init", "--platform", worldPlatform)
	var output strings.Builder
	c.Stdout, c.Stderr = &output, &output
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if err := w.registry.Front.Await(t.Context(), max(rule.From, 1), "", rule.Path); err != nil {
		t.Fatal(err)
	}
	if err := c.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait()
	if code := c.ProcessState.ExitCode(); code != 128+int(signal) {
		t.Errorf("it exits %d\n%s", code, &output)
	}
	if !strings.Contains(output.String(), "Error: Interrupted\n") {
		t.Errorf("it says\n%s", &output)
	}
	if after := names(t, dir); after != before {
		t.Errorf("there were %s, and are %s", before, after)
	}
	w.registry.Front.ClearRules()
	w.must(dir, "init", "--platform", worldPlatform)
	w.must(dir, "verify")
}

// names lists what is in a directory.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}
