package plugins

import "github.com/pluginlock/plugins/getter"

// Registries returns how runs with these options reach registries, for the
// functions of package publish and others that take a client of package getter.
// notify hears what a user should know though the work goes on; it may be nil.
func (o Options) Registries(notify func(getter.Notice)) getter.Options {
	settings := getter.Settings{Allow: o.Settings.Allow}
	for _, registry := range o.Settings.Registries {
		settings.Registries = append(settings.Registries, getter.Registry(registry))
	}
	return getter.Options{
		Settings:    settings,
		Transport:   o.Transport,
		Proxy:       o.Proxy,
		Credentials: o.Credentials,
		UserAgent:   "plugins/" + Version(),
		Logger:      o.Logger,
		Notify:      notify,
	}
}
