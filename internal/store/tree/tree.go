// Package tree compares a directory of plugin files with what is known of it:
// quickly, by what the file system says of each file, and surely, by digest.
// The store keeps a [Receipt] for each entry, the install directory one for
// each copy.
//
// It never writes and never repairs. Start at [Hash], which makes a receipt,
// and [Receipt.Changed], which costs one stat a file.
package tree

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/extract"
)

// Format is the number that receipts of this version carry. A receipt of
// another format is not read.
const Format = 1

// Receipt is what was true of a tree when all of it had been hashed. It is a
// memory aid, never evidence: whoever can write the tree can write it too.
type Receipt struct {
	Format      int         `json:"format"`
	Files       []File      `json:"files"`       // by path
	Directories []Directory `json:"directories"` // by path; "." is the tree itself
}

// File is a regular file or a symbolic link.
type File struct {
	Path       string // slashes, from the tree's root
	Digest     addr.Digest
	Size       int64 // bytes; 0 for a link
	Executable bool
	Link       string // the target; empty for a regular file
	Stamp
}

// Directory is a directory of the tree. Its times change when a name in it is
// added or removed, so that comparing them finds files that nobody knows of
// without listing anything.
type Directory struct {
	Path string
	Stamp
}

// Stamp is what tells an untouched file from a touched one. Inode and Ctime
// are zero on systems that have none.
type Stamp struct {
	Mode  uint32 // permission bits
	Inode uint64
	Mtime int64 // nanoseconds since 1970
	Ctime int64 // nanoseconds since 1970
}

// special are the mode bits that no file of a plugin has.
const special = fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// othersWrite are the permission bits that let another user change a file.
const othersWrite fs.FileMode = 0o022

// StampOf takes the stamp of a file, directory or link.
func StampOf(info fs.FileInfo) Stamp {
	inode, ctime := identity(info)
	return Stamp{Mode: uint32(info.Mode().Perm()), Inode: inode, Mtime: info.ModTime().UnixNano(), Ctime: ctime}
}

// Changed compares the tree at dir, an absolute path, with the receipt by one
// lstat a name and reads nothing. It returns the first path that differs, or
// "" where none does. That a directory on the way was swapped for a link is
// noticed, for each directory is compared itself.
func (r *Receipt) Changed(dir string) string {
	for i := range r.Directories {
		d := &r.Directories[i]
		info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(d.Path)))
		if err != nil || !info.IsDir() || StampOf(info) != d.Stamp {
			return d.Path
		}
	}
	for i := range r.Files {
		f := &r.Files[i]
		info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(f.Path)))
		if err != nil || !f.Same(info) {
			return f.Path
		}
	}
	return ""
}

// Names lists everything of the tree, "." first.
func (r *Receipt) Names() []string {
	names := make([]string, 0, len(r.Directories)+len(r.Files))
	for i := range r.Directories {
		names = append(names, r.Directories[i].Path)
	}
	for i := range r.Files {
		names = append(names, r.Files[i].Path)
	}
	return names
}

// Same reports whether info, of an lstat, is that of the untouched file.
func (f *File) Same(info fs.FileInfo) bool {
	if StampOf(info) != f.Stamp {
		return false
	}
	if f.Link != "" {
		return info.Mode().Type() == fs.ModeSymlink
	}
	return info.Mode().IsRegular() && info.Mode()&special == 0 && info.Size() == f.Size
}

// Records returns what the receipt says of the files, in order of their paths.
func (r *Receipt) Records() []extract.Record {
	records := make([]extract.Record, 0, len(r.Files))
	for _, f := range r.Files {
		records = append(records, extract.Record{Path: f.Path, Digest: f.Digest, Size: f.Size, Executable: f.Executable, Link: f.Link})
	}
	return records
}

// Difference names the first path at which two lists of records differ and
// says how, or returns "" where they are equal. Order does not matter.
func Difference(got, want []extract.Record) string {
	differences := extract.Differences(want, got)
	if len(differences) == 0 {
		return ""
	}
	return differences[0].Path + " is " + differences[0].What
}

// Executables lists which files of the receipt are executable. [Hash] needs it
// where the file system cannot say.
func Executables(records []extract.Record) func(path string) bool {
	set := map[string]bool{}
	for _, r := range records {
		if r.Executable {
			set[r.Path] = true
		}
	}
	return func(path string) bool { return set[path] }
}

// modesMatter reports whether the file system's permission bits mean anything.
const modesMatter = runtime.GOOS != "windows"
