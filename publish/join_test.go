package publish

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/registrytest"
)

// jobs are the layouts of three build jobs, and the one of a job that builds
// all: C56 (f).
func jobs(t testing.TB) (each []string, all *Result) {
	t.Helper()
	platforms := []string{"windows/amd64", "linux/amd64", "darwin/arm64"}
	files := map[string]string{}
	metadata := Metadata{Name: "aws", Version: "1.4.2", Protocols: []int{5}}
	for _, p := range platforms {
		files[p+"/aws*"] = native(t, p)
		dir := write(t, t.TempDir(), map[string]string{p + "/aws*": native(t, p)})
		each = append(each, packed1(t, PackageOptions{Dir: dir, Metadata: metadata, Created: time.Unix(1, 0)}).Layout)
	}
	return each, packed1(t, PackageOptions{Dir: write(t, t.TempDir(), files), Metadata: metadata, Created: time.Unix(1, 0)})
}

func TestJoin(t *testing.T) {
	each, all := jobs(t)
	slices.Sort(each)
	for range 3 {
		each = append(each[1:], each[0])
		out := filepath.Join(t.TempDir(), "layout")
		joined, err := Join(context.Background(), JoinOptions{Layouts: each, Output: out})
		must(t, err)
		if joined.Digest != all.Digest {
			t.Errorf("joined %v gives another digest than one job", each)
		}
		_, c, err := openPlugin(out, "1.4.2")
		must(t, err)
		if !reflect.DeepEqual(c.platforms(), []addr.Platform{{OS: "darwin", Arch: "arm64"}, {OS: "linux", Arch: "amd64"}, {OS: "windows", Arch: "amd64"}}) {
			t.Errorf("platforms are %v", c.platforms())
		}
	}
	again, err := Join(context.Background(), JoinOptions{Layouts: append(each, all.Layout), Output: filepath.Join(t.TempDir(), "layout")})
	must(t, err)
	if again.Digest != all.Digest {
		t.Error("joining what is there already changes the digest")
	}
}

func TestJoinRefuses(t *testing.T) {
	base := versioned(t, "1.4.2", "linux/amd64", "a").Layout
	broken := versioned(t, "1.4.2", "linux/arm64", "a")
	layer := (&layout{dir: broken.Layout}).blobPath(broken.Platforms[0].Layer)
	raw, err := os.ReadFile(layer)
	must(t, err)
	raw[len(raw)/2]++
	must(t, os.WriteFile(layer, raw, 0o644))
	tests := map[string]struct {
		other string
		want  any
	}{
		"other content":     {versioned(t, "1.4.2", "linux/amd64", "b").Layout, new(*PlatformConflictError)},
		"other version":     {versioned(t, "1.4.3", "linux/arm64", "a").Layout, new(*AnnotationConflictError)},
		"no layout":         {t.TempDir(), new(*LayoutError)},
		"a blob is damaged": {broken.Layout, new(*LayoutError)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "layout")
			_, err := Join(context.Background(), JoinOptions{Layouts: []string{base, test.other}, Output: out})
			if !errors.As(err, test.want) {
				t.Errorf("error is %T: %v", err, err)
			}
			if _, err := os.Lstat(out); !os.IsNotExist(err) {
				t.Error("the output is there after an error")
			}
		})
	}
}

func TestPushAddsPlatforms(t *testing.T) {
	each, all := jobs(t)
	r := registrytest.New(t, registrytest.Options{})
	for _, layout := range each {
		o := options(t, r, layout)
		o.AddPlatform = true
		pushed(t, o)
	}
	if complete(t, r, "1.4.2") != all.Digest {
		t.Error("the three pushes do not give what one gives")
	}
	r.Front.Reset()
	o := options(t, r, each[0])
	o.AddPlatform = true
	if result := pushed(t, o); !result.Unchanged || len(writes(r)) != 0 || len(result.Platforms) != 3 {
		t.Errorf("adding again: %+v", result)
	}
	o.AddPlatform = false
	var exists *TagExistsError
	if _, err := Push(t.Context(), o); !errors.As(err, &exists) {
		t.Errorf("without asking for it: %v", err)
	}
	o = options(t, r, versioned(t, "1.4.2", "linux/amd64", "other").Layout)
	o.AddPlatform = true
	var differs *AnnotationConflictError
	if _, err := Push(t.Context(), o); !errors.As(err, &differs) {
		t.Errorf("of another build: %v", err)
	}
	o.Force = true
	if result := pushed(t, o); len(result.Platforms) != 3 || result.Replaced != all.Digest {
		t.Errorf("by force: %+v", result)
	}
	complete(t, r, "1.4.2")
}

// TestPushAddPlatformReadsAgain lets another job write the tag while ours sends
// its blobs: no entry is lost.
func TestPushAddPlatformReadsAgain(t *testing.T) {
	each, all := jobs(t)
	r := registrytest.New(t, registrytest.Options{})
	others := each[1:]
	r.Front.Add(registrytest.Rule{Method: http.MethodPut, Path: "/v2/*/manifests/sha256:*", Func: func(w http.ResponseWriter, q *http.Request, next http.HandlerFunc) {
		if len(others) > 0 && others[0] != "" {
			layout := others[0]
			others[0] = "" // the other job's own requests come here, too
			o := options(t, r, layout)
			o.AddPlatform = true
			if _, err := Push(t.Context(), o); err != nil {
				t.Errorf("the other job: %v", err)
			}
			others = others[1:]
		}
		next(w, q)
	}})
	o := options(t, r, each[0])
	o.AddPlatform = true
	pushed(t, o)
	if len(others) != 0 {
		t.Error("the other jobs did not push meanwhile")
	}
	if complete(t, r, "1.4.2") != all.Digest {
		t.Error("an entry was lost")
	}
}

// TestPushTagChanged does not overwrite what somebody else pushed meanwhile.
func TestPushTagChanged(t *testing.T) {
	r := registrytest.New(t, registrytest.Options{})
	ours, theirs := versioned(t, "1.4.2", "linux/amd64", "a"), versioned(t, "1.4.2", "linux/amd64", "b")
	raced := false
	r.Front.Add(registrytest.Rule{Method: http.MethodPost, Times: 1, Func: func(w http.ResponseWriter, q *http.Request, next http.HandlerFunc) {
		raced = true
		pushed(t, options(t, r, theirs.Layout))
		next(w, q)
	}})
	_, err := Push(t.Context(), options(t, r, ours.Layout))
	var changed *TagChangedError
	if !raced || !errors.As(err, &changed) || changed.Existing != theirs.Digest {
		t.Errorf("error is %v", err)
	}
	if complete(t, r, "1.4.2") != theirs.Digest {
		t.Error("their tag was overwritten")
	}
}

func TestPushMovingTags(t *testing.T) {
	tests := []struct {
		name    string
		have    []string // pushed before, with moving tags
		version string
		want    map[string]string // what the moving tags name afterwards
	}{
		{"first", nil, "1.4.2", map[string]string{"1.4": "1.4.2", "1": "1.4.2", "latest": "1.4.2"}},
		{"pre-release", []string{"1.4.2"}, "1.5.0-rc.1", map[string]string{"1.4": "1.4.2", "1": "1.4.2", "latest": "1.4.2"}},
		{"first is a pre-release", nil, "1.5.0-rc.1", map[string]string{}},
		{"build", []string{"1.4.2"}, "1.4.3+b", map[string]string{"1.4": "1.4.2", "1": "1.4.2", "latest": "1.4.2"}},
		{"patch of an old minor", []string{"1.4.2", "1.5.0"}, "1.4.3", map[string]string{"1.4": "1.4.3", "1.5": "1.5.0", "1": "1.5.0", "latest": "1.5.0"}},
		{"patch of an old major", []string{"1.4.2", "2.0.0"}, "1.4.3", map[string]string{"1.4": "1.4.3", "1": "1.4.3", "2": "2.0.0", "latest": "2.0.0"}},
		{"backwards", []string{"1.4.10"}, "1.4.9", map[string]string{"1.4": "1.4.10", "1": "1.4.10", "latest": "1.4.10"}},
		{"zero", []string{"0.1.0"}, "0.2.0", map[string]string{"0.1": "0.1.0", "0.2": "0.2.0", "0": "0.2.0", "latest": "0.2.0"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := registrytest.New(t, registrytest.Options{})
			digests := map[string]addr.Digest{}
			for _, version := range append(test.have, test.version) {
				v, err := addr.ParseVersion(version)
				must(t, err)
				o := options(t, r, versioned(t, version, "linux/amd64", version).Layout)
				o.Tag, o.MovingTags = v.Tag(), true
				result := pushed(t, o)
				digests[version] = result.Digest
				for _, m := range result.Moving {
					if m.Moved == (m.Why != "") {
						t.Errorf("%s: %+v", version, m)
					}
				}
			}
			for _, tag := range []string{"0", "0.1", "0.2", "1", "1.4", "1.5", "2", "2.0", "latest"} {
				got, err := r.Resolve(repository, tag)
				if want := digests[test.want[tag]]; tag != "2.0" && (got != want || (err == nil) != (want != "")) {
					t.Errorf("%s names %s, want %s", tag, got, test.want[tag])
				}
			}
		})
	}
}

// TestPushMovingTagBehindItsVersion looks at what the moving tag names, not
// only at the tags of versions.
func TestPushMovingTagBehindItsVersion(t *testing.T) {
	r := registrytest.New(t, registrytest.Options{})
	o := options(t, r, versioned(t, "2.0.0", "linux/amd64", "").Layout)
	o.Tag, o.MovingTags = "2.0.0", true
	newer := pushed(t, o).Digest
	must(t, r.Delete(repository, "2.0.0"))
	o = options(t, r, versioned(t, "1.4.2", "linux/amd64", "").Layout)
	o.MovingTags = true
	pushed(t, o)
	if got, err := r.Resolve(repository, "latest"); err != nil || got != newer {
		t.Errorf("latest names %s, %v", got, err)
	}
}

// TestPushMovingTagsThatAreNotThere are not made for an old version either.
func TestPushMovingTagsThatAreNotThere(t *testing.T) {
	r := registrytest.New(t, registrytest.Options{})
	o := options(t, r, versioned(t, "1.5.0", "linux/amd64", "").Layout)
	o.Tag = "1.5.0"
	pushed(t, o)
	o = options(t, r, versioned(t, "1.4.2", "linux/amd64", "").Layout)
	o.MovingTags = true
	if got := pushed(t, o).Moving; !got[0].Moved || got[1].Moved || got[2].Moved {
		t.Errorf("moving tags: %+v", got)
	}
	for _, tag := range []string{"1", "latest"} {
		if _, err := r.Resolve(repository, tag); err == nil {
			t.Errorf("%s was made", tag)
		}
	}
}
