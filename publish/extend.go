package publish

import (
	"encoding/json"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/pluginlock/plugins/addr"
)

// extend adds our platforms to the image that is there. The manifests of both
// stay as they are.
func (p *pusher) extend(there found) ([]byte, error) {
	if there.document == nil || there.document.Index == nil {
		return nil, &NotPluginError{there.digest, "it is not an index, so no platform can be added to it", nil}
	}
	var index ocispec.Index
	if err := json.Unmarshal(there.raw, &index); err != nil {
		return nil, &NotPluginError{there.digest, "its index is broken", err}
	}
	merged, err := merge(index, p.content.index, p.options.Force)
	if err != nil {
		return nil, err
	}
	raw, err := encodeIndex(sortedIndex(merged))
	if err != nil {
		return nil, err
	}
	p.result.Digest, p.result.Platforms = addr.DigestOf(raw), nil
	for _, d := range sortedIndex(merged).Manifests {
		if platform := platformOf(d); !platform.IsZero() {
			p.result.Platforms = append(p.result.Platforms, platform)
		}
	}
	if p.result.Digest == there.digest {
		p.result.Unchanged = true
		return there.raw, nil
	}
	p.result.Replaced = there.digest
	return raw, nil
}
