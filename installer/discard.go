package installer

import "context"

// DiscardDamaged removes from the store what the project has locked and what
// is not what it should be, after reading every file. It returns the names.
func (in *Installer) DiscardDamaged(ctx context.Context, project *Project) ([]string, error) {
	plan := &Plan{project: project, documents: newDocuments(nil, in.Store)}
	for _, e := range project.Lock.Entries {
		plan.Items = append(plan.Items, lockedItem(project, e))
	}
	var names []string
	for _, target := range plan.missing() {
		err := in.locateOne(ctx, plan.documents, target, true)
		if err == nil {
			continue
		}
		if damagedIsNil(err) != nil {
			return names, err
		}
		names = append(names, target.fetch.plugin)
		if err := in.Store.Discard(ctx, target.fetch.key); err != nil {
			return names, err
		}
	}
	return names, nil
}
