// Command corpus writes the archives of package hostile to files, each named by
// its case and name, and a list of what is wrong with them. It is for trying
// other tools, and registries, on the same bytes that the tests use:
//
//	go run ./internal/hostile/corpus DIR
//
// The directory is made if it is not there; files in it are replaced.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pluginlock/plugins/internal/hostile"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: corpus DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var list strings.Builder
	for _, a := range append(hostile.Archives(), hostile.Honest()...) {
		name := strings.ToLower(a.Case) + "-" + a.Name + ".layer"
		if err := os.WriteFile(filepath.Join(dir, name), a.Layer, 0o644); err != nil {
			return err
		}
		expected := "installs"
		if a.Want != "" {
			expected = "is refused: " + string(a.Want)
		}
		fmt.Fprintf(&list, "%s\t%s\t%s\n", name, expected, a.About)
	}
	return os.WriteFile(filepath.Join(dir, "LIST"), []byte(list.String()), 0o644)
}
