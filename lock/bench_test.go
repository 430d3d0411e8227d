package lock

import (
	"fmt"
	"testing"
)

// BenchmarkParse reads a lock of ten plugins for six platforms each, as a warm
// init does; the budget of the whole init is a few milliseconds.
func BenchmarkParse(b *testing.B) {
	f := &File{}
	for i := range 10 {
		f.Set(entry(b, fmt.Sprintf("plugin%d", i), "1.2.3",
			"linux/amd64", "linux/arm64", "linux/arm/v7", "darwin/amd64", "darwin/arm64", "windows/amd64"))
	}
	src := f.Bytes()
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if _, diags := Parse(src, FileName); diags.HasErrors() {
			b.Fatal(diags)
		}
	}
}
