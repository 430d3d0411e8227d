package image

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pluginlock/plugins/addr"
)

// ConfigPlatform reads the platform that the config of an image names.
//
// Errors: what is wrong with the config, as a sentence about it.
func ConfigPlatform(raw []byte) (addr.Platform, error) {
	var config struct {
		OS           string `json:"os"`
		Architecture string `json:"architecture"`
		Variant      string `json:"variant"`
	}
	if err := json.Unmarshal(raw, &config); err != nil {
		return addr.Platform{}, errors.New("its config is not JSON, or not that of an image")
	}
	if config.OS == "" || config.Architecture == "" {
		return addr.Platform{}, errors.New(`its config does not say "os" and "architecture"`)
	}
	platform, err := ParsePlatform(config.OS, config.Architecture, config.Variant)
	if err != nil {
		return addr.Platform{}, fmt.Errorf("its config: %w", err)
	}
	return platform, nil
}
