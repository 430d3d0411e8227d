package lock

import (
	"bytes"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const page = "../docs/lock-file.md"

// TestThePageShowsLockFilesAsTheyAre: each whole file on the page is one that
// the tool could have written, once its digests are filled in.
func TestThePageShowsLockFilesAsTheyAre(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```hcl\n(.*?)```").FindAllSubmatch(read(t, page), -1)
	whole := 0
	for _, block := range blocks {
		if !bytes.HasPrefix(block[1], []byte(header)) {
			continue
		}
		whole++
		src := bytes.ReplaceAll(block[1], []byte("sha256:…"), []byte(digest("x")))
		if got := parse(t, src).Bytes(); !bytes.Equal(got, src) {
			t.Errorf("the page shows\n%s\nbut the tool writes\n%s", src, got)
		}
	}
	if whole == 0 {
		t.Errorf("no lock file on the page")
	}
}

// TestThePageNamesEveryAttribute that a file can have, and so does the package
// comment show a file of the normal form.
func TestThePageNamesEveryAttribute(t *testing.T) {
	text := string(read(t, page))
	for _, line := range strings.Split(string(rich(t).Bytes()), "\n") {
		name, _, found := strings.Cut(strings.TrimSpace(line), " ")
		if found && name != "#" && !strings.HasPrefix(name, `"`) && !strings.Contains(text, "`"+name+"`") {
			t.Errorf("the page does not name `%s`", name)
		}
	}
	example := regexp.MustCompile(`(?m)^//\t(.*)\n|^//\n`).FindAllStringSubmatch(string(read(t, "doc.go")), -1)
	var src strings.Builder
	for _, line := range example {
		src.WriteString(line[1] + "\n")
	}
	_, after, _ := strings.Cut(src.String(), header)
	shown, _, _ := strings.Cut(after, "\n}\n")
	filled := header + strings.ReplaceAll(shown, "sha256:…", digest("x").String()) + "\n}\n"
	if got := string(parse(t, []byte(filled)).Bytes()); got != filled {
		t.Errorf("the package comment shows\n%s\nbut the tool writes\n%s", filled, got)
	}
}

// TestLinksNoNetworkClient: a bot may use this package where there is none.
func TestLinksNoNetworkClient(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skipf("the go command is not installed: %v", err)
	}
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	for _, forbidden := range []string{"net", "net/http", "crypto/tls", "os/exec", "oras.land/oras-go/v2"} {
		if slices.Contains(packages, forbidden) {
			t.Errorf("links %s", forbidden)
		}
	}
	if !slices.Contains(packages, "github.com/hashicorp/hcl/v2") {
		t.Errorf("the list is not that of this package: %v", packages)
	}
}
