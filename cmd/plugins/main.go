// Command plugins installs the plugins that a program needs, from OCI
// registries, pinned by a lock file.
package main

import (
	"os"

	"github.com/pluginlock/plugins/cmd"
)

func main() { os.Exit(cmd.Main(os.Args[1:])) }
