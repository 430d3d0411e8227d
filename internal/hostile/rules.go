package hostile

import (
	"strings"

	"github.com/pluginlock/plugins/internal/extract"
)

const (
	badName  = extract.KindName
	badLink  = extract.KindLink
	badPlace = extract.KindPlace
	badType  = extract.KindType
	badSize  = extract.KindSize
	clash    = extract.KindCollision
	tooMuch  = extract.KindLimit
	unsound  = extract.KindArchive
)

func names() []Archive {
	all := []Archive{
		bad("pax-path", "C33", badName, "a PAX path that leaves the root", paxEntry(extended, "path=../escape"), file("plugin/x")),
		bad("gnu-long-name", "C33", badName, "a GNU long name that leaves the root", entry{longName, "././@LongLink", "", 0, "../../escape\x00"}, file("plugin/x")),
		bad("pax-nul", "C33", unsound, "a NUL in a PAX path", paxEntry(extended, "path=plugin/a\x00b"), file("plugin/x")),
		bad("many-components", "C33", tooMuch, "a path of 300 components", file("plugin/"+strings.Repeat("a/", 299)+"x")),
		bad("long-path", "C33", tooMuch, "a path of 5000 bytes", file("plugin/"+strings.Repeat(strings.Repeat("a", 99)+"/", 50))),
		bad("long-component", "C33", tooMuch, "a file name of 256 bytes", file("plugin/"+strings.Repeat("a", 256))),
		bad("dot-dot-directory", "C33", badName, "the parent as a directory", entry{dir, "../", "", 0o777, ""}),
		bad("outside", "C33", badPlace, "a file beside plugin/", file("other/x")),
		bad("at-the-root", "C33", badPlace, "a file in the root", file("x")),
		bad("plugin-as-link", "C33", badPlace, "plugin itself as a link", link("plugin/x", "run"), entry{symlink, "plugin", "..", 0o777, ""}),
		bad("whiteout", "C33", badPlace, "a whiteout", file("plugin/.wh.run")),
		bad("opaque", "C33", badPlace, "an opaque whiteout", file("plugin/.wh..wh..opq")),
		bad("whiteout-directory", "C33", badPlace, "a file below a whiteout", file("plugin/.wh.a/x")),
	}
	for name, path := range map[string]string{
		"dot-dot": "../../escape", "absolute": "/abs/escape", "back-out": "plugin/a/../../../escape",
		"dot-then-dot-dot": "./../escape", "only-dot-dot": "..", "only-dot": ".", "empty": "",
		"drive": `C:\escape`, "backslashes": `..\..\escape`, "backslash-inside": `plugin\x`, "newline": "plugin/a\nb",
		"back-in": "plugin/a/../b", "double-slash": "plugin//x", "trailing-slash": "plugin/x/",
		"escape-sequence": "plugin/\x1b[2Jx", "not-utf-8": "plugin/\xff\xfe", "stream": "plugin/a:b",
		"question-mark": "plugin/a?b", "delete": "plugin/a\x7fb", "c1-control": "plugin/a\u0085b",
	} {
		all = append(all, bad(name, "C33", badName, "a file named so", file(path)))
	}
	return all
}

func links() []Archive {
	circle := []entry{link("plugin/a", "b"), link("plugin/b", "c"), link("plugin/c", "a")}
	chain := []entry{file("plugin/end"), link("plugin/l0", "end")}
	for i := range 60 {
		chain = append(chain, link("plugin/l"+digits(i+1), "l"+digits(i)))
	}
	hard := func(target string) entry { return entry{hardLink, "plugin/h", target, 0o755, ""} }
	return []Archive{
		bad("through-absolute-link", "C35", badLink, "a file below a link to the outside", link("plugin/lib", "/outside"), file("plugin/lib/x")),
		bad("through-inner-link", "C35", clash, "a file below a link", entry{dir, "plugin/real", "", 0o755, ""}, link("plugin/lib", "real"), file("plugin/lib/x")),
		bad("link-of-links", "C35", clash, "links that leave one after the other", link("plugin/a", "."), link("plugin/a/b", ".."), file("plugin/a/b/x")),
		bad("links-that-add-up", "C35", badLink, "a link that leaves the root only once another is followed",
			entry{dir, "plugin/x/y/z", "", 0o755, ""}, file("plugin/x/y/z/f"), link("plugin/up", "x/y/.."), link("plugin/shallow", "."),
			link("plugin/x/y/z/s", "../../../shallow"), link("plugin/x/y/z/out", "s/../../../etc/passwd")),
		bad("directory-then-link", "C35", badLink, "a directory replaced by a link", entry{dir, "plugin/d", "", 0o755, ""}, link("plugin/d", "/outside"), file("plugin/d/x")),
		bad("directory-then-inner-link", "C35", clash, "a directory replaced by a link", file("plugin/d/y"), link("plugin/d", "."), file("plugin/d/x")),
		bad("link-to-shell", "C35", badLink, "a program of the host as the executable", link("plugin/aws", "/bin/sh")),
		bad("link-up-and-out", "C35", badLink, "a relative link out of the root", link("plugin/x", "../../../../etc/passwd")),
		bad("link-circle", "C35", badLink, "links in a circle", circle...),
		bad("link-to-itself", "C35", badLink, "a link to itself", link("plugin/x", "x")),
		bad("link-chain", "C35", badLink, "more links in a row than a kernel follows", chain...),
		bad("link-to-nothing", "C35", badLink, "a link to a file that is not there", link("plugin/x", "missing")),
		bad("link-below-file", "C35", badLink, "a link that takes a file for a directory", link("plugin/x", "run/y")),
		bad("link-empty", "C35", badLink, "a link without a target", link("plugin/x", "")),
		bad("link-backslash", "C35", badName, "a link out of the root on Windows", link("plugin/x", `..\..\x`)),
		bad("link-drive", "C35", badName, "a link to a drive", link("plugin/x", "C:/x")),
		bad("link-pax", "C35", badLink, "a PAX link target that leaves the root", paxEntry(extended, "linkpath=../../x"), link("plugin/x", "run")),
		bad("link-gnu-long", "C35", badLink, "a GNU long target that leaves the root", entry{longLink, "././@LongLink", "", 0, "../../x\x00"}, link("plugin/x", "run")),
		bad("link-case", "C35", badLink, "a link that only some systems follow", link("plugin/x", "RUN")),
		bad("hard-outside", "C35", badLink, "a hard link to the outside", hard("../../etc/passwd")),
		bad("hard-absolute", "C35", badLink, "a hard link to an absolute path", hard("/etc/passwd")),
		bad("hard-later", "C35", badLink, "a hard link to a later file", hard("plugin/later"), file("plugin/later")),
		bad("hard-to-link", "C35", badLink, "a hard link to a symbolic one", link("plugin/l", "run"), hard("plugin/l")),
		bad("hard-to-directory", "C35", badLink, "a hard link to a directory", entry{dir, "plugin/d", "", 0o755, ""}, hard("plugin/d")),
		bad("hard-to-itself", "C35", badLink, "a hard link to itself", hard("plugin/h")),
		bad("hard-empty", "C35", badLink, "a hard link to nothing", hard("")),
	}
}

func digits(i int) string { return string([]byte{byte('0' + i/10), byte('0' + i%10)}) }

func collisions() []Archive {
	all := []Archive{
		bad("directory-and-file", "C39", clash, "a directory and a file of one name", entry{dir, "plugin/bin", "", 0o755, ""}, file("plugin/bin")),
		bad("implied-directory-and-file", "C39", clash, "a file in the place of an implied directory", file("plugin/bin/run"), file("plugin/bin")),
		bad("file-and-directory", "C39", clash, "a file below a file", file("plugin/bin"), file("plugin/bin/run")),
		bad("file-and-link", "C39", clash, "a link in the place of a file", link("plugin/run", "x"), file("plugin/x")),
		bad("link-and-link", "C39", clash, "two links of one name", link("plugin/x", "run"), link("plugin/x", "run")),
		bad("hard-link-collision", "C39", clash, "a hard link in the place of its target", entry{hardLink, "plugin/run", "plugin/run", 0o755, ""}),
	}
	for name, pair := range map[string][2]string{
		"twice": {"run", "run"}, "case": {"Run", "run"}, "case-of-parents": {"Bin/a", "bin/b"}, "twice-by-dots": {"run", "./run"},
		"normal-form": {"caf\u00e9", "cafe\u0301"}, "normal-form-and-case": {"CAF\u00c9", "cafe\u0301"}, "sharp-s": {"stra\u00dfe", "STRASSE"},
		"kelvin": {"\u212a", "k"}, "long-s": {"\u017f", "S"}, "final-sigma": {"\u03c2", "\u03a3"}, "ignorable": {"ru\u200dn", "run"}, "dotless-i": {"\u0131", "I"},
	} {
		all = append(all, Archive{"same-" + name, "C39", "two names that are one file on some system",
			gzipped(tarball(file("plugin/"+pair[0]), file("plugin/"+pair[1]))), clash})
	}
	for name, path := range map[string]string{
		"con": "CON", "aux": "aux.txt", "com1": "bin/com1.tar.gz", "superscript": "LPT\u00b2", "conin": "conin$", "nul-space": "NUL .txt",
		"trailing-dot": "run.", "trailing-space": "run ", "directory-dot": "bin./run", "three-dots": ".../run", "colon": "a:b",
	} {
		all = append(all, bad("windows-"+name, "C39", badName, "a name that means something else on Windows", file("plugin/"+path)))
	}
	return all
}
