package cmd

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/pluginlock/plugins/internal/image"
	"github.com/pluginlock/plugins/internal/text"
	"github.com/pluginlock/plugins/publish"
)

// isSource tells a source, or the directory of a layout, from the name of a
// plugin, which has no slash, colon or dot.
func isSource(arg string) bool {
	return strings.ContainsAny(arg, `/\:.@`) || publish.IsLayout(arg)
}

// splitLayout reads LAYOUT or LAYOUT:TAG; ok is false for what is no layout.
func splitLayout(arg string) (dir, tag string, ok bool) {
	if publish.IsLayout(arg) {
		return arg, "", true
	}
	if at := strings.LastIndexByte(arg, ':'); at > 0 && publish.IsLayout(arg[:at]) {
		return arg[:at], arg[at+1:], true
	}
	return "", "", false
}

// inspectSource is inspect for a source or a layout.
func (a *app) inspectSource(ctx context.Context, arg string) error {
	var o publish.InspectOptions
	dir, tag, ok := splitLayout(arg)
	if ok {
		o.Layout, o.LayoutTag = dir, tag
	} else {
		var err error
		if o.Reference, err = publish.ParseReference(arg); err != nil {
			return usageErrorf("%w", err)
		}
		if o.Client, err = a.registryClient(ctx); err != nil {
			return err
		}
		defer o.Client.CloseIdleConnections()
	}
	found, err := publish.Inspect(ctx, o)
	if err != nil {
		return err
	}
	a.printer.inspection(found)
	return nil
}

type inspectionDocument struct {
	Source   string                  `json:"source,omitempty"`
	Layout   string                  `json:"layout,omitempty"`
	Mirror   string                  `json:"mirror,omitempty"`
	Versions []taggedVersionDocument `json:"versions,omitempty"`
	Others   int                     `json:"other_tags,omitempty"`
	Image    *imageDocument          `json:"image,omitempty"`
	Errors   []problemDocument       `json:"errors"`
}

type taggedVersionDocument struct {
	Version string `json:"version"`
	Tag     string `json:"tag"`
}

type imageDocument struct {
	Tag         string                  `json:"tag,omitempty"`
	Digest      string                  `json:"digest"`
	MediaType   string                  `json:"media_type,omitempty"`
	Size        int64                   `json:"size"`
	Plugin      bool                    `json:"plugin"`
	Reason      string                  `json:"reason,omitempty"`
	Annotations map[string]string       `json:"annotations,omitempty"`
	Platforms   []imagePlatformDocument `json:"platforms"`
}

type imagePlatformDocument struct {
	Platform         string            `json:"platform"`
	Manifest         string            `json:"manifest"`
	DownloadSize     int64             `json:"download_size"`
	Layers           int               `json:"layers"`
	Protocols        []int             `json:"protocols,omitempty"`
	Executable       string            `json:"executable,omitempty"`
	ExecutableDigest string            `json:"executable_digest,omitempty"`
	Content          string            `json:"content,omitempty"`
	Annotations      map[string]string `json:"annotations,omitempty"`
}

func newInspectionDocument(r *publish.Inspection) inspectionDocument {
	d := inspectionDocument{Source: r.Source.String(), Layout: r.Layout, Mirror: r.Mirror, Others: r.Others, Errors: []problemDocument{}}
	for _, v := range r.Versions {
		d.Versions = append(d.Versions, taggedVersionDocument{v.Version.String(), v.Tag})
	}
	if r.Image == nil {
		return d
	}
	i := r.Image
	d.Image = &imageDocument{Tag: i.Tag, Digest: i.Digest.String(), MediaType: i.MediaType, Size: i.Size, Plugin: i.Plugin, Reason: i.Why,
		Annotations: i.Annotations, Platforms: []imagePlatformDocument{}}
	for _, p := range i.Platforms {
		d.Image.Platforms = append(d.Image.Platforms, imagePlatformDocument{
			Platform: p.Platform.String(), Manifest: p.Manifest.String(), DownloadSize: p.DownloadSize, Layers: p.Layers, Protocols: p.Protocols,
			Executable: p.Executable, ExecutableDigest: p.ExecutableDigest.String(), Content: p.Content.String(), Annotations: p.Annotations,
		})
	}
	return d
}

func (p *printer) inspection(r *publish.Inspection) {
	if p.json {
		p.document(newInspectionDocument(r))
		return
	}
	if r.Mirror != "" {
		p.note("The mirror %s was asked.", r.Mirror)
	}
	p.line("%s%s", r.Source, r.Layout)
	if r.Versions != nil {
		p.line("versions   %s", versionLine(r))
	}
	if r.Image != nil {
		p.image(r.Image)
	}
}

// versionLine lists the newest versions, as many as a line holds.
func versionLine(r *publish.Inspection) string {
	const most = 10
	var tags []string
	for i, v := range r.Versions {
		if i == most {
			tags = append(tags, "…")
			break
		}
		tags = append(tags, v.Tag)
	}
	if len(tags) == 0 {
		return "none"
	}
	return strings.Join(tags, ", ")
}

func (p *printer) image(i *publish.Image) {
	if i.Tag != "" {
		p.line("tag        %s", i.Tag)
	}
	p.line("digest     %s", i.Digest)
	if i.Plugin {
		p.line("kind       plugin image")
	} else {
		p.line("kind       not a plugin image: %s", text.Clip(i.Why))
	}
	for _, name := range slices.Sorted(maps.Keys(i.Annotations)) {
		p.line("annotation %s = %s", text.Clip(name), text.Clip(i.Annotations[name]))
	}
	if len(i.Platforms) == 0 {
		return
	}
	p.line("")
	table := newTable("PLATFORM", "PROTOCOLS", "DOWNLOAD", "EXECUTABLE", "MANIFEST")
	for _, one := range i.Platforms {
		table.row(one.Platform.String(), orDash(image.FormatProtocols(one.Protocols)), size(one.DownloadSize), orDash(text.Clip(one.Executable)), one.Manifest.String())
	}
	p.table(table)
}
