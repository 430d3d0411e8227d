package chain

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/image"
	"github.com/pluginlock/plugins/lock"
)

var (
	amd64 = addr.Platform{OS: "linux", Arch: "amd64"}
	arm64 = addr.Platform{OS: "linux", Arch: "arm64"}
)

// digest is a digest that is told by one hexadecimal digit.
func digest(digit string) addr.Digest { return addr.Digest("sha256:" + strings.Repeat(digit, 64)) }

// object is JSON.
type object map[string]any

func document(t *testing.T, o object) *image.Document {
	t.Helper()
	o["schemaVersion"] = 2
	raw, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	d, err := image.Parse("", raw)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func manifest(t *testing.T, annotations map[string]string) *image.Document {
	t.Helper()
	return document(t, object{
		"config": object{"mediaType": image.MediaTypeOCIConfig, "digest": digest("c")},
		"layers": []object{}, "annotations": annotations,
	})
}

// entry is what an index lists for manifest m.
func entry(p addr.Platform, m *image.Document) object {
	return object{"mediaType": m.MediaType, "digest": m.Digest, "size": len(m.Raw), "platform": object{"os": p.OS, "architecture": p.Arch}}
}

func index(t *testing.T, annotations map[string]string, entries ...object) *image.Document {
	t.Helper()
	return document(t, object{"manifests": entries, "annotations": annotations})
}

// links is all that Verify compares, before it is put together.
type links struct {
	declared map[string]string // annotations of the manifest
	top      map[string]string // annotations of the index
	entries  func(m *image.Document) []object
	locked   func(*lock.Entry)
	platform func(*lock.Platform)
	fetched  func(top, m *image.Document) (*image.Document, *image.Document)
}

// plugin is the intact chain of a plugin image.
func plugin() links {
	return links{
		declared: map[string]string{
			image.AnnotationFormat: image.Format, image.AnnotationProtocols: "5,6", image.AnnotationExecutablePath: "plugin/aws",
			image.AnnotationExecutableDigest: digest("e").String(), image.AnnotationContent: digest("f").String(),
			ocispec.AnnotationVersion: "1.4.2",
		},
		entries: func(m *image.Document) []object { return []object{entry(amd64, m)} },
	}
}

// foreign is the intact chain of any other image.
func foreign() links {
	return links{
		entries: plugin().entries,
		locked: func(e *lock.Entry) {
			e.Executable, e.Protocols = addr.Executable{ByPlatform: map[addr.Platform]string{amd64: "/usr/bin/aws"}}, nil
		},
	}
}

func (l links) verify(t *testing.T) (Pinned, error) {
	t.Helper()
	source, err := addr.ParseSource("registry.example.com/fleeting/aws")
	if err != nil {
		t.Fatal(err)
	}
	version, err := addr.ParseVersion("1.4.2")
	if err != nil {
		t.Fatal(err)
	}
	m := manifest(t, l.declared)
	top := m
	if l.entries != nil {
		top = index(t, l.top, l.entries(m)...)
	}
	locked := &lock.Entry{Name: "aws", Source: source, Version: version, Digest: top.Digest, Protocols: []int{5, 6}}
	platform := lock.Platform{Platform: amd64, Manifest: m.Digest, ExecutableDigest: digest("e")}
	if l.locked != nil {
		l.locked(locked)
	}
	if l.platform != nil {
		l.platform(&platform)
	}
	if l.fetched != nil {
		top, m = l.fetched(top, m)
	}
	return Verify(locked, platform, top, m)
}

// declaring returns the chain of a plugin image with one annotation changed, or
// taken away where value is "".
func declaring(annotation, value string) links {
	l := plugin()
	l.declared = maps.Clone(l.declared)
	if l.declared[annotation] = value; value == "" {
		delete(l.declared, annotation)
	}
	return l
}

func TestIntactChains(t *testing.T) {
	single := plugin()
	single.entries = nil
	pushed := plugin()
	pushed.top = map[string]string{image.AnnotationSource: "registry.example.com/fleeting/aws"}
	silent := declaring(image.AnnotationProtocols, "")
	silent.locked = func(e *lock.Entry) { e.Protocols = nil }
	for name, l := range map[string]links{
		"index": plugin(), "single manifest": single, "with its source": pushed,
		"without a version": declaring(ocispec.AnnotationVersion, ""), "without protocols": silent,
	} {
		p, err := l.verify(t)
		if err != nil || !p.Plugin || p.Executable != "plugin/aws" || p.ExecutableDigest != digest("e") || p.Declaration.Content != digest("f") || p.Manifest.Manifest == nil {
			t.Errorf("%s: %+v %v", name, p, err)
		}
	}
	p, err := foreign().verify(t)
	if err != nil || p.Plugin || p.Executable != "usr/bin/aws" || p.ExecutableDigest != digest("e") || p.Manifest.Manifest == nil {
		t.Errorf("foreign image: %+v %v", p, err)
	}
}

// TestBrokenLinks breaks each link of the chain once.
func TestBrokenLinks(t *testing.T) {
	with := func(l links, change func(*links)) links {
		change(&l)
		return l
	}
	listing := func(entries func(m *image.Document) []object) links {
		return with(plugin(), func(l *links) { l.entries = entries })
	}
	other := func() *image.Document { return manifest(t, map[string]string{"other": "manifest"}) }
	for name, test := range map[string]struct {
		links links
		link  string // what the error names
	}{
		"entry names another digest": {with(plugin(), func(l *links) { l.locked = func(e *lock.Entry) { e.Digest = digest("9") } }), "the digest"},
		"another index was fetched": {with(plugin(), func(l *links) {
			l.fetched = func(_, m *image.Document) (*image.Document, *image.Document) {
				return index(t, map[string]string{"another": "index"}, entry(amd64, m)), m
			}
		}), "the digest"},
		"platform names another manifest": {with(plugin(), func(l *links) { l.platform = func(p *lock.Platform) { p.Manifest = digest("9") } }), "the manifest for linux/amd64"},
		"another manifest was fetched": {with(plugin(), func(l *links) {
			l.fetched = func(top, _ *image.Document) (*image.Document, *image.Document) { return top, other() }
		}), "the manifest for linux/amd64"},
		"the manifest is an index": {with(plugin(), func(l *links) {
			inner := index(t, nil, entry(amd64, other()))
			listed := entry(amd64, inner)
			listed["mediaType"] = image.MediaTypeOCIManifest
			l.entries = func(*image.Document) []object { return []object{listed} }
			l.platform = func(p *lock.Platform) { p.Manifest = inner.Digest }
			l.fetched = func(top, _ *image.Document) (*image.Document, *image.Document) { return top, inner }
		}), "the manifest for linux/amd64"},
		"index lists another manifest": {listing(func(*image.Document) []object { return []object{entry(amd64, other())} }), "the manifest for linux/amd64"},
		"index has it for another platform": {listing(func(m *image.Document) []object {
			return []object{entry(arm64, m), entry(amd64, other())}
		}), "the manifest for linux/amd64"},
		"index does not list the platform": {listing(func(m *image.Document) []object { return []object{entry(arm64, m)} }), "the manifest for linux/amd64"},
		"image was pushed elsewhere": {with(plugin(), func(l *links) {
			l.top = map[string]string{image.AnnotationSource: "registry.example.com/other/aws"}
		}), "the source"},
		"image without index was pushed elsewhere": {with(declaring(image.AnnotationSource, "registry.example.com/other/aws"), func(l *links) { l.entries = nil }), "the source"},
		"another version":                          {declaring(ocispec.AnnotationVersion, "1.4.3"), "the version"},
		"another build of the version":             {declaring(ocispec.AnnotationVersion, "1.4.2+fips"), "the version"},
		"a version that is none":                   {declaring(ocispec.AnnotationVersion, "v1.4.2"), "the version"},
		"another executable":                       {declaring(image.AnnotationExecutableDigest, digest("9").String()), "the executable's digest for linux/amd64"},
		"locked executable was edited":             {with(plugin(), func(l *links) { l.platform = func(p *lock.Platform) { p.ExecutableDigest = digest("9") } }), "the executable's digest for linux/amd64"},
		"other protocols":                          {declaring(image.AnnotationProtocols, "5"), "the list of protocols"},
		"no protocols":                             {declaring(image.AnnotationProtocols, ""), "the list of protocols"},
		"a plugin image with an executable":        {with(plugin(), func(l *links) { l.locked = foreign().locked }), "the executable"},
		"a foreign image without":                  {with(foreign(), func(l *links) { l.locked = nil }), "the executable"},
		"a foreign image without one for this platform": {with(foreign(), func(l *links) {
			l.locked = func(e *lock.Entry) {
				e.Executable = addr.Executable{ByPlatform: map[addr.Platform]string{arm64: "/usr/bin/aws"}}
			}
		}), "the executable"},
		"a plugin image that lost its annotations": {declaring(image.AnnotationFormat, ""), "the executable"},
	} {
		p, err := test.links.verify(t)
		var broken *Error
		if p.Manifest != nil || !errors.As(err, &broken) || broken.Link != test.link || broken.Plugin != "aws" || broken.Locked == broken.Found {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

// TestDocumentsAtFault: what is wrong with a document by itself is told as such.
func TestDocumentsAtFault(t *testing.T) {
	for name, l := range map[string]links{
		"format":     declaring(image.AnnotationFormat, "2"),
		"content":    declaring(image.AnnotationContent, ""),
		"executable": declaring(image.AnnotationExecutablePath, "/bin/sh"),
	} {
		var refused *image.DocumentError
		if p, err := l.verify(t); p.Manifest != nil || !errors.As(err, &refused) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	twice := plugin()
	twice.entries = func(m *image.Document) []object {
		return []object{entry(amd64, m), entry(amd64, manifest(t, nil))}
	}
	var ambiguous *image.AmbiguousPlatformError
	if p, err := twice.verify(t); p.Manifest != nil || !errors.As(err, &ambiguous) {
		t.Errorf("one platform twice: %+v, %v", p, err)
	}
}

// TestErrorIsFitToBeShown: what a registry sent is escaped and cut.
func TestErrorIsFitToBeShown(t *testing.T) {
	_, err := declaring(ocispec.AnnotationVersion, "1.4.2\x1b[2J"+strings.Repeat("x", 1000)).verify(t)
	if err == nil || strings.Contains(err.Error(), "\x1b") || len(err.Error()) > 400 {
		t.Errorf("%q", err)
	}
}
