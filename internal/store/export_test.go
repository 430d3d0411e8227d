package store

import "time"

// AnnounceAfter shortens the time after which a wait is announced.
func (s *Store) AnnounceAfter(d time.Duration) { s.announce = d }
