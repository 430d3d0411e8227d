package publish

import (
	"context"
	"fmt"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/image"
)

// MovedTag is what became of one moving tag: "1.4", "1" or "latest". It moves
// when the version is a release, neither a pre-release nor a build, and the
// newest of those that the tag can stand for.
type MovedTag struct {
	Tag   string
	Moved bool   // it was written
	Why   string // why not; "" where it names the version
}

// mover moves the tags of one version.
type mover struct {
	registry *registry
	version  addr.Version
	digest   addr.Digest
	index    []byte
}

func (p *pusher) moveTags(ctx context.Context) ([]MovedTag, error) {
	raw := p.content.root.Raw
	if addr.DigestOf(raw) != p.result.Digest { // extended, or there in another compression
		there, err := p.registry.document(ctx, p.result.Digest.String())
		if err != nil {
			return nil, err
		}
		raw = there.raw
	}
	origin, err := p.options.Client.Origin(p.options.Source)
	if err != nil {
		return nil, err
	}
	m := &mover{p.registry, p.version, p.result.Digest, raw}
	return m.move(ctx, origin.Tags)
}

func (m *mover) move(ctx context.Context, list func(context.Context) ([]string, error)) ([]MovedTag, error) {
	v := m.version
	scopes := []struct {
		tag string
		in  func(addr.Version) bool
	}{
		{fmt.Sprintf("%d.%d", v.Major(), v.Minor()), func(o addr.Version) bool { return o.Major() == v.Major() && o.Minor() == v.Minor() }},
		{fmt.Sprint(v.Major()), func(o addr.Version) bool { return o.Major() == v.Major() }},
		{"latest", func(addr.Version) bool { return true }},
	}
	var all []MovedTag
	if !isRelease(v) {
		for _, s := range scopes {
			all = append(all, MovedTag{Tag: s.tag, Why: v.String() + " is a pre-release or a build"})
		}
		return all, nil
	}
	tags, err := list(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range scopes {
		if newer := newest(tags, s.in); newer.Compare(v) > 0 {
			all = append(all, MovedTag{Tag: s.tag, Why: newer.String() + " is newer"})
			continue
		}
		one, err := m.one(ctx, s.tag)
		if err != nil {
			return all, err
		}
		all = append(all, one)
	}
	return all, nil
}

// one moves a tag unless what it names is newer than any version tag says.
func (m *mover) one(ctx context.Context, tag string) (MovedTag, error) {
	there, err := m.registry.document(ctx, tag)
	if err != nil || there.digest == m.digest {
		return MovedTag{Tag: tag}, err
	}
	if there.document != nil {
		if v, err := addr.ParseVersion(there.document.Annotations()[ocispec.AnnotationVersion]); err == nil && v.Compare(m.version) > 0 {
			return MovedTag{Tag: tag, Why: "it names " + v.String() + ", which is newer"}, nil
		}
	}
	return MovedTag{Tag: tag, Moved: true}, m.registry.putDocument(ctx, tag, image.MediaTypeOCIIndex, m.index)
}

func isRelease(v addr.Version) bool { return v.Prerelease() == "" && v.Build() == "" }

// newest returns the newest release among the tags that in admits.
func newest(tags []string, in func(addr.Version) bool) addr.Version {
	var best addr.Version
	for _, tag := range tags {
		if v, ok := addr.ParseTag(tag); ok && isRelease(v) && in(v) && v.Compare(best) > 0 {
			best = v
		}
	}
	return best
}
