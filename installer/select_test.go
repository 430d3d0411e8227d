package installer

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/getter"
	"github.com/pluginlock/plugins/internal/imagetest"
	"github.com/pluginlock/plugins/lock"
)

func TestCandidatesAreSortedAndJoined(t *testing.T) {
	tags := []string{"1.10.0", "latest", "v1.9.0", "1.9.0", "1.2", "2.0.0", "1.11.0-rc.1", "1.9.0_7"}
	for range 20 {
		candidates, stats := Candidates(constraintOf(">= 1.9.0, < 2.0.0"), tags)
		got := fmt.Sprint(candidates)
		if want := "[{1.10.0 [1.10.0]} {1.9.0 [1.9.0 v1.9.0]}]"; got != want {
			t.Fatalf("candidates of %v: %s, want %s", tags, got, want)
		}
		want := TagStats{Tags: 8, Releases: 4, Prereleases: 1, Builds: 1, Newest: must(addr.ParseVersion("2.0.0"))}
		if stats != want {
			t.Fatalf("stats %+v, want %+v", stats, want)
		}
		slices.Reverse(tags)
		tags = append(tags[3:], tags[:3]...)
	}
}

func TestNewestReleaseBeatsNewerPrerelease(t *testing.T) {
	for _, tags := range [][]string{{"1.0.0", "2.0.0-rc.1"}, {"2.0.0-rc.1", "1.0.0"}} {
		if _, stats := Candidates(constraintOf("9.9.9"), tags); stats.Newest.String() != "1.0.0" {
			t.Errorf("newest of %v is %s", tags, stats.Newest)
		}
	}
}

func TestKeptEntryAsksNobody(t *testing.T) {
	r := newRig(t)
	r.publish(awsSource, "1.2.0")
	r.require(requirement("aws", awsSource, "~> 1.2"))
	r.mustInit()
	r.publish(awsSource, "1.2.9")
	before := len(r.registry.requests())
	plan := r.mustInit()
	if !plan.Empty() || len(r.registry.requests()) != before {
		t.Errorf("a second init asked for %v", r.registry.requests()[before:])
	}
	if got := r.locked("aws").Version.String(); got != "1.2.0" {
		t.Errorf("locked %s", got)
	}
}

func TestLockHasAllPlatformsFromAnnotations(t *testing.T) {
	r := newRig(t)
	im := r.publishPlugin(awsSource, "1.2.0", imagetest.Plugin{Name: "aws", Version: "1.2.0", Protocols: []int{5, 6}})
	r.require(requirement("aws", awsSource, "1.2.0"))
	r.mustInit()
	entry := r.locked("aws")
	if len(entry.Platforms) != len(imagetest.DefaultPlatforms) || fmt.Sprint(entry.Protocols) != "[5 6]" {
		t.Fatalf("locked %+v", entry)
	}
	for _, p := range entry.Platforms {
		if want := im.ExecutableDigest(p.Platform.String()); p.ExecutableDigest != want {
			t.Errorf("%s: locked %s, want %s", p.Platform, p.ExecutableDigest, want)
		}
	}
	var layers int
	for _, asked := range r.registry.requests() {
		if strings.HasPrefix(asked, "tags") {
			t.Errorf("an exact version listed the tags")
		}
		if strings.Contains(asked, im.Payload("linux/arm64").String()) {
			layers++
		}
	}
	if layers != 0 {
		t.Errorf("the payload of another platform was downloaded")
	}
}

// C16: a platform that is not offered is an error that says what is.
func TestC16PlatformNotOffered(t *testing.T) {
	r := newRig(t)
	r.publishPlugin(awsSource, "1.1.0", imagetest.Plugin{Name: "aws", Version: "1.1.0", Platforms: []string{"linux/amd64", "linux/arm64"}})
	r.publishPlugin(awsSource, "1.2.0", imagetest.Plugin{Name: "aws", Version: "1.2.0", Platforms: []string{"linux/amd64", "darwin/amd64"}})
	r.require(requirement("aws", awsSource, "~> 1.0"))
	for target, newest := range map[string]string{"linux/arm64": "1.1.0", "darwin/arm64": ""} {
		r.project.Targets = []addr.Platform{platform(target)}
		_, err := r.init()
		var missing *NotOfferedError
		if !errors.As(err, &missing) {
			t.Fatalf("%s: %v", target, err)
		}
		if missing.Newest.String() != newest || fmt.Sprint(missing.Offered) != "[darwin/amd64 linux/amd64]" {
			t.Errorf("%s: %+v", target, missing)
		}
		unchanged(t, r)
	}
}

func TestRequirementsOwnPlatformsSkip(t *testing.T) {
	r := newRig(t)
	r.publish(awsSource, "1.2.0")
	req := requirement("aws", awsSource, "~> 1.0")
	req.Platforms, req.OnlyPlatforms = []addr.Platform{platform("darwin/arm64")}, true
	r.require(req)
	plan := r.mustInit()
	if plan.Items[0].Action != ActionSkip {
		t.Errorf("action %q", plan.Items[0].Action)
	}
	r.locked("aws")
}

// C18 c: the missing platform comes from the locked index, the rest stays.
func TestC18CompletesFromTheLockedIndex(t *testing.T) {
	r := newRig(t)
	r.publish(awsSource, "1.2.0")
	r.require(requirement("aws", awsSource, "~> 1.2"))
	r.mustInit()
	whole := r.locked("aws")
	entry := whole
	entry.Platforms = slices.DeleteFunc(slices.Clone(whole.Platforms), func(p lock.Platform) bool { return p.Platform.OS != "darwin" })
	r.project.Lock = &lock.File{}
	r.project.Lock.Set(entry)
	r.publish(awsSource, "1.3.0")

	r.project.Mode = Locked
	_, err := r.init()
	var differs *DifferenceError
	if !errors.As(err, &differs) || !strings.Contains(err.Error(), "linux/amd64") {
		t.Fatalf("--locked: %v", err)
	}
	r.project.Mode = Keep
	plan := r.mustInit()
	if got := r.locked("aws"); !got.Equal(whole) {
		t.Errorf("completed to %+v, want %+v", got, whole)
	}
	if len(plan.Changes) != 1 || !strings.Contains(plan.Changes[0].String(), "linux/amd64") {
		t.Errorf("changes: %v", plan.Changes)
	}
}

func TestRenameKeepsVersionAndDigest(t *testing.T) {
	r := newRig(t)
	r.publish(awsSource, "1.2.0")
	r.require(requirement("aws", awsSource, "~> 1.2"))
	r.mustInit()
	before := r.locked("aws")
	r.publish(awsSource, "1.2.9")
	asked := len(r.registry.requests())
	r.require(requirement("amazon", awsSource, "~> 1.2"))
	r.mustInit()
	after := r.locked("amazon")
	after.Name = "aws"
	if !after.Equal(before) || len(r.project.Lock.Entries) != 1 || len(r.registry.requests()) != asked {
		t.Errorf("renamed to %+v, asked %v", after, r.registry.requests()[asked:])
	}
}

func TestChangedSourceTriesTheLockedVersionFirst(t *testing.T) {
	r := newRig(t)
	const other = "other.example.com/plugins/aws"
	r.publish(awsSource, "1.2.0")
	r.publish(other, "1.2.0", "1.2.5")
	r.require(requirement("aws", awsSource, "~> 1.2"))
	r.mustInit()
	r.require(requirement("aws", other, "~> 1.2"))
	r.mustInit()
	if e := r.locked("aws"); e.Version.String() != "1.2.0" || e.Source.String() != other {
		t.Errorf("locked %s %s", e.Source, e.Version)
	}
}

func TestProtocolsAndPlatformsPassOverVersions(t *testing.T) {
	r := newRig(t)
	r.publishPlugin(awsSource, "1.1.0", imagetest.Plugin{Name: "aws", Version: "1.1.0", Protocols: []int{5}})
	r.publishPlugin(awsSource, "1.2.0", imagetest.Plugin{Name: "aws", Version: "1.2.0", Protocols: []int{6}})
	r.publishPlugin(awsSource, "1.3.0", imagetest.Plugin{Name: "aws", Version: "1.3.0", Protocols: []int{5}, Platforms: []string{"linux/amd64"}})
	req := requirement("aws", awsSource, "~> 1.0")
	req.Protocols, req.Platforms = []int{4, 5}, []addr.Platform{platform("linux/arm64")}
	r.require(req)
	plan := r.mustInit()
	want := []string{"1.3.0: it is not offered for linux/arm64", "1.2.0: it speaks protocol 6, not 4, 5", "1.1.0: "}
	for i, c := range plan.Items[0].Considered {
		if got := c.Version.String() + ": " + c.Reason; i >= len(want) || got != want[i] {
			t.Errorf("considered %q, want %q", got, want)
		}
	}
	if r.locked("aws").Version.String() != "1.1.0" {
		t.Errorf("locked %s", r.locked("aws").Version)
	}
}

func TestGivesUpAfterTwenty(t *testing.T) {
	r := newRig(t)
	for i := range 25 {
		v := fmt.Sprintf("1.%d.0", i)
		r.publishPlugin(awsSource, v, imagetest.Plugin{Name: "aws", Version: v, Protocols: []int{7}})
	}
	req := requirement("aws", awsSource, "~> 1.0")
	req.Protocols = []int{5}
	r.require(req)
	_, err := r.init()
	var unsuitable *UnsuitableError
	if !errors.As(err, &unsuitable) || len(unsuitable.Considered) != maxSkipped || !unsuitable.More {
		t.Fatalf("%v", err)
	}
	unchanged(t, r)
}

func TestSpellingsWithDifferentImagesAreAnError(t *testing.T) {
	for _, order := range [][]string{{"1.2.0", "v1.2.0"}, {"v1.2.0", "1.2.0"}} {
		for _, constraint := range []string{"~> 1.2", "1.2.0"} {
			r := newRig(t)
			for i, tag := range order {
				r.publishPlugin(awsSource, tag, imagetest.Plugin{Name: "aws", Version: "1.2.0", BuildID: fmt.Sprint(i)})
			}
			r.require(requirement("aws", awsSource, constraint))
			_, err := r.init()
			var spellings *SpellingsError
			if !errors.As(err, &spellings) || spellings.Tags != [2]string{"1.2.0", "v1.2.0"} {
				t.Errorf("%v, %s: %v", order, constraint, err)
			}
			unchanged(t, r)
		}
	}
}

func TestVTagsAreRecorded(t *testing.T) {
	for _, constraint := range []string{"~> 1.2", "1.2.0"} {
		r := newRig(t)
		r.publish(awsSource, "v1.2.0")
		r.require(requirement("aws", awsSource, constraint))
		r.mustInit()
		if e := r.locked("aws"); e.Version.String() != "1.2.0" || e.Tag != "v1.2.0" {
			t.Errorf("%s: locked version %s, tag %q", constraint, e.Version, e.Tag)
		}
	}
}

func TestRegistryFaultNeverSelectsAnOlderVersion(t *testing.T) {
	r := newRig(t)
	r.publish(awsSource, "1.2.0")
	r.require(requirement("aws", awsSource, "~> 1.2"))
	r.registry.down = fmt.Errorf("%w: 503", getter.ErrServer)
	if _, err := r.init(); !errors.Is(err, getter.ErrServer) {
		t.Fatalf("%v", err)
	}
	unchanged(t, r)
}

func TestUpdateRules(t *testing.T) {
	tests := []struct {
		name, constraint string
		named, accept    bool
		change           func(*rig)
		want             string // version, then " new" where the digest changed; or an error
		warns            bool
	}{
		{"newer", "~> 1.2", false, false, func(r *rig) { r.publish(awsSource, "1.2.9") }, "1.2.9 new", false},
		{"nothing new", "~> 1.2", true, false, func(*rig) {}, "1.2.0", false},
		{"lost", "~> 1.1", false, false, func(r *rig) {
			r.publish(awsSource, "1.1.0")
			repo := r.registry.repos[sourceOf(awsSource)]
			repo.content = append(repo.content, repo.tags["1.2.0"])
			delete(repo.tags, "1.2.0")
			repo.order = []string{"1.1.0"}
		}, "1.2.0", true},
		{"republished, all", "~> 1.2", false, false, republish, "1.2.0", true},
		{"republished, named", "~> 1.2", true, false, republish, "published again", false},
		{"republished, accepted", "~> 1.2", true, true, republish, "1.2.0 new", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			r.publish(awsSource, "1.2.0")
			r.require(requirement("aws", awsSource, test.constraint))
			r.mustInit()
			before := r.locked("aws")
			test.change(r)
			r.project.Mode, r.project.AcceptRepublished = Update, test.accept
			if test.named {
				r.project.Names = []string{"aws"}
			}
			plan, err := r.init()
			if err != nil {
				if !strings.Contains(err.Error(), test.want) {
					t.Errorf("%v, want %q", err, test.want)
				}
				return
			}
			after := r.locked("aws")
			got := after.Version.String()
			if after.Digest != before.Digest {
				got += " new"
			}
			if got != test.want || (len(plan.Warnings) > 0) != test.warns {
				t.Errorf("got %q with warnings %v, want %q", got, plan.Warnings, test.want)
			}
		})
	}
}

func republish(r *rig) {
	r.publishPlugin(awsSource, "1.2.0", imagetest.Plugin{Name: "aws", Version: "1.2.0", BuildID: "again"})
}

// C27: what is locked is fetched by digest; where it is gone the tag is never
// used in its place.
func TestC27LockedDigestGone(t *testing.T) {
	r := newRig(t)
	r.publish(awsSource, "1.2.0")
	r.require(requirement("aws", awsSource, "~> 1.2"))
	r.mustInit()
	locked := r.project.Lock
	republish(r)

	fresh := newRig(t)
	fresh.registry, fresh.project.Lock, fresh.project.LockAbsent = r.registry, locked, false
	fresh.installer.Open = r.registry.open
	fresh.require(r.project.Requirements...)
	fresh.mustInit()

	r.registry.forget(sourceOf(awsSource))
	gone := newRig(t)
	gone.project.Lock, gone.project.LockAbsent = locked, false
	gone.installer.Open = r.registry.open
	gone.require(r.project.Requirements...)
	_, err := gone.init()
	var missing *GoneError
	if !errors.As(err, &missing) || missing.Tag != "1.2.0" || missing.Now == missing.Digest || missing.Now.IsZero() {
		t.Fatalf("%v", err)
	}
	if _, err := os.Stat(gone.project.InstallDir); err == nil {
		t.Error("something was installed")
	}
}

// unchanged asserts that a failed run left neither lock file nor install
// directory.
func unchanged(t *testing.T, r *rig) {
	t.Helper()
	for _, path := range []string{r.project.LockPath, r.project.InstallDir} {
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is there after a failure", path)
		}
	}
}
