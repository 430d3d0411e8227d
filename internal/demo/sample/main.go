// Command sample is the plugin that the demo installs.
package main

import (
	"fmt"
	"runtime"
)

var version = "unset" // by the linker

func main() {
	fmt.Printf("hello from the sample plugin, version %s for %s/%s\n", version, runtime.GOOS, runtime.GOARCH)
}
