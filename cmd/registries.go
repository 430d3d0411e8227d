package cmd

import (
	"context"

	"github.com/pluginlock/plugins/getter"
)

// registryClient reaches registries as every command does.
func (a *app) registryClient(ctx context.Context) (*getter.Client, error) {
	o, err := a.registryOptions(ctx)
	if err != nil {
		return nil, err
	}
	return getter.New(o)
}

func (a *app) registryOptions(ctx context.Context) (getter.Options, error) {
	o, err := a.options(ctx)
	if err != nil {
		return getter.Options{}, err
	}
	return o.Registries(func(n getter.Notice) { a.printer.note("Warning: %s", n.Text) }), nil
}
