package installer

import (
	"cmp"
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/installdir"
	"github.com/pluginlock/plugins/lock"
)

// Project is what one run is about.
type Project struct {
	Requirements []Requirement // by name, each name once
	Lock         *lock.File    // as read; empty where there is none
	LockAbsent   bool
	LockPath     string

	Mode              Mode
	Names             []string // for Update: which; empty is all
	AcceptRepublished bool     // for Update of named plugins: take a new digest of the same version

	// Targets are the platforms to install for, never empty. One of them is
	// linked into the install directory; several only fill the store.
	Targets    []addr.Platform
	InstallDir string
	LinkMode   installdir.LinkMode
	LockOnly   bool              // leave the install directory and the store alone
	Overrides  map[string]string // name → path of a local program used instead, for this run
}

// Action says what happens to a plugin in the install directory, or in the lock
// file where nothing is installed.
type Action string

// The actions, as results and messages spell them.
const (
	ActionKeep    Action = "keep"
	ActionInstall Action = "install"
	ActionChange  Action = "change"
	ActionRemove  Action = "remove"
	ActionSkip    Action = "skip" // the requirement excludes this platform
)

// Plan is what a run would do. It is complete: applying it decides nothing more.
type Plan struct {
	Items    []Item     // by name
	Lock     *lock.File // as it will be
	Changes  []LockChange
	Warnings []*Problem

	project   *Project
	documents *documents
	desired   installdir.Desired
	actions   []installdir.Action
	dirty     bool // the install directory has to be changed
	untidy    bool // it is right, but could be left in better order
}

// Item is one plugin of a plan.
type Item struct {
	Name       string
	Action     Action
	Entry      *lock.Entry  // nil where it is removed, or overridden and never locked
	Previous   *lock.Entry  // nil where the lock file had none
	Installed  addr.Version // what the install directory had before, zero where nothing
	Considered []Considered
	Reason     string // why its lock entry changes, "" where it does not
	Problem    *Problem
	Override   string // path of a local program that takes its place
	Targets    []Target
}

// Target is a plugin on one platform.
type Target struct {
	Wanted addr.Platform // what was asked for
	fetch  fetch         // which platform of the entry that is, and where it comes from
	ready  bool          // in the store, checked
}

// Platform is the platform that the install directory shows of the item; zero
// where it shows none.
func (item *Item) Platform() addr.Platform {
	if len(item.Targets) == 0 {
		return addr.Platform{}
	}
	return item.Targets[0].fetch.platform
}

// Platforms are all platforms of the item that were asked for.
func (item *Item) Platforms() []addr.Platform {
	var platforms []addr.Platform
	for i := range item.Targets {
		platforms = append(platforms, item.Targets[i].fetch.platform)
	}
	return platforms
}

// Added lists the platforms that the item's lock entry gained, where it is of
// the same image as before.
func (item *Item) Added() []addr.Platform {
	if item.Previous == nil || item.Entry == nil || item.Previous.Digest != item.Entry.Digest {
		return nil
	}
	var added []addr.Platform
	for _, p := range item.Entry.Platforms {
		if _, had := item.Previous.Platform(p.Platform); !had {
			added = append(added, p.Platform)
		}
	}
	return added
}

// Program is the path of the item's program from the root of its files, with
// slashes; "" before it was found or fetched.
func (item *Item) Program() string {
	if len(item.Targets) == 0 {
		return ""
	}
	return item.Targets[0].fetch.pinned.Executable
}

// LockChange is one difference between the lock file and what it has to be.
type LockChange struct {
	Name   string
	Source addr.Source
	From   addr.Version // zero where it is new
	To     addr.Version // zero where it is removed, or not known without asking
	Reason string
}

// String gives the change as one line.
func (c LockChange) String() string {
	what := c.Name
	if !c.Source.IsZero() {
		what += " (" + c.Source.String() + ")"
	}
	switch {
	case c.From == c.To:
	case c.From.IsZero():
		what += ": add " + c.To.String()
	case c.To.IsZero():
		what += ": remove " + c.From.String()
	default:
		what += ": " + c.From.String() + " to " + c.To.String()
	}
	return what + ": " + c.Reason
}

// Empty reports whether applying the plan would change nothing.
func (p *Plan) Empty() bool {
	return len(p.Changes) == 0 && !p.project.LockAbsent && len(p.missing()) == 0 && !p.dirty
}

// LockChanges reports whether the lock file would be written.
func (p *Plan) LockChanges() bool { return len(p.Changes) > 0 || p.project.LockAbsent }

// Plan decides what the project needs. It asks registries only where the lock
// file leaves a question, and changes nothing but the store: of a foreign image
// the executable has to be fetched before its digest can be locked.
//
// Where plugins fail the error joins a [*Problem] for each, and the plan still
// lists all of them. A [*DifferenceError] is returned in mode Locked.
func (in *Installer) Plan(ctx context.Context, project *Project) (*Plan, error) {
	// 1. Compare requirements and lock file.
	decisions := decide(project)
	left := orphans(project.Requirements, decisions, project.Lock)
	plan := &Plan{project: project, documents: newDocuments(in.Open, in.Store)}
	if project.Mode == Locked {
		if plan.Changes = lockedDifference(project, decisions, left); len(plan.Changes) > 0 {
			return plan, &DifferenceError{plan.Changes}
		}
	}
	// 2. Ask about what is not settled.
	plan.Items = in.settleAll(ctx, plan, decisions)
	if err := joinProblems(plan.problems()); err != nil {
		return plan, err
	}
	// 3. Write down the lock file that follows.
	plan.relock(left)
	if project.Mode == Locked && len(plan.Changes) > 0 {
		return plan, &DifferenceError{plan.Changes}
	}
	if project.LockOnly {
		plan.actionsOfLock()
		return plan, nil
	}
	// 4. See what of it is on disk.
	if err := in.locate(ctx, plan); err != nil {
		return plan, err
	}
	if err := plan.compareInstalled(ctx); err != nil {
		return plan, err
	}
	plan.label()
	return plan, nil
}

// lockedDifference lists what decide found that would change the lock file.
func lockedDifference(project *Project, decisions []decision, left []lock.Entry) []LockChange {
	var changes []LockChange
	if project.LockAbsent {
		changes = append(changes, absent)
	}
	for _, d := range decisions {
		if d.verb != complete && d.reason != "" {
			changes = append(changes, LockChange{Name: d.req.Name, Source: d.req.Source, Reason: d.reason})
		}
	}
	return append(changes, removals(left)...)
}

// absent is the difference that a missing lock file makes by itself.
var absent = LockChange{Name: lock.FileName, Reason: "there is no lock file"}

func removals(left []lock.Entry) []LockChange {
	var changes []LockChange
	for _, e := range left {
		changes = append(changes, LockChange{Name: e.Name, Source: e.Source, From: e.Version,
			Reason: "it is in the lock file, but the configuration does not require it"})
	}
	return changes
}

// settleAll turns every decision into an item, several at a time.
func (in *Installer) settleAll(ctx context.Context, plan *Plan, decisions []decision) []Item {
	r := &resolver{in, plan.documents}
	items := make([]Item, len(decisions))
	warnings := make([][]*Problem, len(decisions))
	var group errgroup.Group
	group.SetLimit(transfers)
	for i, d := range decisions {
		group.Go(func() error {
			items[i], warnings[i] = r.settle(ctx, plan.project, d)
			return nil
		})
	}
	_ = group.Wait()
	plan.Warnings = slices.Concat(warnings...)
	return items
}

func (p *Plan) problems() []*Problem {
	var problems []*Problem
	for _, item := range p.Items {
		problems = append(problems, item.Problem)
	}
	return problems
}

// relock builds the lock file of the plan and the list of its changes.
func (p *Plan) relock(left []lock.Entry) {
	p.Lock = &lock.File{}
	for i := range p.Items {
		item := &p.Items[i]
		if item.Entry == nil { // a local program that was never locked
			continue
		}
		p.Lock.Set(*item.Entry)
		if item.Previous == item.Entry || item.Previous != nil && item.Previous.Equal(*item.Entry) {
			item.Reason = ""
			continue
		}
		change := LockChange{Name: item.Name, Source: item.Entry.Source, To: item.Entry.Version, Reason: item.Reason}
		if item.Previous != nil {
			change.From = item.Previous.Version
		}
		p.Changes = append(p.Changes, change)
	}
	p.Changes = append(p.Changes, removals(left)...)
	for _, e := range left {
		p.Items = append(p.Items, Item{Name: e.Name, Action: ActionRemove, Previous: &e})
	}
	slices.SortFunc(p.Changes, func(a, b LockChange) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(p.Items, func(a, b Item) int { return cmp.Compare(a.Name, b.Name) })
}

// actionsOfLock names what happens to each plugin where only the lock file is
// at stake.
func (p *Plan) actionsOfLock() {
	for i := range p.Items {
		switch item := &p.Items[i]; {
		case item.Override != "":
			item.Action = ActionKeep
		case item.Entry == nil:
			item.Action = ActionRemove
		case item.Previous == nil:
			item.Action = ActionInstall
		case item.Previous.Equal(*item.Entry):
			item.Action = ActionKeep
		default:
			item.Action = ActionChange
		}
	}
}

// missing lists what has to be fetched.
func (p *Plan) missing() []*Target {
	var missing []*Target
	for i := range p.Items {
		for j := range p.Items[i].Targets {
			if t := &p.Items[i].Targets[j]; !t.ready {
				missing = append(missing, t)
			}
		}
	}
	return missing
}
