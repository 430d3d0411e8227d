package publish

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/text"
)

// commonDir is the directory whose files every platform gets.
const commonDir = "common"

// tree reads DIR/<os>/<arch>[/<variant>]/… and DIR/common.
func tree(dir string) (*input, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	in := newInput()
	var common []origin
	var ignored []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case !e.IsDir() && e.Type()&fs.ModeSymlink == 0:
			ignored = append(ignored, e.Name())
		case alwaysExcluded(e.Name()) || IsLayout(path): // an earlier run may have written one
		case e.IsDir() && e.Name() == commonDir:
			common = append(common, origin{disk: path, label: commonDir})
		default:
			in.system(path, e.Name())
		}
	}
	ignored = slices.DeleteFunc(ignored, func(name string) bool { return name == MetadataFile })
	if len(ignored) > 0 {
		in.warnings = append(in.warnings, Warning{Kind: WarnIgnored, Text: "files beside the directories of platforms are not packed: " + text.Clip(strings.Join(ignored, ", "))})
	}
	for p := range in.platforms {
		in.platforms[p] = append(in.platforms[p], common...)
	}
	if len(in.platforms) == 0 && len(in.problems.list) == 0 {
		return nil, fmt.Errorf("%w in %s: it has neither goreleaser's %s nor directories of platforms such as linux/amd64", ErrNoInput, dir, artifactsFile)
	}
	return in, in.problems.err()
}

// system reads the directory of an operating system.
func (in *input) system(path, name string) {
	in.each(path, name, func(at, arch string) {
		p, err := parseArch(name, arch)
		label := name + "/" + arch
		if err != nil {
			in.problems.add(addr.Platform{}, label, err)
			return
		}
		in.architecture(at, label, p)
	})
}

// each visits the directories below path; whatever else is there is a problem.
func (in *input) each(path, label string, visit func(path, name string)) {
	if info, err := os.Lstat(path); err != nil || !info.IsDir() {
		in.problems.addf(addr.Platform{}, label, "is a symbolic link in the place of a directory")
		return
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		in.problems.add(addr.Platform{}, label, withoutPath(err))
		return
	}
	if len(entries) == 0 {
		in.problems.addf(addr.Platform{}, label, "is an empty directory")
	}
	for _, e := range entries {
		switch {
		case alwaysExcluded(e.Name()):
		case !e.IsDir():
			in.problems.addf(addr.Platform{}, label+"/"+e.Name(), "is %s where the directory of an architecture is expected, such as %s/amd64", kindOf(e.Type()), label)
		default:
			visit(filepath.Join(path, e.Name()), e.Name())
		}
	}
}

// architecture adds a platform's directory, or those of its variants.
func (in *input) architecture(path, label string, p addr.Platform) {
	entries, err := os.ReadDir(path)
	if err != nil {
		in.problems.add(p, label, withoutPath(err))
		return
	}
	var variants, others []string
	for _, e := range entries {
		if _, ok := variantOf(p, e.Name()); ok && e.IsDir() {
			variants = append(variants, e.Name())
		} else if !alwaysExcluded(e.Name()) {
			others = append(others, e.Name())
		}
	}
	switch {
	case len(variants) > 0 && len(others) > 0:
		in.problems.addf(p, label, "it holds directories of variants (%s) beside other files (%s): put those into the directory of a variant, too",
			strings.Join(variants, ", "), text.Clip(strings.Join(others, ", ")))
	case len(variants) == 0:
		in.place(p, path, label)
	default:
		for _, v := range variants {
			variant, _ := variantOf(p, v)
			in.place(variant, filepath.Join(path, v), label+"/"+v)
		}
	}
}

// place adds a directory of files; two for one platform are a problem.
func (in *input) place(p addr.Platform, path, label string) {
	if there := in.platforms[p]; len(there) > 0 {
		in.problems.addf(p, label, "is a second directory for the platform, besides %s", there[0].label)
		return
	}
	in.add(p, origin{disk: path, label: label})
}

// parseArch reads the name of an architecture's directory, also in the form in
// which build tools append the variant: armv7, arm64v8.
func parseArch(system, name string) (addr.Platform, error) {
	for _, arch := range []string{"arm64", "arm", "amd64"} {
		if variant, ok := strings.CutPrefix(name, arch); ok && strings.HasPrefix(variant, "v") {
			return addr.ParsePlatform(system + "/" + arch + "/" + variant)
		}
	}
	return addr.ParsePlatform(system + "/" + name)
}

// variantOf reads a directory's name as a variant of p's architecture.
func variantOf(p addr.Platform, name string) (addr.Platform, bool) {
	if !strings.HasPrefix(name, "v") {
		return addr.Platform{}, false
	}
	variant, err := addr.ParsePlatform(p.OS + "/" + p.Arch + "/" + name)
	return variant, err == nil
}

// alwaysExcluded reports whether a name is never packed, wherever it stands.
func alwaysExcluded(name string) bool { return name == ".git" || name == ".DS_Store" }
