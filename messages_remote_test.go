package plugins_test

import (
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/config"
	"github.com/pluginlock/plugins/getter"
	"github.com/pluginlock/plugins/internal/hostile"
	"github.com/pluginlock/plugins/internal/image"
	"github.com/pluginlock/plugins/internal/imagetest"
	"github.com/pluginlock/plugins/internal/installdir"
	"github.com/pluginlock/plugins/internal/registrytest"
)

// registryScenes are about registries and the way to them.
var registryScenes = []scene{
	{"Not found in the registry", "Some registries say this, too, of a repository that these credentials may not see.", func(s *stage) {
		s.require("aws", "~> 1.2")
		s.run("init")
	}},
	{"Not found in the registry", "Where a blob is unknown, the registry has lost a part of the image; publishing the version again brings it back.", func(s *stage) {
		im := imagetest.Plugin{Name: "aws", Version: "1.2.0"}.Build(s.t)
		s.registry.MustAdd(s.t, "plugins/aws", imagetest.Without(im, im.Payload("linux/amd64")), "1.2.0")
		s.require("aws", "~> 1.2")
		s.run("init")
	}},
	{"Authentication failed", "", func(s *stage) {
		s.withRegistry(registrytest.Options{Auth: &registrytest.Auth{Username: "robot", Password: "right"}})
		s.plugin(imagetest.Plugin{})
		s.run("init")
	}},
	{"Authentication failed", "", func(s *stage) {
		s.withRegistry(registrytest.Options{Auth: &registrytest.Auth{Bearer: true, Username: "robot", Password: "right"}})
		s.plugin(imagetest.Plugin{})
		s.options.Credentials = getter.StaticCredential(s.registry.Host(),
			getter.Credential{Username: "robot", Password: "wrong", Origin: "/home/me/.docker/config.json"})
		s.run("init")
	}},
	{"Access denied", "", func(s *stage) {
		s.plugin(imagetest.Plugin{})
		s.rule(refusing(http.StatusForbidden, "DENIED", "requested access to the resource is denied"))
		s.run("init")
	}},
	{"Rate limit", "Shorter waits are kept, and told while they last.", func(s *stage) {
		s.plugin(imagetest.Plugin{})
		rule := refusing(http.StatusTooManyRequests, "TOOMANYREQUESTS", "pull rate limit exceeded")
		rule.Header = map[string]string{"Retry-After": "3600"}
		s.rule(rule)
		s.run("init")
	}},
	{"Registry failure", "", func(s *stage) {
		s.plugin(imagetest.Plugin{})
		s.rule(registrytest.Rule{Status: http.StatusServiceUnavailable, Header: map[string]string{"Retry-After": "3600", "X-Request-Id": "f3a1"}})
		s.run("init")
	}},
	{"Registry not reachable", "", func(s *stage) {
		s.require("aws", "~> 1.2")
		s.options.Transport = failing{&net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{
			Err: "no such host", Name: "registry.example.com", Server: "10.0.0.2:53", IsNotFound: true}}}
		s.run("init")
	}},
	{"Registry not reachable", "", func(s *stage) {
		s.require("aws", "~> 1.2")
		s.options.Transport = failing{x509.UnknownAuthorityError{}}
		s.run("init")
	}},
	{"Unexpected answer from the registry", "", func(s *stage) {
		s.withRegistry(registrytest.Options{Quirks: registrytest.Quirks{HTML: []string{"*"}}})
		s.require("aws", "~> 1.2")
		s.run("init")
	}},
	{"Tags cannot be listed", "", func(s *stage) {
		s.plugin(imagetest.Plugin{})
		s.rule(registrytest.Rule{Path: "*/tags/list", Status: http.StatusMethodNotAllowed})
		s.run("init")
	}},
	{"Refused as unsafe", "In the settings, `plain_http = true` of a registry block allows its host to do without TLS.", func(s *stage) {
		s.plugin(imagetest.Plugin{})
		s.rule(registrytest.Rule{Path: "*/manifests/*", Redirect: "http://storage.example.com/{path}"})
		s.run("init")
	}},
	{"Source not allowed", "What is allowed is listed in the block `sources` of the settings.", func(s *stage) {
		s.plugin(imagetest.Plugin{})
		s.options.Settings.Allow = []string{"registry.example.net/approved"}
		s.run("init")
	}},
	{"Wrong content from the registry", "", func(s *stage) {
		s.usual()
		s.useCache(s.t.TempDir())
		body := string(imagetest.Plugin{Name: "azure"}.Build(s.t).Bytes(imagetest.Plugin{Name: "azure"}.Build(s.t).Digest()))
		s.rule(registrytest.Rule{Path: "*/manifests/sha256:*", Body: &body, Header: map[string]string{"Content-Type": image.MediaTypeOCIIndex}})
		s.run("init")
	}},
	{"Download incomplete", "", func(s *stage) {
		s.mirrored(func(dir string, payload string) {
			must(s, os.Truncate(filepath.Join(dir, "blobs", "sha256", payload), 100))
		})
		s.run("init")
	}},
	{"Credentials not used", "", func(s *stage) {
		s.withRegistry(registrytest.Options{Auth: &registrytest.Auth{Bearer: true, Anonymous: true, Username: "robot", Password: "right"}})
		s.plugin(imagetest.Plugin{})
		s.options.Credentials = getter.StaticCredential(s.registry.Host(),
			getter.Credential{Username: "robot", Password: "old", Ambient: true, Origin: "/home/me/.docker/config.json"})
		s.run("init")
	}},
	{"Mirror directory unusable", "", func(s *stage) {
		s.mirrored(func(dir, _ string) { must(s, os.Remove(filepath.Join(dir, "index.json"))) })
		s.run("init")
	}},
	{"Mirror passed over", "", func(s *stage) {
		s.plugin(imagetest.Plugin{})
		s.second = registrytest.New(s.t, registrytest.Options{})
		s.options.Settings.Registries = []config.Registry{{Prefix: s.registry.Host(), Mirror: s.second.Host(), Fallback: true, FallbackTags: true}}
		s.run("init")
	}},
}

// mirrored publishes aws in a layout directory that is the mirror of its
// registry, and has it damaged.
func (s *stage) mirrored(damage func(dir, payload string)) {
	s.t.Helper()
	im := imagetest.Plugin{Name: "aws", Version: "1.2.0"}.Build(s.t)
	s.require("aws", "~> 1.2")
	dir := filepath.Join(s.dir, "mirror")
	must(s, im.WriteLayout(dir, s.registry.Host()+"/plugins/aws:1.2.0"))
	damage(dir, im.Payload("linux/amd64").Hex())
	s.options.Settings.Registries = []config.Registry{{Prefix: s.registry.Host(), Mirror: dir}}
}

func refusing(status int, code, message string) registrytest.Rule {
	body := `{"errors":[{"code":"` + code + `","message":"` + message + `"}]}`
	return registrytest.Rule{Status: status, Body: &body}
}

// failing is a network that does not work.
type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

// archiveScenes are about what was packed.
var archiveScenes = []scene{
	{"Unusable image", "", func(s *stage) {
		s.image(imagetest.Foreign{Name: "aws", Version: "1.2.0"})
		s.run("init")
	}},
	{"Unusable image", "", func(s *stage) {
		s.plugin(imagetest.Plugin{})
		s.edit("plugins.hcl", `"~> 1.2"`, `"~> 1.2"`+"\n    executable = \"/plugins/aws\"")
		s.run("init")
	}},
	{"Unusable image", "", func(s *stage) {
		s.plugin(imagetest.Plugin{Source: "registry.example.net/plugins/azure"})
		s.run("init")
	}},
	{"Executable not in the image", "", func(s *stage) {
		s.image(imagetest.Foreign{Name: "aws", Version: "1.2.0", Executable: "/usr/local/bin/aws"})
		s.edit("plugins.hcl", `"~> 1.2"`, `"~> 1.2"`+"\n    platforms  = [\"linux/amd64\"]\n    executable = \"/usr/bin/aws\"")
		s.run("init")
	}},
	{"Ambiguous image", "", func(s *stage) {
		first, second := imagetest.Plugin{Name: "aws", Version: "1.2.0"}.Build(s.t), imagetest.Plugin{Name: "aws", Version: "1.2.0", BuildID: "2"}.Build(s.t)
		s.image(imagetest.Index{Entries: []imagetest.Entry{
			{Image: first.Child("linux/amd64"), Platform: "linux/amd64"}, {Image: second.Child("linux/amd64"), Platform: "linux/amd64"}}})
		s.run("init")
	}},
	{"Not an image", "", func(s *stage) {
		s.usual()
		chart := imagetest.Chart("aws", "1.2.0")
		s.registry.MustAdd(s.t, "plugins/aws", chart, "chart")
		digest, err := s.registry.Resolve("plugins/aws", "1.2.0")
		must(s, err)
		s.editLock(digest.String(), chart.Digest().String())
		s.run("init")
	}},
	{"Malformed image", "", func(s *stage) {
		s.image(imagetest.Index{Entries: []imagetest.Entry{{Image: imagetest.Plugin{Name: "aws"}.Build(s.t)}}})
		s.run("init")
	}},
	{"Malformed image", "", func(s *stage) {
		s.plugin(imagetest.Plugin{Edit: imagetest.Edit{Manifest: func(_ string, m *ocispec.Manifest) {
			delete(m.Annotations, image.AnnotationExecutableDigest)
		}}})
		s.run("init")
	}},
	{"Wrong kind of program", "", func(s *stage) {
		program, err := imagetest.Native("darwin/arm64", "aws")
		must(s, err)
		s.plugin(imagetest.Plugin{Files: map[string][]imagetest.File{"linux/amd64": {{Path: "plugin/aws", Body: program, Executable: true}}}})
		s.run("init")
	}},
	{"Image and annotations differ", "", func(s *stage) {
		s.plugin(imagetest.Plugin{Annotations: map[string]string{image.AnnotationContent: "sha256:" + strings.Repeat("0", 64)}})
		s.run("init")
	}},
	{"Archive refused", "", func(s *stage) { s.hostile("link-up-and-out") }},
	{"Archive refused", "", func(s *stage) { s.hostile("same-case") }},
	{"Archive refused", "", func(s *stage) { s.hostile("long-path") }},
	{"Archive refused", "", func(s *stage) {
		s.plugin(imagetest.Plugin{Edit: imagetest.Edit{Layer: func(_ string, blob []byte) []byte { return blob[:len(blob)/2] }}})
		s.run("init")
	}},
}

// hostileArchives are slow to make.
var hostileArchives = sync.OnceValue(hostile.Archives)

// hostile installs an archive of that name.
func (s *stage) hostile(name string) {
	s.t.Helper()
	for _, archive := range hostileArchives() {
		if archive.Name == name {
			s.plugin(imagetest.Plugin{Edit: imagetest.Edit{Layer: func(string, []byte) []byte { return archive.Layer }}})
			s.run("init")
			return
		}
	}
	s.t.Fatalf("no archive %q", name)
}

// symlinkRefused is what Windows says without the right to make links.
func symlinkRefused(dir string) error {
	return &installdir.SymlinkError{Path: filepath.Join(dir, ".plugins", "bin", "aws"),
		Err: &os.LinkError{Op: "symlink", Old: "../plugins/aws/plugin/aws", New: "new/bin-aws", Err: errors.New("A required privilege is not held by the client.")}}
}
