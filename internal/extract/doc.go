// Package extract turns the layers of an image into files on disk. It trusts nothing that it is given: a name, a link, a size or
// a header in an archive is checked by the same rules on every operating system,
// because the lock file that pins the archive is shared between them.
//
// Start at [Payload], which unpacks the one payload layer of a plugin image, and
// [Executable], which takes one program out of a foreign image. [Content] is the
// digest that a plugin image declares of its files, and [CheckExecutable] compares
// a program's header with the platform it was offered for. Records are read back
// from disk by package store/tree.
//
// # What is refused
//
// A payload is refused as a whole, with an [*EntryError] that names the entry,
// when it holds
//
//   - a name that is absolute, empty, leaves the root, is not UTF-8, has a
//     backslash, a control character or an empty component, or is no file name
//     on Windows: reserved names, a colon or another of <>"|?*, a dot or a space
//     at the end. A "." component is allowed, since tar writes it;
//   - anything outside of plugin/, or a name that begins with ".wh.";
//   - devices, FIFOs, sparse files, global PAX headers and unknown types;
//   - two entries of one name, or of names that a file system may take for one:
//     letter case, Unicode normal form, ignorable characters. Parent directories
//     count, whether they have an entry or not;
//   - an entry below something that is not a directory;
//   - a symbolic link that is absolute, that leaves the root as text or when it
//     is followed, that goes in a circle, or that leads to nothing;
//   - a hard link to anything but an earlier regular file;
//   - a type without content whose header gives it a size.
//
// Names from PAX and GNU extension headers pass the same checks. Size and number
// are bounded by [Limits]. Content after the end of the archive is refused, but
// for zeros up to [MaxPadding]; several gzip members or zstd frames that make
// one archive together are one archive.
//
// Owners, times, extended attributes and the bits beyond the permissions are
// dropped. Directories and executables get the mode 0755, other files 0644,
// whatever the umask; a file is executable if any of the three bits is set.
// A hard link becomes a copy, so that no two files share an inode, and counts
// as one towards the limit of bytes. Symbolic links are made last, after the
// tree was found sound: nothing is ever written through one.
//
// # Who verifies
//
// The digest of a blob is the business of the reader that is passed in: it must
// give an error in place of io.EOF when the bytes are not those of the
// descriptor. This package reads each blob to its end before it reports success
// and so never hashes a blob a second time; of the descriptor it compares the
// size itself. What is on disk after an error is for the caller to remove.
package extract
