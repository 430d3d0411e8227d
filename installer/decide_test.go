package installer

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/lock"
)

// digest is a digest that is told by one hexadecimal digit.
func digest(digit string) addr.Digest { return addr.Digest("sha256:" + strings.Repeat(digit, 64)) }

func versionOf(s string) addr.Version { return must(addr.ParseVersion(s)) }

// entry is the lock entry of a plugin image; it has what requirement asks for.
func entry(name, source, version string, platforms ...string) lock.Entry {
	e := lock.Entry{Name: name, Source: sourceOf(source), Version: versionOf(version), Digest: digest("1"), Protocols: []int{5, 6}}
	for _, p := range platforms {
		e.Platforms = append(e.Platforms, lock.Platform{Platform: platform(p), Manifest: digest("2"), ExecutableDigest: digest("3")})
	}
	return e
}

func fileOf(entries ...lock.Entry) *lock.File {
	f := &lock.File{}
	for _, e := range entries {
		f.Set(e)
	}
	return f
}

func platforms(texts ...string) (all []addr.Platform) {
	for _, text := range texts {
		all = append(all, platform(text))
	}
	return all
}

const otherSource = "registry.example.com/plugins/other"

// TestDecide: one requirement against one lock entry.
func TestDecide(t *testing.T) {
	for name, test := range map[string]struct {
		req     func(*Requirement)
		project func(*Project)
		verb    verb
		reason  string // part of it; "" is none
		prefer  string
	}{
		"kept":              {verb: keep},
		"nothing is locked": {project: func(p *Project) { p.Lock = fileOf() }, verb: resolve, reason: "it is not in the lock file"},
		"constraint": {req: func(r *Requirement) { r.Constraint = constraintOf("~> 2.0") }, verb: resolve,
			reason: `constraint "~> 2.0" does not admit the locked version 1.2.0`},
		"source": {req: func(r *Requirement) { r.Source = sourceOf(otherSource) }, verb: resolve, reason: "the lock file has it from " + awsSource, prefer: "1.2.0"},
		"source and constraint": {req: func(r *Requirement) { r.Source, r.Constraint = sourceOf(otherSource), constraintOf("~> 2.0") },
			verb: resolve, reason: "the lock file has it from", prefer: "1.2.0"},
		"executable":          {req: func(r *Requirement) { r.Executable.Path = "/bin/aws" }, verb: resolve, reason: "its executable is not the one in the lock file"},
		"a platform is asked": {req: func(r *Requirement) { r.Platforms = platforms("linux/s390x") }, verb: resolve, reason: "the lock file has no linux/s390x of version 1.2.0"},
		"protocols":           {req: func(r *Requirement) { r.Protocols = []int{7} }, verb: resolve, reason: "speaks protocol 5, 6, not 7"},

		"another target": {project: func(p *Project) { p.Targets = platforms("linux/amd64", "darwin/arm64") }, verb: complete,
			reason: "the lock file has no darwin/arm64 of version 1.2.0"},
		"a target that the requirement excludes": {
			req:     func(r *Requirement) { r.Platforms, r.OnlyPlatforms = platforms("linux/amd64"), true },
			project: func(p *Project) { p.Targets = platforms("darwin/arm64") }, verb: keep},
		"a target that only the project's platforms leave out": {
			req:     func(r *Requirement) { r.Platforms = platforms("linux/amd64") },
			project: func(p *Project) { p.Targets = platforms("darwin/arm64") }, verb: complete, reason: "no darwin/arm64"},
		"a target that runs what is locked": {project: func(p *Project) { p.Targets = platforms("linux/amd64/v3") }, verb: keep},

		"update of all":           {project: func(p *Project) { p.Mode = Update }, verb: resolve, reason: "an update was asked for"},
		"update by name":          {project: func(p *Project) { p.Mode, p.Names = Update, []string{"x", "aws"} }, verb: resolve, reason: "an update was asked for"},
		"update of another":       {project: func(p *Project) { p.Mode, p.Names = Update, []string{"x"} }, verb: keep},
		"names without an update": {project: func(p *Project) { p.Names = []string{"aws"} }, verb: keep},
		"locked":                  {project: func(p *Project) { p.Mode = Locked }, verb: keep},
		"update that must be made anyway": {req: func(r *Requirement) { r.Source = sourceOf(otherSource) },
			project: func(p *Project) { p.Mode = Update }, verb: resolve, reason: "the lock file has it from", prefer: "1.2.0"},

		"override": {project: func(p *Project) { p.Overrides = map[string]string{"aws": "/build/aws"} }, verb: keep},
		"override of what does not fit": {req: func(r *Requirement) { r.Constraint = constraintOf("~> 2.0") },
			project: func(p *Project) { p.Overrides = map[string]string{"aws": "/build/aws"} }, verb: keep},
		"override of what is not locked": {
			project: func(p *Project) { p.Lock, p.Overrides = fileOf(), map[string]string{"aws": "/build/aws"} }, verb: keep},
		"override of another": {project: func(p *Project) { p.Lock, p.Overrides = fileOf(), map[string]string{"x": "/build/x"} },
			verb: resolve, reason: "it is not in the lock file"},
	} {
		req := requirement("aws", awsSource, "~> 1.2")
		if test.req != nil {
			test.req(&req)
		}
		project := Project{
			Requirements: []Requirement{req}, Targets: platforms("linux/amd64"),
			Lock: fileOf(entry("aws", awsSource, "1.2.0", "linux/amd64", "linux/arm64"), entry("unrelated", otherSource, "9.0.0", "linux/amd64")),
		}
		if test.project != nil {
			test.project(&project)
		}
		before := project.Lock.Clone()
		got := decide(&project)
		if len(got) != 1 || got[0].verb != test.verb || (got[0].reason == "") != (test.reason == "") || !strings.Contains(got[0].reason, test.reason) {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		if prefer := got[0].prefer; prefer.IsZero() != (test.prefer == "") || test.prefer != "" && prefer != versionOf(test.prefer) {
			t.Errorf("%s: prefers %s", name, prefer)
		}
		if !project.Lock.Equal(before) {
			t.Errorf("%s: deciding changed the lock file", name)
		}
	}
}

// TestFind: which entry belongs to a requirement, also after a rename.
func TestFind(t *testing.T) {
	aws := requirement("aws", awsSource, "~> 1.2")
	for name, test := range map[string]struct {
		others []Requirement
		locked []lock.Entry
		want   string // the name of the entry
		reason string
	}{
		"nothing is locked":           {},
		"by name":                     {locked: []lock.Entry{entry("aws", awsSource, "1.2.0")}, want: "aws"},
		"by name, from elsewhere":     {locked: []lock.Entry{entry("aws", otherSource, "1.2.0")}, want: "aws"},
		"by name before by source":    {locked: []lock.Entry{entry("aws", otherSource, "1.2.0"), entry("old", awsSource, "1.2.0")}, want: "aws"},
		"renamed":                     {locked: []lock.Entry{entry("old", awsSource, "1.2.0")}, want: "old", reason: `it was called "old"`},
		"orphan of another source":    {locked: []lock.Entry{entry("old", otherSource, "1.2.0")}},
		"two orphans of the source":   {locked: []lock.Entry{entry("old", awsSource, "1.2.0"), entry("older", awsSource, "1.1.0")}},
		"the other one is required":   {others: []Requirement{requirement("two", awsSource, "1.2.0")}, locked: []lock.Entry{entry("two", awsSource, "1.2.0")}},
		"one of two is still in use":  {others: []Requirement{requirement("two", awsSource, "1.2.0")}, locked: []lock.Entry{entry("old", awsSource, "1.1.0"), entry("two", awsSource, "1.2.0")}, want: "old", reason: `it was called "old"`},
		"renamed, beside a new one":   {others: []Requirement{requirement("new", otherSource, "1.2.0")}, locked: []lock.Entry{entry("old", awsSource, "1.2.0")}, want: "old", reason: `it was called "old"`},
		"required from another place": {others: []Requirement{requirement("old", otherSource, "1.2.0")}, locked: []lock.Entry{entry("old", awsSource, "1.2.0")}},
	} {
		found, reason := find(aws, append(test.others, aws), fileOf(test.locked...))
		got := ""
		if found != nil {
			got = found.Name
		}
		if got != test.want || reason != test.reason {
			t.Errorf("%s: %q because %q", name, got, reason)
		}
	}
}

// TestDecideSharesAnOrphan: two new names for one source both go on with what
// one old name leaves behind; there is no telling which of them it was.
func TestDecideSharesAnOrphan(t *testing.T) {
	project := Project{
		Requirements: []Requirement{requirement("a", awsSource, "~> 1.2"), requirement("b", awsSource, "~> 1.2")},
		Targets:      platforms("linux/amd64"), Lock: fileOf(entry("old", awsSource, "1.2.0", "linux/amd64")),
	}
	for _, d := range decide(&project) {
		if d.verb != keep || d.entry.Name != "old" {
			t.Errorf("%+v", d)
		}
	}
}

func TestUnfit(t *testing.T) {
	velero := addr.Executable{Path: "/plugins/velero"}
	for name, test := range map[string]struct {
		req    func(*Requirement)
		entry  func(*lock.Entry)
		reason string
	}{
		"fits":                           {},
		"exact version":                  {req: func(r *Requirement) { r.Constraint = constraintOf("1.2.0") }},
		"another exact version":          {req: func(r *Requirement) { r.Constraint = constraintOf("1.2.1") }, reason: "does not admit"},
		"locked pre-release":             {entry: func(e *lock.Entry) { e.Version = versionOf("1.3.0-rc.1") }, reason: "does not admit"},
		"locked pre-release that may be": {req: func(r *Requirement) { r.Constraint = constraintOf(">= 1.3.0-rc.1") }, entry: func(e *lock.Entry) { e.Version = versionOf("1.3.0-rc.1") }},
		"source first":                   {req: func(r *Requirement) { r.Source, r.Constraint = sourceOf(otherSource), constraintOf("9.0.0") }, reason: "has it from"},
		"executable of a foreign image":  {req: func(r *Requirement) { r.Executable = velero }, entry: func(e *lock.Entry) { e.Executable = velero }},
		"executable was taken out":       {entry: func(e *lock.Entry) { e.Executable = velero }, reason: "its executable"},
		"executable changed its form": {req: func(r *Requirement) { r.Executable = velero }, entry: func(e *lock.Entry) {
			e.Executable.ByPlatform = map[addr.Platform]string{platform("linux/amd64"): velero.Path}
		}, reason: "its executable"},
		"platforms are offered":           {req: func(r *Requirement) { r.Platforms = platforms("linux/arm64", "linux/amd64") }},
		"an older variant is offered":     {req: func(r *Requirement) { r.Platforms = platforms("linux/amd64/v3") }},
		"a newer variant is not an older": {req: func(r *Requirement) { r.Platforms = platforms("linux/amd64") }, entry: func(e *lock.Entry) { e.Platforms = entry("x", awsSource, "1.2.0", "linux/amd64/v3").Platforms }, reason: "has no linux/amd64 of"},
		"the second platform is not":      {req: func(r *Requirement) { r.Platforms = platforms("linux/amd64", "linux/s390x") }, reason: "has no linux/s390x of"},
		"a protocol in common":            {req: func(r *Requirement) { r.Protocols = []int{4, 5} }},
		"no protocol in common":           {req: func(r *Requirement) { r.Protocols = []int{4} }, reason: "speaks protocol 5, 6, not 4"},
		"no protocols declared":           {req: func(r *Requirement) { r.Protocols = []int{4} }, entry: func(e *lock.Entry) { e.Protocols = nil }},
	} {
		req, locked := requirement("aws", awsSource, "~> 1.2"), entry("aws", awsSource, "1.2.0", "linux/amd64", "linux/arm64")
		if test.req != nil {
			test.req(&req)
		}
		if test.entry != nil {
			test.entry(&locked)
		}
		if got := unfit(req, &locked); (got == "") != (test.reason == "") || !strings.Contains(got, test.reason) {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := unfit(Requirement{}, nil); got != "" {
		t.Errorf("without an entry: %q", got)
	}
}

// TestSupersede: an update goes forward only, unless the requirement leaves no
// other way.
func TestSupersede(t *testing.T) {
	const locked, found = "locked", "found"
	for name, test := range map[string]struct {
		found           func(*lock.Entry)
		req             func(*Requirement)
		unlocked        bool
		named, accept   bool
		want            string // which entry; "" is none
		warning, failed string // type of the error
	}{
		"newer":                        {found: func(e *lock.Entry) { e.Version = versionOf("1.3.0") }, want: found},
		"the same":                     {want: found},
		"older":                        {found: func(e *lock.Entry) { e.Version = versionOf("1.1.0") }, want: locked, warning: "*installer.OlderError"},
		"older, named":                 {found: func(e *lock.Entry) { e.Version = versionOf("1.1.0") }, named: true, want: locked, warning: "*installer.OlderError"},
		"older, accepting republished": {found: func(e *lock.Entry) { e.Version = versionOf("1.1.0") }, named: true, accept: true, want: locked, warning: "*installer.OlderError"},
		"older by pre-release":         {found: func(e *lock.Entry) { e.Version = versionOf("1.2.0-rc.1") }, want: locked, warning: "*installer.OlderError"},
		"older, as demanded": {found: func(e *lock.Entry) { e.Version = versionOf("1.1.0") },
			req: func(r *Requirement) { r.Constraint = constraintOf("~> 1.1.0") }, want: found},
		"older, from elsewhere": {found: func(e *lock.Entry) { e.Version = versionOf("1.1.0") },
			req: func(r *Requirement) { r.Source = sourceOf(otherSource) }, want: found},
		"nothing was locked":              {unlocked: true, want: found},
		"republished":                     {found: func(e *lock.Entry) { e.Digest = digest("9") }, want: locked, warning: "*installer.RepublishedError"},
		"republished, named":              {found: func(e *lock.Entry) { e.Digest = digest("9") }, named: true, failed: "*installer.RepublishedError"},
		"republished, named and accepted": {found: func(e *lock.Entry) { e.Digest = digest("9") }, named: true, accept: true, want: found},
		"newer with another digest":       {found: func(e *lock.Entry) { e.Version, e.Digest = versionOf("1.3.0"), digest("9") }, named: true, want: found},
	} {
		have := entry("aws", awsSource, "1.2.0", "linux/amd64")
		next := &Resolution{Entry: entry("aws", awsSource, "1.2.0", "linux/amd64")}
		d := decision{req: requirement("aws", awsSource, "~> 1.0"), entry: &have}
		if test.found != nil {
			test.found(&next.Entry)
		}
		if test.req != nil {
			test.req(&d.req)
		}
		if test.unlocked {
			d.entry = nil
		}
		got, warning, err := supersede(d, next, test.named, test.accept)
		want := map[string]*lock.Entry{locked: &have, found: &next.Entry}[test.want]
		if got != want || typeOf(warning) != test.warning || typeOf(err) != test.failed {
			t.Errorf("%s: %v, warning %v, error %v", name, got, warning, err)
		}
		var republished *RepublishedError
		if errors.As(errors.Join(warning, err), &republished) {
			if *republished != (RepublishedError{Version: have.Version, Locked: digest("1"), Found: digest("9"), Kept: !test.named}) {
				t.Errorf("%s: %+v", name, republished)
			}
		}
	}
}

// typeOf names the type of an error, "" for none.
func typeOf(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprintf("%T", err)
}

// TestRelock: the lock file that follows from the items, and what of it is news.
func TestRelock(t *testing.T) {
	aws, gcp := entry("aws", awsSource, "1.2.0", "linux/amd64"), entry("gcp", otherSource, "2.0.0", "linux/amd64")
	newer, renamedTo, more := aws, gcp, entry("aws", awsSource, "1.2.0", "linux/amd64", "linux/arm64")
	newer.Version, renamedTo.Name = versionOf("1.3.0"), "google"
	same := aws
	for name, test := range map[string]struct {
		items   []Item
		left    []lock.Entry
		lock    []lock.Entry
		changes []string
		names   []string // of the items afterwards
	}{
		"nothing":            {},
		"kept":               {items: []Item{{Name: "aws", Entry: &aws, Previous: &aws, Reason: "x"}}, lock: []lock.Entry{aws}, names: []string{"aws"}},
		"resolved to itself": {items: []Item{{Name: "aws", Entry: &same, Previous: &aws, Reason: "x"}}, lock: []lock.Entry{aws}, names: []string{"aws"}},
		"new": {items: []Item{{Name: "aws", Entry: &aws, Reason: "it is new"}}, lock: []lock.Entry{aws},
			changes: []string{"aws (" + awsSource + "): add 1.2.0: it is new"}, names: []string{"aws"}},
		"changed": {items: []Item{{Name: "aws", Entry: &newer, Previous: &aws, Reason: "an update was asked for"}}, lock: []lock.Entry{newer},
			changes: []string{"aws (" + awsSource + "): 1.2.0 to 1.3.0: an update was asked for"}, names: []string{"aws"}},
		"platform added": {items: []Item{{Name: "aws", Entry: &more, Previous: &aws, Reason: "it lacks linux/arm64"}}, lock: []lock.Entry{more},
			changes: []string{"aws (" + awsSource + "): it lacks linux/arm64"}, names: []string{"aws"}},
		"renamed": {items: []Item{{Name: "google", Entry: &renamedTo, Previous: &gcp, Reason: `it was called "gcp"`}}, lock: []lock.Entry{renamedTo},
			changes: []string{"google (" + otherSource + `): it was called "gcp"`}, names: []string{"google"}},
		"local and never locked": {items: []Item{{Name: "aws", Override: "/build/aws"}}, names: []string{"aws"}},
		"left over, in order of names": {
			items: []Item{{Name: "gcp", Entry: &gcp, Reason: "it is new"}}, left: []lock.Entry{aws, entry("zzz", awsSource, "3.0.0", "linux/amd64")},
			lock: []lock.Entry{gcp}, names: []string{"aws", "gcp", "zzz"},
			changes: []string{"aws (" + awsSource + "): remove 1.2.0: it is in the lock file, but the configuration does not require it",
				"gcp (" + otherSource + "): add 2.0.0: it is new",
				"zzz (" + awsSource + "): remove 3.0.0: it is in the lock file, but the configuration does not require it"}},
	} {
		plan := &Plan{Items: slices.Clone(test.items)}
		plan.relock(test.left)
		var changes, names []string
		for _, c := range plan.Changes {
			changes = append(changes, c.String())
		}
		for _, item := range plan.Items {
			names = append(names, item.Name)
			if gone := slices.ContainsFunc(test.left, func(e lock.Entry) bool { return e.Name == item.Name }); gone != (item.Action == ActionRemove) {
				t.Errorf("%s: %s is to be %q", name, item.Name, item.Action)
			}
		}
		if !plan.Lock.Equal(fileOf(test.lock...)) || !reflect.DeepEqual(changes, test.changes) || !reflect.DeepEqual(names, test.names) {
			t.Errorf("%s: lock %v\nchanges %q\nitems %v", name, plan.Lock.Entries, changes, names)
		}
		if unchanged := len(test.changes) == 0; unchanged && len(plan.Items) > 0 && plan.Items[0].Reason != "" {
			t.Errorf("%s: a reason for no change: %q", name, plan.Items[0].Reason)
		}
	}
}

func TestOrphans(t *testing.T) {
	aws, old := entry("aws", awsSource, "1.2.0"), entry("old", otherSource, "1.0.0")
	reqs := []Requirement{requirement("aws", awsSource, "~> 1.2"), requirement("new", otherSource, "~> 1.0")}
	for name, test := range map[string]struct {
		decisions []decision
		want      []string
	}{
		"nobody wants it": {[]decision{{entry: &aws}, {}}, []string{"old"}},
		"it was renamed":  {[]decision{{entry: &aws}, {entry: &old}}, nil},
	} {
		var got []string
		for _, e := range orphans(reqs, test.decisions, fileOf(aws, old)) {
			got = append(got, e.Name)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestSameRequirements changes each part once.
func TestSameRequirements(t *testing.T) {
	of := func(change func(*Requirement)) []Requirement {
		r := requirement("aws", awsSource, "~> 1.2")
		change(&r)
		return []Requirement{r}
	}
	plain := of(func(*Requirement) {})
	if !SameRequirements(plain, of(func(r *Requirement) { r.Constraint = constraintOf(" ~>1.2 ") })) {
		t.Error("another spelling of one constraint")
	}
	for name, other := range map[string][]Requirement{
		"fewer": nil, "more": append(slices.Clone(plain), plain...),
		"name": of(func(r *Requirement) { r.Name = "gcp" }), "source": of(func(r *Requirement) { r.Source = sourceOf(otherSource) }),
		"constraint": of(func(r *Requirement) { r.Constraint = constraintOf("~> 1.3") }), "protocols": of(func(r *Requirement) { r.Protocols = []int{5} }),
		"executable": of(func(r *Requirement) { r.Executable.Path = "/bin/aws" }), "platforms": of(func(r *Requirement) { r.Platforms = platforms("linux/amd64") }),
		"whose platforms": of(func(r *Requirement) { r.OnlyPlatforms = true }),
	} {
		if SameRequirements(plain, other) {
			t.Errorf("%s: taken for the same", name)
		}
	}
}
