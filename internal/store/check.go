package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/extract"
	"github.com/pluginlock/plugins/internal/store/plain"
	"github.com/pluginlock/plugins/internal/store/tree"
)

// Want is what the lock file and the manifest promise of an entry's files. A
// zero digest promises nothing, which is so only while a foreign image is
// locked for the first time.
type Want struct {
	Executable       string      // path of the program from the image's root: "plugin/aws"
	ExecutableDigest addr.Digest // of the program
	Content          addr.Digest // of all files, see [extract.Content]; zero for a foreign image
}

// Check compares the files with the receipt by stat, and reads them only where
// a stat differs or the store belongs to another user; if they are right then,
// the receipt is renewed where the store can be written. What the receipt says
// is compared with want first, so that a forged one gains nothing.
//
// Errors: [*DamagedError]; the context's.
func (e *Entry) Check(ctx context.Context, want Want) error {
	if reason := want.contradicts(e.receipt.Records()); reason != "" {
		return e.damaged(reason, nil)
	}
	changed := e.receipt.Changed(e.Root())
	if changed == "" && !e.rehash {
		return nil
	}
	fresh, err := e.hash(ctx)
	if err != nil {
		return err
	}
	if difference := tree.Difference(fresh.Records(), e.receipt.Records()); difference != "" {
		return e.damaged(difference, nil)
	}
	if changed != "" {
		e.renew(fresh)
	}
	return nil
}

// Verify reads all files and compares them with want; the receipt is not
// trusted.
//
// Errors: [*DamagedError]; the context's.
func (e *Entry) Verify(ctx context.Context, want Want) error {
	fresh, err := e.hash(ctx)
	if err != nil {
		return err
	}
	reason := want.contradicts(fresh.Records())
	if reason == "" {
		return nil
	}
	if want.contradicts(e.receipt.Records()) == "" { // a receipt that is right can tell which file is wrong
		reason = tree.Difference(fresh.Records(), e.receipt.Records())
	}
	return e.damaged(reason, nil)
}

func (e *Entry) hash(ctx context.Context) (*tree.Receipt, error) {
	root, err := plain.OpenDir(e.Root())
	if err != nil {
		return nil, e.damaged("its files cannot be read", err)
	}
	defer func() { _ = root.Close() }() // only read from
	fresh, err := tree.Hash(ctx, root, tree.Executables(e.receipt.Records()))
	if err == nil {
		return fresh, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var problem *tree.Problem
	if errors.As(err, &problem) {
		return nil, e.damaged(problem.Error(), nil)
	}
	return nil, e.damaged("its files cannot be read", err)
}

// renew writes a new receipt, as a help for the next check. Failing is no
// error: the check itself has passed.
func (e *Entry) renew(fresh *tree.Receipt) {
	encoded, err := fresh.Encode()
	if err != nil {
		return
	}
	if e.store.replace(entriesDir+"/"+e.key.name()+"/"+receiptFile, encoded) == nil {
		e.receipt = fresh
	}
}

// contradicts says how records break the promise, or returns "".
func (w Want) contradicts(records []extract.Record) string {
	if w.Content.IsZero() {
		if reason := w.alone(records); reason != "" {
			return reason
		}
	} else if got := extract.Content(records); got != w.Content {
		return fmt.Sprintf("the digest of its content is %s, the manifest says %s", got, w.Content)
	}
	if w.Executable == "" {
		return ""
	}
	program, ok := w.program(records)
	switch {
	case !ok:
		return fmt.Sprintf("the executable %s is not there", w.Executable)
	case !program.Executable:
		return fmt.Sprintf("%s is not executable", w.Executable)
	case !w.ExecutableDigest.IsZero() && program.Digest != w.ExecutableDigest:
		return fmt.Sprintf("the digest of %s is %s, not %s as locked", w.Executable, program.Digest, w.ExecutableDigest)
	}
	return ""
}

// alone checks the tree of a foreign image, from which nothing but the program
// is ever taken.
func (w Want) alone(records []extract.Record) string {
	for _, r := range records {
		if w.Executable != "" && r.Path != w.Executable {
			return r.Path + " does not belong there"
		}
	}
	return ""
}

func (w Want) program(records []extract.Record) (extract.Record, bool) {
	for _, r := range records {
		if r.Path == w.Executable && r.Link == "" {
			return r, true
		}
	}
	return extract.Record{}, false
}
