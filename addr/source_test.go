package addr_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/pluginlock/plugins/addr"
)

// parseSource parses a source that must be right.
func parseSource(t *testing.T, s string) addr.Source {
	t.Helper()
	source, err := addr.ParseSource(s)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// refuseSource parses a source that must be wrong.
func refuseSource(t *testing.T, s string) *addr.SourceError {
	t.Helper()
	source, err := addr.ParseSource(s)
	var refused *addr.SourceError
	if !errors.As(err, &refused) {
		t.Fatalf("ParseSource(%q) = %q, %v; want a SourceError", s, source, err)
	}
	if !source.IsZero() {
		t.Errorf("ParseSource(%q) returned %q beside its error", s, source)
	}
	return refused
}

func TestSourceNormalForm(t *testing.T) {
	for _, test := range []struct{ in, host, path string }{
		{"registry.example.com/fleeting/aws", "registry.example.com", "fleeting/aws"},
		{"registry.example.com/aws", "registry.example.com", "aws"},
		{"Registry.EXAMPLE.com/aws", "registry.example.com", "aws"},
		{"registry.example.com:443/aws", "registry.example.com", "aws"},
		{"registry.example.com:8443/aws", "registry.example.com:8443", "aws"},
		{"registry.example.com:65535/aws", "registry.example.com:65535", "aws"},
		{"localhost/x", "localhost", "x"},
		{"LocalHost:5000/x", "localhost:5000", "x"},
		{"localhost:443/x", "localhost", "x"},
		{"registry:5000/x", "registry:5000", "x"},
		{"registry:443/x", "registry:443", "x"}, // "registry/x" would have no host
		{"127.0.0.1:5000/plugins/aws", "127.0.0.1:5000", "plugins/aws"},
		{"[::1]:5000/x", "[::1]:5000", "x"},
		{"[::1]:443/x", "[::1]", "x"},
		{"[2001:DB8:0:0:0:0:0:1]/x", "[2001:db8::1]", "x"},
		{"docker.io/x", "docker.io", "library/x"},
		{"docker.io/library/x", "docker.io", "library/x"},
		{"docker.io/velero/velero-plugin-for-aws", "docker.io", "velero/velero-plugin-for-aws"},
		{"index.docker.io/x", "docker.io", "library/x"},
		{"Index.Docker.IO:443/a/b", "docker.io", "a/b"},
		{"docker.io:5000/x", "docker.io:5000", "x"},
		{"mirror.docker.io/x", "mirror.docker.io", "x"},
		{"xn--mnchen-3ya.example/x", "xn--mnchen-3ya.example", "x"},
		{"r.example/a.b/c_d/e__f/g-h/i---j/0", "r.example", "a.b/c_d/e__f/g-h/i---j/0"},
	} {
		source := parseSource(t, test.in)
		if source.Host() != test.host || source.Path() != test.path {
			t.Errorf("ParseSource(%q) = %q and %q, want %q and %q", test.in, source.Host(), source.Path(), test.host, test.path)
		}
		if again := parseSource(t, source.String()); again != source {
			t.Errorf("ParseSource(%q) = %q: the normal form is no fixpoint", source, again)
		}
	}
}

func TestSourceLength(t *testing.T) {
	const host = "r.example/"
	longest := host + strings.Repeat("a", 255-len(host))
	parseSource(t, longest)
	const reason = "is too long: a source has at most 255 characters"
	if e := refuseSource(t, longest+"a"); e.Reason != reason {
		t.Error(e.Reason)
	}
	// In full this one is too long, by the eight characters of "library/".
	docker := "docker.io/" + strings.Repeat("a", 240)
	if e := refuseSource(t, docker); e.Reason != "is too long: in full it has 258 characters, a source has at most 255" {
		t.Error(e.Reason)
	}
}

// sourceRefusals has one row for each way in which a source can be wrong.
var sourceRefusals = []struct{ in, reason, suggestion string }{
	{"", "is empty", ""},
	{" r.example/x", "has a space", "r.example/x"},
	{"r.example/a b", "has a space", ""},
	{"r.example/x\n", "has a control character, U+000A", "r.example/x"},
	{"r.example/x\x7f", "has a control character, U+007F", ""},
	{"r.example/\xff", "is not UTF-8 text", ""},
	{`r.example\a\b`, "has a backslash", "r.example/a/b"},
	{"oci://r.example/x", `has a scheme, "oci://"`, "r.example/x"},
	{"https://r.example:443/x:1.2@sha256:abcd", `has a scheme, "https://"`, "r.example/x"},
	{"r.example/x@1.2.0", `names the version "1.2.0"`, "r.example/x"},
	{"r.example/x@v1.2", `names the version "v1.2"`, "r.example/x"},
	{"r.example/x@latest", `names the version "latest"`, "r.example/x"},
	{"r.example/x:1.2@sha512:abcd", "names a digest", "r.example/x"},
	{"r.example/x@blake3:" + strings.Repeat("0a", 32), "names a digest", "r.example/x"},
	{"r.example/x@", "has an @ after its first slash", ""},
	{"r.example/x:latest", `names the tag "latest"`, "r.example/x"},
	{"r.example/x:", `names the tag ""`, "r.example/x"},
	{"r.example/a:1/b", `has ":" in its path`, ""},
	{"aws", "has no registry host", ""},
	{"aws:1.2.0", "has no registry host", ""},
	{"/x", "has no registry host", ""},
	{"./plugins/aws", "has no registry host", ""},
	{"../plugins/aws", "has no registry host", ""},
	{"r.example", "has no repository path", ""},
	{"r.example/", "has no repository path", ""},
	{"r.example/x/", "has an empty path segment", "r.example/x"},
	{"r.example//x", "has an empty path segment", "r.example/x"},
	{"r.example/./x", `has the path segment "."`, ""},
	{"r.example/Ä", `has "Ä" in its path`, ""},
	{"r.example/a%2fb", `has "%" in its path`, ""},
	{"r.example/-a", `has the path segment "-a", in which a letter or digit must be at both ends`, ""},
	{"r.example/a-", `has the path segment "a-", in which a letter or digit must be at both ends`, ""},
	{"r.example/...", `has the path segment "...", in which a letter or digit`, ""},
	{"r.example/a..b", `has the path segment "a..b", in which ".." cannot separate`, ""},
	{"r.example/a___b", `in which "___" cannot separate`, ""},
	{"r.example/a-_b", `in which "-_" cannot separate`, ""},
	{"r.example./x", "has a host that ends in a dot", "r.example/x"},
	{"r.example.:5000/x", "has a host that ends in a dot", "r.example:5000/x"},
	{"münchen.example/x", "has a host name that is not ASCII", ""},
	{"r..example/x", `has a host, "r..example", that is not a host name`, ""},
	{"-r.example/x", `has a host, "-r.example", that is not a host name`, ""},
	{"my_registry.example/x", `has a host, "my_registry.example", that is not a host name`, ""},
	{strings.Repeat("a", 64) + ".example/x", "that is not a host name", ""},
	{"127.1/x", `has a host, "127.1", that is not an IPv4 address`, ""},
	{"127.0.0.01/x", `has a host, "127.0.0.01", that is not an IPv4 address`, ""},
	{"127.0.0.256/x", `has a host, "127.0.0.256", that is not an IPv4 address`, ""},
	{"::1/x", "has an IPv6 address without brackets", "[::1]/x"},
	{"a:1:2/x", "has an IPv6 address without brackets, or more than one port", ""},
	{"[::1/x", `has a host, "[::1", that is not an IPv6 address`, ""},
	{"[::1]5000/x", `has a host, "[::1]5000", that is not an IPv6 address`, ""},
	{"[fe80::1%25eth0]:5000/x", `that is not an IPv6 address`, ""},
	{"[127.0.0.1]:5000/x", `has a host, "[127.0.0.1]", that is not an IPv6 address`, ""},
	{":5000/x", "has a port but no host", ""},
	{"r.example:/x", "has a colon after the host but no port", "r.example/x"},
	{"r.example:0/x", `has the port "0"`, ""},
	{"r.example:0443/x", `has the port "0443"`, ""},
	{"r.example:+80/x", `has the port "+80"`, ""},
	{"r.example:65536/x", `has the port "65536"`, ""},
	{"r.example:http/x", `has the port "http"`, ""},
}

func TestSourceRefusals(t *testing.T) {
	for _, test := range sourceRefusals {
		checkRefusal(t, test.in, test.reason, test.suggestion)
	}
}

func checkRefusal(t *testing.T, in, reason, suggestion string) {
	t.Helper()
	e := refuseSource(t, in)
	if !strings.Contains(e.Reason, reason) {
		t.Errorf("ParseSource(%q): reason %q, want %q in it", in, e.Reason, reason)
	}
	if e.Suggestion != suggestion {
		t.Errorf("ParseSource(%q): suggestion %q, want %q", in, e.Suggestion, suggestion)
	}
	if suggestion != "" && !strings.HasSuffix(e.Error(), `; write "`+suggestion+`"`) {
		t.Errorf("message without the suggestion: %s", e)
	}
}

// The sources of case C04, each with a reason of its own.
func TestC04SourceIsCheckedBeforeUse(t *testing.T) {
	const registry = "127.0.0.1:5000"
	const plain = registry + "/plugins/aws"
	digest := addr.DigestOf([]byte("index")).String()
	seen := map[string]string{}
	for _, test := range []struct{ in, reason, suggestion string }{
		{registry + "/plugins/../admin/aws", `has the path segment ".."`, ""},
		{registry + "/plugins//aws", "has an empty path segment", plain},
		{registry + "/Plugins/AWS", "has upper case in its path", plain},
		{"--output=/x", "has no registry host", ""},
		{"https://" + plain, "has a scheme", plain},
		{plain + ":1.2.0", "names the tag", plain},
		{plain + "@" + digest, "names a digest", plain},
		{"user:secret@" + plain, "has user info", plain},
		{plain + "?x=1", "has a query", plain},
		{plain + "#f", "has a fragment", plain},
		{registry, "has no repository path", ""},
		{registry + "/plugins/a\x00ws", "has a control character, U+0000", ""},
		{registry + "/plugins/a\nws", "has a control character, U+000A", ""},
		{registry + "/plugins/a\x1b[2Jws", "has a control character, U+001B", ""},
		{registry + "/" + strings.Repeat("a", 5000), "is too long", ""},
	} {
		checkRefusal(t, test.in, test.reason, test.suggestion)
		reason := refuseSource(t, test.in).Reason
		if other, found := seen[reason]; found {
			t.Errorf("%q and %q are refused with one reason: %s", test.in, other, reason)
		}
		seen[reason] = test.in
	}
	checkRefusal(t, "plugins/aws", "has no registry host", "")
}

func TestC04MessagesAreSafeToShow(t *testing.T) {
	for _, test := range sourceRefusals {
		message := refuseSource(t, test.in).Error()
		if strings.ContainsFunc(message, func(r rune) bool { return r < 0x20 || r == 0x7f }) || len(message) > 1000 {
			t.Errorf("message %q could disturb a terminal", message)
		}
	}
	if message := refuseSource(t, "r.example/"+strings.Repeat("a", 5000)).Error(); len(message) > 400 {
		t.Errorf("a long source gives a message of %d bytes", len(message))
	}
}

func TestC04PasswordsAreNotShown(t *testing.T) {
	for _, in := range []string{
		"user:s3cr3t@r.example/x",
		"https://user:s3cr3t@r.example/x",
		"https://user:s3cr3t@r.example/x:1.0@sha256:abcd",
		"user:s3cr3t@r.example/x@1.2.0",
		"user:s3cr3t@r.example/X y",
		"user:s3cr3t@r.example",
		"user:s3cr3t@",
		"s3cr3t@r.example/x",
		"user:a/s3cr3t@r.example/x",
		"user:a/s3cr3t@r.example",
		"user:s3cr3t/a@localhost:5000",
		"user:s3cr3t/a@1.2.0",
		"user:s3cr3t?a@r.example/x",
		"user:s3cr3t#a@r.example/x",
		"user:a://s3cr3t@r.example/x",
		"user:s3cr3t://a@r.example/x",
		"user:s3cr3t@a@r.example/x",
		"user:s3cr3t\n@r.example/x",
		"user:s3cr3t" + strings.Repeat("x", 5000) + "@r.example/x",
		"r.example/x?token=s3cr3t",
		"r.example/x?token=a@s3cr3t",
		"https://user:s3cr3t@R.example/X?token=s3cr3t#s3cr3t@a",
	} {
		e := refuseSource(t, in)
		if strings.Contains(e.Error()+e.Input+e.Reason+e.Suggestion, "s3cr3t") {
			t.Errorf("ParseSource(%q) shows the secret: %s", in, e)
		}
	}
}

func TestSourceCompare(t *testing.T) {
	var sources []addr.Source
	for _, s := range []string{"b.example/a", "a.example:5000/x", "a.example/y", "a.example/x"} {
		sources = append(sources, parseSource(t, s))
	}
	slices.SortFunc(sources, addr.Source.Compare)
	var got []string
	for _, s := range sources {
		got = append(got, s.String())
	}
	want := "a.example/x a.example/y a.example:5000/x b.example/a"
	if strings.Join(got, " ") != want {
		t.Errorf("sorted: %v, want %s", got, want)
	}
	var zero addr.Source
	if !zero.IsZero() || zero.String() != "" || sources[0].IsZero() {
		t.Error("the zero source must be no source")
	}
}

func FuzzParseSource(f *testing.F) {
	for _, test := range sourceRefusals {
		f.Add(test.in)
	}
	for _, s := range []string{"docker.io/x", "[::1]:443/x", "registry:443/x", "R.example:5000/a__b/c--d", "user:pw@r.example/x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		source, err := addr.ParseSource(s)
		if err != nil {
			e := refuseSource(t, s)
			if e.Reason == "" || e.Error() == "" {
				t.Errorf("%q is refused without a reason", s)
			}
			if e.Suggestion != "" && parseSource(t, e.Suggestion).String() != e.Suggestion {
				t.Errorf("%q: the suggestion %q is not in normal form", s, e.Suggestion)
			}
			return
		}
		if again := parseSource(t, source.String()); again != source {
			t.Errorf("%q becomes %q, which becomes %q", s, source, again)
		}
		if len(source.String()) > 255 || source.Host() == "" || source.Path() == "" {
			t.Errorf("%q becomes %q", s, source)
		}
	})
}
