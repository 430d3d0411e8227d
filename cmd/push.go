package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/publish"
)

// pushFlags are the flags of push.
type pushFlags struct {
	build                                     buildFlags
	force, untagged, movingTags, addPlatforms bool
	mountFrom                                 []string
}

func newPushCommand(a *app) *cobra.Command {
	var f pushFlags
	c := &cobra.Command{
		Use:   "push LAYOUT|DIR SOURCE:VERSION",
		Short: "Send a plugin image to a registry as a version",
		Long: `push sends the plugin image of a layout, or of the directory of a build, which it
packs first. Blobs that the registry has are not sent; the tag is written last.
A version that is there with the same content is left alone, one with other
content is an error without --force.

Standard output is the image's reference and nothing else, so that it can be
signed: cosign sign "$(plugins push plugin-image SOURCE:1.4.2)".`,
		Args: usageArgs(cobra.ExactArgs(2)),
		RunE: func(c *cobra.Command, args []string) error { return a.runPush(c.Context(), f, args[0], args[1]) },
	}
	f.build.add(c.Flags())
	flags := c.Flags()
	flags.BoolVar(&f.force, "force", false, "overwrite the version if it is there with other content")
	flags.BoolVar(&f.untagged, "untagged", false, "push by digest only, to SOURCE; \"tag\" gives it its version later")
	flags.BoolVar(&f.movingTags, "moving-tags", false, "let 1.4, 1 and latest follow, unless they would go backwards or to a pre-release")
	flags.BoolVar(&f.addPlatforms, "add-platform", false, "add the platforms to those that the version has")
	flags.StringArrayVar(&f.mountFrom, "mount-from", nil, "take blobs from this `source` on the same registry, if it has them (repeatable)")
	exclusive(c, "untagged", "force")
	exclusive(c, "untagged", "moving-tags")
	exclusive(c, "untagged", "add-platform")
	return c
}

// options turns the arguments into those of the library.
func (f *pushFlags) options(path, target string) (publish.PushOptions, error) {
	build, err := f.build.options()
	if err != nil {
		return publish.PushOptions{}, err
	}
	if name := f.build.given(); name != "" && publish.IsLayout(path) {
		return publish.PushOptions{}, usageErrorf("--%s is for what is packed, but %s is a layout: give it to package", name, path)
	}
	o := publish.PushOptions{Path: path, Package: build, Untagged: f.untagged, Force: f.force, AddPlatform: f.addPlatforms, MovingTags: f.movingTags}
	ref, err := publish.ParseReference(target)
	switch {
	case err != nil:
		return o, usageErrorf("%w", err)
	case !ref.Digest.IsZero() || !ref.Constraint.IsZero():
		return o, usageErrorf("%q: a push goes to SOURCE:VERSION", target)
	case f.untagged && ref.Tag != "":
		return o, usageErrorf("%q: an untagged push goes to SOURCE, without a version", target)
	case !f.untagged && ref.Tag == "":
		return o, usageErrorf("%q: the version is missing, as in %s:1.4.2", target, ref.Source)
	case !f.untagged && ref.Version.IsZero():
		return o, usageErrorf("%w", &publish.NotVersionError{Tag: ref.Tag})
	}
	o.Source, o.Tag = ref.Source, ref.Tag
	for _, from := range f.mountFrom {
		source, err := addr.ParseSource(from)
		if err != nil {
			return o, usageErrorf("--mount-from: %w", err)
		}
		o.MountFrom = append(o.MountFrom, source)
	}
	return o, nil
}

func (a *app) runPush(ctx context.Context, f pushFlags, path, target string) error {
	o, err := f.options(path, target)
	if err != nil {
		return err
	}
	if o.Client, err = a.registryClient(ctx); err != nil {
		return err
	}
	defer o.Client.CloseIdleConnections()
	shown := newUploads(a.printer)
	o.OnProgress = shown.event
	result, err := publish.Push(ctx, o)
	shown.close()
	if result != nil {
		a.printer.pushed(result, err)
	}
	return publishError(err)
}

// pushed prints the reference, and beside it what became of tags.
func (p *printer) pushed(r *publish.PushResult, err error) {
	if r.Packed != nil {
		p.publishWarnings(r.Packed.Warnings)
	}
	if p.json {
		p.document(newPushedDocument(r, err))
		return
	}
	switch {
	case r.Unchanged:
		p.note("%s:%s is there with this content; nothing was written.", r.Source, r.Tag)
	default:
		p.note("Blobs: %d sent (%s), %d were there.", r.Blobs[publish.BlobSent], size(r.SentBytes), r.Blobs[publish.BlobExists]+r.Blobs[publish.BlobMounted])
	}
	if !r.Replaced.IsZero() {
		p.note("%s:%s replaces %s.", r.Source, r.Tag, r.Replaced)
	}
	p.moving(r.Source, r.Moving)
	p.result(r.Reference())
}

func (p *printer) moving(source addr.Source, tags []publish.MovedTag) {
	for _, m := range tags {
		switch {
		case m.Moved:
			p.note("%s:%s moved.", source, m.Tag)
		case m.Why != "":
			p.note("%s:%s stays: %s.", source, m.Tag, m.Why)
		}
	}
}

// pushedDocument is what push and tag print with --json.
type pushedDocument struct {
	Source    string            `json:"source"`
	Tag       string            `json:"tag,omitempty"`
	Digest    string            `json:"digest"`
	Reference string            `json:"reference"`
	Unchanged bool              `json:"unchanged"`
	Replaced  string            `json:"replaced,omitempty"`
	Platforms []string          `json:"platforms,omitempty"`
	Sent      int               `json:"blobs_sent"`
	SentBytes int64             `json:"bytes_sent"`
	Existing  int               `json:"blobs_existing"`
	Mounted   int               `json:"blobs_mounted"`
	Moving    []movedDocument   `json:"moving_tags"`
	Packed    *packedDocument   `json:"packed,omitempty"`
	Errors    []problemDocument `json:"errors"`
}

type movedDocument struct {
	Tag    string `json:"tag"`
	Moved  bool   `json:"moved"`
	Reason string `json:"reason,omitempty"`
}

func newPushedDocument(r *publish.PushResult, err error) pushedDocument {
	d := pushedDocument{
		Source: r.Source.String(), Tag: r.Tag, Digest: r.Digest.String(), Reference: r.Reference(), Unchanged: r.Unchanged, Replaced: r.Replaced.String(),
		Sent: r.Blobs[publish.BlobSent], SentBytes: r.SentBytes, Existing: r.Blobs[publish.BlobExists], Mounted: r.Blobs[publish.BlobMounted],
		Moving: newMovedDocuments(r.Moving), Errors: problemDocuments(err),
	}
	for _, p := range r.Platforms {
		d.Platforms = append(d.Platforms, p.String())
	}
	if r.Packed != nil {
		d.Packed = newPackedDocument(r.Packed)
		d.Packed.Layout = "" // it was a temporary one, and is gone
	}
	return d
}

func newMovedDocuments(tags []publish.MovedTag) []movedDocument {
	documents := []movedDocument{}
	for _, m := range tags {
		documents = append(documents, movedDocument{m.Tag, m.Moved, m.Why})
	}
	return documents
}
