package image

import (
	"os"
	"strings"
	"testing"
)

// TestFormatPage holds docs/image-format.md to the constants.
func TestFormatPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/image-format.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		AnnotationFormat, AnnotationSource, AnnotationProtocols, AnnotationExecutablePath,
		AnnotationExecutableDigest, AnnotationContent, AnnotationRole, RolePayload, RoleLauncher, PayloadDir + "/",
	} {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("the page does not have %q", name)
		}
	}
	if !strings.HasPrefix(string(page), "# The plugin image, format "+Format+"\n") {
		t.Errorf("the page is not about format %s", Format)
	}
}
