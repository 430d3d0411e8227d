package plugins_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pluginlock/plugins"
	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/cmd"
	"github.com/pluginlock/plugins/installer"
	"github.com/pluginlock/plugins/internal/imagetest"
	"github.com/pluginlock/plugins/internal/registrytest"
	"github.com/pluginlock/plugins/lock"
)

// A scene makes one message happen.
type scene struct {
	summary string
	note    string
	play    func(*stage)
}

func hasScene(scenes []scene, summary string) bool {
	return slices.ContainsFunc(scenes, func(s scene) bool { return s.summary == summary })
}

// played plays scenes; those with one heading become one example.
func played(t *testing.T, scenes []scene) []example {
	t.Helper()
	var all []example
	for _, scene := range scenes {
		var printed string
		t.Run(strings.ReplaceAll(scene.summary, " ", "-"), func(t *testing.T) {
			s := newStage(t)
			scene.play(s)
			printed = strings.TrimSpace(s.printed.String())
		})
		if i := len(all) - 1; i >= 0 && all[i].summary == scene.summary {
			all[i].printed += "\n\n" + printed
			all[i].note = strings.TrimSpace(all[i].note + " " + scene.note)
			continue
		}
		all = append(all, example{scene.summary, printed, scene.note})
	}
	return all
}

// stage is a project in the working directory, whose commands are shown.
type stage struct {
	*project
	ctx     context.Context
	printed bytes.Buffer
	second  *registrytest.Registry // where a scene needs one more
}

func newStage(t *testing.T) *stage {
	t.Helper()
	p := newProject(t, registrytest.Options{})
	s := &stage{project: p, ctx: context.Background()}
	s.useCache(filepath.Dir(p.options.CacheDir))
	t.Chdir(p.dir)
	s.options.Dir = ""
	return s
}

func (s *stage) useCache(parent string) { s.options.CacheDir = filepath.Join(parent, "cache") }

// withRegistry puts another registry in the place of the first.
func (s *stage) withRegistry(o registrytest.Options) { s.registry = registrytest.New(s.t, o) }

// plugin publishes one plugin image, and requires it.
func (s *stage) plugin(p imagetest.Plugin) {
	s.t.Helper()
	p.Name, p.Version = "aws", "1.2.0"
	s.registry.MustAdd(s.t, "plugins/aws", p.Build(s.t), "1.2.0")
	s.require("aws", "~> 1.2")
}

// image publishes any image as aws 1.2.0, and requires it.
func (s *stage) image(b imagetest.Builder) {
	s.t.Helper()
	s.registry.MustAdd(s.t, "plugins/aws", imagetest.Must(s.t, b), "1.2.0")
	s.require("aws", "~> 1.2")
}

// usual publishes aws 1.2.0, requires and installs it.
func (s *stage) usual() {
	s.t.Helper()
	s.plugin(imagetest.Plugin{})
	s.init()
}

// rule makes the registry misbehave from now on.
func (s *stage) rule(r registrytest.Rule) { s.registry.Front.Add(r) }

// run runs a command and keeps what it prints beside its result.
func (s *stage) run(args ...string) {
	s.t.Helper()
	options := s.options
	root := cmd.New(cmd.Options{Load: func(context.Context) (plugins.Options, error) { return options, nil }})
	var errOut bytes.Buffer
	root.SetErr(&errOut)
	root.SetOut(new(bytes.Buffer))
	root.SetArgs(args)
	_ = root.ExecuteContext(s.ctx) // the caller looks at what was printed
	fmt.Fprintf(&s.printed, "$ %s\n\n%s\n\n", s.normal("plugins "+strings.Join(args, " ")), s.normal(strings.TrimSpace(withoutProgress(errOut.String()))))
}

// withoutProgress leaves out what was printed before the first message.
func withoutProgress(printed string) string {
	start := regexp.MustCompile(`(?m)^(Error|Warning): `).FindStringIndex(printed)
	if start == nil {
		return printed
	}
	return printed[start[0]:]
}

// show prints an error that is not worth making happen as a command would.
func (s *stage) show(err error) {
	s.t.Helper()
	s.showOf(err, nil)
}

// showAWS is show for an error about aws 1.2.0.
func (s *stage) showAWS(err error) {
	s.t.Helper()
	s.showOf(err, &installer.Problem{Plugin: "aws", Source: source(s.t), Version: "1.2.0"})
}

func (s *stage) showOf(err error, plugin *installer.Problem) {
	s.t.Helper()
	var all *plugins.Error
	if !errors.As(plugins.Fail(err, plugin), &all) {
		s.t.Fatalf("%v", err)
	}
	s.printed.WriteString(s.normal(rendered(s.t, all.Diagnostics(), all.Files)))
}

func source(t *testing.T) addr.Source {
	t.Helper()
	source, err := addr.ParseSource("registry.example.com/plugins/aws")
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// edit replaces text of a file of the project.
func (s *stage) edit(name, old, text string) {
	s.t.Helper()
	content := readFile(s.t, name)
	if !strings.Contains(content, old) {
		s.t.Fatalf("%s has no %q:\n%s", name, old, content)
	}
	s.write(name, strings.ReplaceAll(content, old, text))
}

func (s *stage) editLock(old, text string) { s.t.Helper(); s.edit(lock.FileName, old, text) }

// normal takes out what differs from run to run.
func (s *stage) normal(printed string) string {
	printed = strings.ReplaceAll(printed, s.registry.Host(), "registry.example.com")
	if s.second != nil {
		printed = strings.ReplaceAll(printed, s.second.Host(), "mirror.example.com")
	}
	for _, name := range [][2]string{{s.options.CacheDir, "/cache"}, {s.dir, "/project"}} { // the cache may be in the project
		from, to := name[0], name[1]
		if from == "" {
			continue
		}
		resolved, err := filepath.EvalSymlinks(from)
		if err == nil {
			printed = strings.ReplaceAll(printed, resolved, to)
		}
		printed = strings.ReplaceAll(printed, from, to)
	}
	return shortened(strings.ReplaceAll(printed, os.TempDir(), "/tmp"))
}

// shortened gives each digest of a text a letter of its own.
func shortened(printed string) string {
	var known []string
	return regexp.MustCompile(`sha256[:/][0-9a-f]{64}`).ReplaceAllStringFunc(printed, func(digest string) string {
		i := slices.Index(known, digest[7:])
		if i < 0 {
			i, known = len(known), append(known, digest[7:])
		}
		return digest[:7] + strings.Repeat(string(rune('a'+i)), 4) + "…"
	})
}

const usageHeading = "Wrong usage"

// usageExamples runs command lines that no command accepts.
func usageExamples(t *testing.T) []example {
	t.Helper()
	var printed []string
	for _, line := range []string{
		"plugins inti", "plugins init --lokced", "plugins init --locked --upgrade", "plugins init --platform linux/amd46",
		"plugins init --link-mode hard", "plugins init --override aws", "plugins which", "plugins update --accept-republished",
	} {
		output := captured(t, func() { cmd.Main(strings.Fields(line)[1:]) })
		printed = append(printed, "$ "+line+"\n\n"+strings.TrimSpace(output))
	}
	return []example{{summary: usageHeading, printed: strings.Join(printed, "\n\n")}}
}
