package plugins

import (
	"context"

	"github.com/pluginlock/plugins/config"
	"github.com/pluginlock/plugins/installer"
)

// Summaries lists the headings of all typed errors, as often as they occur.
func Summaries() []string {
	var texts []string
	for _, s := range summaries {
		texts = append(texts, s.text)
	}
	return texts
}

// Fail is the error of a run that failed with err, about plugin where it is not
// nil.
func Fail(err error, plugin *installer.Problem) error {
	r := &run{}
	if plugin != nil {
		plugin.Err = err
		r.requirements = []config.Requirement{{Name: plugin.Plugin, Source: plugin.Source.String()}}
		err = installer.Problems{plugin}
	}
	return r.fail(err)
}

// Recognizes reports whether a run with these options would find that nothing
// has changed since an earlier one.
func Recognizes(o Options) bool { return recognize(context.Background(), o) != nil }
