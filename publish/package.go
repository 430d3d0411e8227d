package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"golang.org/x/sync/errgroup"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/image"
)

// PackageOptions say what to pack and where to.
type PackageOptions struct {
	// Dir is the directory of a build: it holds goreleaser's artifacts.json, or
	// dist/artifacts.json, or a tree <os>/<arch>[/<variant>]/… with the files
	// of each platform, and common/ with those that all get. package.hcl in it
	// is the author's metadata. May be empty where Files is given.
	Dir string

	Files        []File   // what to pack in place of what Dir holds
	MetadataFile string   // in place of Dir/package.hcl; then it must be there
	Metadata     Metadata // its values take the place of those in the file

	// Output is the directory of the image layout: an absent or empty one, or a
	// layout, to which the image is added.
	Output string

	Compression Compression      // [Gzip] if empty
	Created     time.Time        // the zero value stands for the time of the commit in Dir, if there is one
	Workers     int              // platforms packed at once; 0 stands for as many as there are processors
	OnProgress  func(done int64) // bytes of files packed so far; one call at a time

	defaultVersion addr.Version // of an image whose metadata name none
}

// Result is what [Package] and [Join] made.
type Result struct {
	Layout    string // directory
	Digest    addr.Digest
	Size      int64 // bytes of the index
	Name      string
	Version   addr.Version // the zero value where the image has none
	PublishTo string       // the source that the image is tied to, or ""
	Created   time.Time    // the zero value where the image does not say
	Platforms []PackedPlatform
	Warnings  []Warning
}

// PackedPlatform is what was made for one platform.
type PackedPlatform struct {
	Platform         addr.Platform
	Manifest         addr.Digest
	Executable       string // path from the image's root
	ExecutableDigest addr.Digest
	Content          addr.Digest
	Layer            addr.Digest
	LayerSize        int64 // bytes, compressed
	Files            int   // files and symbolic links
	Size             int64 // bytes of the files
}

// Package makes a plugin image of what a build left on disk and writes it into
// an OCI image layout. After an error the output is as it was before.
//
// Errors: [hcl.Diagnostics] about package.hcl; [*MetadataError], [*InputError]
// with every problem of the input; [ErrNoInput]; [*LayoutError] about the
// output; those of the context and the file system.
func Package(ctx context.Context, o PackageOptions) (*Result, error) {
	return packageWith(ctx, o, runtime.GOOS != "windows")
}

// packageWith is [Package] on a file system that has executable bits or not.
func packageWith(ctx context.Context, o PackageOptions, modes bool) (*Result, error) {
	if o.Output == "" {
		return nil, errors.New("no output directory is given")
	}
	if _, err := o.Compression.mediaType(); err != nil {
		return nil, err
	}
	b := &build{options: o, modes: modes}
	for _, step := range []func(context.Context) error{b.readMetadata, b.askGit, b.findInput, b.look} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return b.write(ctx)
}

// build is one run of [Package].
type build struct {
	options  PackageOptions
	modes    bool // the file system has executable bits
	metadata Metadata
	version  addr.Version
	created  time.Time
	input    *input
	payloads []payload
	warnings []Warning
}

func (b *build) readMetadata(context.Context) error {
	path, must := b.options.MetadataFile, b.options.MetadataFile != ""
	if !must && b.options.Dir != "" {
		path = filepath.Join(b.options.Dir, MetadataFile)
	}
	var fromFile Metadata
	if path != "" {
		m, found, diags := LoadMetadata(path)
		switch {
		case len(diags) > 0:
			return diags
		case must && !found:
			return hcl.Diagnostics{diagnose("Unreadable file", fileRange(path), "There is no file %s.", path)}
		}
		fromFile = m
	}
	b.metadata = b.options.Metadata.over(fromFile)
	if wrong := b.options.Metadata.check(); len(wrong) > 0 {
		errs := make([]error, len(wrong))
		for i, w := range wrong {
			errs[i] = w
		}
		return errors.Join(errs...)
	}
	if source, err := addr.ParseSource(b.metadata.PublishTo); err == nil {
		b.metadata.PublishTo = source.String()
	}
	b.metadata.Protocols = slices.Compact(slices.Sorted(slices.Values(b.metadata.Protocols)))
	return nil
}

// askGit fills in what metadata leaves to the commit.
func (b *build) askGit(ctx context.Context) (err error) {
	dir := b.options.Dir
	switch b.metadata.Version {
	case "":
		b.version = b.options.defaultVersion
	case VersionFromGit:
		if b.version, err = gitVersion(ctx, dir); err != nil {
			return &MetadataError{attrVersion, err.Error()}
		}
	default:
		if b.version, err = addr.ParseVersion(b.metadata.Version); err != nil {
			return err
		}
	}
	if b.version.IsZero() {
		b.warnings = append(b.warnings, Warning{Kind: WarnVersion,
			Text: "the image declares no version, so that a changed lock file could call it any; say which it is with --version"})
	}
	if b.metadata.Revision == VersionFromGit {
		if b.metadata.Revision, err = gitRevision(ctx, dir); err != nil {
			return &MetadataError{attrRevision, err.Error()}
		}
	}
	if b.created = b.options.Created; !b.created.IsZero() || dir == "" {
		return nil
	}
	var warnings []Warning
	b.created, warnings, err = gitTime(ctx, dir)
	b.warnings = append(b.warnings, warnings...)
	return err
}

func (b *build) findInput(context.Context) (err error) {
	if b.input, err = detect(b.options.Dir, b.options.Files); err == nil {
		b.warnings = append(b.warnings, b.input.warnings...)
	}
	return err
}

// look decides what is packed for each platform and finds all that is wrong
// with it.
func (b *build) look(ctx context.Context) error {
	var found problems
	for _, platform := range b.input.sorted() {
		entries, err := scan(ctx, platform, b.input.platforms[platform], b.metadata, &found)
		if err != nil {
			return err
		}
		if !b.modes {
			for i := range entries {
				entries[i].executable = false
			}
		}
		b.settle(payload{platform: platform, entries: entries}, &found)
	}
	return found.err()
}

// settle chooses the executable and looks at it.
func (b *build) settle(p payload, found *problems) {
	if !slices.ContainsFunc(p.entries, entry.isFile) {
		return // reported already
	}
	i, err := chooseExecutable(p.platform, p.entries, b.metadata)
	if err != nil {
		found.add(p.platform, "", err)
		return
	}
	e := &p.entries[i]
	if err := checkHeader(p.platform, *e); err != nil {
		found.add(p.platform, e.label, err)
		return
	}
	if !e.executable && b.modes && p.platform.OS != "windows" {
		b.warnings = append(b.warnings, Warning{WarnMode, p.platform, e.label, "had no executable bit; it has one in the image"})
	}
	e.executable, p.executable = true, i
	warnings, err := examine(p.platform, *e)
	if err != nil {
		found.add(p.platform, e.label, err)
	}
	b.warnings = append(b.warnings, warnings...)
	b.payloads = append(b.payloads, p)
}

// name is the title of the image.
func (b *build) name() (string, error) {
	if b.metadata.Name != "" {
		return b.metadata.Name, nil
	}
	title := titleOf(b.payloads[0])
	for _, p := range b.payloads[1:] {
		if other := titleOf(p); other != title {
			return "", &MetadataError{attrName, fmt.Sprintf("executables of platforms differ in their names (%s, %s), so the name must be given", title, other)}
		}
	}
	return title, nil
}

// write packs the platforms side by side and puts the image together.
func (b *build) write(ctx context.Context) (*Result, error) {
	name, err := b.name()
	if err != nil {
		return nil, err
	}
	created := ""
	if !b.created.IsZero() {
		created = b.created.UTC().Format(time.RFC3339)
	}
	common := b.metadata.annotations(name, b.version, created)
	to, err := createLayout(b.options.Output)
	if err != nil {
		return nil, err
	}
	children, err := b.pack(ctx, to, common)
	if err != nil {
		return nil, to.abort(err)
	}
	r := &Result{Layout: b.options.Output, Name: name, Version: b.version, PublishTo: b.metadata.PublishTo, Created: b.created, Warnings: b.warnings}
	var listed []ocispec.Descriptor
	for _, c := range children {
		listed, r.Platforms = append(listed, c.descriptor), append(r.Platforms, c.summary)
	}
	if r.PublishTo != "" {
		common = maps.Clone(common)
		common[image.AnnotationSource] = r.PublishTo
	}
	root, err := writeIndex(to, listed, common)
	if err == nil {
		err = to.finish(root, r.Version.Tag())
	}
	if err != nil {
		return nil, to.abort(err)
	}
	r.Digest, r.Size = addr.Digest(root.Digest), root.Size
	return r, nil
}

// pack makes the layers, the largest payload first, so that no processor is
// idle at the end.
func (b *build) pack(ctx context.Context, to *layoutWriter, common map[string]string) ([]child, error) {
	workers := b.options.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(workers)
	children := make([]child, len(b.payloads))
	report := b.progress()
	for _, i := range bySize(b.payloads) {
		group.Go(func() error {
			p := b.payloads[i]
			layer, err := pack(ctx, to, p, b.options.Compression, report)
			if err == nil {
				children[i], err = writeChild(to, p, layer, common)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", p.platform, err)
			}
			return nil
		})
	}
	return children, group.Wait()
}

// progress makes calls of several goroutines calls one at a time.
func (b *build) progress() func(int64) {
	if b.options.OnProgress == nil {
		return func(int64) {}
	}
	var mu sync.Mutex
	var done int64
	return func(n int64) {
		mu.Lock()
		defer mu.Unlock()
		done += n
		b.options.OnProgress(done)
	}
}

// bySize orders the indexes of payloads by size, the largest first.
func bySize(payloads []payload) []int {
	total := make([]int64, len(payloads))
	order := make([]int, len(payloads))
	for i, p := range payloads {
		order[i] = i
		for _, e := range p.entries {
			total[i] += e.size
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(total[b], total[a]) })
	return order
}
