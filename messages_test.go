package plugins_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/pluginlock/plugins"
	"github.com/pluginlock/plugins/cmd"
	"github.com/pluginlock/plugins/lock"
)

var update = flag.Bool("update", false, "rewrite docs/messages.md")

const messagesIntro = `# Messages

Every message that ` + "`plugins`" + ` prints has a short, fixed heading. Below, each heading stands with an example of it, as the command
prints it on standard error. Look a heading up to see what else there is to know; the rest of a message says what happened, where, why,
and what to do.

In the examples the project is in ` + "`/project`" + `, the cache in ` + "`/cache`" + `, and digests are shortened. Exit codes are at the end of every
` + "`--help`" + `: a warning does not change them.

This page is written by ` + "`go test . -run TestMessages -update`" + `, which makes each message happen.
`

// A chapter is one part of the page.
type chapter struct {
	title    string
	about    string // may be empty
	examples func(t *testing.T) []example
}

// An example is one heading with a text that was really printed.
type example struct {
	summary string
	printed string // may hold more than one message, with the command that led to it
	note    string // what the messages do not say themselves; may be empty
}

var chapters = []chapter{
	{"Configuration", "About `plugins.hcl`, `*.plugins.hcl` and the files of `--config`. All problems of all files are reported at once.",
		func(t *testing.T) []example { return append(configExamples(t, false), played(t, projectScenes)...) }},
	{"Settings", "About the settings of the machine, which `plugins env` names the file of.",
		func(t *testing.T) []example { return configExamples(t, true) }},
	{"Lock file", "About `.plugins.lock.hcl`. No command changes a lock file that it cannot read, but `plugins lock --resolve-conflicts`.",
		func(t *testing.T) []example { return append(lockExamples(t), played(t, lockScenes)...) }},
	{"Selection", "About the version and the image that were, or were not, chosen.",
		func(t *testing.T) []example { return played(t, selectionScenes) }},
	{"Registries", "About what registries, token servers, mirrors and the network in between answered.",
		func(t *testing.T) []example { return played(t, registryScenes) }},
	{"Images and archives", "About what publishers packed. Nothing is installed from an image with any such fault; its publisher has to correct it, unless the message says otherwise.",
		func(t *testing.T) []example { return played(t, archiveScenes) }},
	{"Store and install directory", "About files on this machine.",
		func(t *testing.T) []example { return played(t, diskScenes) }},
	{"Publishing", "About what `plugins package`, `plugins push` and `plugins tag` were given.",
		func(t *testing.T) []example { return played(t, publishScenes) }},
	{"Command line", "Mistakes on the command line have no heading; the exit code is 2.",
		usageExamples},
}

// TestMessages writes the reference of messages and compares it with the one in
// docs.
func TestMessages(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the examples show paths as they are elsewhere")
	}
	path, err := filepath.Abs("docs/messages.md")
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	page.WriteString(messagesIntro)
	shown := map[string]bool{}
	for _, c := range chapters {
		fmt.Fprintf(&page, "\n## %s\n\n%s\n", c.title, c.about)
		for _, e := range c.examples(t) {
			shown[e.summary] = true
			checkExample(t, e)
			fmt.Fprintf(&page, "\n### %s\n\n```\n%s\n```\n", e.summary, strings.TrimSpace(e.printed))
			if e.note != "" {
				fmt.Fprintf(&page, "\n%s\n", e.note)
			}
		}
	}
	for _, summary := range allSummaries(t) {
		if !shown[summary] {
			t.Errorf("no example of %q", summary)
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := firstDifference(page.String(), string(want)); diff != "" {
		t.Errorf("docs/messages.md is not what `go test . -run TestMessages -update` writes:\n%s", diff)
	}
}

// allSummaries lists the headings of typed errors and of the text of files.
func allSummaries(t *testing.T) []string {
	t.Helper()
	all := plugins.Summaries()
	for _, c := range configIndex(t) {
		all = append(all, c.summary)
	}
	sources, err := filepath.Glob("lock/*.go")
	if err != nil || len(sources) == 0 {
		t.Fatalf("no lock/*.go: %v", err)
	}
	literal := regexp.MustCompile(`(?:Summary:\s+|refuse\([^"]*, )"([^"]+)"`)
	for _, name := range sources {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, match := range literal.FindAllStringSubmatch(readFile(t, name), -1) {
			all = append(all, match[1])
		}
	}
	return all
}

// checkExample holds a text to what every message promises.
func checkExample(t *testing.T, e example) {
	t.Helper()
	heading := regexp.MustCompile(`(?m)^(Error|Warning): ` + regexp.QuoteMeta(e.summary) + `$`)
	if e.summary != usageHeading && !heading.MatchString(e.printed) {
		t.Errorf("%s is not what was printed:\n%s", e.summary, e.printed)
	}
	for _, noise := range []string{"<nil>", "%!", "source code not available", "dial tcp", "Failure\n", "..", ": :", "127.0.0.1", os.TempDir() + "/"} {
		if strings.Contains(strings.ReplaceAll(e.printed, "...]", ""), noise) && !allowedNoise(e, noise) {
			t.Errorf("%s: %q in\n%s", e.summary, noise, e.printed)
		}
	}
	if e.summary == usageHeading {
		return // its commands are wrong
	}
	for _, command := range commandsIn(e.printed) {
		if err := understood(command); err != nil {
			t.Errorf("%s suggests %q: %v", e.summary, command, err)
		}
	}
}

// allowedNoise excepts texts that quote a user's own.
func allowedNoise(e example, noise string) bool {
	return noise == ".." && slices.Contains([]string{"Invalid executable path", "Invalid mirror", "Lock file unusable"}, e.summary)
}

// commandsIn lists the commands of ours that stand on a line of their own.
func commandsIn(text string) []string {
	var commands []string
	for line := range strings.Lines(text) {
		command := strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(command, "$ "); ok {
			command = rest
		}
		if strings.HasPrefix(command, "plugins ") && strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "$ ") {
			commands = append(commands, command)
		}
	}
	return commands
}

// understood reports what the command line has against a command.
func understood(command string) error {
	root := cmd.New(cmd.Options{})
	root.SetErr(new(bytes.Buffer))
	root.SetOut(new(bytes.Buffer))
	c, args, err := root.Find(strings.Fields(command)[1:])
	if err != nil {
		return err
	}
	if err := c.ParseFlags(args); err != nil {
		return err
	}
	return c.ValidateArgs(c.Flags().Args())
}

func TestSuggestionsAreChecked(t *testing.T) {
	for _, command := range []string{"plugins intsall", "plugins init --lokced", "plugins init aws", "plugins which"} {
		if understood(command) == nil {
			t.Errorf("%q passes for a command", command)
		}
	}
	if err := understood("plugins update aws --accept-republished"); err != nil {
		t.Error(err)
	}
}

// configIndexed is a line of config/testdata/messages.golden.
type configIndexed struct {
	summary  string
	fixtures []string
}

func configIndex(t *testing.T) []configIndexed {
	t.Helper()
	var all []configIndexed
	for line := range strings.Lines(readFile(t, "config/testdata/messages.golden")) {
		summary, fixtures, _ := strings.Cut(strings.TrimSpace(line), ": ")
		all = append(all, configIndexed{summary, strings.Split(fixtures, ", ")})
	}
	return all
}

// configExamples takes examples out of the golden files of package config: of
// each heading the first. A scene takes the place of those without a line.
func configExamples(t *testing.T, settings bool) []example {
	t.Helper()
	var all []example
	for _, c := range configIndex(t) {
		if strings.HasPrefix(c.fixtures[0], "settings/") != settings || hasScene(projectScenes, c.summary) {
			continue
		}
		printed := firstMessage(readFile(t, "config/testdata/"+c.fixtures[0]+".golden"), c.summary)
		all = append(all, example{summary: c.summary, printed: printed})
	}
	return all
}

// firstMessage cuts the first message with a heading out of many.
func firstMessage(printed, summary string) string {
	starts := regexp.MustCompile(`(?m)^(Error|Warning): `).FindAllStringIndex(printed, -1)
	for i, start := range starts {
		end := len(printed)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		if _, rest, _ := strings.Cut(printed[start[0]:end], ": "); strings.HasPrefix(rest, summary+"\n") {
			return printed[start[0]:end]
		}
	}
	return ""
}

// lockExamples reads the fixtures of package lock: of each heading the first.
func lockExamples(t *testing.T) []example {
	t.Helper()
	const name = lock.FileName
	paths, err := filepath.Glob("lock/testdata/*.hcl")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no fixtures of the lock file: %v", err)
	}
	contrived := func(path string) int { return strings.Count(path, "expressions") + strings.Count(path, "much") }
	slices.SortStableFunc(paths, func(a, b string) int { return contrived(a) - contrived(b) })
	announced := regexp.MustCompile(`(?m)\A(# ERROR: .*\n)+`)
	var all []example
	for _, path := range paths {
		src := []byte(announced.ReplaceAllString(readFile(t, path), ""))
		_, diags := lock.Parse(src, name)
		for _, d := range diags {
			if !slices.ContainsFunc(all, func(e example) bool { return e.summary == d.Summary }) {
				printed := rendered(t, hcl.Diagnostics{d}, map[string]*hcl.File{name: {Bytes: src}})
				all = append(all, example{summary: d.Summary, printed: shortened(printed)})
			}
		}
	}
	slices.SortFunc(all, func(a, b example) int { return strings.Compare(a.summary, b.summary) })
	return all
}

func rendered(t *testing.T, diags hcl.Diagnostics, files map[string]*hcl.File) string {
	t.Helper()
	var out bytes.Buffer
	if err := hcl.NewDiagnosticTextWriter(&out, files, 0, false).WriteDiagnostics(diags); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func firstDifference(got, want string) string {
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(gotLines), len(wantLines)) {
		if i >= len(gotLines) || i >= len(wantLines) || gotLines[i] != wantLines[i] {
			return fmt.Sprintf("line %d\n  now:  %s\n  page: %s", i+1, at(gotLines, i), at(wantLines, i))
		}
	}
	return ""
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(end)"
}
