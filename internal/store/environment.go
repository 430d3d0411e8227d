package store

import (
	"errors"
	"path/filepath"
)

// Environment is what the place of the default cache directory depends on.
// This package reads no variable itself.
type Environment struct {
	GOOS         string
	CacheDir     string // PLUGINS_CACHE_DIR
	XDGCacheHome string // XDG_CACHE_HOME
	Home         string // HOME
	LocalAppData string // LocalAppData
}

// ErrNoDirectory means that nothing in the environment says where a cache
// could be. There is no fallback to a directory that all users share.
var ErrNoDirectory = errors.New("no cache directory: neither PLUGINS_CACHE_DIR nor a home directory is set")

// DefaultDir returns PLUGINS_CACHE_DIR, else "plugins" in the user's cache
// directory by the custom of the operating system. A relative XDG_CACHE_HOME
// is passed over, as its specification demands.
//
// Errors: [ErrNoDirectory].
func DefaultDir(e Environment) (string, error) {
	if e.CacheDir != "" {
		return e.CacheDir, nil
	}
	var caches string
	switch {
	case e.GOOS == "windows":
		caches = e.LocalAppData
	case e.GOOS != "darwin" && filepath.IsAbs(e.XDGCacheHome):
		caches = e.XDGCacheHome
	case !filepath.IsAbs(e.Home):
	case e.GOOS == "darwin":
		caches = filepath.Join(e.Home, "Library", "Caches")
	default:
		caches = filepath.Join(e.Home, ".cache")
	}
	if caches == "" {
		return "", ErrNoDirectory
	}
	return filepath.Join(caches, "plugins"), nil
}
