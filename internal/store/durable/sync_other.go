//go:build !unix

package durable

// SyncDir does nothing: directories cannot be synced here.
func SyncDir(string) error { return nil }
