package publish

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/text"
)

// artifactsFile is goreleaser's list of what it built.
const artifactsFile = "artifacts.json"

// The types of goreleaser's artifacts that are programs.
const (
	binaryType    = "Binary"
	universalType = "Universal Binary"
)

// artifact is one entry of the list; https://goreleaser.com/customization/ says
// what it holds.
type artifact struct {
	Name    string `json:"name"`
	Path    string `json:"path"`
	GoOS    string `json:"goos"`
	GoArch  string `json:"goarch"`
	GoAMD64 string `json:"goamd64"` // v1
	GoARM   string `json:"goarm"`   // 7
	GoARM64 string `json:"goarm64"` // v8.0
	Type    string `json:"type"`
}

// goreleaser reads the programs of a list. A universal program for macOS counts
// for the architectures that have none of their own.
func goreleaser(list string) (*input, error) {
	raw, err := os.ReadFile(list)
	if err != nil {
		return nil, err
	}
	var artifacts []artifact
	if err := json.Unmarshal(raw, &artifacts); err != nil {
		return nil, fmt.Errorf("%s is not a list of goreleaser's artifacts: %w", list, err)
	}
	in := newInput()
	for _, a := range artifacts {
		if a.Type == binaryType {
			in.artifact(list, a)
		}
	}
	darwin := map[string]bool{}
	for p := range in.platforms {
		darwin[p.Arch] = darwin[p.Arch] || p.OS == "darwin"
	}
	for _, a := range artifacts {
		for _, arch := range []string{"amd64", "arm64"} {
			if a.Type == universalType && !darwin[arch] {
				a.GoArch = arch
				in.artifact(list, a)
			}
		}
	}
	if len(in.platforms) == 0 && len(in.problems.list) == 0 {
		return nil, fmt.Errorf("%w: %s lists no programs (entries of the type %q)", ErrNoInput, list, binaryType)
	}
	return in, in.problems.err()
}

func (in *input) artifact(list string, a artifact) {
	p, err := a.platform()
	if err != nil {
		in.problems.add(addr.Platform{}, a.Path, err)
		return
	}
	name := path.Base(filepath.ToSlash(a.Path))
	disk, err := locate(list, a.Path)
	if err == nil {
		for _, there := range in.platforms[p] {
			if there.at == name {
				err = fmt.Errorf("is a second build of %q for the platform, besides %s: build one of them, or name files by platform", name, there.label)
			}
		}
	}
	if err != nil {
		in.problems.add(p, a.Path, err)
		return
	}
	in.add(p, origin{disk: disk, label: a.Path, at: name})
}

func (a artifact) platform() (addr.Platform, error) {
	p := a.GoOS + "/" + a.GoArch
	switch a.GoArch {
	case "arm":
		if a.GoARM != "" {
			p += "/v" + a.GoARM
		}
	case "arm64":
		if variant, _, _ := strings.Cut(a.GoARM64, "."); variant != "" {
			p += "/" + variant
		}
	case "amd64":
		if a.GoAMD64 != "" {
			p += "/" + a.GoAMD64
		}
	}
	return addr.ParsePlatform(p)
}

// locate finds a file of the list. Its path begins where goreleaser ran, which
// is above the list's directory by as many levels as the path shares with it.
func locate(list, listed string) (string, error) {
	listed = filepath.FromSlash(listed)
	if filepath.IsAbs(listed) {
		return regular(listed)
	}
	dist, err := filepath.Abs(filepath.Dir(list))
	if err != nil {
		return "", err
	}
	for base := dist; ; base = filepath.Dir(base) {
		candidate := filepath.Join(base, listed)
		inside, err := filepath.Rel(dist, candidate)
		if err == nil && filepath.IsLocal(inside) {
			if found, err := regular(candidate); err == nil {
				return found, nil
			}
		}
		if base == filepath.Dir(base) {
			return "", fmt.Errorf("is listed in %s but is not there: run goreleaser again", text.Clip(list))
		}
	}
}

func regular(file string) (string, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return "", withoutPath(err)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("is %s, not a file", kindOf(info.Mode()))
	}
	return file, nil
}
