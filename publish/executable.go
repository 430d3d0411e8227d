package publish

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/extract"
	"github.com/pluginlock/plugins/internal/text"
)

// errNoExecutable means that it is not clear what to start.
var errNoExecutable = errors.New("no executable")

// chooseExecutable returns the index of the entry point: the file that is
// named, else the only one with an executable bit, else the one with the
// plugin's name, else the only one that is a program for the platform by its
// header. The last two serve where a file system has no executable bits.
func chooseExecutable(platform addr.Platform, entries []entry, m Metadata) (int, error) {
	if m.Executable != "" {
		if i := findFile(platform, entries, m.Executable); i >= 0 {
			return i, nil
		}
		return 0, fmt.Errorf("%w: there is no file %q among its files", errNoExecutable, m.Executable)
	}
	var marked []int
	for i, e := range entries {
		if e.isFile() && e.executable {
			marked = append(marked, i)
		}
	}
	if len(marked) == 1 {
		return marked[0], nil
	}
	if m.Name != "" {
		if i := findFile(platform, entries, m.Name); i >= 0 {
			return i, nil
		}
	}
	candidates := marked
	if len(marked) == 0 {
		candidates = programs(platform, entries)
	}
	if files := allFiles(entries); len(candidates) == 0 && len(files) == 1 {
		candidates = files // what is wrong with it is found next
	}
	if len(candidates) == 1 {
		return candidates[0], nil
	}
	return 0, unclear(entries, candidates, m.Name)
}

func unclear(entries []entry, candidates []int, name string) error {
	reason := "none of its files has an executable bit or is a program for it"
	if len(candidates) > 0 {
		var names []string
		for _, i := range candidates {
			names = append(names, entries[i].inPayload())
		}
		reason = "it may be any of " + text.Clip(strings.Join(names, ", "))
	}
	if name != "" {
		reason += fmt.Sprintf(", and no file is named %q", name)
	}
	return fmt.Errorf("%w: %s; name it with %s", errNoExecutable, reason, attrExecutable)
}

// findFile looks a path up, on Windows also with ".exe".
func findFile(platform addr.Platform, entries []entry, name string) int {
	find := func(name string) int {
		return slices.IndexFunc(entries, func(e entry) bool { return e.isFile() && e.inPayload() == name })
	}
	i := find(name)
	if i < 0 && platform.OS == "windows" {
		i = find(name + ".exe")
	}
	return i
}

func allFiles(entries []entry) []int {
	var all []int
	for i, e := range entries {
		if e.isFile() {
			all = append(all, i)
		}
	}
	return all
}

// programs lists the files whose header fits the platform.
func programs(platform addr.Platform, entries []entry) []int {
	var found []int
	for i, e := range entries {
		if e.isFile() && checkHeader(platform, e) == nil {
			found = append(found, i)
		}
	}
	return found
}

func checkHeader(platform addr.Platform, e entry) error {
	f, err := os.Open(e.disk)
	if err != nil {
		return withoutPath(err)
	}
	defer func() { _ = f.Close() }()
	return extract.CheckExecutable(f, e.size, platform)
}

// examine warns of what the executable needs and the image does not have, which
// matters where the image may run as a container.
func examine(platform addr.Platform, e entry) ([]Warning, error) {
	f, err := os.Open(e.disk)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer func() { _ = f.Close() }()
	warn := func(kind WarningKind, format string, args ...any) []Warning {
		return []Warning{{kind, platform, e.label, fmt.Sprintf(format, args...)}}
	}
	interpreter := scriptInterpreter(f)
	switch {
	case interpreter != "" && platform.OS == "windows":
		return warn(WarnInterpreter, "is a script for %s: Windows does not start it", text.Clip(interpreter)), nil
	case platform.OS != "linux":
		return nil, nil // never a container
	case interpreter != "":
		return warn(WarnInterpreter, "is a script for %s, which the image does not have: it runs only where that is installed, never as a container", text.Clip(interpreter)), nil
	}
	if loader := loaderOf(f); loader != "" {
		return warn(WarnDynamic, "is linked dynamically and needs %s, which the image does not have: build it with CGO_ENABLED=0, else it runs only where that is installed, never as a container", text.Clip(loader)), nil
	}
	return nil, nil
}

// scriptInterpreter returns the program that a script's first line names, "" of
// anything else.
func scriptInterpreter(r io.ReaderAt) string {
	head := make([]byte, 256)
	n, _ := r.ReadAt(head, 0) // a short file gives fewer bytes
	line, ok := strings.CutPrefix(string(head[:n]), "#!")
	line, _, _ = strings.Cut(line, "\n")
	if fields := strings.Fields(line); ok && len(fields) > 0 {
		if path.Base(fields[0]) == "env" && len(fields) > 1 {
			return fields[0] + " " + fields[1]
		}
		return fields[0]
	}
	return ""
}

// loaderOf returns the dynamic loader that an ELF program asks for, "" of
// anything else and where there is none.
func loaderOf(r io.ReaderAt) string {
	const longest = 1024
	f, err := elf.NewFile(r)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		name, err := io.ReadAll(io.LimitReader(p.Open(), longest))
		if err != nil {
			return "a dynamic loader"
		}
		return strings.TrimRight(string(name), "\x00")
	}
	return ""
}
