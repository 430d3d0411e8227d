package config

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/text"
)

// Requirement is one plugin that a project needs. [Load] and [Decode] return
// requirements that are valid. A host program whose configuration is not HCL
// fills one itself and calls Check; the ranges are then zero, or point into its
// own files.
type Requirement struct {
	// Name is what the host calls the plugin: a letter from a to z, then
	// letters, digits, _ and -, at most 64 characters.
	Name string
	// Source is the registry and repository, as written.
	Source string
	// Version is the version constraint, as written.
	Version string
	// Protocols are the protocol versions that the host speaks with plugins of
	// this kind; nil accepts any.
	Protocols []int
	// Executable says where the program lies in a foreign image. Zero for a
	// plugin image, which declares it.
	Executable addr.Executable
	// Platforms are those for which the plugin exists; nil for those that the
	// project asks for.
	Platforms []addr.Platform

	Range        hcl.Range // of the name
	SourceRange  hcl.Range // of the source's text
	VersionRange hcl.Range // of the constraint's text
}

// Checked is a requirement in typed and normal form.
type Checked struct {
	Name       string
	Source     addr.Source
	Constraint addr.Constraint
	Protocols  []int // ascending
	Executable addr.Executable
	Platforms  []addr.Platform // in order
	// Requirement is what was checked, for its ranges.
	Requirement Requirement
}

// RequirementError is one reason for which a requirement is refused.
type RequirementError struct {
	Name      string // of the requirement
	Attribute string // "name", "source", "version", "protocols", "executable" or "platforms"
	Summary   string // short and fixed
	Detail    string // what is wrong, and what to do
	Err       error  // such as *addr.SourceError; nil where there is no more to tell
}

// Error names the plugin and tells the detail.
func (e *RequirementError) Error() string {
	return fmt.Sprintf("plugin %s: %s", text.Quote(e.Name), e.Detail)
}

// Unwrap returns the typed cause, if there is one.
func (e *RequirementError) Unwrap() error { return e.Err }

// Check validates r as the decoder does and returns it in typed form. The error
// joins one [*RequirementError] for each attribute that is wrong.
func (r Requirement) Check() (Checked, error) {
	c := Checked{Name: r.Name, Requirement: r}
	var errs []error
	note := func(err *RequirementError) {
		if err != nil {
			err.Name = r.Name
			errs = append(errs, err)
		}
	}
	var err *RequirementError
	note(checkName(r.Name))
	c.Source, err = checkSource(r.Source)
	note(err)
	c.Constraint, err = checkVersion(r.Version)
	note(err)
	c.Protocols, err = checkProtocols(r.Protocols)
	note(err)
	c.Platforms, err = checkPlatforms(r.Platforms)
	note(err)
	c.Executable, err = checkExecutable(r.Executable, c.Platforms)
	note(err)
	if len(errs) > 0 {
		return Checked{}, errors.Join(errs...)
	}
	return c, nil
}

// checkSource parses a source.
func checkSource(s string) (addr.Source, *RequirementError) {
	source, err := addr.ParseSource(s)
	if err == nil {
		return source, nil
	}
	detail := sourceDetail("source", err)
	return addr.Source{}, &RequirementError{Attribute: "source", Summary: "Invalid plugin source", Detail: detail, Err: err}
}

// sourceDetail explains why a source, or a prefix of sources, is refused.
func sourceDetail(what string, err error) string {
	var typed *addr.SourceError
	if !errors.As(err, &typed) {
		return text.Sentence(err)
	}
	detail := fmt.Sprintf("The %s %s %s.", what, text.Quote(typed.Input), typed.Reason)
	if typed.Suggestion != "" {
		detail += fmt.Sprintf(" Write:\n\n  %q", typed.Suggestion)
	}
	return detail
}

// checkVersion parses a version constraint.
func checkVersion(s string) (addr.Constraint, *RequirementError) {
	constraint, err := addr.ParseConstraint(s)
	if err == nil {
		return constraint, nil
	}
	detail := constraintDetail(err)
	return addr.Constraint{}, &RequirementError{Attribute: "version", Summary: "Invalid version constraint", Detail: detail, Err: err}
}

// constraintDetail explains why a version constraint is refused.
func constraintDetail(err error) string {
	var typed *addr.ConstraintError
	if !errors.As(err, &typed) {
		return text.Sentence(err)
	}
	whole, wrong := text.Quote(typed.Input), text.Quote(typed.Term)
	detail := fmt.Sprintf("The version constraint %s %s.", whole, typed.Reason)
	if typed.Term != strings.TrimSpace(typed.Input) {
		detail = fmt.Sprintf("In the version constraint %s the part %s %s.", whole, wrong, typed.Reason)
	}
	return detail + writeOneOf(typed.Suggestions)
}

// writeOneOf lists texts of which one may be meant.
func writeOneOf(suggestions []string) string {
	switch len(suggestions) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(" Write:\n\n  %q", suggestions[0])
	}
	out := " Write one of:\n"
	for _, s := range suggestions {
		out += fmt.Sprintf("\n  %q", s)
	}
	return out
}

// maxProtocol bounds protocol versions; go-plugin's begin at 1 and count up.
const maxProtocol = 1_000_000

// checkProtocols refuses what is no protocol version, and repetitions.
func checkProtocols(protocols []int) ([]int, *RequirementError) {
	sorted := slices.Sorted(slices.Values(protocols))
	for i, p := range sorted {
		switch {
		case p < 1 || p > maxProtocol:
			return nil, &RequirementError{Attribute: "protocols", Summary: "Value of the wrong type",
				Detail: fmt.Sprintf("The protocol version %d is not a whole number from 1 to %d.", p, maxProtocol)}
		case i > 0 && p == sorted[i-1]:
			return nil, &RequirementError{Attribute: "protocols", Summary: "Protocol version listed twice",
				Detail: fmt.Sprintf("The protocol version %d is listed twice. Delete one of the two.", p)}
		}
	}
	return sorted, nil
}

// checkPlatforms normalises a list of platforms.
func checkPlatforms(platforms []addr.Platform) ([]addr.Platform, *RequirementError) {
	var sorted []addr.Platform
	for _, p := range platforms {
		normal, err := addr.ParsePlatform(p.String())
		if err != nil {
			return nil, &RequirementError{Attribute: "platforms", Summary: "Invalid platform", Detail: text.Sentence(err), Err: err}
		}
		if slices.Contains(sorted, normal) {
			return nil, &RequirementError{Attribute: "platforms", Summary: "Platform listed twice",
				Detail: fmt.Sprintf("The platform %s is listed twice. Delete one of the two.", normal)}
		}
		sorted = append(sorted, normal)
	}
	slices.SortFunc(sorted, addr.Platform.Compare)
	return sorted, nil
}

// checkExecutable refuses paths that can't lie in an image, and a map that
// leaves out one of the requirement's platforms. It normalises the map's keys.
func checkExecutable(e addr.Executable, platforms []addr.Platform) (addr.Executable, *RequirementError) {
	refuse := func(summary, detail string) (addr.Executable, *RequirementError) {
		return addr.Executable{}, &RequirementError{Attribute: "executable", Summary: summary, Detail: detail}
	}
	if e.IsZero() {
		return addr.Executable{}, nil
	}
	keys := e.Platforms()
	normal, err := checkPlatforms(keys)
	switch {
	case err != nil:
		return refuse(err.Summary, err.Detail)
	case e.Path != "" && e.ByPlatform != nil:
		return refuse("Invalid executable path", "The executable has one path for all platforms and also paths by platform. Leave out one of the two.")
	case e.Path != "":
		if wrong := pathProblem(e.Path); wrong != "" {
			return refuse("Invalid executable path", wrong)
		}
		return e, nil
	}
	checked := addr.Executable{ByPlatform: make(map[addr.Platform]string, len(normal))}
	for _, p := range keys {
		if wrong := pathProblem(e.ByPlatform[p]); wrong != "" {
			return refuse("Invalid executable path", wrong)
		}
		checked.ByPlatform[p.Normalize()] = e.ByPlatform[p]
	}
	if missing := uncovered(checked, platforms); len(missing) > 0 {
		return refuse("Executable missing for a platform",
			fmt.Sprintf("The executable has no path for %s, which the plugin's platforms name. Add one.", names(missing)))
	}
	return checked, nil
}

// uncovered lists those of platforms for which a map of executables has no path.
func uncovered(e addr.Executable, platforms []addr.Platform) []addr.Platform {
	var missing []addr.Platform
	for _, p := range platforms {
		if !e.IsZero() && e.For(p) == "" {
			missing = append(missing, p)
		}
	}
	return missing
}

// maxPath is the most bytes of a path in an image; tar's own limit for a name.
const maxPath = 255

// pathProblem says why p is not the absolute, clean path of a file in an
// image, or returns "".
func pathProblem(p string) string {
	shown := text.Quote(p)
	switch {
	case strings.ContainsFunc(p, func(r rune) bool { return r < 0x20 || r == 0x7f || r == '\ufffd' }):
		return fmt.Sprintf("The path %s has a control character or one that is not UTF-8.", shown)
	case strings.Contains(p, `\`):
		return fmt.Sprintf("The path %s has a backslash. Paths in an image are written with slashes, also for Windows, and have no drive letter:\n\n  %q",
			shown, "/plugins/aws.exe")
	case len(p) > maxPath:
		return fmt.Sprintf("The path %s has %d bytes; at most %d are allowed.", shown, len(p), maxPath)
	case path.Clean("/"+p) == "/":
		return fmt.Sprintf("The path %s names no file. Write the path of the executable from the root of the image, such as %q.", shown, "/plugins/aws")
	case slices.Contains(strings.Split(p, "/"), ".."):
		return fmt.Sprintf("The path %s has a \"..\". Write the path from the root of the image without one.", shown)
	case p[0] != '/':
		return fmt.Sprintf("The path %s does not start at the root of the image. Write:\n\n  %s", shown, text.Quote(path.Clean("/"+p)))
	case p != path.Clean(p):
		return fmt.Sprintf("The path %s has a slash or a \".\" too many. Write:\n\n  %s", shown, text.Quote(path.Clean(p)))
	}
	return ""
}
