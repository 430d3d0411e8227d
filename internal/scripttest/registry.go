package scripttest

import (
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pluginlock/plugins/internal/registrytest"
)

// parse reads the flags of a command.
func parse(ts *testscript.TestScript, usage string, flags *flag.FlagSet, args []string) []string {
	flags.SetOutput(io.Discard)
	if err := flags.Parse(args); err != nil {
		ts.Fatalf("%v; usage: %s", err, usage)
	}
	return flags.Args()
}

func registryFlag(flags *flag.FlagSet) *string {
	return flags.String("registry", names[0], "")
}

func (w *world) mustRegistry(ts *testscript.TestScript, name string) *registrytest.Registry {
	r, err := w.registry(name)
	ts.Check(err)
	return r
}

// cmdRequests counts requests since the start or the last -reset; without a
// count it prints them.
func cmdRequests(ts *testscript.TestScript, neg bool, args []string) {
	const usage = "requests [-registry HOST] [-count N] [METHOD] [PATTERN], or requests -reset"
	flags := flag.NewFlagSet("requests", flag.ContinueOnError)
	name, count, reset := registryFlag(flags), flags.Int("count", -1, ""), flags.Bool("reset", false, "")
	args = parse(ts, usage, flags, args)
	w := worldOf(ts)
	front := w.mustRegistry(ts, *name).Front
	var method, pattern string
	if len(args) > 0 && !strings.ContainsAny(args[0], "/*") {
		method, args = args[0], args[1:]
	}
	if len(args) > 0 {
		pattern, args = args[0], args[1:]
	}
	if neg || len(args) > 0 || *reset && method+pattern != "" {
		ts.Fatalf("usage: %s", usage)
	}
	if *reset {
		for _, r := range w.registries {
			r.Front.Reset()
		}
		return
	}
	var lines strings.Builder
	found := front.Find(method, pattern)
	for _, r := range found {
		fmt.Fprintln(&lines, w.toName.Replace(r.String()), r.Status)
	}
	if *count >= 0 && len(found) != *count {
		ts.Fatalf("%d requests, want %d:\n%s", len(found), *count, lines.String())
	}
	_, err := io.WriteString(ts.Stdout(), lines.String())
	ts.Check(err)
}

// cmdRegistry is `registry [-registry HOST] stop|start`.
func cmdRegistry(ts *testscript.TestScript, neg bool, args []string) {
	const usage = "registry [-registry HOST] stop|start"
	flags := flag.NewFlagSet("registry", flag.ContinueOnError)
	name := registryFlag(flags)
	args = parse(ts, usage, flags, args)
	r := worldOf(ts).mustRegistry(ts, *name)
	switch {
	case neg || len(args) != 1:
		ts.Fatalf("usage: %s", usage)
	case args[0] == "stop":
		r.Stop()
	case args[0] == "start":
		ts.Check(r.Restart())
	default:
		ts.Fatalf("usage: %s", usage)
	}
}

// cmdPublish is `publish SOURCE TAG [FILE]`; FILE holds a declaration as those
// of _registry/ do.
func cmdPublish(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: publish SOURCE TAG [FILE]")
	}
	r, repository, err := worldOf(ts).repository(args[0])
	ts.Check(err)
	content := "{}"
	if len(args) == 3 {
		content = ts.ReadFile(args[2])
	}
	declaration, err := registrytest.ParseDeclaration([]byte(content))
	ts.Check(err)
	ts.Check(r.Publish(repository, args[1], declaration))
}

// cmdRetag is `retag SOURCE FROM TAG...`: the tags then point to what FROM, a
// tag or a digest, points to.
func cmdRetag(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: retag SOURCE FROM TAG...")
	}
	r, repository, err := worldOf(ts).repository(args[0])
	ts.Check(err)
	ts.Check(r.Tag(repository, reference(ts, args[1]), args[2:]...))
}

// cmdUnpublish is `unpublish SOURCE TAG|DIGEST...`.
func cmdUnpublish(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: unpublish SOURCE TAG|DIGEST...")
	}
	r, repository, err := worldOf(ts).repository(args[0])
	ts.Check(err)
	for _, arg := range args[1:] {
		ts.Check(r.Delete(repository, reference(ts, arg)))
	}
}

// reference is a tag or a digest as it stands in a script: "@FILE" is what FILE
// holds, for digests that the script has found.
func reference(ts *testscript.TestScript, arg string) string {
	if file, ok := strings.CutPrefix(arg, "@"); ok {
		return strings.TrimSpace(ts.ReadFile(file))
	}
	return arg
}

// cmdRule is `rule [-registry HOST] FILE`, which adds the rule in a JSON file,
// or `rule [-registry HOST] -clear`.
func cmdRule(ts *testscript.TestScript, neg bool, args []string) {
	const usage = "rule [-registry HOST] FILE, or rule [-registry HOST] -clear"
	flags := flag.NewFlagSet("rule", flag.ContinueOnError)
	name, clear := registryFlag(flags), flags.Bool("clear", false, "")
	args = parse(ts, usage, flags, args)
	front := worldOf(ts).mustRegistry(ts, *name).Front
	if neg || *clear == (len(args) == 1) || len(args) > 1 {
		ts.Fatalf("usage: %s", usage)
	}
	if *clear {
		front.ClearRules()
		return
	}
	var rule registrytest.Rule
	ts.Check(decodeStrictly([]byte(ts.ReadFile(args[0])), &rule))
	front.Add(rule)
}
