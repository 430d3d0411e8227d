package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pluginlock/plugins/cmd"
	"github.com/pluginlock/plugins/internal/imagetest"
	"github.com/pluginlock/plugins/internal/registrytest"
	"github.com/pluginlock/plugins/internal/scripttest"
)

// blocks returns the code blocks of one language in a page.
func blocks(t *testing.T, page, language string) []string {
	t.Helper()
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(raw), -1) {
		all = append(all, m[1])
	}
	if len(all) == 0 {
		t.Fatalf("%s has no block of %s", page, language)
	}
	return all
}

// TestPublishingPage runs the commands of docs/publishing.md in their order. In
// the place of go stands a program that writes a file with the header for the
// platform, since compiling for four platforms takes minutes.
func TestPublishingPage(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh to run the commands with")
	}
	const page = "../docs/publishing.md"
	r := registrytest.New(t, registrytest.Options{Auth: &registrytest.Auth{Username: "ci", Password: "a-token"}})
	dir, bin := t.TempDir(), t.TempDir()
	put := func(name, content string, mode os.FileMode) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, platform := range []string{"linux/amd64", "linux/arm64", "darwin/arm64", "windows/amd64"} {
		content, err := imagetest.Native(platform, "aws")
		if err != nil {
			t.Fatal(err)
		}
		put(filepath.Join(bin, "built", platform), content, 0o644)
	}
	put(filepath.Join(bin, "go"), `#!/bin/sh
test "$1 $2 $3 $5" = "build -trimpath -o ." || exit 2
mkdir -p "$(dirname "$4")" && cp "`+bin+`/built/$GOOS/$GOARCH" "$4" && chmod 755 "$4"
`, 0o755)
	put(filepath.Join(dir, "LICENSE"), "Use it.\n", 0o644)
	put(filepath.Join(dir, "token"), "a-token\n", 0o600)
	put(filepath.Join(dir, "dist", "package.hcl"), blocks(t, page, "hcl")[0], 0o644)
	script := strings.ReplaceAll(strings.Join(blocks(t, page, "sh"), "\n"), "registry.example.com", r.Host())
	c := exec.CommandContext(t.Context(), shell, "-eux", "-c", script)
	c.Dir = dir
	c.Env = []string{scripttest.NoSleep, "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"),
		"REGISTRY_USER=ci", "GOCOVERDIR=" + os.Getenv("GOCOVERDIR"), "TMPDIR=" + t.TempDir()}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, tag := range []string{"1.4.2", "1.4", "1", "latest", "1.5.0"} {
		if _, err := r.Resolve("fleeting/aws", tag); err != nil {
			t.Errorf("%s was not pushed: %v\n%s", tag, err, out)
		}
	}
	if got := strings.Count(string(out), "kind       plugin image"); got < 3 {
		t.Errorf("plugin images were shown %d times:\n%s", got, out)
	}
}

// TestPublishingPageJobs checks that the commands of the CI jobs are ones that
// the command line understands.
func TestPublishingPageJobs(t *testing.T) {
	command := regexp.MustCompile(`plugins (login|push|package|tag)( .*)`)
	found := 0
	for _, block := range blocks(t, "../docs/publishing.md", "yaml") {
		for _, m := range command.FindAllStringSubmatch(block, -1) {
			found++
			args := append([]string{m[1]}, strings.Fields(m[2])...)
			c, rest, err := cmd.New(cmd.Options{}).Find(args)
			if err != nil || c.Name() != m[1] {
				t.Errorf("%s: %v", m[0], err)
				continue
			}
			if err := c.ParseFlags(rest); err != nil {
				t.Errorf("%s: %v", m[0], err)
			} else if err := c.Args(c, c.Flags().Args()); err != nil {
				t.Errorf("%s: %v", m[0], err)
			}
		}
	}
	if found != 4 {
		t.Errorf("the jobs hold %d commands, want 4", found)
	}
}
