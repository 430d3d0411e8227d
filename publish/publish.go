// Package publish makes plugin images from what a build left on disk and sends
// them to a registry.
//
// Start at [Package], which turns a directory into an OCI image layout, and
// [Push], which sends a layout, or a directory, as one version of a source.
// [Join] puts the layouts of several build jobs together, [Tag] names what was
// pushed without a tag, [Inspect] says what a source offers, and [Login] and
// [Logout] keep credentials where Docker's and ORAS's tools keep theirs.
//
// A plugin image is an ordinary image: an index, a manifest and a config for
// each platform, one payload layer with all files under plugin/. Nothing in it
// has a media type of its own, and no document an artifactType; what installers
// need stands in annotations. The same input gives the same digest whatever the
// machine, the file system's times, owners and order, or the clock, as long as
// the version of this package is the same.
//
// The package does not print, reads no environment variables, and starts no
// program but git, and that only to ask about the commit. What an installer would
// refuse is refused here, all problems at once.
package publish
