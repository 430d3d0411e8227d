// Package hostile makes archives that no installer may unpack, and beside them
// honest ones that a careless rule would refuse. Tests of extraction, and tests
// of the whole command, install each of them and look at what became of the
// files around.
//
// Start at [Archives] and [Honest]. Everything is made byte by byte, the same on
// every run: tar writers refuse to write most of it. To have the archives as
// files, for another tool to be tried on them:
//
//	go run ./internal/hostile/corpus DIR
package hostile

import (
	"cmp"
	"slices"
	"sync"

	"github.com/pluginlock/plugins/internal/extract"
)

// Archive is one payload layer.
type Archive struct {
	Name  string       // unique, fit for a file name
	Case  string       // of the list of cases, such as "C33"; "types" where none fits
	About string       // what is wrong with it, or what is right
	Layer []byte       // the blob as a registry would serve it
	Want  extract.Kind // of the refusal; extract.KindNone for honest ones
}

// Archives lists the hostile archives, by case and name. None is larger than a
// megabyte, though some unpack to gigabytes. They are made once: nobody may
// change a Layer.
func Archives() []Archive { return sorted(slices.Concat(small(), bombs())) }

// Small lists those of [Archives] that are made, and unpacked, in no time.
func Small() []Archive { return sorted(slices.Clone(small())) }

var (
	small = sync.OnceValue(func() []Archive {
		return slices.Concat(names(), links(), collisions(), types(), sizes(), broken())
	})
	bombs = sync.OnceValue(makeBombs)
)

func sorted(all []Archive) []Archive {
	slices.SortFunc(all, func(a, b Archive) int { return cmp.Or(cmp.Compare(a.Case, b.Case), cmp.Compare(a.Name, b.Name)) })
	return all
}

// Honest lists archives that must install.
func Honest() []Archive {
	nested := "plugin"
	for range 40 {
		nested += "/d"
	}
	return []Archive{
		honest("dot-slash", "C33", "names as tar writes them for a directory",
			entry{dir, ".", "", 0o755, ""}, entry{dir, "./", "", 0o755, ""}, entry{dir, "./plugin/", "", 0o755, ""}, file("./plugin/bin/run")),
		honest("dot-inside", "C33", "a component that is a dot", file("plugin/a/./b")),
		honest("no-directories", "C33", "parents without entries", file("plugin/a/b/c/run")),
		honest("deep", "C33", "forty directories", file(nested+"/run")),
		honest("dots-in-names", "C33", "names with dots that mean nothing", file("plugin/..data"), file("plugin/a..b"), file("plugin/.hidden")),
		honest("unicode", "C39", "names in one script each, once", file("plugin/caf\u00e9"), file("plugin/\u65e5\u672c"), file("plugin/na me")),
		honest("nearly-reserved", "C39", "names that only look reserved", file("plugin/console"), file("plugin/com10"), file("plugin/nullable.txt")),
		honest("links", "C35", "links over links, one before its target",
			link("plugin/current", "55.1"), link("plugin/pkg.inc", "current/pkg.inc"), link("plugin/Makefile.inc", "current/Makefile.inc"),
			file("plugin/55.1/pkg.inc"), file("plugin/55.1/Makefile.inc"), file("plugin/..v1/config"), link("plugin/..data", "..v1"),
			link("plugin/config", "..data/config"), link("plugin/bin/run", "../lib/run"), file("plugin/lib/run")),
		honest("link-to-own-directory", "C35", "a link to the directory it is in", file("plugin/run"), link("plugin/self", ".")),
		honest("hard-link", "C35", "a hard link to an earlier file", file("plugin/run"), entry{hardLink, "plugin/again", "./plugin/run", 0o755, ""}),
		honest("directory-twice", "C39", "a directory named twice", entry{dir, "plugin/", "", 0o755, ""}, file("plugin/run"), entry{dir, "plugin/", "", 0o700, ""}),
		{"gzip-members", "C36", "one archive in two gzip members", append(gzipped(tarball(file("plugin/run"))[:700]), gzipped(tarball(file("plugin/run"))[700:])...), extract.KindNone},
		{"zstd-skippable", "C36", "a skippable zstd frame before and after", skippable(zstdRaw(tarball(file("plugin/run")))), extract.KindNone},
		{"plain", "C36", "no compression", tarball(file("plugin/run")), extract.KindNone},
		{"gnu-padding", "C36", "zeros up to a record of 20 blocks, as GNU tar writes", append(tarball(file("plugin/run")), make([]byte, 8<<10)...), extract.KindNone},
	}
}

func honest(name, of, about string, entries ...entry) Archive {
	return Archive{name, of, about, gzipped(tarball(entries...)), extract.KindNone}
}

// bad makes an archive whose first entry is honest, so that there is something
// to be left behind.
func bad(name, of string, want extract.Kind, about string, entries ...entry) Archive {
	return Archive{name, of, about, gzipped(tarball(append([]entry{file("plugin/run")}, entries...)...)), want}
}
