package tree

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pluginlock/plugins/addr"
)

// A receipt is read on every run, a thousand of them in a big project, so each
// file is one string of it: that takes a third of the time of an object. No
// name or target of a plugin's files has the separator in it, see check.
const separator = "|"

// MarshalText writes a file as
//
//	MODE|INODE|MTIME|CTIME|f|x or -|SIZE|DIGEST|PATH
//	MODE|INODE|MTIME|CTIME|l|TARGET|PATH
//
// with the mode in octal digits.
func (f File) MarshalText() ([]byte, error) {
	b := f.appendTo(nil)
	if f.Link != "" {
		return fmt.Appendf(b, "l|%s|%s", f.Link, f.Path), nil
	}
	executable := "-"
	if f.Executable {
		executable = "x"
	}
	return fmt.Appendf(b, "f|%s|%d|%s|%s", executable, f.Size, f.Digest, f.Path), nil
}

// UnmarshalText reads what MarshalText wrote.
func (f *File) UnmarshalText(line []byte) error {
	stamp, fields, err := parseStamp(string(line))
	if err != nil {
		return err
	}
	switch {
	case len(fields) == 3 && fields[0] == "l" && fields[1] != "":
		*f = File{Path: fields[2], Link: fields[1], Stamp: stamp}
		return nil
	case len(fields) == 5 && fields[0] == "f" && (fields[1] == "x" || fields[1] == "-"):
		size, err := strconv.ParseInt(fields[2], 10, 64)
		*f = File{Path: fields[4], Digest: addr.Digest(fields[3]), Size: size, Executable: fields[1] == "x", Stamp: stamp}
		return err
	}
	return fmt.Errorf("%q describes no file", line)
}

// MarshalText writes a directory as MODE|INODE|MTIME|CTIME|PATH.
func (d Directory) MarshalText() ([]byte, error) { return append(d.appendTo(nil), d.Path...), nil }

// UnmarshalText reads what MarshalText wrote.
func (d *Directory) UnmarshalText(line []byte) error {
	stamp, fields, err := parseStamp(string(line))
	if err != nil {
		return err
	}
	if len(fields) != 1 {
		return fmt.Errorf("%q describes no directory", line)
	}
	*d = Directory{fields[0], stamp}
	return nil
}

func (s Stamp) appendTo(b []byte) []byte {
	return fmt.Appendf(b, "%04o|%d|%d|%d|", s.Mode, s.Inode, s.Mtime, s.Ctime)
}

// parseStamp splits a line and reads the fields that all lines begin with.
func parseStamp(line string) (s Stamp, rest []string, err error) {
	fields := strings.Split(line, separator)
	if len(fields) < 5 {
		return Stamp{}, nil, fmt.Errorf("%q has too few fields", line)
	}
	mode, err := strconv.ParseUint(fields[0], 8, 9)
	if err != nil {
		return Stamp{}, nil, err
	}
	inode, err := strconv.ParseUint(fields[1], 10, 64)
	if err != nil {
		return Stamp{}, nil, err
	}
	mtime, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		return Stamp{}, nil, err
	}
	ctime, err := strconv.ParseInt(fields[3], 10, 64)
	return Stamp{uint32(mode), inode, mtime, ctime}, fields[4:], err
}
