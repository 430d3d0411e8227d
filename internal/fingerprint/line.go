package fingerprint

import (
	"encoding/json"
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

// header is the first line of an encoded fingerprint, as JSON, and each plugin
// is a line after it:
//
//	NAME|VERSION|SOURCE|DIGEST|5,6|PLATFORM|MANIFEST|EXECUTABLE|SUM|INSTALLED|…||STORED|…
//
// A thousand of these are read on every run of a big project: as JSON they
// would take longer than to look at all the files. No name of a plugin's file
// has the separator in it, and no other field can; what had it would have no
// fingerprint.
type header struct {
	Format int         `json:"format"`
	Inputs addr.Digest `json:"inputs"`
	Shared []string    `json:"shared"`
	Sum    string      `json:"sum"`
	Lines  int         `json:"lines"` // that follow, so that a part is not taken for the whole
}

const separator = "|"

// beforeNames is how many fields come before the names.
const beforeNames = 9

var errMalformed = errors.New("this is no fingerprint")

// Encode returns the fingerprint as lines.
func (f *Fingerprint) Encode() ([]byte, error) {
	b, err := json.Marshal(header{Format, f.Inputs, f.Shared.Installed, f.Shared.sum, len(f.Plugins)})
	if err != nil {
		return nil, err
	}
	b = append(b, '\n')
	for i := range f.Plugins {
		fields := f.Plugins[i].fields()
		if slices.ContainsFunc(fields, func(s string) bool { return strings.ContainsAny(s, separator+"\n") }) {
			return nil, errMalformed
		}
		b = append(append(b, strings.Join(fields, separator)...), '\n')
	}
	return b, nil
}

// decodeHeader reads all but the plugins, whose lines it returns.
func decodeHeader(encoded string) (f Fingerprint, lines []string, err error) {
	encoded, whole := strings.CutSuffix(encoded, "\n")
	first, rest, more := strings.Cut(encoded, "\n")
	var h header
	if err := json.Unmarshal([]byte(first), &h); err != nil {
		return f, nil, err
	}
	if more {
		lines = strings.Split(rest, "\n")
	}
	if !whole || h.Format != Format || h.Lines != len(lines) {
		return f, nil, errMalformed
	}
	return Fingerprint{Inputs: h.Inputs, Shared: State{Installed: h.Shared, sum: h.Sum}}, lines, nil
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
	if len(fields) <= beforeNames {
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
	names := fields[beforeNames:]
	end := slices.Index(names, "")
	if end < 0 || addr.CheckName(p.Name) != addr.NameFits || p.Executable != "" && !fs.ValidPath(p.Executable) {
		return errMalformed
	}
	p.State = State{sum: fields[8], Installed: names[:end], Stored: names[end+1:]}
	return nil
}
