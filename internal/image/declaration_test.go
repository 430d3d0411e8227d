package image

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// plugin is a plugin image's manifest in which some annotations are others.
func plugin(annotations object) object {
	return manifest().with(object{"annotations": object{
		AnnotationFormat: "1", AnnotationProtocols: "6,5", AnnotationExecutablePath: "plugin/aws",
		AnnotationExecutableDigest: digest("e"), AnnotationContent: digest("f"), AnnotationSource: "registry.example.com/fleeting/aws",
		"org.opencontainers.image.version": "1.4.2", "org.opencontainers.image.title": "aws",
	}.with(annotations)})
}

func TestDeclaration(t *testing.T) {
	d := parse(t, "", plugin(nil))
	got, ok, err := d.Declaration()
	want := Declaration{Version: "1.4.2", Title: "aws", Protocols: []int{5, 6}, Executable: "plugin/aws", ExecutableDigest: digest("e"), Content: digest("f")}
	if !ok || err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %v %v", got, ok, err)
	}
	if d.Source() != "registry.example.com/fleeting/aws" {
		t.Errorf("source %q", d.Source())
	}
	bare := object{AnnotationProtocols: nil, "org.opencontainers.image.version": nil, "org.opencontainers.image.title": nil, AnnotationSource: nil}
	got, ok, err = parse(t, "", plugin(bare)).Declaration()
	if want.Version, want.Title, want.Protocols = "", "", nil; !ok || err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("the least: %+v %v %v", got, ok, err)
	}
}

func TestForeignImageDeclaresNothing(t *testing.T) {
	for name, o := range map[string]object{"bare": manifest(), "without format": plugin(object{AnnotationFormat: nil}), "empty format": plugin(object{AnnotationFormat: ""})} {
		if got, ok, err := parse(t, "", o).Declaration(); ok || err != nil || !reflect.DeepEqual(got, Declaration{}) {
			t.Errorf("%s: %+v %v %v", name, got, ok, err)
		}
	}
}

func TestDeclarationRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		annotation string
		value      any
		want       string
	}{
		"newer format":             {AnnotationFormat, "2", "a newer version of plugins may read it"},
		"format is no number":      {AnnotationFormat, "1 ", "of format"},
		"no path":                  {AnnotationExecutablePath, nil, "is missing"},
		"path is absolute":         {AnnotationExecutablePath, "/plugin/aws", "is not a path below plugin/"},
		"path is elsewhere":        {AnnotationExecutablePath, "bin/aws", "is not a path below plugin/"},
		"path is the directory":    {AnnotationExecutablePath, "plugin/", "is not a path below plugin/"},
		"path escapes":             {AnnotationExecutablePath, "plugin/../../etc/passwd", "is not a path below plugin/"},
		"path is not in its form":  {AnnotationExecutablePath, "plugin//aws", "is not a path below plugin/"},
		"path of Windows":          {AnnotationExecutablePath, `plugin/..\aws`, "is not a path below plugin/"},
		"path with NUL":            {AnnotationExecutablePath, "plugin/a\x00b", "is not a path below plugin/"},
		"no executable digest":     {AnnotationExecutableDigest, nil, "is missing"},
		"executable of sha512":     {AnnotationExecutableDigest, "sha512:00", "sha512"},
		"no content":               {AnnotationContent, nil, "is missing"},
		"content is no digest":     {AnnotationContent, "sha256:00", "is not a digest"},
		"protocol is no number":    {AnnotationProtocols, "5,x", "is not a list of positive numbers"},
		"protocol is nothing":      {AnnotationProtocols, "5,", "is not a list of positive numbers"},
		"protocol is zero":         {AnnotationProtocols, "0", "is not a list of positive numbers"},
		"protocol is negative":     {AnnotationProtocols, "-5", "is not a list of positive numbers"},
		"protocol with a blank":    {AnnotationProtocols, "5, 6", "is not a list of positive numbers"},
		"protocol with a zero":     {AnnotationProtocols, "05", "is not a list of positive numbers"},
		"protocol with a sign":     {AnnotationProtocols, "+5", "is not a list of positive numbers"},
		"protocol beyond all size": {AnnotationProtocols, strings.Repeat("9", 1000), "is not a list of positive numbers"},
	} {
		got, ok, err := parse(t, "", plugin(object{test.annotation: test.value})).Declaration()
		var refused *DocumentError
		if !ok || !reflect.DeepEqual(got, Declaration{}) || !errors.As(err, &refused) || !strings.Contains(refused.Reason, test.want) || len(refused.Reason) > 400 {
			t.Errorf("%s: %+v %v %v", name, got, ok, err)
		}
		if test.annotation != AnnotationFormat && !strings.Contains(err.Error(), test.annotation) {
			t.Errorf("%s: does not name %s: %v", name, test.annotation, err)
		}
	}
}

func TestPayload(t *testing.T) {
	layer := func(digit, role string) object {
		l := descriptor(MediaTypeOCILayerGzip, digit)
		if role == "" {
			return l
		}
		return l.with(object{"annotations": object{AnnotationRole: role}})
	}
	for name, test := range map[string]struct {
		layers []object
		want   string // the digit of the payload; "": refused
	}{
		"one":                      {[]object{layer("1", RolePayload)}, "1"},
		"its role was dropped":     {[]object{layer("1", "")}, "1"},
		"the last of several":      {[]object{layer("1", ""), layer("2", RoleLauncher), layer("3", RolePayload)}, "3"},
		"none":                     {[]object{}, ""},
		"the last is the launcher": {[]object{layer("1", RolePayload), layer("2", RoleLauncher)}, ""},
		"not the last":             {[]object{layer("1", RolePayload), layer("2", "")}, ""},
		"two":                      {[]object{layer("1", RolePayload), layer("2", RolePayload)}, ""},
		"unknown role":             {[]object{layer("1", "sidecar")}, ""},
	} {
		payload, err := parse(t, "", plugin(nil).with(object{"layers": test.layers})).Payload()
		var refused *DocumentError
		switch {
		case test.want == "" && !errors.As(err, &refused):
			t.Errorf("%s: %v", name, err)
		case test.want != "" && (err != nil || payload.Digest.String() != digest(test.want).String()):
			t.Errorf("%s: %v %v", name, payload.Digest, err)
		}
	}
}

func TestProtocols(t *testing.T) {
	for in, want := range map[string][]int{"": nil, "5": {5}, "6,5": {5, 6}, "5,5,1": {1, 5}} {
		got, err := ParseProtocols(in)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v %v", in, got, err)
		}
		if again, err := ParseProtocols(FormatProtocols(got)); err != nil || !slices.Equal(again, got) {
			t.Errorf("%q is printed as %q", in, FormatProtocols(got))
		}
	}
}
