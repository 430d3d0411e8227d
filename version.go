package plugins

import (
	"cmp"
	"runtime/debug"
)

// modulePath is this module's name; it is a working name, not registered.
const modulePath = "github.com/pluginlock/plugins"

// Version returns the version of this module in the running program, such as
// "v0.1.0", or "(devel)" where it was built from a checkout.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unknownVersion
	}
	found := info.Main.Version
	for _, dep := range info.Deps {
		if dep.Path == modulePath {
			found = dep.Version
			if dep.Replace != nil {
				found = dep.Replace.Version // "" for a directory
			}
		}
	}
	return cmp.Or(found, unknownVersion)
}

// unknownVersion is that of a module that was built from a directory.
const unknownVersion = "(devel)"
