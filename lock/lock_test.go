package lock

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/pluginlock/plugins/addr"
)

// digest returns a digest that is told apart from others by seed.
func digest(seed string) addr.Digest { return addr.DigestOf([]byte(seed)) }

// entry returns an entry as `init` would lock it.
func entry(t testing.TB, name, version string, platforms ...string) Entry {
	t.Helper()
	source, err := addr.ParseSource("registry.example.com/plugins/" + name)
	if err != nil {
		t.Fatal(err)
	}
	v, err := addr.ParseVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	e := Entry{Name: name, Source: source, Version: v, Digest: digest(name + version)}
	for _, p := range platforms {
		e.Platforms = append(e.Platforms, Platform{platform(t, p), digest(name + version + p), digest("executable" + name + version + p)})
	}
	return e
}

func platform(t testing.TB, s string) addr.Platform {
	t.Helper()
	p, err := addr.ParsePlatform(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func file(entries ...Entry) *File {
	f := &File{}
	for _, e := range entries {
		f.Set(e)
	}
	return f
}

// parse reads what must be readable.
func parse(t testing.TB, src []byte) *File {
	t.Helper()
	f, diags := Parse(src, FileName)
	if diags.HasErrors() {
		t.Fatalf("Parse: %v\n%s", diags, src)
	}
	return f
}

// rich is a file in which everything occurs that can.
func rich(t testing.TB) *File {
	aws := entry(t, "aws", "1.4.2", "linux/amd64", "darwin/arm64")
	aws.Protocols = []int{6, 5}
	velero := entry(t, "velero_aws", "1.9.0+build.1", "linux/arm64", "linux/amd64", "linux/arm/v7")
	velero.Tag = "v1.9.0_build.1"
	velero.Executable.Path = `/a b/${x}%{y}"z"$${é}`
	each := entry(t, "each", "2.0.0-rc.1", "windows/amd64", "linux/amd64")
	each.Protocols = []int{1}
	each.Executable.ByPlatform = map[addr.Platform]string{
		platform(t, "windows/amd64"): "/Files/x.exe", platform(t, "linux/amd64"): "/x", platform(t, "linux/arm"): "/arm",
	}
	return file(velero, aws, each)
}

func TestBytesIsOneNormalForm(t *testing.T) {
	for name, f := range map[string]*File{"empty": {}, "rich": rich(t)} {
		src := f.Bytes()
		if formatted := hclwrite.Format(src); !bytes.Equal(src, formatted) {
			t.Errorf("%s: hclwrite.Format makes\n%s\nof\n%s", name, formatted, src)
		}
		back := parse(t, src)
		if !back.Equal(f) {
			t.Errorf("%s: read back as something else:\n%s", name, back.Bytes())
		}
		if !bytes.Equal(back.Bytes(), src) {
			t.Errorf("%s: written again as\n%s", name, back.Bytes())
		}
		if strings.ContainsAny(string(src), "\r\t") || !bytes.HasSuffix(src, []byte("\n")) {
			t.Errorf("%s: not made of lines that end in LF", name)
		}
	}
}

// TestQuotedTextReadsBack, whatever a path in an image is made of.
func TestQuotedTextReadsBack(t *testing.T) {
	for path, want := range map[string]string{
		`/${a}`:         `"/$${a}"`,
		`/%{ if a }`:    `"/%%{ if a }"`,
		`/$${a}`:        `"/$$${a}"`,
		`/$$$%%{$`:      `"/$$$%%%{$"`,
		`/100%`:         `"/100%"`,
		`/a"b"`:         `"/a\"b\""`,
		"/\u200b\u00a0": `"/\u200b\u00a0"`,
		"/\U000e0001":   `"/\U000e0001"`,
		"/é/日本":         `"/é/日本"`,
	} {
		if got := quote(path); got != want {
			t.Errorf("%q is written %s, want %s", path, got, want)
		}
		e := entry(t, "aws", "1.4.2", "linux/amd64")
		e.Executable.Path = path
		if f := parse(t, file(e).Bytes()); f.Entries[0].Executable.Path != path {
			t.Errorf("%q is read back as %q", path, f.Entries[0].Executable.Path)
		}
	}
}
