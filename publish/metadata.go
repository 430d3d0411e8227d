package publish

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/image"
)

// VersionFromGit stands, as version or as revision, for what git knows about
// the commit that is checked out: its one version tag, or its id.
const VersionFromGit = "git"

// maxValue is the longest value of metadata, in bytes; all of it is repeated
// in every manifest.
const maxValue = 4096

// Metadata is what the author says about a plugin. All of it is optional.
type Metadata struct {
	Name        string // title of the image, and of the executable where that is not clear
	Version     string // a version, or [VersionFromGit]
	Description string
	Licenses    string // SPDX license expression
	Source      string // URL of the source code
	Vendor      string
	Revision    string // commit of the source code, or [VersionFromGit]
	PublishTo   string // source of the plugin: installers then accept it from there only
	Protocols   []int  // that the plugin speaks with its host
	Executable  string // path of the executable among a platform's files; ".exe" may be left out

	// Patterns of the files that are packed. A pattern without a slash is
	// matched with the name of a file or directory anywhere, one with a slash
	// with its whole path; "**" stands for any number of directories. Include
	// nil means all; exclude wins.
	Include, Exclude []string
}

// over returns the metadata of m and, where m has none, that of base.
func (m Metadata) over(base Metadata) Metadata {
	for _, f := range [][2]*string{
		{&m.Name, &base.Name}, {&m.Version, &base.Version}, {&m.Description, &base.Description}, {&m.Licenses, &base.Licenses},
		{&m.Source, &base.Source}, {&m.Vendor, &base.Vendor}, {&m.Revision, &base.Revision},
		{&m.PublishTo, &base.PublishTo}, {&m.Executable, &base.Executable},
	} {
		*f[0] = cmp.Or(*f[0], *f[1])
	}
	if m.Protocols == nil {
		m.Protocols = base.Protocols
	}
	if m.Include == nil {
		m.Include = base.Include
	}
	if m.Exclude == nil {
		m.Exclude = base.Exclude
	}
	return m
}

// The names of the attributes of package.hcl, which are those of flags too.
const (
	attrName        = "name"
	attrVersion     = "version"
	attrDescription = "description"
	attrLicenses    = "licenses"
	attrSource      = "source"
	attrVendor      = "vendor"
	attrRevision    = "revision"
	attrPublishTo   = "publish_to"
	attrProtocols   = "protocols"
	attrExecutable  = "executable"
	attrInclude     = "include"
	attrExclude     = "exclude"
)

// MetadataError means that one value of metadata is refused.
type MetadataError struct {
	Attribute string // as package.hcl names it
	Reason    string
}

func (e *MetadataError) Error() string { return e.Attribute + ": " + e.Reason }

// check returns what is wrong with the values, by attribute.
func (m Metadata) check() []*MetadataError {
	var wrong []*MetadataError
	report := func(attribute string, err error) {
		if err != nil {
			wrong = append(wrong, &MetadataError{attribute, err.Error()})
		}
	}
	report(attrName, checkName(m.Name))
	report(attrVersion, checkVersion(m.Version))
	report(attrDescription, checkLine(m.Description))
	report(attrLicenses, checkLine(m.Licenses))
	report(attrSource, checkURL(m.Source))
	report(attrVendor, checkLine(m.Vendor))
	report(attrRevision, checkLine(m.Revision))
	report(attrPublishTo, checkSource(m.PublishTo))
	report(attrProtocols, checkProtocols(m.Protocols))
	report(attrExecutable, checkExecutablePath(m.Executable))
	report(attrInclude, checkPatterns(m.Include))
	report(attrExclude, checkPatterns(m.Exclude))
	return wrong
}

func checkLine(s string) error {
	switch {
	case len(s) > maxValue:
		return fmt.Errorf("%d bytes are more than the %d that are allowed", len(s), maxValue)
	case !utf8.ValidString(s):
		return fmt.Errorf("is not UTF-8")
	case strings.ContainsFunc(s, unicode.IsControl):
		return fmt.Errorf("holds a line break or another control character")
	}
	return nil
}

func checkName(name string) error {
	const most = 64
	switch {
	case len(name) > most:
		return fmt.Errorf("%d characters are more than %d", len(name), most)
	case strings.ContainsFunc(name, func(r rune) bool { return !isNameCharacter(r) }), strings.HasPrefix(name, "."), strings.HasPrefix(name, "-"):
		return fmt.Errorf("%q is no name: letters, digits, dots, hyphens and underscores only, the first a letter, a digit or an underscore", name)
	}
	return nil
}

func isNameCharacter(r rune) bool {
	return r == '.' || r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

func checkVersion(version string) error {
	if version == "" || version == VersionFromGit {
		return nil
	}
	_, err := addr.ParseVersion(version)
	return err
}

// checkURL refuses what would publish a password: CI systems put one into the
// address of the repository that they clone.
func checkURL(s string) error {
	if u, err := url.Parse(s); err == nil && u.User != nil {
		return fmt.Errorf("the address holds a user name or a password, which everybody could read: leave it out")
	}
	return checkLine(s)
}

func checkSource(source string) error {
	if source == "" {
		return nil
	}
	_, err := addr.ParseSource(source)
	return err
}

func checkProtocols(protocols []int) error {
	for _, n := range protocols {
		if n < 1 {
			return fmt.Errorf("%d is not a positive number", n)
		}
	}
	return nil
}

func checkExecutablePath(p string) error {
	if p == "" {
		return nil
	}
	if path.Clean(p) != p || path.IsAbs(p) || p == "." || p == ".." || strings.HasPrefix(p, "../") {
		return fmt.Errorf("%q is not a path among a platform's files, such as \"aws\" or \"bin/aws\"", p)
	}
	return checkLine(p)
}

// annotations are those that index and manifests have in common. version is
// what m.Version came to.
func (m Metadata) annotations(title string, version addr.Version, created string) map[string]string {
	all := map[string]string{
		image.AnnotationFormat:        image.Format,
		image.AnnotationProtocols:     image.FormatProtocols(m.Protocols),
		ocispec.AnnotationTitle:       title,
		ocispec.AnnotationVersion:     version.String(),
		ocispec.AnnotationDescription: m.Description,
		ocispec.AnnotationSource:      m.Source,
		ocispec.AnnotationRevision:    m.Revision,
		ocispec.AnnotationLicenses:    m.Licenses,
		ocispec.AnnotationVendor:      m.Vendor,
		ocispec.AnnotationCreated:     created,
	}
	for name, value := range all {
		if value == "" {
			delete(all, name)
		}
	}
	return all
}
