package image

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/text"
)

// Declaration is what a plugin image's manifest says of itself; the launcher
// and the lock file rely on it once its manifest is pinned.
type Declaration struct {
	Version          string // org.opencontainers.image.version; "" where left out
	Title            string
	Protocols        []int       // ascending; empty where the plugin declares none
	Executable       string      // path from the image's root, such as "plugin/aws"
	ExecutableDigest addr.Digest // of the executable file itself
	Content          addr.Digest // of the records of all files, see package extract
}

// IsPlugin reports whether annotations mark a plugin image, of whatever format.
func IsPlugin(annotations map[string]string) bool { return annotations[AnnotationFormat] != "" }

// Declaration reads the annotations of a plugin image's manifest; ok is false
// for a foreign image, which declares nothing. d must be a manifest.
//
// Errors: [*DocumentError] naming the annotation.
func (d *Document) Declaration() (declared Declaration, ok bool, err error) {
	a := d.Manifest.Annotations
	if !IsPlugin(a) {
		return Declaration{}, false, nil
	}
	if err := d.checkFormat(); err != nil {
		return Declaration{}, true, err
	}
	declared = Declaration{
		Version:    a[ocispec.AnnotationVersion],
		Title:      a[ocispec.AnnotationTitle],
		Executable: a[AnnotationExecutablePath],
	}
	if declared.Protocols, err = ParseProtocols(a[AnnotationProtocols]); err != nil {
		return Declaration{}, true, d.refuse(AnnotationProtocols, err)
	}
	if declared.ExecutableDigest, err = parseDigest(a[AnnotationExecutableDigest]); err != nil {
		return Declaration{}, true, d.refuse(AnnotationExecutableDigest, err)
	}
	if declared.Content, err = parseDigest(a[AnnotationContent]); err != nil {
		return Declaration{}, true, d.refuse(AnnotationContent, err)
	}
	if err = checkPayloadPath(declared.Executable); err != nil {
		return Declaration{}, true, d.refuse(AnnotationExecutablePath, err)
	}
	return declared, true, nil
}

// Payload returns the one layer of a plugin image that holds the plugin: the
// last one. d must be a manifest.
func (d *Document) Payload() (ocispec.Descriptor, error) {
	layers := d.Manifest.Layers
	if len(layers) == 0 {
		return ocispec.Descriptor{}, &DocumentError{d.Digest, "a plugin image without a layer"}
	}
	last := layers[len(layers)-1]
	if role := last.Annotations[AnnotationRole]; role != "" && role != RolePayload {
		return ocispec.Descriptor{}, &DocumentError{d.Digest, fmt.Sprintf("its last layer has the role %s, not %q", text.Quote(role), RolePayload)}
	}
	for _, l := range layers[:len(layers)-1] {
		if l.Annotations[AnnotationRole] == RolePayload {
			return ocispec.Descriptor{}, &DocumentError{d.Digest, "its payload is not the last layer"}
		}
	}
	return last, nil
}

// Source returns the source that a plugin image says it was pushed to, or "".
func (d *Document) Source() string { return d.Annotations()[AnnotationSource] }

func (d *Document) checkFormat() error {
	if got := d.Annotations()[AnnotationFormat]; got != Format {
		return &DocumentError{d.Digest, fmt.Sprintf("a plugin image of format %q; this version knows format %s: a newer version of plugins may read it", text.Clip(got), Format)}
	}
	return nil
}

func (d *Document) refuse(annotation string, err error) error {
	return &DocumentError{d.Digest, fmt.Sprintf("annotation %s: %v", annotation, err)}
}

func parseDigest(s string) (addr.Digest, error) {
	if s == "" {
		return "", errors.New("is missing")
	}
	return addr.ParseDigest(s)
}

// ParseProtocols reads a list such as "5,6"; "" is the empty list.
func ParseProtocols(s string) ([]int, error) {
	if s == "" {
		return nil, nil
	}
	var protocols []int
	for field := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(field)
		if err != nil || n < 1 || strconv.Itoa(n) != field {
			return nil, fmt.Errorf("%q is not a list of positive numbers such as \"5,6\"", text.Clip(s))
		}
		protocols = append(protocols, n)
	}
	slices.Sort(protocols)
	return slices.Compact(protocols), nil
}

// FormatProtocols is the inverse of [ParseProtocols].
func FormatProtocols(protocols []int) string {
	var fields []string
	for _, n := range protocols {
		fields = append(fields, strconv.Itoa(n))
	}
	return strings.Join(fields, ",")
}

func checkPayloadPath(p string) error {
	if p == "" {
		return fmt.Errorf("is missing")
	}
	if p != path.Clean(p) || !strings.HasPrefix(p, PayloadDir+"/") || strings.ContainsAny(p, "\\\x00") {
		return fmt.Errorf("%q is not a path below %s/", text.Clip(p), PayloadDir)
	}
	return nil
}
