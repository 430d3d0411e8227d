// Package lock reads and writes the lock file of a project, .plugins.lock.hcl:
// which version of each plugin was chosen, and the digests of everything that
// follows from it, for all platforms at once.
//
//	# Maintained by the plugins installer. Commit this file; do not edit it by hand.
//
//	lock_format = 1
//
//	plugin "aws" {
//	  source    = "registry.example.com/fleeting/aws"
//	  version   = "1.4.2"
//	  digest    = "sha256:…"
//	  protocols = [5, 6]
//
//	  platform "linux/amd64" {
//	    manifest          = "sha256:…"
//	    executable_digest = "sha256:…"
//	  }
//	}
//
// The package decides nothing: which version to choose, and whether a digest is
// the right one, is the business of whoever calls [File.Set]. It opens no
// connection and links no network client. docs/lock-file.md describes each
// attribute, for people.
//
// # Reading
//
// Start at [Load], or at [Parse] where the bytes are at hand. Both refuse
// whatever could mean two things, with all problems at once and the range of
// each. Two refusals ask for something other than a repair, and can be told by
// [ErrConflict] and [ErrNewerFormat]: a file with conflict markers of git is
// read with [ParseConflicted] and [Merge]; one of a newer version is left alone.
//
// # Writing
//
// There is one normal form, [File.Bytes]: a file that was written is read and
// written again without a difference, on every system. [Save] checks the
// content by reading it back, replaces the file in one step, and does not touch
// a file that holds the same content already. [Diff] says in a line an entry
// what changed.
//
// # A bot that updates one entry
//
// An update bot takes the entry, changes what belongs to a version, and saves.
// Everything that belongs to a version is the tag, the digest, the protocols
// and the platforms; source and executable come from the configuration and
// stay.
//
//	f, _, err := lock.Load(lock.FileName)
//	…
//	entry, ok := f.Entry("aws")
//	…
//	updated := *entry
//	updated.Version, updated.Tag = version, "" // the tag, where it is not version.Tag()
//	updated.Digest = digest                    // of the index, or of a single manifest
//	updated.Protocols = protocols              // what the publisher declares
//	updated.Platforms = platforms              // all that the index offers; of a foreign image, those it had
//	f.Set(updated)
//	changed, err := lock.Save(lock.FileName, f)
//
// The digests come from the registry: the digest is that of the bytes that the
// tag names; each manifest is one that those bytes list for the platform; each
// executable digest is the annotation dev.pluginlock.executable.digest of that
// manifest, or, where the image is not a plugin image, the digest of the file.
// Every later init checks this chain, so that a wrong digest is found out, but
// only then. The Example is all of this as a program that runs, with digests
// that are made up.
package lock
