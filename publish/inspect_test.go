package publish

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/getter"
	"github.com/pluginlock/plugins/internal/imagetest"
	"github.com/pluginlock/plugins/internal/registrytest"
)

func inspected(t testing.TB, r *registrytest.Registry, suffix string) (*Inspection, error) {
	t.Helper()
	ref, err := ParseReference(r.Host() + "/" + repository + suffix)
	must(t, err)
	return Inspect(t.Context(), InspectOptions{Client: newClient(t, getter.Options{}), Reference: ref})
}

func TestInspect(t *testing.T) {
	r := registrytest.New(t, registrytest.Options{Quirks: registrytest.Quirks{Order: "reversed"}})
	layout := aws(t)
	pushed(t, options(t, r, layout.Layout))
	for version, tags := range map[string][]string{"1.4.1": {"v1.4.1", "1.4.1"}, "1.5.0-rc.1": {"1.5.0-rc.1"}, "1.3.0": {"v1.3.0", "1.3", "latest"}} {
		r.MustAdd(t, repository, imagetest.Plugin{Version: version, Platforms: []string{"linux/amd64"}}.Build(t), tags...)
	}
	for suffix, want := range map[string]string{
		"": "1.4.2", "@~> 1.3.0": "v1.3.0", "@1.5.0-rc.1": "1.5.0-rc.1", ":latest": "latest", ":v1.4.1": "v1.4.1",
	} {
		got, err := inspected(t, r, suffix)
		must(t, err)
		if got.Image.Tag != want || !got.Image.Plugin || got.Image.Why != "" {
			t.Errorf("%q: %+v", suffix, got.Image)
		}
		if listed := got.Versions != nil; listed == strings.HasPrefix(suffix, ":") {
			t.Errorf("%q: versions %v", suffix, got.Versions)
		}
		var tags []string
		for _, v := range got.Versions {
			tags = append(tags, v.Tag)
		}
		if got.Versions != nil && (!slices.Equal(tags, []string{"1.5.0-rc.1", "1.4.2", "1.4.1", "v1.3.0"}) || got.Others != 2) {
			t.Errorf("%q: versions %v, %d others", suffix, tags, got.Others)
		}
	}
	got, err := inspected(t, r, "@"+layout.Digest.String())
	must(t, err)
	if len(got.Image.Platforms) != 4 || got.Image.Digest != layout.Digest {
		t.Fatalf("by digest: %+v", got.Image)
	}
	for i, p := range got.Image.Platforms {
		want := layout.Platforms[i]
		if p.Platform != want.Platform || p.Manifest != want.Manifest || p.DownloadSize != want.LayerSize || p.Layers != 1 ||
			!slices.Equal(p.Protocols, []int{5, 6}) || p.Executable != want.Executable || p.ExecutableDigest != want.ExecutableDigest || p.Content != want.Content ||
			p.Annotations["dev.pluginlock.content"] != want.Content.String() {
			t.Errorf("%+v, want %+v", p, want)
		}
	}
	if _, err := inspected(t, r, "@~> 3.0"); !errors.Is(err, ErrNoMatch) {
		t.Errorf("a constraint that nothing meets: %v", err)
	}
	if _, err := inspected(t, r, ":1.9.9"); !errors.Is(err, getter.ErrNotFound) {
		t.Errorf("a tag that is not there: %v", err)
	}
}

func TestInspectOthers(t *testing.T) {
	r := registrytest.New(t, registrytest.Options{})
	plugin := imagetest.Plugin{Platforms: []string{"linux/amd64", "linux/arm64"}}
	tests := []struct {
		tag       string
		builder   imagetest.Builder
		plugin    bool
		why       string
		platforms int
	}{
		{"foreign", imagetest.Foreign{}, false, "its index has no annotation dev.pluginlock.format", len(imagetest.DefaultPlatforms)},
		{"chart", builder(func() (*imagetest.Image, error) { return imagetest.Chart("x", "1.0.0"), nil }), false, "helm", 0},
		{"attested", builder(func() (*imagetest.Image, error) { return imagetest.WithAttestations(plugin.Build(t)), nil }), true, "", 2},
		{"single", builder(func() (*imagetest.Image, error) { return plugin.Build(t).Child("linux/arm64"), nil }), false, "it is a single manifest", 1},
		{"ambiguous", imagetest.Index{Entries: []imagetest.Entry{
			{Image: plugin.Build(t).Child("linux/amd64"), Platform: "linux/amd64"}, {Image: plugin.Build(t).Child("linux/arm64"), Platform: "linux/amd64"}}},
			false, "two manifests for linux/amd64", 0},
		{"undeclared", imagetest.Plugin{Platforms: []string{"linux/amd64"}, Omit: []string{"dev.pluginlock.content"}}, false, "dev.pluginlock.content", 1},
	}
	for _, test := range tests {
		t.Run(test.tag, func(t *testing.T) {
			r.MustAdd(t, repository, imagetest.Must(t, test.builder), test.tag)
			got, err := inspected(t, r, ":"+test.tag)
			must(t, err)
			im := got.Image
			if im.Plugin != test.plugin || !strings.Contains(im.Why, test.why) || (im.Why == "") != test.plugin || im.Digest.IsZero() {
				t.Errorf("plugin %v, why %q, digest %s", im.Plugin, im.Why, im.Digest)
			}
			if test.tag != "foreign" && len(im.Platforms) != test.platforms || len(im.Platforms) == 0 && test.platforms > 0 {
				t.Errorf("platforms %+v", im.Platforms)
			}
		})
	}
}

func TestInspectLayout(t *testing.T) {
	dir := aws(t).Layout
	got, err := Inspect(t.Context(), InspectOptions{Layout: dir})
	must(t, err)
	if !got.Image.Plugin || got.Image.Tag != "1.4.2" || len(got.Image.Platforms) != 4 || len(got.Versions) != 1 {
		t.Errorf("%+v", got)
	}
	must(t, imagetest.Plugin{Version: "1.4.3"}.Build(t).WriteLayout(dir, "1.4.3"))
	if _, err := Inspect(t.Context(), InspectOptions{Layout: dir}); err == nil || !strings.Contains(err.Error(), "1.4.2, 1.4.3") {
		t.Errorf("of two images: %v", err)
	}
	got, err = Inspect(t.Context(), InspectOptions{Layout: dir, LayoutTag: "1.4.3"})
	must(t, err)
	if got.Image.Tag != "1.4.3" || !got.Image.Plugin || got.Versions[0].Tag != "1.4.3" {
		t.Errorf("%+v", got)
	}
}

func TestParseReference(t *testing.T) {
	digest := addr.DigestOf([]byte("x")).String()
	tests := map[string]struct {
		want string // source|tag|version|digest|constraint
		err  bool
	}{
		"example.com/x":                   {want: "example.com/x||||"},
		"localhost:5000/x:1.2.0":          {want: "localhost:5000/x|1.2.0|1.2.0||"},
		"[::1]:5000/x:v1.2.0":             {want: "[::1]:5000/x|v1.2.0|1.2.0||"},
		"example.com/x:1.2.0+b.1":         {want: "example.com/x|1.2.0_b.1|1.2.0+b.1||"},
		"example.com/x:latest":            {want: "example.com/x|latest|||"},
		"example.com/x@" + digest:         {want: "example.com/x|||" + digest + "|"},
		"example.com/x:1.2.0@" + digest:   {want: "example.com/x|1.2.0|1.2.0|" + digest + "|"},
		"example.com/x@~> 1.2":            {want: "example.com/x||||~> 1.2"},
		"example.com/x@>= 1.0.0, < 2.0.0": {want: "example.com/x||||>= 1.0.0, < 2.0.0"},
		"localhost:5000":                  {err: true},
		"example.com/x:":                  {err: true},
		"example.com/x:.2":                {err: true},
		"example.com/x:1.2.0@~> 1":        {err: true},
		"example.com/x@sha256:abc":        {err: true},
		"https://example.com/x":           {err: true},
		"aws":                             {err: true},
		"":                                {err: true},
	}
	for in, test := range tests {
		got, err := ParseReference(in)
		text := strings.Join([]string{got.Source.String(), got.Tag, got.Version.String(), got.Digest.String(), got.Constraint.String()}, "|")
		if (err != nil) != test.err || !test.err && text != test.want {
			t.Errorf("%q: %s, %v", in, text, err)
		}
	}
}
