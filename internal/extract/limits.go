package extract

import "fmt"

// The defaults of [Limits], and the bounds that are not configurable.
const (
	MaxEntries      = 20_000    // entries of a payload, implied directories among them
	MaxBytes        = 2 << 30   // bytes written for one plugin
	MaxFileBytes    = 1 << 30   // bytes of one file
	MaxPathBytes    = 1024      // bytes of a path, or of a link's target
	MaxDepth        = 64        // components of a path
	MaxRatio        = 200       // unpacked bytes for each packed byte
	RatioFrom       = 64 << 20  // unpacked bytes below which MaxRatio does not matter
	MaxZstdWindow   = 128 << 20 // bytes of memory that a zstd frame may ask for
	MaxLayerEntries = 100_000   // entries of a foreign layer, of which none is written but one
	MaxLayerBytes   = 8 << 30   // unpacked bytes of a foreign layer

	MaxComponentBytes = 255      // bytes of a file name; what common file systems hold
	MaxPadding        = 1 << 20  // zeros after the end of an archive
	maxOverhead       = 64 << 20 // headers and padding of a payload, on top of MaxBytes
	maxLinkHops       = 40       // links that are followed for one path, as in Linux
)

// Limits bounds what one archive may cost. The zero value of a field stands for
// the default of the constant named beside it.
type Limits struct {
	Entries      int   // MaxEntries
	Bytes        int64 // MaxBytes
	FileBytes    int64 // MaxFileBytes
	PathBytes    int   // MaxPathBytes
	Depth        int   // MaxDepth
	Ratio        int64 // MaxRatio
	RatioFrom    int64 // RatioFrom
	ZstdWindow   int64 // MaxZstdWindow
	LayerEntries int   // MaxLayerEntries
	LayerBytes   int64 // MaxLayerBytes
}

func (l Limits) withDefaults() Limits {
	orDefault(&l.Entries, MaxEntries)
	orDefault(&l.Bytes, MaxBytes)
	orDefault(&l.FileBytes, MaxFileBytes)
	orDefault(&l.PathBytes, MaxPathBytes)
	orDefault(&l.Depth, MaxDepth)
	orDefault(&l.Ratio, MaxRatio)
	orDefault(&l.RatioFrom, RatioFrom)
	orDefault(&l.ZstdWindow, MaxZstdWindow)
	orDefault(&l.LayerEntries, MaxLayerEntries)
	orDefault(&l.LayerBytes, MaxLayerBytes)
	return l
}

func orDefault[T int | int64](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// LimitError means that an archive exceeds one of [Limits].
type LimitError struct {
	Limit string // what is limited, such as "bytes of one file"
	Value int64  // the limit in force
	Entry string // the entry at which it was exceeded, escaped; "" where none can be named
}

func (e *LimitError) Error() string {
	where := "the archive"
	if e.Entry != "" {
		where = fmt.Sprintf("entry %q", e.Entry)
	}
	return fmt.Sprintf("%s exceeds the limit of %d %s", where, e.Value, e.Limit)
}

// What [LimitError.Limit] says.
const (
	limitEntries   = "entries"
	limitBytes     = "bytes written"
	limitFileBytes = "bytes of one file"
	limitPathBytes = "bytes of a path"
	limitName      = "bytes of a file name"
	limitDepth     = "directories in a path"
	limitRatio     = "unpacked bytes for each packed one"
	limitWindow    = "bytes of memory for a zstd window"
	limitIndex     = "bytes of memory for the names in an image"
	limitWork      = "steps in following links"
	limitPacked    = "bytes of a blob"
	limitUnpacked  = "unpacked bytes"
)
