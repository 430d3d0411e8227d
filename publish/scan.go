package publish

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/extract"
	"github.com/pluginlock/plugins/internal/image"
)

// entry is one entry of a payload.
type entry struct {
	path       string // from the image's root: "plugin/bin/aws"
	disk       string // where its content is
	label      string // as messages show it
	kind       fs.FileMode
	size       int64  // of a file, bytes
	target     string // of a symbolic link
	executable bool
}

func (e entry) isFile() bool { return e.kind.IsRegular() }

// inPayload is the path without the directory that all payloads have.
func (e entry) inPayload() string { return strings.TrimPrefix(e.path, image.PayloadDir+"/") }

// payload is all that is packed for one platform.
type payload struct {
	platform   addr.Platform
	entries    []entry // by path
	executable int     // index of the entry point
}

// scanner collects the entries of one platform.
type scanner struct {
	ctx      context.Context
	platform addr.Platform
	include  []string
	exclude  []string
	problems *problems
	found    map[string]entry // by path; of two files of one path the first
	checker  *extract.Checker
}

// scan lists what is packed for a platform, held to the rules that installers
// have. Problems go to ps.
func scan(ctx context.Context, platform addr.Platform, origins []origin, m Metadata, ps *problems) ([]entry, error) {
	s := &scanner{ctx: ctx, platform: platform, include: m.Include, exclude: m.Exclude, problems: ps, found: map[string]entry{},
		checker: extract.NewChecker(extract.Limits{})}
	for _, o := range origins {
		if err := s.origin(o); err != nil {
			return nil, err
		}
	}
	entries := s.sorted()
	s.check(entries)
	return entries, nil
}

func (s *scanner) origin(o origin) error {
	info, err := os.Stat(o.disk)
	if err != nil {
		s.problems.add(s.platform, o.label, withoutPath(err))
		return nil
	}
	if o.at != "" {
		s.visit(o.disk, o.label, o.at, info)
		return nil
	}
	return s.directory(o.disk, o.label, "")
}

// directory visits what is in a directory; at is its path among the platform's
// files.
func (s *scanner) directory(disk, label, at string) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	names, err := os.ReadDir(disk)
	if err != nil {
		s.problems.add(s.platform, label, withoutPath(err))
		return nil
	}
	for _, e := range names {
		inside, label := path.Join(at, e.Name()), label+"/"+e.Name()
		if alwaysExcluded(e.Name()) || matches(s.exclude, inside) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			s.problems.add(s.platform, label, withoutPath(err))
			continue
		}
		child := filepath.Join(disk, e.Name())
		s.visit(child, label, inside, info)
		if info.IsDir() {
			if err := s.directory(child, label, inside); err != nil {
				return err
			}
		}
	}
	return nil
}

// visit notes one entry, if it is packed at all.
func (s *scanner) visit(disk, label, inside string, info fs.FileInfo) {
	isDir := info.IsDir()
	if s.include != nil && (isDir || !matches(s.include, inside)) {
		return // directories come with the files in them
	}
	e := entry{path: image.PayloadDir + "/" + inside, disk: disk, label: label, kind: info.Mode().Type()}
	switch {
	case isDir:
	case e.isFile():
		e.size, e.executable = info.Size(), info.Mode()&0o111 != 0
	case e.kind&fs.ModeSymlink != 0:
		target, err := os.Readlink(disk)
		if err != nil {
			s.problems.add(s.platform, label, withoutPath(err))
			return
		}
		e.target = filepath.ToSlash(target)
	default:
		s.problems.addf(s.platform, label, "is %s: only files, directories and symbolic links can be packed", kindOf(info.Mode()))
		return
	}
	s.note(e)
}

// note keeps an entry. A directory may come from two trees, nothing else may.
func (s *scanner) note(e entry) {
	there, ok := s.found[e.path]
	if ok && (!there.kind.IsDir() || !e.kind.IsDir()) {
		s.problems.addf(s.platform, e.label, "would be packed as %q, and so would %s", e.path, there.label)
		return
	}
	if !ok {
		s.found[e.path] = e
	}
}

// sorted completes the directories and orders everything by path, in which a
// directory comes before what is in it.
func (s *scanner) sorted() []entry {
	for _, e := range s.found {
		for dir := path.Dir(e.path); dir != "."; dir = path.Dir(dir) {
			if _, ok := s.found[dir]; !ok {
				s.found[dir] = entry{path: dir, label: dir, kind: fs.ModeDir}
			}
		}
	}
	entries := make([]entry, 0, len(s.found))
	for _, e := range s.found {
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	return entries
}

// check holds the entries to the rules of installers.
func (s *scanner) check(entries []entry) {
	labels := map[string]string{}
	for _, e := range entries {
		labels[e.path] = e.label
		var err error
		switch {
		case e.kind.IsDir():
			err = s.checker.Directory(e.path)
		case e.isFile():
			err = s.checker.File(e.path, e.size)
		default:
			err = s.checker.Link(e.path, e.target)
		}
		if err != nil {
			s.problems.add(s.platform, e.label, err)
		}
	}
	for name, err := range s.checker.Links() {
		s.problems.add(s.platform, labels[name], err)
	}
	if !slices.ContainsFunc(entries, entry.isFile) {
		s.problems.add(s.platform, "", fmt.Errorf("%w: there is no file for it", ErrNoInput))
	}
}
