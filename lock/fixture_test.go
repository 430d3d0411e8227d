package lock

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
)

var update = flag.Bool("update", false, "rewrite the ERROR comments of testdata/*.hcl and the goldens")

// errorComment begins the lines at the top of a fixture that list what Parse
// has to say of it, all of it, in order. A fixture without any is accepted.
const errorComment = "# ERROR: "

func TestFixtures(t *testing.T) {
	for _, name := range fixtures(t, "testdata/*.hcl") {
		t.Run(filepath.Base(name), func(t *testing.T) {
			src := read(t, name)
			want, body := cutComments(src)
			if *update {
				_, diags := Parse(body, name)
				src = append(bytes.Repeat([]byte(errorComment+"\n"), len(diags)), body...)
				_, diags = Parse(src, name)
				want = summaries(diags)
				write(t, name, []byte(strings.Join(want, "")+string(body)))
			}
			f, diags := Parse(src, name)
			if got := strings.Join(summaries(diags), ""); got != strings.Join(want, "") {
				t.Errorf("got:\n%swant:\n%s", got, strings.Join(want, ""))
			}
			if (f == nil) != diags.HasErrors() {
				t.Errorf("file is %v, and errors are %v", f, diags)
			}
			checkDiagnostics(t, diags, src)
		})
	}
}

// TestMessages holds the first message of each summary, which people read
// whole, to testdata/messages.txt.
func TestMessages(t *testing.T) {
	var b strings.Builder
	seen := map[string]bool{}
	for _, name := range fixtures(t, "testdata/*.hcl") {
		src := read(t, name)
		_, diags := Parse(src, filepath.Base(name))
		for _, d := range diags {
			if !seen[d.Summary] {
				line := strings.Split(string(src), "\n")[d.Subject.Start.Line-1]
				fmt.Fprintf(&b, "%s: %s\n\n    %s\n\n%s\n\n", d.Subject, d.Summary, strings.TrimSpace(line), d.Detail)
			}
			seen[d.Summary] = true
		}
	}
	const golden = "testdata/messages.txt"
	if *update {
		write(t, golden, []byte(b.String()))
	}
	if b.String() != string(read(t, golden)) {
		t.Errorf("messages differ from %s; see what `go test ./lock -update` changes there", golden)
	}
}

// TestGoldensAreFixpoints: what the tool wrote is written the same again.
func TestGoldensAreFixpoints(t *testing.T) {
	if *update {
		write(t, "testdata/golden/rich.hcl", rich(t).Bytes())
		write(t, "testdata/golden/empty.hcl", (&File{}).Bytes())
	}
	for _, name := range fixtures(t, "testdata/golden/*.hcl") {
		src := read(t, name)
		if got := parse(t, src).Bytes(); !bytes.Equal(got, src) {
			t.Errorf("%s is written again as\n%s", name, got)
		}
	}
	if got := rich(t).Bytes(); !bytes.Equal(got, read(t, "testdata/golden/rich.hcl")) {
		t.Errorf("rich.hcl is written as\n%s", got)
	}
}

// checkDiagnostics holds every diagnostic to what a caller relies on.
func checkDiagnostics(t testing.TB, diags hcl.Diagnostics, src []byte) {
	t.Helper()
	last := 0
	for _, d := range diags {
		switch {
		case d.Severity != hcl.DiagError || d.Summary == "" || d.Detail == "":
			t.Errorf("incomplete diagnostic: %v", d)
		case d.Subject == nil:
			t.Errorf("no range: %v", d)
		case d.Subject.Start.Byte < 0 || d.Subject.End.Byte > len(src) || d.Subject.Start.Byte > d.Subject.End.Byte:
			t.Errorf("range %d-%d is not in the %d bytes of the file: %v", d.Subject.Start.Byte, d.Subject.End.Byte, len(src), d)
		case d.Subject.Start.Byte < last:
			t.Errorf("not in the order of the file: %v", diags)
		default:
			last = d.Subject.Start.Byte
		}
	}
}

func fixtures(t testing.TB, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("no %s: %v", pattern, err)
	}
	return names
}

// cutComments separates the ERROR comments from the rest.
func cutComments(src []byte) (comments []string, rest []byte) {
	for bytes.HasPrefix(src, []byte(errorComment)) {
		line, after, _ := bytes.Cut(src, []byte("\n"))
		comments, src = append(comments, string(line)+"\n"), after
	}
	return comments, src
}

func summaries(diags hcl.Diagnostics) []string {
	var all []string
	for _, d := range diags {
		all = append(all, fmt.Sprintf("%s%d:%d %s\n", errorComment, d.Subject.Start.Line, d.Subject.Start.Column, d.Summary))
	}
	return all
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func write(t testing.TB, name string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, content, 0o644); err != nil {
		t.Fatal(err)
	}
}
