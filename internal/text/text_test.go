package text

import (
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestClip(t *testing.T) {
	for in, want := range map[string]string{
		"":               "",
		"aws":            "aws",
		"größe 日本":       "größe 日本",
		"a\nb\tc":        `a\nb\tc`,
		"\x1b[31mred":    `\x1b[31mred`,
		"a\u202eb":       `a\u202eb`, // turns the direction of writing
		"a\u00a0b":       `a\u00a0b`,
		"\xff\xc3":       `\xff\xc3`,
		"\ufffd":         "\ufffd",
		`say "hi" \ n`:   `say "hi" \ n`,
		"\x00":           `\x00`,
		"\U000e0041tags": `\U000e0041tags`,
	} {
		if got := Clip(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
	whole := strings.Repeat("ä", longest)
	if Clip(whole) != whole || Clip(whole+"ä") != whole+"…" {
		t.Error("not cut at the limit")
	}
	if got := ClipTo("abc", 0); got != "…" {
		t.Errorf("no character allowed: %q", got)
	}
}

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{"": `""`, "a": `"a"`, `a"b`: `"a\"b"`, "a\nb": `"a\nb"`} {
		if got := Quote(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestSentence(t *testing.T) {
	for in, want := range map[string]string{
		"it is wrong": "It is wrong.", `"x" is wrong; did you mean "y"?`: `"x" is wrong; did you mean "y"?`, "": ".",
	} {
		if got := Sentence(errors.New(in)); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestJoin(t *testing.T) {
	if got := Join([]int{5, 6}); got != "5, 6" {
		t.Error(got)
	}
	if got := Join[string](nil); got != "" {
		t.Error(got)
	}
}

func TestNearest(t *testing.T) {
	known := []string{"source", "version", "tag", "os", "verse"}
	for name, want := range map[string]string{
		"source": "source", "suorce": "source", "Sources": "source", "VERSION": "version", "versin": "version",
		"versi": "verse", "tga": "tag", "o": "", "": "", "xyz": "", "x": "", "protocols": "",
		strings.Repeat("version", 1<<20): "",
	} {
		if got := Nearest(name, known); got != want {
			t.Errorf("%.20q: %q, want %q", name, got, want)
		}
	}
}

// FuzzClip: nothing that is shown can move a cursor or begin a line, and what
// is harmless is shown as it is.
func FuzzClip(f *testing.F) {
	f.Add("a\x1b[2J\r\n")
	f.Add("\xff\u200b日本")
	f.Fuzz(func(t *testing.T, s string) {
		shown := Clip(s)
		if !utf8.ValidString(shown) || strings.ContainsFunc(shown, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q is shown as %q", s, shown)
		}
		if utf8.RuneCountInString(shown) > longest*len(`\U0010ffff`)+1 {
			t.Errorf("%q is shown with %d characters", s, utf8.RuneCountInString(shown))
		}
		if Clip(shown) != shown && utf8.RuneCountInString(shown) <= longest {
			t.Errorf("%q changes when it is shown again", shown)
		}
	})
}
