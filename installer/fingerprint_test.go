package installer

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// What changes while the fingerprint is taken is in it, and so has to be looked
// at once more.
func TestFingerprintIsOfWhatWasLookedAt(t *testing.T) {
	overwrite := func(path string) func(*rig) {
		return func(r *rig) {
			if err := os.WriteFile(r.project.InstallDir+"/"+path, []byte("other"), 0o755); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	remove := func(path func(*rig) string) func(*rig) {
		return func(r *rig) {
			if err := os.RemoveAll(path(r)); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	tests := map[string]func(*rig){
		"nothing":        nil,
		"the program":    overwrite("bin/aws"),
		"its manifest":   overwrite("plugins/aws/../manifest.json"),
		"installed.json": overwrite("installed.json"),
		"the link":       remove(func(r *rig) string { return filepath.Join(r.project.InstallDir, "bin", "aws") }),
		"the index":      remove(func(r *rig) string { return filepath.Join(r.installer.Store.Dir(), "v1", "index") }),
		"a killed run's rest": func(r *rig) {
			if err := os.Mkdir(filepath.Join(r.project.InstallDir, ".apply-x"), 0o755); err != nil {
				r.t.Fatal(err)
			}
		},
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.publish(awsSource, "1.2.0")
			r.require(requirement("aws", awsSource, "1.2.0"))
			plan := r.mustInit()
			if change != nil {
				r.installer.taken = func() { change(r) }
			}
			f, ok := r.installer.Fingerprint(context.Background(), plan)
			if ok != (change == nil) {
				t.Errorf("ok is %t", ok)
			}
			if ok && (len(f.Plugins) != 1 || f.Plugins[0].Executable != "plugin/aws" || f.Plugins[0].Version != "1.2.0") {
				t.Errorf("fingerprint %+v", f)
			}
		})
	}
}
