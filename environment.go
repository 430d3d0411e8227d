package plugins

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"runtime"

	"github.com/hashicorp/hcl/v2"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/config"
	"github.com/pluginlock/plugins/getter"
	"github.com/pluginlock/plugins/internal/store"
)

// FromEnvironment returns the options that the command line tool uses: cache
// directory, settings of the machine, proxies and the credentials of Docker and
// Podman. Nothing else in this module reads the environment.
//
// Without a home directory there is no default for the cache directory, and
// CacheDir is empty.
func FromEnvironment() (Options, error) {
	o := Options{Proxy: http.ProxyFromEnvironment}
	var err error
	o.CacheDir, err = store.DefaultDir(store.Environment{
		GOOS:         runtime.GOOS,
		CacheDir:     os.Getenv("PLUGINS_CACHE_DIR"),
		XDGCacheHome: os.Getenv("XDG_CACHE_HOME"),
		Home:         os.Getenv("HOME"),
		LocalAppData: os.Getenv("LocalAppData"),
	})
	if err != nil && !errors.Is(err, store.ErrNoDirectory) {
		return o, err
	}
	if o.CacheDir != "" { // wherever the program that reads it goes
		if o.CacheDir, err = filepath.Abs(o.CacheDir); err != nil {
			return o, err
		}
	}
	o.Credentials = getter.AmbientCredentials(getter.Ambient{Getenv: os.Getenv})
	o.settingsFile = settingsFile()
	settings, diags := config.LoadSettings(o.settingsFile)
	if o.settingsFile == "" || (config.NotExist(diags) && os.Getenv("PLUGINS_SETTINGS_FILE") == "") {
		return o, nil
	}
	if diags.HasErrors() {
		if config.NotExist(diags) { // the default is not missed
			diags[0].Detail += " PLUGINS_SETTINGS_FILE names it."
		}
		r := &run{files: map[string]*hcl.File{o.settingsFile: config.Excerpt(o.settingsFile)}}
		return o, r.fail(diags)
	}
	o.Settings = settings
	return o, nil
}

// settingsFile returns where the machine's settings are, "" where no place for
// them is known.
func settingsFile() string {
	if path := os.Getenv("PLUGINS_SETTINGS_FILE"); path != "" {
		return path
	}
	dir, err := os.UserConfigDir()
	if err != nil || !filepath.IsAbs(dir) { // as for the cache, a home that is relative is none
		return ""
	}
	return filepath.Join(dir, "plugins", "settings.hcl")
}

// Paths are the places and values that a run with given options would use.
type Paths struct {
	Version      string `json:"version"`
	Platform     string `json:"platform"`
	Dir          string `json:"directory"`
	LockFile     string `json:"lock_file"`
	InstallDir   string `json:"install_directory"`
	CacheDir     string `json:"cache_directory"`
	SettingsFile string `json:"settings_file"`
}

// Environment tells which paths a run with these options would use. It asks
// nobody and does not mind what the configuration says.
func Environment(o Options) (Paths, error) {
	r := &run{options: o}
	cfg, _ := r.readConfig()
	if err := r.setPaths(cfg.Dir); err != nil {
		return Paths{}, r.fail(err)
	}
	return Paths{
		Version: Version(), Platform: addr.HostPlatform().String(), Dir: r.dir,
		LockFile: r.lockPath, InstallDir: r.installDir, CacheDir: o.CacheDir, SettingsFile: o.settingsFile,
	}, nil
}
