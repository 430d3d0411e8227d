package store

import "time"

// AnnounceAfter shortens the time after which a wait is announced.
func (s *Store) AnnounceAfter(d time.Duration) { s.announce = d }

// NeedsRehash is needsRehash.
func (s *Store) NeedsRehash() bool { return s.needsRehash() }
