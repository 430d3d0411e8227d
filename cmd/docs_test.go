package cmd_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pluginlock/plugins/cmd"
	"github.com/pluginlock/plugins/internal/imagetest"
	"github.com/pluginlock/plugins/internal/registrytest"
	"github.com/pluginlock/plugins/internal/scripttest"
)

const commandsPage = "../docs/commands.md"

// TestCommandsPage holds docs/commands.md to the commands themselves; -update
// rewrites it.
func TestCommandsPage(t *testing.T) {
	want := commandsDocument(cmd.New(cmd.Options{}))
	if update := flag.Lookup("update"); update != nil && update.Value.String() == "true" {
		if err := os.WriteFile(commandsPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(commandsPage)
	if err != nil || string(got) != want {
		t.Errorf("%s is not what the commands say (go test ./cmd -run TestCommandsPage -update): %v", commandsPage, err)
	}
}

func commandsDocument(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# Commands\n\nThis page is written by `go test ./cmd -run TestCommandsPage -update` from what `--help` says.\n\n" +
		"Results go to standard output, everything else to standard error. With `--json` standard output is exactly one document,\n" +
		"also after a failure: then its `errors` say what went wrong.\n\n## Exit codes\n\n| code | meaning |\n| --- | --- |\n" +
		"| 0 | done |\n| 1 | failure |\n| 2 | wrong usage of the command line |\n| 3 | a difference was found: `init --locked`, `lock --check`, `verify`, `outdated --exit-code`; a failure beats it |\n" +
		"| 130, 143 | ended by an interrupt, by a termination signal |\n\n## Options of every command\n\n")
	writeFlags(&b, root.PersistentFlags())
	for _, c := range root.Commands() {
		if !c.IsAvailableCommand() || c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n```text\n%s\n```\n\n%s.\n", c.Name(), c.UseLine(), c.Short)
		if c.Long != "" {
			fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(c.Long))
		}
		if c.LocalNonPersistentFlags().HasAvailableFlags() {
			b.WriteString("\n")
			writeFlags(&b, c.LocalNonPersistentFlags())
		}
	}
	b.WriteString("\n## completion\n\n```text\nplugins completion bash|zsh|fish|powershell\n```\n\nPrint the script that completes commands in a shell; `plugins completion bash --help` says how to load it.\n")
	return b.String()
}

func writeFlags(b *strings.Builder, flags *pflag.FlagSet) {
	b.WriteString("| option | meaning |\n| --- | --- |\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name == "help" || f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if value != "" {
			name += " " + value
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", name, strings.ReplaceAll(usage, "|", "\\|"))
	})
}

// TestDocumentedCommandsExist parses every command line of the documents as the
// program would.
func TestDocumentedCommandsExist(t *testing.T) {
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	adrs, _ := filepath.Glob("../docs/adr/*.md")
	count := 0
	for _, page := range append(append(pages, adrs...), "../README.md") {
		if strings.HasSuffix(page, "messages.md") {
			continue // it shows what misspelt commands get, and its own test tries its hints
		}
		content, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range documentedCommands(string(content)) {
			count++
			if err := parses(line); err != nil {
				t.Errorf("%s: plugins %s: %v", page, line, err)
			}
		}
	}
	if count < 30 {
		t.Errorf("only %d commands were found: is the search for them broken?", count)
	}
}

var (
	inlineCommand = regexp.MustCompile("`plugins ([a-z][^`]*)`")
	blockCommand  = regexp.MustCompile(`(?m)^\s*(?:\$ |- |run: )?(?:bin/)?plugins ([a-z][^#\n|]*)`)
	fence         = regexp.MustCompile("(?ms)^ *```[a-z]*\n(.*?)^ *```")
)

func documentedCommands(page string) []string {
	var lines []string
	for _, block := range fence.FindAllStringSubmatch(page, -1) {
		for _, m := range blockCommand.FindAllStringSubmatch(strings.ReplaceAll(block[1], "\\\n", " "), -1) {
			lines = append(lines, m[1])
		}
	}
	for _, m := range inlineCommand.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		lines = append(lines, m[1])
	}
	return lines
}

// parses finds the command of a line and parses its flags.
func parses(line string) error {
	fields := strings.Fields(strings.NewReplacer(`"`, "", "[", "", "]", "", "…", "").Replace(line))
	root := cmd.New(cmd.Options{})
	found, rest, err := root.Find(fields)
	if err != nil {
		return err
	}
	if found == root && fields[0] != "help" && fields[0] != "completion" {
		return fmt.Errorf("there is no such command")
	}
	if found == root {
		return nil
	}
	found.InitDefaultHelpFlag()
	return found.ParseFlags(rest)
}

// TestReadmeExample runs what the README shows.
func TestReadmeExample(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	const source = "registry.example.com/fleeting/aws"
	shown := fence.FindAllStringSubmatch(string(readme), -1)
	var config, console string
	for _, block := range shown {
		if strings.Contains(block[1], "required_plugins {") {
			config = block[1]
		}
		if strings.HasPrefix(block[1], "$ plugins init\n") {
			console = strings.TrimPrefix(block[1], "$ plugins init\n")
		}
	}
	registry := registrytest.New(t, registrytest.Options{})
	registry.MustAdd(t, "fleeting/aws", imagetest.Plugin{Name: "aws", Version: "1.4.2", Protocols: []int{5, 6}}.Build(t), "1.4.2")
	dir := t.TempDir()
	mustWrite(t, filepath.Join(dir, "plugins.hcl"), strings.ReplaceAll(config, "registry.example.com", registry.Host()))
	c := exec.Command("plugins", "init", "--platform", "linux/amd64")
	c.Dir, c.Env = dir, []string{scripttest.NoSleep, "PATH=" + os.Getenv("PATH"), "PLUGINS_CACHE_DIR=" + filepath.Join(dir, "cache")}
	output, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	size := regexp.MustCompile(`\([0-9.]+ [kM]?B\)`)
	got := bytes.ReplaceAll(output, []byte(registry.Host()), []byte("registry.example.com"))
	if g, w := size.ReplaceAllString(string(got), "(SIZE)"), size.ReplaceAllString(console, "(SIZE)"); g != w {
		t.Errorf("init printed\n%s\nthe README shows\n%s", g, w)
	}
	if !strings.Contains(string(readme), source) {
		t.Errorf("the README does not show %s", source)
	}
}
