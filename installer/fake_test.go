package installer

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/getter"
	"github.com/pluginlock/plugins/internal/image"
	"github.com/pluginlock/plugins/internal/imagetest"
	"github.com/pluginlock/plugins/internal/store"
	"github.com/pluginlock/plugins/lock"
)

// fakeRegistry answers from memory and notes what it was asked.
type fakeRegistry struct {
	mu    sync.Mutex
	repos map[addr.Source]*fakeRepository
	asked []string
	down  error // returned for everything
}

type fakeRepository struct {
	registry *fakeRegistry
	source   addr.Source
	tags     map[string]*imagetest.Image
	order    []string
	content  []*imagetest.Image // images that no tag names any more
}

func newFakeRegistry() *fakeRegistry { return &fakeRegistry{repos: map[addr.Source]*fakeRepository{}} }

func (r *fakeRegistry) add(source addr.Source, tag string, im *imagetest.Image) {
	repo := r.repos[source]
	if repo == nil {
		repo = &fakeRepository{registry: r, source: source, tags: map[string]*imagetest.Image{}}
		r.repos[source] = repo
	}
	if old := repo.tags[tag]; old != nil {
		repo.content = append(repo.content, old)
	} else {
		repo.order = append(repo.order, tag)
	}
	repo.tags[tag] = im
}

// forget takes away what no tag names, as garbage collection does.
func (r *fakeRegistry) forget(source addr.Source) { r.repos[source].content = nil }

func (r *fakeRegistry) open(source addr.Source) (Repository, error) {
	if repo := r.repos[source]; repo != nil {
		return repo, nil
	}
	return &fakeRepository{registry: r, source: source}, nil
}

func (r *fakeRegistry) ask(format string, args ...any) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, fmt.Sprintf(format, args...))
	return r.down
}

func (r *fakeRegistry) requests() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.asked)
}

func (f *fakeRepository) missing(what string) error {
	return fmt.Errorf("%s: %s: %w", f.source, what, getter.ErrNotFound)
}

func (f *fakeRepository) Tags(context.Context) ([]string, error) {
	if err := f.registry.ask("tags %s", f.source); err != nil {
		return nil, err
	}
	if f.tags == nil {
		return nil, f.missing("repository")
	}
	return slices.Clone(f.order), nil
}

func (f *fakeRepository) Document(_ context.Context, reference string) (*image.Document, error) {
	if err := f.registry.ask("document %s %s", f.source, reference); err != nil {
		return nil, err
	}
	if im := f.tags[reference]; im != nil {
		return image.Parse(im.Root.MediaType, im.Bytes(im.Digest()))
	}
	if raw := f.find(addr.Digest(reference)); raw != nil {
		return image.Parse("", raw)
	}
	return nil, f.missing(reference)
}

func (f *fakeRepository) Blob(_ context.Context, d ocispec.Descriptor) (io.ReadCloser, error) {
	if err := f.registry.ask("blob %s %s", f.source, d.Digest); err != nil {
		return nil, err
	}
	if raw := f.find(addr.Digest(d.Digest)); raw != nil {
		return io.NopCloser(bytes.NewReader(raw)), nil
	}
	return nil, f.missing(d.Digest.String())
}

func (f *fakeRepository) find(d addr.Digest) []byte {
	for _, im := range f.tags {
		if raw := im.Bytes(d); raw != nil {
			return raw
		}
	}
	for _, im := range f.content {
		if raw := im.Bytes(d); raw != nil {
			return raw
		}
	}
	return nil
}

// rig is a project before an installer and a registry.
type rig struct {
	t         *testing.T
	registry  *fakeRegistry
	installer *Installer
	project   Project
}

func newRig(t *testing.T) *rig {
	t.Helper()
	s, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	r := &rig{t: t, registry: newFakeRegistry()}
	r.installer = &Installer{Open: r.registry.open, Store: s}
	r.project = Project{
		Lock: &lock.File{}, LockAbsent: true, LockPath: dir + "/" + lock.FileName, InstallDir: dir + "/.plugins",
		Targets: []addr.Platform{platform("linux/amd64")},
	}
	return r
}

// publish puts a default plugin image under each tag.
func (r *rig) publish(source string, tags ...string) {
	r.t.Helper()
	for _, tag := range tags {
		v, _ := addr.ParseTag(tag)
		r.publishPlugin(source, tag, imagetest.Plugin{Name: "aws", Version: v.String()})
	}
}

func (r *rig) publishPlugin(source, tag string, p imagetest.Plugin) *imagetest.Image {
	r.t.Helper()
	im := p.Build(r.t)
	r.registry.add(sourceOf(source), tag, im)
	return im
}

// require sets the requirements: name, source, constraint.
func (r *rig) require(requirements ...Requirement) { r.project.Requirements = requirements }

// init plans and applies, and makes the result the project's lock file.
func (r *rig) init() (*Plan, error) {
	plan, err := r.installer.Plan(context.Background(), &r.project)
	if err != nil {
		return plan, err
	}
	if !plan.Empty() {
		if _, err := r.installer.Apply(context.Background(), plan); err != nil {
			return plan, err
		}
	}
	r.project.Lock, r.project.LockAbsent = plan.Lock.Clone(), false
	return plan, nil
}

func (r *rig) mustInit() *Plan {
	r.t.Helper()
	plan, err := r.init()
	if err != nil {
		r.t.Fatalf("init: %v", err)
	}
	return plan
}

// locked returns the entry that the lock file has now.
func (r *rig) locked(name string) lock.Entry {
	r.t.Helper()
	e, ok := r.project.Lock.Entry(name)
	if !ok {
		r.t.Fatalf("%s is not locked", name)
	}
	return *e
}

const awsSource = "registry.example.com/plugins/aws"

func requirement(name, source, constraint string) Requirement {
	return Requirement{Name: name, Source: sourceOf(source), Constraint: constraintOf(constraint)}
}

func sourceOf(s string) addr.Source {
	return must(addr.ParseSource(s))
}

func constraintOf(s string) addr.Constraint { return must(addr.ParseConstraint(s)) }

func platform(s string) addr.Platform { return must(addr.ParsePlatform(s)) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
