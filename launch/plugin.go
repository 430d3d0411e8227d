// Package launch describes what is installed, for the program that runs it. It
// knows the install directory and the lock file and links no network client.
// Start at [Plugin].
package launch

import "github.com/pluginlock/plugins/addr"

// Plugin is one installed plugin: what it is, and the program to run.
type Plugin struct {
	Name       string
	Version    string
	Source     string
	Digest     addr.Digest   // of the index, or of the manifest where there is no index
	Manifest   addr.Digest   // of the platform's manifest
	Platform   addr.Platform // whose program this is
	Protocols  []int         // as declared; empty where the plugin declares none
	Dir        string        // absolute path of its files, below the install directory
	Executable string        // absolute path of its program, below Dir
}
