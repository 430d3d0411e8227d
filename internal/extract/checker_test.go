package extract_test

import (
	"testing"

	"github.com/pluginlock/plugins/internal/extract"
)

// What may not be unpacked may not be packed either.
func TestC39CheckerRefusesWhatPayloadDoes(t *testing.T) {
	tests := map[string]struct {
		pair [2]string
		want extract.Kind
	}{
		"case":        {[2]string{"plugin/Run", "plugin/run"}, extract.KindCollision},
		"normal form": {[2]string{"plugin/caf\u00e9", "plugin/cafe\u0301"}, extract.KindCollision},
		"below":       {[2]string{"plugin/bin", "plugin/bin/run"}, extract.KindCollision},
		"reserved":    {[2]string{"plugin/run", "plugin/aux.txt"}, extract.KindName},
		"outside":     {[2]string{"plugin/run", "run"}, extract.KindPlace},
		"honest":      {[2]string{"plugin/run", "plugin/runner"}, extract.KindNone},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := extract.NewChecker(extract.Limits{})
			must(t, c.File(test.pair[0], 1))
			packing := c.File(test.pair[1], 1)
			_, unpacking := newSite(t).payload(layer(t, file(test.pair[0], "x"), file(test.pair[1], "x")), extract.Limits{})
			if extract.KindOf(packing) != test.want || extract.KindOf(unpacking) != test.want {
				t.Errorf("packing: %v; unpacking: %v; want kind %q", packing, unpacking, test.want)
			}
		})
	}
}
