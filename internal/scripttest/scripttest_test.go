package scripttest_test

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pluginlock/plugins/internal/scripttest"
)

func TestMain(m *testing.M) {
	scripttest.Main(m, map[string]func() int{"plugins": toy})
}

// toy is what stands in for `plugins` here:
//
//	get URL...          prints the status and the body of each
//	write FILE TEXT     writes a file
//	print TEXT          prints on both outputs
//	list --json         prints what .cache/listed holds
//	exit CODE ARG...    does the rest, then exits with that code
func toy() int {
	code, args := 0, os.Args[1:]
	if args[0] == "exit" {
		code, _ = strconv.Atoi(args[1])
		args = append(args[2:], "nothing")
	}
	var err error
	switch args[0] {
	case "get":
		for _, url := range args[1:] {
			err = errors.Join(err, fetch(url))
		}
	case "write":
		err = errors.Join(os.MkdirAll(filepath.Dir(args[1]), 0o755), os.WriteFile(args[1], []byte(args[2]+"\n"), 0o755))
	case "list":
		listed, _ := os.ReadFile(".cache/listed") // there or not
		fmt.Print(string(listed))
	case "print":
		fmt.Println(args[1])
		fmt.Fprintln(os.Stderr, args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func fetch(url string) error {
	resp, err := http.Get(url)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	fmt.Printf("%d %s\n", resp.StatusCode, body)
	return err
}

func TestScripts(t *testing.T) { scripttest.Run(t, "testdata") }

// failingT lets a script fail without failing the test.
type failingT struct {
	*testing.T
	log    strings.Builder
	failed bool
}

func (f *failingT) Log(args ...any)   { fmt.Fprintln(&f.log, args...) }
func (f *failingT) Fatal(args ...any) { f.Log(args...); f.FailNow() }
func (f *failingT) Parallel()         {}
func (f *failingT) Verbose() bool     { return false }
func (f *failingT) FailNow()          { f.failed = true; runtime.Goexit() }
func (f *failingT) Run(_ string, script func(testscript.T)) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		script(f)
	}()
	<-done
}

// run runs one script and returns what it said when it failed, "" if it did not.
func run(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "script.txtar"), []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	f := &failingT{T: t}
	testscript.RunT(f, scripttest.Params(dir))
	if !f.failed {
		return ""
	}
	return f.log.String()
}

// Every assertion of a script is seen to fail here.
func TestScriptsThatFail(t *testing.T) {
	if flag.Lookup("update").Value.String() == "true" {
		t.Skip("with -update a golden does not fail")
	}
	const registry = "-- _registry/plugins/aws/1.2.0.json --\n{}\n"
	for script, want := range map[string]string{
		"plugins exit 1":                               "exits 1, want 0",
		"! plugins print x":                            "exits 0, want a failure",
		"! plugins exit 1 write new x":                 "new: added",
		"exits 3 plugins exit 1":                       "exits 1, want 3",
		"exits 3 plugins exit 3 write .home/x y":       ".home/x: added",
		"exits 3 plugins exit 3 write a x\n-- a --\nx": "a: written again",
		"exits 3 plugins exit 3 write a y\n-- a --\nx": "became",
		"exits 3 print":                                "usage: exits",
		"! plugins exit 1 write .cache/listed aws":     "now shows",
		"plugins print 'panic: x'":                     `contains "panic: "`,
		"plugins print s3cret\n" + registry + "-- _registry.json --\n{\"auth\": {\"password\": \"s3cret\"}}": "contains the secret",
		"executes aws": "no such file",
		"executes aws two\n-- .plugins/bin/aws --\n": "permission denied",
		"unchanged":             "no snapshot",
		"snapshot\n! unchanged": "nothing changed",
		"snapshot\nplugins write a/b x\nunchanged a":                                     "a/b: added",
		"snapshot\nplugins write .cache/b x\nunchanged -cache":                           ".cache/b: added",
		"snapshot\nrm a\nunchanged\n-- a --\nx":                                          "a: removed",
		"plugins print x\ngolden stdout want\n-- want --\ny\n":                           "-y\n",
		"requests -count 1\n" + registry:                                                 "0 requests, want 1",
		"requests -count 1":                                                              `no registry "oci.example.com"`,
		"requests GET a b c\n" + registry:                                                "usage: requests",
		"registry pause\n" + registry:                                                    "usage: registry",
		"registry stop\nplugins get http://oci.example.com/v2/\n" + registry:             "exits 1, want 0",
		"publish oci.example.com/p 1.0.0 x\n" + registry + "-- x --\n{\"plattform\": 1}": "unknown field",
		"publish two.example.com/p 1.0.0\n" + registry:                                   `no registry "two.example.com"`,
		"publish p 1.0.0\n" + registry:                                                   "not HOST/REPOSITORY",
		"retag oci.example.com/plugins/aws 9.9.9 x\n" + registry:                         "manifest unknown",
		"unpublish oci.example.com/plugins/aws 9.9.9\n" + registry:                       "does not exist",
		"rule\n" + registry:                                                              "usage: rule",
		"rule x\n" + registry + "-- x --\n{\"stat\": 1}":                                 "unknown field",
		"-- _registry2/plugins/aws/1.2.0.json --\n{}":                                    "no _registry",
		"-- _registry/plugins/aws/1.2.0.json --\n{\"x\": 1}":                             "unknown field",
		"-- _registry.json --\n{\"quirk\": {}}":                                          "unknown field",
		"[unheard] plugins print x":                                                      "unknown condition",
	} {
		got := run(t, script)
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%s\nsaid: %s\nwant: %s", script, got, want)
		}
	}
}

func TestUpdateRewritesTheScript(t *testing.T) {
	// The flag is set in a copy of this binary, for it is the whole process's.
	dir := t.TempDir()
	script := filepath.Join(dir, "update.txtar")
	const before = "plugins print oci.example.com\ngolden stdout want/a\n-- _registry.json --\n{}\n-- want/a --\nold\n-- other --\nkept\n"
	if err := os.WriteFile(script, []byte(before), 0o644); err != nil {
		t.Fatal(err)
	}
	runSelf(t, dir)
	got, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(before, "old\n", "oci.example.com\n", 1); string(got) != want {
		t.Errorf("the script became\n%s", got)
	}
}
