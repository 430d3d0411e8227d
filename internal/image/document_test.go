package image

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pluginlock/plugins/addr"
)

// digest is a digest that is told by one hexadecimal digit.
func digest(digit string) addr.Digest { return addr.Digest("sha256:" + strings.Repeat(digit, 64)) }

// object is JSON; what it holds is written as it stands.
type object map[string]any

func (o object) bytes() []byte {
	raw, err := json.Marshal(o)
	if err != nil {
		panic(err) // the tests hold what JSON has
	}
	return raw
}

// with returns a copy in which some fields are others; nil takes one away.
func (o object) with(fields object) object {
	changed := object{}
	for name, value := range o {
		changed[name] = value
	}
	for name, value := range fields {
		if changed[name] = value; value == nil {
			delete(changed, name)
		}
	}
	return changed
}

func descriptor(mediaType, digit string) object {
	return object{"mediaType": mediaType, "digest": digest(digit), "size": 100}
}

// manifest is a plain image manifest of OCI's.
func manifest() object {
	return object{
		"schemaVersion": 2, "mediaType": MediaTypeOCIManifest,
		"config": descriptor(MediaTypeOCIConfig, "c"),
		"layers": []object{descriptor(MediaTypeOCILayerGzip, "d")},
	}
}

// index is an index of OCI's.
func index(entries ...object) object {
	if entries == nil {
		entries = []object{}
	}
	return object{"schemaVersion": 2, "mediaType": MediaTypeOCIIndex, "manifests": entries}
}

// entry is what an index lists for a platform such as "linux/arm/v7".
func entry(platform, digit string) object {
	os, rest, _ := strings.Cut(platform, "/")
	arch, variant, _ := strings.Cut(rest, "/")
	p := object{"os": os, "architecture": arch}
	if variant != "" {
		p["variant"] = variant
	}
	return descriptor(MediaTypeOCIManifest, digit).with(object{"platform": p})
}

func parse(t *testing.T, contentType string, o object) *Document {
	t.Helper()
	d, err := Parse(contentType, o.bytes())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestParse(t *testing.T) {
	raw := manifest().with(object{"annotations": object{"a": "b"}}).bytes()
	d, err := Parse(MediaTypeOCIManifest, raw)
	switch {
	case err != nil:
		t.Fatal(err)
	case d.Digest != addr.DigestOf(raw) || !bytes.Equal(d.Raw, raw) || d.MediaType != MediaTypeOCIManifest || d.Index != nil:
		t.Errorf("%+v", d)
	case d.Manifest.Config.Digest != "sha256:"+"cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc" || len(d.Manifest.Layers) != 1:
		t.Errorf("%+v", d.Manifest)
	case d.Annotations()["a"] != "b":
		t.Errorf("annotations %v", d.Annotations())
	}
	d = parse(t, "", index(entry("linux/amd64", "a")).with(object{"annotations": object{"a": "c"}}))
	if d.Manifest != nil || d.MediaType != MediaTypeOCIIndex || len(d.Index.Children) != 1 || d.Annotations()["a"] != "c" {
		t.Errorf("%+v", d)
	}
}

// TestParseMediaTypes: what the registry and what the document call it, and
// what follows where one of them is silent.
func TestParseMediaTypes(t *testing.T) {
	docker := manifest().with(object{"mediaType": MediaTypeDockerManifest, "config": descriptor(MediaTypeDockerConfig, "c")})
	list := index(entry("linux/amd64", "a")).with(object{"mediaType": MediaTypeDockerIndex})
	silent := object{"mediaType": nil}
	for name, test := range map[string]struct {
		contentType string
		document    object
		want        string
	}{
		"both":                      {MediaTypeOCIManifest, manifest(), MediaTypeOCIManifest},
		"document alone":            {"", manifest(), MediaTypeOCIManifest},
		"registry alone":            {MediaTypeOCIManifest, manifest().with(silent), MediaTypeOCIManifest},
		"nobody":                    {"", manifest().with(silent), MediaTypeOCIManifest},
		"nobody about an index":     {"", index().with(silent), MediaTypeOCIIndex},
		"with parameters":           {MediaTypeOCIIndex + "; charset=utf-8", index(), MediaTypeOCIIndex},
		"with upper case":           {"Application/Vnd.OCI.image.index.v1+json", index(), MediaTypeOCIIndex},
		"says JSON":                 {"application/json", manifest(), MediaTypeOCIManifest},
		"says text":                 {"text/plain; charset=utf-8", manifest(), MediaTypeOCIManifest},
		"says bytes":                {"application/octet-stream", index().with(silent), MediaTypeOCIIndex},
		"Docker manifest":           {MediaTypeDockerManifest, docker, MediaTypeDockerManifest},
		"Docker manifest, silent":   {MediaTypeDockerManifest, docker.with(silent), MediaTypeDockerManifest},
		"Docker list":               {MediaTypeDockerIndex, list, MediaTypeDockerIndex},
		"OCI with Docker's config":  {"", manifest().with(object{"config": descriptor(MediaTypeDockerConfig, "c")}), MediaTypeOCIManifest},
		"empty, but without layers": {"", manifest().with(object{"layers": nil}), MediaTypeOCIManifest},
		"null for what is not meant": {"", object{"schemaVersion": 2, "config": descriptor(MediaTypeOCIConfig, "c"),
			"layers": []object{}, "manifests": json.RawMessage("null")}, MediaTypeOCIManifest},
	} {
		if d, err := Parse(test.contentType, test.document.bytes()); err != nil || d.MediaType != test.want {
			t.Errorf("%s: %v %v", name, d, err)
		}
	}
}

// TestParseRefuses: also the documents of CVE-2021-41190, that clients could
// take for an index or for a manifest.
func TestParseRefuses(t *testing.T) {
	both := manifest().with(object{"manifests": []object{entry("linux/amd64", "a")}})
	upper := addr.Digest(strings.Replace(digest("a").String(), "a", "A", 64))
	for name, test := range map[string]struct {
		contentType string
		document    object
		want        string // part of the reason
	}{
		"C17 both, calls itself manifest":        {"", both, "both an index"},
		"C17 both, calls itself index":           {"", both.with(object{"mediaType": MediaTypeOCIIndex}), "both an index"},
		"C17 both, silent":                       {MediaTypeOCIIndex, both.with(object{"mediaType": nil}), "both an index"},
		"C17 both, lists empty":                  {"", index().with(object{"layers": []object{}}), "both an index"},
		"C17 both, config alone":                 {"", index().with(object{"config": descriptor(MediaTypeOCIConfig, "c")}), "both an index"},
		"C17 both, other letter case":            {"", manifest().with(object{"Manifests": []object{}}), "both an index"},
		"C17 registry and document differ":       {MediaTypeOCIIndex, manifest(), "the registry calls it"},
		"C17 Docker and OCI differ":              {MediaTypeDockerManifest, manifest(), "the registry calls it"},
		"C17 layers in what is called an index":  {MediaTypeOCIIndex, manifest().with(object{"mediaType": nil}), "has layers but calls itself"},
		"C17 manifests in a manifest":            {"", index().with(object{"mediaType": MediaTypeOCIManifest}), "has manifests but calls itself"},
		"neither":                                {"", object{"schemaVersion": 2}, "neither an index"},
		"schema 1":                               {"", object{"schemaVersion": 1, "fsLayers": []object{}}, "schema 1"},
		"schema 1, signed":                       {"application/vnd.docker.distribution.manifest.v1+prettyjws", object{"schemaVersion": 1}, "schema 1"},
		"schema 1 within schema 2":               {"", manifest().with(object{"fsLayers": []object{}}), "schema 1"},
		"schema 3":                               {"", manifest().with(object{"schemaVersion": 3}), "schemaVersion is 3"},
		"no schema":                              {"", manifest().with(object{"schemaVersion": nil}), "schemaVersion is 0"},
		"no config":                              {"", manifest().with(object{"config": nil}), "without config"},
		"unknown type of manifest":               {"", manifest().with(object{"mediaType": "application/example"}), "calls itself"},
		"type of manifest is HTML":               {"text/html", manifest().with(object{"mediaType": nil}), "calls itself"},
		"no media type at all":                   {"/", manifest(), "is not a media type"},
		"config without digest":                  {"", manifest().with(object{"config": descriptor(MediaTypeOCIConfig, "c").with(object{"digest": nil})}), "config: "},
		"layer of sha512":                        {"", manifest().with(object{"layers": []object{descriptor(MediaTypeOCILayer, "d").with(object{"digest": "sha512:aa"})}}), "layers[0]: "},
		"layer of negative size":                 {"", manifest().with(object{"layers": []object{descriptor(MediaTypeOCILayer, "d"), descriptor(MediaTypeOCILayer, "d").with(object{"size": -1})}}), "layers[1]: a size of -1"},
		"entry with upper case in its digest":    {"", index(entry("linux/amd64", "a"), entry("linux/arm64", "a").with(object{"digest": upper})), "manifests[1]: "},
		"entry of negative size":                 {"", index(entry("linux/amd64", "a").with(object{"size": -1})), "manifests[0]: a size of -1"},
		"entry larger than a document may be":    {"", index(entry("linux/amd64", "a").with(object{"size": MaxDocumentSize + 1})), "manifests[0]: a size of 4194305"},
		"annotations that are no text":           {"", manifest().with(object{"annotations": object{"a": 1}}), "not JSON that describes an image"},
		"long text of the registry's is cut off": {"", manifest().with(object{"mediaType": strings.Repeat("x", 1000)}), "…"},
	} {
		d, err := Parse(test.contentType, test.document.bytes())
		var refused *DocumentError
		if d != nil || !errors.As(err, &refused) || !strings.Contains(refused.Reason, test.want) || len(refused.Reason) > 400 {
			t.Errorf("%s: %v, %v", name, d, err)
		} else if refused.Digest != addr.DigestOf(test.document.bytes()) {
			t.Errorf("%s: names %s", name, refused.Digest)
		}
	}
}

func TestParseRefusesBytes(t *testing.T) {
	large := append(bytes.Repeat([]byte(" "), MaxDocumentSize), manifest().bytes()...)
	for name, raw := range map[string][]byte{
		"nothing": nil, "text": []byte("not found"), "list": []byte("[]"), "cut": manifest().bytes()[:50],
		"more behind it": append(manifest().bytes(), "{}"...), "too large": large,
	} {
		var refused *DocumentError
		if d, err := Parse("", raw); d != nil || !errors.As(err, &refused) {
			t.Errorf("%s: %v, %v", name, d, err)
		}
	}
	if _, err := Parse("", large[len(large)-MaxDocumentSize:]); err != nil {
		t.Errorf("just as large as allowed: %v", err)
	}
}

// TestParseTellsOtherThings: what a tag can hold that is no image.
func TestParseTellsOtherThings(t *testing.T) {
	const helm, empty = "application/vnd.cncf.helm.config.v1+json", "application/vnd.oci.empty.v1+json"
	for name, test := range map[string]struct {
		document object
		want     string
	}{
		"chart":                    {manifest().with(object{"config": descriptor(helm, "c")}), helm},
		"artifact":                 {manifest().with(object{"artifactType": "application/example", "config": descriptor(empty, "c")}), "application/example"},
		"artifact with an image's": {manifest().with(object{"artifactType": "application/example"}), "application/example"},
		"empty config":             {manifest().with(object{"config": descriptor(empty, "c")}), empty},
	} {
		d, err := Parse("", test.document.bytes())
		var other *NotImageError
		if d != nil || !errors.As(err, &other) || other.What != test.want || !strings.Contains(err.Error(), fmt.Sprintf("%q", test.want)) {
			t.Errorf("%s: %v, %v", name, d, err)
		}
	}
}

// FuzzParse: nothing that a registry sends ends the program, and what is
// offered is a function of the entries, not of their order.
func FuzzParse(f *testing.F) {
	windows := entry("windows/amd64", "3")
	windows["platform"].(object)["os.version"] = "10.0"
	for _, seed := range []object{
		manifest(), plugin(nil), index(),
		index(entry("linux/amd64", "1"), entry("linux/arm64/v8", "2"), windows, entry("windows/amd64", "4"), descriptor(MediaTypeOCIManifest, "5")),
		index(entry("linux/amd64", "1"), entry("linux/amd64", "2"), entry("linux/arm", "1"), entry("linux/arm/v7", "2")),
		index(entry("linux/amd64", "1"), descriptor(MediaTypeDockerIndex, "2")),
		manifest().with(object{"manifests": []object{}}),
	} {
		f.Add("", seed.bytes())
		f.Add(MediaTypeOCIIndex+"; charset=utf-8", seed.bytes())
	}
	f.Fuzz(func(t *testing.T, contentType string, raw []byte) {
		d, err := Parse(contentType, raw)
		switch {
		case err != nil && d != nil:
			t.Fatal("a document and an error")
		case err != nil:
			var refused *DocumentError
			var other *NotImageError
			if !errors.As(err, &refused) && !errors.As(err, &other) {
				t.Fatalf("untyped: %v", err)
			}
			return
		case (d.Index == nil) == (d.Manifest == nil):
			t.Fatalf("%+v", d)
		}
		if again, err := Parse(d.MediaType, raw); err != nil || again.MediaType != d.MediaType {
			t.Fatalf("as the %s that it is: %v", d.MediaType, err)
		}
		if d.Manifest != nil {
			checkManifest(t, d)
			return
		}
		checkOffers(t, d.Index)
	})
}

// checkManifest holds a declaration to what the package promises of it.
func checkManifest(t *testing.T, d *Document) {
	declared, ok, err := d.Declaration()
	if !ok || err != nil {
		return
	}
	if !strings.HasPrefix(declared.Executable, PayloadDir+"/") || slices.Contains(strings.Split(declared.Executable, "/"), "..") {
		t.Errorf("executable %q", declared.Executable)
	}
	if again, err := ParseProtocols(FormatProtocols(declared.Protocols)); err != nil || !slices.Equal(again, declared.Protocols) {
		t.Errorf("protocols %v", declared.Protocols)
	}
	if payload, err := d.Payload(); err == nil && payload.Digest != d.Manifest.Layers[len(d.Manifest.Layers)-1].Digest {
		t.Error("the payload is not the last layer")
	}
}

// checkOffers compares an index with itself in other orders.
func checkOffers(t *testing.T, x *Index) {
	offers, err := x.Offers()
	for i, o := range offers {
		if o.Platform.IsZero() || i > 0 && offers[i-1].Platform.Compare(o.Platform) >= 0 {
			t.Errorf("offers are not in order, one a platform: %v", offers)
		}
	}
	for i := range min(3, len(x.Children)) {
		slices.Reverse(x.Children)
		x.Children = slices.Concat(x.Children[i:], x.Children[:i])
		again, errAgain := x.Offers()
		if !slices.Equal(offers, again) || fmt.Sprint(err) != fmt.Sprint(errAgain) {
			t.Errorf("another order, another offer:\n%v %v\n%v %v", offers, err, again, errAgain)
		}
	}
}
