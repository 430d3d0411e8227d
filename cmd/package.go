package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pluginlock/plugins"
	"github.com/pluginlock/plugins/config"
	"github.com/pluginlock/plugins/internal/image"
	"github.com/pluginlock/plugins/publish"
)

// defaultLayout is where package writes when nobody says where.
const defaultLayout = "plugin-image"

// buildFlags describe what is packed; package has them, and push for a
// directory.
type buildFlags struct {
	all                     *pflag.FlagSet
	files, include, exclude []string
	metadataFile            string
	compression             string
	protocols               string
	metadata                publish.Metadata
}

func (f *buildFlags) add(flags *pflag.FlagSet) {
	m := &f.metadata
	f.all = pflag.NewFlagSet("build", pflag.ContinueOnError)
	f.all.StringArrayVar(&f.files, "file", nil, "pack the file or directory of `PLATFORM=PATH` instead of what is in DIR (repeatable)")
	f.all.StringVar(&f.metadataFile, "metadata", "", "read the metadata from this `file` (default: package.hcl in DIR, if there is one)")
	f.all.StringVar(&m.Name, "name", "", "name of the plugin (default: that of its executable)")
	f.all.StringVar(&m.Version, "version", "", "version, or \"git\" for the one that the tag of the commit names")
	f.all.StringVar(&m.Description, "description", "", "what the plugin does, in a sentence")
	f.all.StringVar(&m.Licenses, "licenses", "", "license expression, such as MIT")
	f.all.StringVar(&m.Source, "source", "", "`URL` of the source code")
	f.all.StringVar(&m.Vendor, "vendor", "", "who publishes the plugin")
	f.all.StringVar(&m.Revision, "revision", "", "commit of the source code, or \"git\" for the one that is checked out")
	f.all.StringVar(&m.PublishTo, "publish-to", "", "tie the image to this `source`: it then installs from nowhere else")
	f.all.StringVar(&f.protocols, "protocols", "", "`numbers` of the protocols that the plugin speaks, such as 5,6")
	f.all.StringVar(&m.Executable, "executable", "", "`path` of the executable among a platform's files")
	f.all.StringArrayVar(&f.include, "include", nil, "pack only files that match this `pattern` (repeatable)")
	f.all.StringArrayVar(&f.exclude, "exclude", nil, "do not pack files that match this `pattern` (repeatable)")
	f.all.StringVar(&f.compression, "compression", string(publish.Gzip), "gzip or zstd")
	flags.AddFlagSet(f.all)
}

// given names one of the flags that was given, "" where none was.
func (f *buildFlags) given() (name string) {
	f.all.VisitAll(func(flag *pflag.Flag) {
		if flag.Changed {
			name = flag.Name
		}
	})
	return name
}

// options turns the flags into those of the library; a wrong value is a usage
// error.
func (f *buildFlags) options() (publish.PackageOptions, error) {
	o := publish.PackageOptions{MetadataFile: f.metadataFile, Metadata: f.metadata, Compression: publish.Compression(f.compression)}
	if o.Compression != publish.Gzip && o.Compression != publish.Zstd {
		return o, usageErrorf("--compression %q: it is gzip or zstd", f.compression)
	}
	o.Metadata.Include, o.Metadata.Exclude = f.include, f.exclude
	for _, value := range f.files {
		file, err := publish.ParseFile(value)
		if err != nil {
			return o, usageErrorf("--file: %w", err)
		}
		o.Files = append(o.Files, file)
	}
	var err error
	if o.Metadata.Protocols, err = image.ParseProtocols(f.protocols); err != nil {
		return o, usageErrorf("--protocols: %w", err)
	}
	if o.Created, err = sourceDateEpoch(); err != nil {
		return o, err
	}
	return o, nil
}

// sourceDateEpoch reads the time that reproducible builds agree on, see
// https://reproducible-builds.org/specs/source-date-epoch/.
func sourceDateEpoch() (time.Time, error) {
	value := os.Getenv("SOURCE_DATE_EPOCH")
	if value == "" {
		return time.Time{}, nil
	}
	seconds, err := strconv.ParseInt(value, 10, 64)
	if err != nil || seconds < 0 {
		return time.Time{}, usageErrorf("SOURCE_DATE_EPOCH is %q, which is no number of seconds", value)
	}
	return time.Unix(seconds, 0), nil
}

// packageFlags are the flags of package.
type packageFlags struct {
	build  buildFlags
	output string
	join   []string
}

func newPackageCommand(a *app) *cobra.Command {
	var f packageFlags
	c := &cobra.Command{
		Use:   "package [DIR]",
		Short: "Make a plugin image of what a build left in a directory",
		Long: `package makes a plugin image and writes it into an OCI image layout, which push,
and any other tool for images, sends to a registry.

DIR, by default the working directory, holds goreleaser's artifacts.json or
dist/artifacts.json, or a tree with a directory for each platform, such as
linux/amd64 or linux/arm/v7; the files in a directory "common" are added to each.
package.hcl in DIR may hold the metadata that are flags here. The same input
gives the same digest on every machine.

With --join, the images of several jobs, each for some of the platforms, become
one.`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return a.runPackage(c.Context(), f, args) },
	}
	f.build.add(c.Flags())
	c.Flags().StringVar(&f.output, "output", defaultLayout, "`directory` of the image layout: a new one, or one to add to")
	c.Flags().StringArrayVar(&f.join, "join", nil, "join the image in this layout `directory` with the others (repeatable)")
	f.build.all.VisitAll(func(flag *pflag.Flag) { exclusive(c, "join", flag.Name) }) // what is joined is packed already
	return c
}

func (a *app) runPackage(ctx context.Context, f packageFlags, args []string) error {
	result, err := f.run(ctx, args)
	if err != nil {
		return publishError(err)
	}
	a.printer.packed(result)
	return nil
}

func (f *packageFlags) run(ctx context.Context, args []string) (*publish.Result, error) {
	if len(f.join) > 0 {
		if len(args) > 0 {
			return nil, usageErrorf("--join takes layouts, and no DIR beside them")
		}
		return publish.Join(ctx, publish.JoinOptions{Layouts: f.join, Output: f.output})
	}
	o, err := f.build.options()
	if err != nil {
		return nil, err
	}
	o.Dir, o.Output = ".", f.output
	if len(args) > 0 {
		o.Dir = args[0]
	}
	return publish.Package(ctx, o)
}

// packed prints what was made.
func (p *printer) packed(r *publish.Result) {
	p.publishWarnings(r.Warnings)
	if p.json {
		p.document(newPackedDocument(r))
		return
	}
	table := newTable("PLATFORM", "EXECUTABLE", "SIZE", "PACKED", "MANIFEST")
	for _, one := range r.Platforms {
		unpacked := "-"
		if one.Files > 0 {
			unpacked = size(one.Size)
		}
		table.row(one.Platform.String(), one.Executable, unpacked, size(one.LayerSize), shortDigest(one.Manifest.String()))
	}
	p.table(table)
	p.line("%s", strings.Join(strings.Fields(fmt.Sprintf("%s %s in %s: %s", r.Name, r.Version, r.Layout, r.Digest)), " "))
}

func (p *printer) publishWarnings(warnings []publish.Warning) {
	for _, w := range warnings {
		p.note("Warning: %s", w)
	}
}

// packedDocument is what package prints with --json.
type packedDocument struct {
	Layout    string                   `json:"layout,omitempty"`
	Digest    string                   `json:"digest"`
	Name      string                   `json:"name"`
	Version   string                   `json:"version,omitempty"`
	PublishTo string                   `json:"publish_to,omitempty"`
	Created   string                   `json:"created,omitempty"`
	Platforms []packedPlatformDocument `json:"platforms"`
	Warnings  []string                 `json:"warnings"`
	Errors    []problemDocument        `json:"errors"`
}

type packedPlatformDocument struct {
	Platform         string `json:"platform"`
	Manifest         string `json:"manifest"`
	Executable       string `json:"executable"`
	ExecutableDigest string `json:"executable_digest"`
	Content          string `json:"content"`
	Layer            string `json:"layer"`
	LayerSize        int64  `json:"layer_size"`
	Files            int    `json:"files,omitempty"`
	Size             int64  `json:"size,omitempty"`
}

func newPackedDocument(r *publish.Result) *packedDocument {
	d := &packedDocument{Layout: r.Layout, Digest: r.Digest.String(), Name: r.Name, Version: r.Version.String(), PublishTo: r.PublishTo,
		Platforms: []packedPlatformDocument{}, Warnings: []string{}, Errors: []problemDocument{}}
	if !r.Created.IsZero() {
		d.Created = r.Created.UTC().Format(time.RFC3339)
	}
	for _, p := range r.Platforms {
		d.Platforms = append(d.Platforms, packedPlatformDocument{
			Platform: p.Platform.String(), Manifest: p.Manifest.String(), Executable: p.Executable, ExecutableDigest: p.ExecutableDigest.String(),
			Content: p.Content.String(), Layer: p.Layer.String(), LayerSize: p.LayerSize, Files: p.Files, Size: p.Size,
		})
	}
	for _, w := range r.Warnings {
		d.Warnings = append(d.Warnings, w.String())
	}
	return d
}

// publishError lists every problem of an input, and every one of package.hcl
// with the line that it is about.
func publishError(err error) error {
	var input *publish.InputError
	var diags hcl.Diagnostics
	switch {
	case errors.As(err, &input):
		all := &plugins.Error{}
		for i := range input.Problems {
			all.Problems = append(all.Problems, plugins.Problem{Err: &input.Problems[i]})
		}
		return all
	case errors.As(err, &diags):
		all := &plugins.Error{Files: map[string]*hcl.File{}}
		for _, d := range diags {
			all.Problems = append(all.Problems, plugins.Problem{Range: d.Subject, Err: &plugins.DiagnosticError{Diagnostic: d}})
			if d.Subject != nil {
				all.Files[d.Subject.Filename] = config.Excerpt(d.Subject.Filename)
			}
		}
		return all
	}
	return err
}
