package installdir

import (
	"context"
	"reflect"
	"testing"
)

func TestPaths(t *testing.T) {
	shared := []string{".", "installed.json", "plugins", "bin"}
	for mode, want := range map[LinkMode][]string{
		Symlink: {"bin/aws", "plugins/aws"},
		Copy: {"bin/aws", "plugins/aws", "plugins/aws/plugin", "plugins/aws/plugin/share",
			"plugins/aws/plugin/aws", "plugins/aws/plugin/latest", "plugins/aws/plugin/share/doc"},
	} {
		dir := t.TempDir() + "/.plugins"
		d := Desired{Platform: linux, LinkMode: mode, Plugins: []Plugin{makePlugin(t, "aws", "1.2.0")}}
		if _, err := Apply(context.Background(), dir, d, Options{}); err != nil {
			t.Fatal(err)
		}
		state, err := Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		gotShared, got := state.Paths()
		if !reflect.DeepEqual(gotShared, shared) || !reflect.DeepEqual(got, map[string][]string{"aws": want}) {
			t.Errorf("%s: shared %q, plugins %q, want %q and %q", mode, gotShared, got, shared, want)
		}
	}
}
