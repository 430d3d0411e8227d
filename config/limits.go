package config

import (
	"math"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/pluginlock/plugins/internal/text"
)

// maxLimit bounds the limits themselves, in bytes or in entries.
const (
	maxLimit = 1 << 40
	maxCount = math.MaxInt32
)

// A limit is one attribute of the limits block. One of the fields is set.
type limit struct {
	name  string
	count *int
	ratio *int64
	bytes *int64
}

func (l *Limits) attributes() []limit {
	return []limit{
		{name: "entries", count: &l.Entries},
		{name: "bytes", bytes: &l.Bytes},
		{name: "file_bytes", bytes: &l.FileBytes},
		{name: "path_bytes", count: &l.PathBytes},
		{name: "depth", count: &l.Depth},
		{name: "ratio", ratio: &l.Ratio},
		{name: "ratio_from", bytes: &l.RatioFrom},
		{name: "zstd_window", bytes: &l.ZstdWindow},
		{name: "layer_entries", count: &l.LayerEntries},
		{name: "layer_bytes", bytes: &l.LayerBytes},
	}
}

// limits reads the limits block.
func (s *settingsDecoder) limits(block *hcl.Block) Limits {
	var limits Limits
	attributes := limits.attributes()
	schema := &hcl.BodySchema{}
	for _, a := range attributes {
		schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: a.name})
	}
	content, diags := block.Body.Content(schema)
	s.diags = append(s.diags, diags...)
	for _, a := range attributes {
		if attr := content.Attributes[a.name]; attr != nil {
			s.limit(a, attr.Expr)
		}
	}
	return limits
}

func (s *settingsDecoder) limit(a limit, expr hcl.Expression) {
	what := a.name + " of the limits block"
	switch {
	case a.count != nil:
		number, _ := s.integer(expr, what, 1, maxCount)
		*a.count = int(number)
	case a.ratio != nil:
		*a.ratio, _ = s.integer(expr, what, 1, maxCount)
	default:
		*a.bytes = s.size(expr, what)
	}
}

// size reads a number of bytes, or a text with a unit such as "4GiB".
func (s *settingsDecoder) size(expr hcl.Expression, what string) int64 {
	value, is := s.literal(expr, what)
	switch is {
	case "a string":
		n, ok := parseSize(value.AsString())
		if !ok {
			s.wrong(expr.Range(), what, `a number of bytes, or a text such as "4GiB" with KiB, MiB or GiB, and at most 1024GiB`,
				text.Quote(value.AsString()))
		}
		return n
	case "":
		return 0
	}
	n, _ := s.integer(expr, what, 1, maxLimit)
	return n
}

// parseSize reads a number and a binary unit.
func parseSize(s string) (int64, bool) {
	for i, unit := range []string{"KiB", "MiB", "GiB"} {
		shift := 10 * (i + 1)
		if digits, found := strings.CutSuffix(s, unit); found {
			n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
			return n << shift, err == nil && 0 < n && n <= maxLimit>>shift
		}
	}
	return 0, false
}
