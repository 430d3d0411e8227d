package cmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pluginlock/plugins/publish"
)

func newTagCommand(a *app) *cobra.Command {
	var o publish.TagOptions
	c := &cobra.Command{
		Use:   "tag SOURCE@DIGEST VERSION",
		Short: "Give an image that was pushed without a tag its version",
		Long: `tag lets the tag of a version name an image that "push --untagged" has sent, so
that a signature can be there before the version is. A tag that names something
else is an error without --force.`,
		Args: usageArgs(cobra.ExactArgs(2)),
		RunE: func(c *cobra.Command, args []string) error { return a.runTag(c.Context(), o, args[0], args[1]) },
	}
	c.Flags().BoolVar(&o.Force, "force", false, "overwrite the tag if it names something else")
	c.Flags().BoolVar(&o.MovingTags, "moving-tags", false, "let 1.4, 1 and latest follow, unless they would go backwards or to a pre-release")
	return c
}

func (a *app) runTag(ctx context.Context, o publish.TagOptions, image, version string) error {
	ref, err := publish.ParseReference(image)
	switch {
	case err != nil:
		return usageErrorf("%w", err)
	case ref.Digest.IsZero() || ref.Tag != "":
		return usageErrorf("%q is not SOURCE@DIGEST, as push prints it", image)
	}
	named, err := publish.ParseReference(ref.Source.String() + ":" + version)
	if err != nil || named.Version.IsZero() {
		return usageErrorf("%w", &publish.NotVersionError{Tag: version})
	}
	o.Source, o.Digest, o.Tag = ref.Source, ref.Digest, named.Tag
	if o.Client, err = a.registryClient(ctx); err != nil {
		return err
	}
	defer o.Client.CloseIdleConnections()
	result, err := publish.Tag(ctx, o)
	if result != nil {
		a.printer.tagged(result, err)
	}
	return err
}

func (p *printer) tagged(r *publish.TagResult, err error) {
	reference := r.Source.String() + "@" + r.Digest.String()
	if p.json {
		p.document(pushedDocument{Source: r.Source.String(), Tag: r.Tag, Digest: r.Digest.String(), Reference: reference, Unchanged: r.Unchanged,
			Replaced: r.Replaced.String(), Moving: newMovedDocuments(r.Moving), Errors: problemDocuments(err)})
		return
	}
	switch {
	case r.Unchanged:
		p.note("%s:%s names it already.", r.Source, r.Tag)
	case !r.Replaced.IsZero():
		p.note("%s:%s replaces %s.", r.Source, r.Tag, r.Replaced)
	}
	p.moving(r.Source, r.Moving)
	p.result(reference)
}
