// Command sample is the plugin of the end-to-end tests: it says where it runs,
// as whom, and with which arguments.
package main

import (
	"fmt"
	"os"
	"runtime"
)

func main() {
	fmt.Printf("sample on %s/%s as %d %q\n", runtime.GOOS, runtime.GOARCH, os.Getuid(), os.Args[1:])
}
