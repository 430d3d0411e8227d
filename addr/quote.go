package addr

import (
	"strings"

	"github.com/pluginlock/plugins/internal/text"
)

// quote puts foreign text between quotation marks: escaped once, cut where it
// is too long, and unable to end the quotation itself.
func quote(s string) string {
	return `"` + strings.ReplaceAll(text.Clip(s), `"`, `\"`) + `"`
}
