package installdir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/filename"
	"github.com/pluginlock/plugins/internal/store/plain"
	"github.com/pluginlock/plugins/internal/store/tree"
)

// maxState bounds what is read of the files that say what is installed, in
// bytes: copies have a line for each of their files there.
const maxState = 256 << 20

// format is the number of installed.json's form.
const format = 1

// State is what installed.json says. The zero value is that of a directory
// that does not exist.
type State struct {
	Platform addr.Platform
	LinkMode LinkMode
	Plugins  map[string]Installed // by name

	run string // of the Apply that wrote it
}

// Installed is one plugin that was installed.
type Installed struct {
	Description
	Target string // where the link leads; empty for a copy
	Bin    string // name of the file below bin/

	receipt *tree.Receipt // of a copy
	binCopy *tree.File    // where bin/ holds a copy of the program and not a link
}

// Names lists the installed plugins in order.
func (s *State) Names() []string { return slices.Sorted(maps.Keys(s.Plugins)) }

// Executable returns the path of a plugin's program in the install directory
// dir; it lies below plugins/, not bin/, so that a program finds what lies
// beside it.
func (s *State) Executable(dir, name string) (path string, ok bool) {
	p, ok := s.Plugins[name]
	if !ok {
		return "", false
	}
	return filepath.Join(dir, pluginsDir, name, filepath.FromSlash(p.Executable)), true
}

// Read reads the state of an install directory. That there is none is no
// error.
//
// Errors: [*StateError].
func Read(dir string) (*State, error) {
	path := filepath.Join(dir, installedFile)
	encoded, err := plain.ReadFile(path, maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return &State{}, nil
	}
	if err != nil {
		return nil, &StateError{path, err}
	}
	s, err := decode(encoded)
	if err != nil {
		return nil, &StateError{path, err}
	}
	return s, nil
}

// The file's form; State's types hold it to their own.
type stateJSON struct {
	Format   int                   `json:"format"`
	Run      string                `json:"run"`
	Platform string                `json:"platform"`
	LinkMode LinkMode              `json:"link_mode"`
	Plugins  map[string]pluginJSON `json:"plugins"`
}

type pluginJSON struct {
	Version          string        `json:"version,omitempty"`
	Source           string        `json:"source,omitempty"`
	Digest           addr.Digest   `json:"digest,omitempty"`
	Manifest         addr.Digest   `json:"manifest,omitempty"`
	Protocols        []int         `json:"protocols,omitempty"`
	Executable       string        `json:"executable"`
	ExecutableDigest addr.Digest   `json:"executable_digest,omitempty"`
	Override         filename.Path `json:"override,omitempty"`
	Target           filename.Path `json:"target,omitempty"`
	Bin              string        `json:"bin"`
	Receipt          *tree.Receipt `json:"receipt,omitempty"`
	BinCopy          *tree.File    `json:"bin_copy,omitempty"`
}

func (s *State) encode() ([]byte, error) {
	file := stateJSON{format, s.run, s.Platform.String(), s.LinkMode, map[string]pluginJSON{}}
	for name, p := range s.Plugins {
		file.Plugins[name] = pluginJSON{
			p.Version.String(), p.Source.String(), p.Digest, p.Manifest, p.Protocols, p.Executable,
			p.ExecutableDigest, filename.Path(p.Override), filename.Path(p.Target), p.Bin, p.receipt, p.binCopy,
		}
	}
	encoded, err := json.MarshalIndent(file, "", "  ")
	return append(encoded, '\n'), err
}

func decode(encoded []byte) (*State, error) {
	var file stateJSON
	if err := json.Unmarshal(encoded, &file); err != nil {
		return nil, errors.New("it is not the list that plugins keeps there")
	}
	if file.Format != format {
		return nil, fmt.Errorf("format %d is not known to this version, only %d is", file.Format, format)
	}
	platform, err := addr.ParsePlatform(file.Platform)
	if err != nil {
		return nil, err
	}
	if file.LinkMode != Symlink && file.LinkMode != Copy {
		return nil, fmt.Errorf("link mode %q is not known", file.LinkMode)
	}
	s := &State{Platform: platform, LinkMode: file.LinkMode, Plugins: map[string]Installed{}, run: file.Run}
	for name, p := range file.Plugins {
		if s.Plugins[name], err = p.installed(name, s); err != nil {
			return nil, fmt.Errorf("plugin %q: %w", name, err)
		}
	}
	return s, nil
}

// installed checks one plugin of the file. Names and paths are checked hardest,
// for they are opened, replaced and removed.
func (p pluginJSON) installed(name string, s *State) (Installed, error) {
	i := Installed{
		Description: Description{
			Digest: p.Digest, Manifest: p.Manifest, Protocols: p.Protocols, Executable: p.Executable,
			ExecutableDigest: p.ExecutableDigest, Override: string(p.Override),
		},
		Target: string(p.Target), Bin: p.Bin, receipt: p.Receipt, binCopy: p.BinCopy,
	}
	switch {
	case !validName(name):
		return i, errors.New("this cannot be a name")
	case p.Bin != binName(name, s.Platform):
		return i, fmt.Errorf("%q cannot be its file below %s", p.Bin, binDir)
	case !fs.ValidPath(p.Executable) || p.Executable == ".":
		return i, fmt.Errorf("%q cannot be its executable", p.Executable)
	case (s.LinkMode == Copy) != (p.Receipt != nil):
		return i, fmt.Errorf("link mode %s does not fit it", s.LinkMode)
	}
	var errs [6]error
	if p.Version != "" {
		i.Version, errs[0] = addr.ParseVersion(p.Version)
	}
	if p.Source != "" {
		i.Source, errs[1] = addr.ParseSource(p.Source)
	}
	for n, digest := range []addr.Digest{p.Digest, p.Manifest, p.ExecutableDigest} {
		if !digest.IsZero() {
			_, errs[2+n] = addr.ParseDigest(digest.String())
		}
	}
	if p.Receipt != nil {
		errs[5] = p.Receipt.Validate()
	}
	return i, errors.Join(errs[:]...)
}
