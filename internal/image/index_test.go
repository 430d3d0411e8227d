package image

import (
	"errors"
	"slices"
	"testing"

	"github.com/pluginlock/plugins/addr"
)

// version returns an entry with an os.version.
func version(o object, v string) object {
	return o.with(object{"platform": o["platform"].(object).with(object{"os.version": v})})
}

func TestOffers(t *testing.T) {
	attestation := entry("unknown/unknown", "9").with(object{"annotations": object{"vnd.docker.reference.type": "attestation-manifest"}})
	for name, test := range map[string]struct {
		entries []object
		want    []string
	}{
		"none": {nil, nil},
		"in order of platforms": {
			[]object{entry("windows/amd64", "3"), entry("linux/arm64", "2"), entry("darwin/arm64", "1")},
			[]string{"darwin/arm64 1", "linux/arm64 2", "windows/amd64 3"}},
		"C12 what is no plugin": {
			[]object{attestation, entry("linux/amd64", "1"), attestation.with(object{"digest": digest("8")}), descriptor(MediaTypeOCIManifest, "7"),
				entry("linux/arm64", "6").with(object{"mediaType": "application/example"}), entry("darwin/arm64", "2")},
			[]string{"darwin/arm64 2", "linux/amd64 1"}},
		"C12 an attestation with a platform": {
			[]object{entry("linux/amd64", "1"), attestation.with(object{"platform": object{"os": "linux", "architecture": "amd64"}})},
			[]string{"linux/amd64 1"}},
		"platforms that nothing runs on": {
			[]object{entry("plan10/amd64", "1"), entry("linux/", "2"), entry("/amd64", "3"), entry("linux/amd64/v99", "4"), entry("linux/s390x", "5")},
			[]string{"linux/s390x 5"}},
		"normal form":    {[]object{entry("linux/arm64/v8", "1"), entry("linux/amd64/v1", "2")}, []string{"linux/amd64 2", "linux/arm64 1"}},
		"variants":       {[]object{entry("linux/arm/v7", "1"), entry("linux/arm/v6", "2")}, []string{"linux/arm/v6 2", "linux/arm/v7 1"}},
		"one twice":      {[]object{entry("linux/amd64", "1"), entry("linux/amd64", "1")}, []string{"linux/amd64 1"}},
		"Docker's types": {[]object{entry("linux/amd64", "1").with(object{"mediaType": MediaTypeDockerManifest})}, []string{"linux/amd64 1"}},
		"one image for two platforms": {
			[]object{entry("linux/amd64", "1"), entry("linux/arm64", "1")}, []string{"linux/amd64 1", "linux/arm64 1"}},
		"os.version": {[]object{version(entry("windows/amd64", "1"), "10.0")}, []string{"windows/amd64 1"}},
		"os.version tells several apart": {
			[]object{version(entry("windows/amd64", "1"), "10.0.17763"), version(entry("windows/amd64", "2"), "10.0.20348"), entry("linux/amd64", "3")},
			[]string{"linux/amd64 3"}},
		"os.version on one of two": {
			[]object{version(entry("windows/amd64", "1"), "10.0"), entry("windows/amd64", "2")}, nil},
		"one image for every os.version": {
			[]object{version(entry("windows/amd64", "1"), "10.0"), version(entry("windows/amd64", "1"), "11.0"), entry("windows/amd64", "1")},
			[]string{"windows/amd64 1"}},
	} {
		x := parse(t, "", index(test.entries...)).Index
		offers, err := x.Offers()
		var got []string
		for _, o := range offers {
			got = append(got, o.Platform.String()+" "+o.Digest.Hex()[:1])
		}
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: %v %v, want %v", name, got, err, test.want)
		}
		checkOffers(t, x)
	}
}

func TestC13OnePlatformTwice(t *testing.T) {
	for name, entries := range map[string][]object{
		"plain":                         {entry("linux/amd64", "2"), entry("linux/amd64", "1")},
		"spelt otherwise":               {entry("linux/amd64/v1", "1"), entry("linux/amd64", "2")},
		"by Docker and OCI":             {entry("linux/amd64", "1"), entry("linux/amd64", "2").with(object{"mediaType": MediaTypeDockerManifest})},
		"with one os.version":           {version(entry("linux/amd64", "2"), "10"), version(entry("linux/amd64", "1"), "10")},
		"with os.version on a third":    {entry("linux/amd64", "2"), version(entry("linux/amd64", "3"), "10"), entry("linux/amd64", "1")},
		"and one of them is here twice": {entry("linux/amd64", "2"), version(entry("linux/amd64", "2"), "10"), entry("linux/amd64", "1")},
		"and another platform, later":   {entry("linux/arm64", "3"), entry("linux/arm64", "4"), entry("linux/amd64", "2"), entry("linux/amd64", "1")},
	} {
		for range 2 {
			slices.Reverse(entries)
			d := parse(t, "", index(entries...))
			offers, err := d.Index.Offers()
			var ambiguous *AmbiguousPlatformError
			want := AmbiguousPlatformError{d.Digest, addr.Platform{OS: "linux", Arch: "amd64"}, [2]addr.Digest{digest("1"), digest("2")}}
			if offers != nil || !errors.As(err, &ambiguous) || *ambiguous != want {
				t.Errorf("%s: %v %v", name, offers, err)
			}
			checkOffers(t, d.Index)
		}
	}
}

func TestNestedIndexIsRefused(t *testing.T) {
	for _, mediaType := range []string{MediaTypeOCIIndex, MediaTypeDockerIndex} {
		for name, nested := range map[string]object{"with platform": entry("linux/arm64", "2"), "without": descriptor("", "2")} {
			x := parse(t, "", index(entry("linux/amd64", "1"), nested.with(object{"mediaType": mediaType}))).Index
			var refused *DocumentError
			if offers, err := x.Offers(); offers != nil || !errors.As(err, &refused) {
				t.Errorf("%s %s: %v %v", mediaType, name, offers, err)
			}
		}
	}
}

func TestBest(t *testing.T) {
	offers := func(platforms ...string) (all []Child) {
		for _, p := range platforms {
			parsed, err := addr.ParsePlatform(p)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, Child{Platform: parsed})
		}
		return all
	}
	for _, test := range []struct {
		offers     []Child
		want, best string // "": none
	}{
		{offers("linux/amd64", "linux/arm64"), "linux/arm64", "linux/arm64"},
		{offers("linux/arm/v6", "linux/arm/v7"), "linux/arm/v7", "linux/arm/v7"},
		{offers("linux/arm/v5", "linux/arm/v6"), "linux/arm/v7", "linux/arm/v6"},
		{offers("linux/arm/v7"), "linux/arm/v6", ""},
		{offers("linux/arm/v7"), "linux/arm64", ""},
		{offers("linux/amd64"), "linux/amd64/v3", "linux/amd64"},
		{offers("linux/amd64/v3"), "linux/amd64", ""},
		{offers("linux/amd64"), "darwin/amd64", ""},
		{nil, "linux/amd64", ""},
	} {
		want, err := addr.ParsePlatform(test.want)
		if err != nil {
			t.Fatal(err)
		}
		best, ok := Best(test.offers, want)
		if ok != (test.best != "") || ok && best.Platform.String() != test.best {
			t.Errorf("%s of %v: %v %v", test.want, test.offers, best, ok)
		}
	}
}
