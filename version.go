package plugins

import "runtime/debug"

// modulePath is this module's name; it is a working name, not registered.
const modulePath = "github.com/pluginlock/plugins"

// Version returns the version of this module in the running program, such as
// "v0.1.0", or "(devel)" where it was built from a checkout.
func Version() string {
	const unknown = "(devel)"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unknown
	}
	found := info.Main.Version
	for _, dep := range info.Deps {
		if dep.Path == modulePath {
			found = dep.Version
		}
	}
	if found == "" {
		return unknown
	}
	return found
}
