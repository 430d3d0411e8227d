package addr_test

import (
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/pluginlock/plugins/addr"
)

// empty is the digest of no bytes, as FIPS 180-4's examples give it.
const empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func TestDigestOfContent(t *testing.T) {
	if got := addr.DigestOf(nil); got != empty {
		t.Errorf("the digest of nothing is %s", got)
	}
	h := sha256.New()
	h.Write([]byte("plugin"))
	if got, want := addr.DigestFrom(h), addr.DigestOf([]byte("plugin")); got != want {
		t.Errorf("streamed %s, at once %s", got, want)
	}
}

func TestDigestParts(t *testing.T) {
	d, err := addr.ParseDigest(empty)
	if err != nil {
		t.Fatal(err)
	}
	if d.String() != empty || "sha256:"+d.Hex() != empty || d.IsZero() {
		t.Errorf("%q has the digits %q", d, d.Hex())
	}
	if zero := addr.Digest(""); !zero.IsZero() || zero.Hex() != "" {
		t.Error("the zero digest must be no digest")
	}
}

func TestDigestRefusals(t *testing.T) {
	digits := strings.TrimPrefix(empty, "sha256:")
	for _, test := range []struct{ in, reason string }{
		{"", "it needs the form sha256:"},
		{digits, "it needs the form sha256:"},
		{"sha512:" + digits + digits, `digest algorithm "sha512" is not supported`},
		{"SHA256:" + digits, `digest algorithm "SHA256" is not supported`},
		{"md5:" + digits[:32], `digest algorithm "md5" is not supported`},
		{":" + digits, `digest algorithm "" is not supported`},
		{empty + "0", "this has 65"},
		{empty[:70], "this has 63"},
		{"sha256:", "this has 0"},
		{"sha256:" + strings.ToUpper(digits), `"E" is not a lower-case hexadecimal digit`},
		{"sha256:g" + digits[1:], `"g" is not a lower-case hexadecimal digit`},
		{"sha256:\n" + digits[1:], `"\n" is not a lower-case hexadecimal digit`},
		{" " + empty, `digest algorithm " sha256" is not supported`},
	} {
		d, err := addr.ParseDigest(test.in)
		if err == nil || !d.IsZero() || !strings.Contains(err.Error(), test.reason) {
			t.Errorf("ParseDigest(%q) = %q, %v; want %q", test.in, d, err, test.reason)
		}
	}
}

func FuzzParseDigest(f *testing.F) {
	f.Add(empty)
	f.Add(strings.ToUpper(empty))
	f.Add("sha512:00")
	f.Add("sha256")
	f.Fuzz(func(t *testing.T, s string) {
		d, err := addr.ParseDigest(s)
		if err != nil {
			if err.Error() == "" || !d.IsZero() {
				t.Errorf("%q is refused as %q, %v", s, d, err)
			}
			return
		}
		if d.String() != s || len(d.Hex()) != 64 || strings.ToLower(s) != s {
			t.Errorf("%q is taken as %q with %q", s, d, d.Hex())
		}
	})
}
