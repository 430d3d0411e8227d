package config

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/pluginlock/plugins/addr"
)

// Settings are decisions about a machine, not about a project: where registries
// are mirrored, what may be installed, how large a plugin may be. The zero
// value asks every source's own registry, allows all and keeps the defaults.
type Settings struct {
	Registries []Registry // by prefix, each once
	Allow      []string   // prefixes of the only sources allowed, in order; nil allows all
	Limits     Limits
}

// Registry holds the settings for the sources under one prefix. Of several
// prefixes that match a source the longest applies, alone.
type Registry struct {
	Prefix string // host or host/path, in the spelling of sources

	// Mirror serves the same repositories: a registry prefix that takes the
	// place of Prefix, or the absolute path of a directory with an OCI layout.
	// Empty: there is none.
	Mirror string

	Fallback     bool // what the mirror lacks is asked of the registry itself, by digest
	FallbackTags bool // and by tag

	PlainHTTP bool   // no TLS
	CAFile    string // absolute path of PEM certificates to trust besides the system's; or empty
}

// Limits bound what the archive of one plugin may cost. Zero is the default,
// which docs/configuration.md gives for each.
type Limits struct {
	Entries      int   // files, directories and links of a plugin
	Bytes        int64 // bytes written for one plugin
	FileBytes    int64 // bytes of one file
	PathBytes    int   // bytes of a path
	Depth        int   // components of a path
	Ratio        int64 // unpacked bytes for each packed one
	RatioFrom    int64 // unpacked bytes from which the ratio counts
	ZstdWindow   int64 // bytes of memory that a zstd frame may ask for
	LayerEntries int   // entries of a foreign image's layer
	LayerBytes   int64 // unpacked bytes of a foreign image's layer
}

// Allows reports whether source may be installed.
func (s Settings) Allows(source addr.Source) bool {
	return s.Allow == nil || slices.ContainsFunc(s.Allow, func(prefix string) bool {
		return strings.HasPrefix(source.String()+"/", prefix+"/")
	})
}

// LoadSettings reads the settings file at path, in HCL or, with a name that
// ends in .json, in JSON. See [NotExist] for a file that is not there.
func LoadSettings(path string) (Settings, hcl.Diagnostics) {
	src, problem := readFile(path)
	if problem != nil {
		return Settings{}, hcl.Diagnostics{problem}
	}
	return ParseSettings(src, path)
}

// NotExist reports whether diags say that a file is not there, as opposed to
// one that can't be read or is wrong. Without settings a machine has defaults.
func NotExist(diags hcl.Diagnostics) bool {
	for _, d := range diags {
		var missing *FileError
		if err, ok := d.Extra.(error); ok && errors.As(err, &missing) && errors.Is(missing, fs.ErrNotExist) {
			return true
		}
	}
	return false
}

// Excerpt reads a file for the excerpts of diagnostics about it, with
// credentials masked; nil where it can't be read.
func Excerpt(path string) *hcl.File {
	src, problem := readFile(path)
	if problem != nil {
		return nil
	}
	file, _ := parse(src, path)
	return excerpt(file, path)
}

// ParseSettings reads the text of a settings file. Relative paths in it start
// at the directory of filename. The diagnostics hold all problems in the order
// of their position.
func ParseSettings(src []byte, filename string) (Settings, hcl.Diagnostics) {
	file, diags := parse(src, filename)
	if file.Body == nil || !usable(diags) {
		return Settings{}, tidy(diags)
	}
	s := settingsDecoder{decoder: decoder{diags: diags}, dir: filepath.Dir(filename)}
	settings := s.decode(file.Body)
	return settings, tidy(s.diags)
}

// The block types of a settings file.
const (
	registryType = "registry"
	sourcesType  = "sources"
	limitsType   = "limits"
)

func settingsSchema() *hcl.BodySchema {
	return &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: registryType, LabelNames: []string{"prefix"}}, {Type: sourcesType}, {Type: limitsType},
	}}
}

// settingsDecoder reads one settings file.
type settingsDecoder struct {
	decoder
	dir string // where relative paths start
}

func (s *settingsDecoder) decode(body hcl.Body) Settings {
	content, diags := body.Content(settingsSchema())
	s.diags = append(s.diags, diags...)
	var settings Settings
	settings.Registries = s.registries(content.Blocks.OfType(registryType))
	if block := s.only(content.Blocks.OfType(sourcesType)); block != nil {
		settings.Allow = s.sources(block)
	}
	if block := s.only(content.Blocks.OfType(limitsType)); block != nil {
		settings.Limits = s.limits(block)
	}
	return settings
}

// only returns the one block there may be, and reports the others.
func (s *settingsDecoder) only(blocks hcl.Blocks) *hcl.Block {
	if len(blocks) == 0 {
		return nil
	}
	for _, again := range blocks[1:] {
		s.report("Block written twice", again.TypeRange, "There is one %s block at most, and it is at %s already. Merge the two.",
			again.Type, blocks[0].TypeRange)
	}
	return blocks[0]
}

// sources reads the prefixes of the sources that are allowed.
func (s *settingsDecoder) sources(block *hcl.Block) []string {
	content, diags := block.Body.Content(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "allow", Required: true}}})
	s.diags = append(s.diags, diags...)
	attr := content.Attributes["allow"]
	if attr == nil {
		return nil
	}
	elements, _ := s.elements(attr.Expr, "allow of the sources block", `["registry.example.com"]`)
	first := map[string]hcl.Range{}
	allow := []string{}
	for _, element := range elements {
		prefix, ok := s.text(element, "prefix in allow", "registry.example.com/plugins")
		if ok {
			prefix, ok = s.prefix(prefix, element.Range())
		}
		if ok && s.unique(first, prefix, element.Range()) {
			allow = append(allow, prefix)
		}
	}
	slices.Sort(allow)
	return allow
}

// unique reports a prefix that is there already.
func (s *settingsDecoder) unique(first map[string]hcl.Range, prefix string, rng hcl.Range) bool {
	if before, again := first[prefix]; again {
		s.report("Prefix written twice", rng, "The prefix %q is at %s already. Delete one of the two.", prefix, before)
		return false
	}
	first[prefix] = rng
	return true
}
