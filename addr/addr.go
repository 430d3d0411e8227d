// Package addr holds the nouns of the tool: [Source], [Version], [Constraint],
// [Platform], [Digest] and [Executable]. Each has one strict parser and a
// String method that is its inverse, so that a value that was parsed once can
// be compared, stored and printed without a second thought.
//
// The package does no input or output and depends on nothing else of this
// module but internal/text and internal/filename; every other package depends
// on it. Start at [ParseSource], [ParseTag] and [ParseConstraint]; [CheckName]
// is the rule for the names of plugins.
package addr
