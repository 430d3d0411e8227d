package extract

import (
	"errors"
	"fmt"

	"github.com/pluginlock/plugins/internal/text"
)

// Kind tells the reasons apart for which an archive is refused.
type Kind string

// The kinds of refusal.
const (
	KindNone      Kind = ""          // not refused, or for a reason outside of the archive
	KindName      Kind = "name"      // a name that is not allowed anywhere
	KindPlace     Kind = "place"     // outside of plugin/, or a whiteout in a payload
	KindType      Kind = "type"      // a device, a sparse file, a global header
	KindSize      Kind = "size"      // header and content disagree
	KindCollision Kind = "collision" // two entries that are, or may become, one file
	KindLink      Kind = "link"      // a link that must not be followed
	KindLimit     Kind = "limit"     // a [LimitError]
	KindArchive   Kind = "archive"   // an [ArchiveError]: not an archive, broken, or more than one
)

// EntryError means that one entry makes the whole archive unacceptable.
type EntryError struct {
	Entry  string // name of the entry as the archive has it, escaped and cut
	Other  string // the second entry of a collision, escaped and cut; else ""
	Kind   Kind
	Reason string // continues "entry X"
}

func (e *EntryError) Error() string {
	if e.Other != "" {
		return fmt.Sprintf("entry %q %s %q", e.Entry, e.Reason, e.Other)
	}
	return fmt.Sprintf("entry %q %s", e.Entry, e.Reason)
}

// ArchiveError means that the bytes, though they are those that were published,
// are not one whole archive.
type ArchiveError struct {
	Reason string
	After  string // the last entry that was read, escaped; "" where there was none
	Err    error  // of the decoder; may be nil
}

func (e *ArchiveError) Error() string {
	message := e.Reason
	if e.After != "" {
		message += fmt.Sprintf(", after entry %q", e.After)
	}
	if e.Err != nil {
		message += ": " + e.Err.Error()
	}
	return message
}

func (e *ArchiveError) Unwrap() error { return e.Err }

// KindOf returns the kind of the first refusal in err's tree, or [KindNone].
func KindOf(err error) Kind {
	if entry, ok := errors.AsType[*EntryError](err); ok {
		return entry.Kind
	}
	if _, ok := errors.AsType[*LimitError](err); ok {
		return KindLimit
	}
	if _, ok := errors.AsType[*ArchiveError](err); ok {
		return KindArchive
	}
	return KindNone
}

func refuse(kind Kind, entry, format string, args ...any) error {
	return &EntryError{Entry: text.Clip(entry), Kind: kind, Reason: fmt.Sprintf(format, args...)}
}

func collide(entry, other, reason string) error {
	return &EntryError{Entry: text.Clip(entry), Other: text.Clip(other), Kind: KindCollision, Reason: reason}
}

func exceeds(limit string, value int64, entry string) error {
	return &LimitError{Limit: limit, Value: value, Entry: text.Clip(entry)}
}
