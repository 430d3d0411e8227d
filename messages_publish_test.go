package plugins_test

import (
	"os"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/imagetest"
	"github.com/pluginlock/plugins/publish"
)

// publishScenes are about making plugin images and sending them.
var publishScenes = []scene{
	{"Nothing to package", "", func(s *stage) { s.run("package") }},
	{"Invalid metadata", "", func(s *stage) {
		s.build("dist", "linux/amd64")
		s.run("package", "dist", "--version", "1.2")
	}},
	{"Not a registry", "", func(s *stage) { s.run("logout", "https://registry.example.com") }},
	{"No such version", "", func(s *stage) {
		s.plugin(imagetest.Plugin{})
		s.run("inspect", s.registry.Host()+"/plugins/aws@9.0.0")
	}},
	{"Not fit to be packaged", "", func(s *stage) {
		s.build("dist", "linux/amd64")
		s.write("dist/linux/amd64/aux.txt", "")
		s.run("package", "dist")
	}},
	{"Layout unusable", "", func(s *stage) {
		must(s, os.Mkdir("image", 0o755))
		s.write("image/oci-layout", "{}")
		s.run("push", "image", s.registry.Host()+"/plugins/aws:1.2.0")
	}},
	{"Version published already", "A new version is kinder to those who have locked this one.", func(s *stage) {
		s.plugin(imagetest.Plugin{})
		s.build("dist", "linux/amd64")
		s.run("push", "dist", s.registry.Host()+"/plugins/aws:1.2.0")
	}},
	{"Tag changed meanwhile", "Pushing again is safe and sends only what is missing.", func(s *stage) {
		s.show(&publish.TagChangedError{Source: source(s.t), Tag: "1.2.0", Existing: addr.DigestOf([]byte("other"))})
	}},
	{"Image and version differ", "", func(s *stage) {
		s.build("dist", "linux/amd64")
		s.run("package", "dist", "--version", "1.2.0")
		s.printed.Reset()
		s.run("push", "plugin-image", s.registry.Host()+"/plugins/aws:1.3.0")
	}},
	{"Not a plugin image", "", func(s *stage) {
		must(s, imagetest.Foreign{Name: "aws"}.Build(s.t).WriteLayout("image", "1.2.0"))
		s.run("push", "image", s.registry.Host()+"/plugins/aws:1.2.0")
	}},
	{"Images cannot be joined", "", func(s *stage) {
		for dir, version := range map[string]string{"one": "1.2.0", "two": "1.3.0"} {
			s.build(dir, "linux/"+map[string]string{"one": "amd64", "two": "arm64"}[dir])
			s.run("package", dir, "--version", version, "--output", dir+"-image")
		}
		s.printed.Reset()
		s.run("package", "--join", "one-image", "--join", "two-image", "--output", "both")
	}},
	{"Images cannot be joined", "", func(s *stage) {
		for _, dir := range []string{"one", "two"} {
			s.build(dir, "linux/amd64")
			s.write(dir+"/linux/amd64/LICENSE", dir)
			s.run("package", dir, "--version", "1.2.0", "--output", dir+"-image")
		}
		s.printed.Reset()
		s.run("package", "--join", "one-image", "--join", "two-image", "--output", "both")
	}},
}

// build writes what a build for one platform leaves in a directory.
func (s *stage) build(dir, platform string) {
	s.t.Helper()
	must(s, os.MkdirAll(dir+"/"+platform, 0o755))
	must(s, os.WriteFile(dir+"/"+platform+"/aws", []byte(imagetest.Script("aws")), 0o755))
}
