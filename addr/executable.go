package addr

import (
	"maps"
	"slices"
)

// Executable says where in a foreign image the plugin's program lies: one path
// for all platforms, or one for each. Paths are absolute inside the image, such
// as "/plugins/velero-plugin-for-aws". The zero value means that the image
// declares it itself, as a plugin image does.
type Executable struct {
	Path       string              // for every platform; empty where ByPlatform is set
	ByPlatform map[Platform]string // keys are normalised; nil where Path is set
}

// IsZero reports whether no path is given.
func (e Executable) IsZero() bool { return e.Path == "" && len(e.ByPlatform) == 0 }

// For returns the path for p, which is normalised; "" where none is given for
// it. There is no fallback to another variant: that choice is made once, among
// the platforms that the image offers.
func (e Executable) For(p Platform) string {
	if e.Path != "" {
		return e.Path
	}
	return e.ByPlatform[p]
}

// Equal reports whether e and f give the same paths in the same way.
func (e Executable) Equal(f Executable) bool {
	return e.Path == f.Path && maps.Equal(e.ByPlatform, f.ByPlatform)
}

// Platforms lists the platforms of ByPlatform in order.
func (e Executable) Platforms() []Platform {
	return slices.SortedFunc(maps.Keys(e.ByPlatform), Platform.Compare)
}
