package fingerprint

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/pluginlock/plugins/addr"
)

// Format is the number that fingerprints of this version carry. One of another
// format recognises nothing.
const Format = 1

// A fingerprint is lines of fields: a header, and one for each plugin.
//
//	FORMAT|INPUTS|SUM|PLUGINS|SHARED|…
//	NAME|VERSION|SOURCE|DIGEST|5,6|PLATFORM|MANIFEST|EXECUTABLE|SUM|INSTALLED|…||STORED|…
//
// PLUGINS is how many lines follow, so that a part is not taken for the whole. A
// thousand of these lines are read on every run of a big project: as JSON they
// would take longer than to look at all the files. No name of a plugin's file
// has the separator in it, and no other field can; what had it would have no
// fingerprint.
const separator = "|"

// How many fields come before the names.
const (
	inHeader = 4
	inPlugin = 9
)

var errMalformed = errors.New("this is no fingerprint")

// Encode returns the fingerprint as lines.
func (f *Fingerprint) Encode() ([]byte, error) {
	lines := [][]string{append([]string{strconv.Itoa(Format), string(f.Inputs), f.Shared.sum, strconv.Itoa(len(f.Plugins))}, f.Shared.Installed...)}
	for i := range f.Plugins {
		lines = append(lines, f.Plugins[i].fields())
	}
	var b bytes.Buffer
	for _, fields := range lines {
		if slices.ContainsFunc(fields, func(s string) bool { return strings.ContainsAny(s, separator+"\n") }) {
			return nil, errMalformed
		}
		b.WriteString(strings.Join(fields, separator) + "\n")
	}
	return b.Bytes(), nil
}

// decodeHeader reads all but the plugins, whose lines it returns.
func decodeHeader(encoded string) (f Fingerprint, lines []string, err error) {
	encoded, whole := strings.CutSuffix(encoded, "\n")
	lines = strings.Split(encoded, "\n")
	header := strings.Split(lines[0], separator)
	lines = lines[1:]
	if !whole || len(header) < inHeader || header[0] != strconv.Itoa(Format) || header[3] != strconv.Itoa(len(lines)) {
		return f, nil, errMalformed
	}
	return Fingerprint{Inputs: addr.Digest(header[1]), Shared: State{sum: header[2], Installed: header[inHeader:]}}, lines, nil
}

func (p *Plugin) fields() []string {
	var protocols []string
	for _, n := range p.Protocols {
		protocols = append(protocols, strconv.Itoa(n))
	}
	fields := []string{p.Name, p.Version, p.Source, string(p.Digest), strings.Join(protocols, ","),
		p.Platform, string(p.Manifest), p.Executable, p.State.sum}
	fields = append(append(fields, p.State.Installed...), "")
	return append(fields, p.State.Stored...)
}

// decode reads a line. A name or program that leads out of the install
// directory is refused.
func (p *Plugin) decode(line string) error {
	fields := strings.Split(line, separator)
	if len(fields) <= inPlugin {
		return errMalformed
	}
	*p = Plugin{Name: fields[0], Version: fields[1], Source: fields[2], Digest: addr.Digest(fields[3]),
		Platform: fields[5], Manifest: addr.Digest(fields[6]), Executable: fields[7]}
	if fields[4] != "" {
		for number := range strings.SplitSeq(fields[4], ",") {
			n, err := strconv.Atoi(number)
			if err != nil {
				return err
			}
			p.Protocols = append(p.Protocols, n)
		}
	}
	names := fields[inPlugin:]
	end := slices.Index(names, "")
	if end < 0 || addr.CheckName(p.Name) != addr.NameFits || p.Executable != "" && !fs.ValidPath(p.Executable) {
		return errMalformed
	}
	p.State = State{sum: fields[8], Installed: names[:end], Stored: names[end+1:]}
	return nil
}
