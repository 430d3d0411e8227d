package publish

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/text"
)

// git runs git in a directory and returns what it printed, without the line
// feed at the end.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	if dir == "" {
		dir = "."
	}
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(cmd.Environ(), "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0")
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", fmt.Errorf("git %s: %s", args[0], text.Clip(strings.TrimSpace(string(exit.Stderr))))
	}
	return strings.TrimRight(string(out), "\n"), err
}

// gitVersion returns the one version that the tags of the commit name.
func gitVersion(ctx context.Context, dir string) (addr.Version, error) {
	if _, err := git(ctx, dir, "describe", "--exact-match", "--tags", "HEAD"); err != nil {
		return addr.Version{}, fmt.Errorf("the commit has no tag to take the version from: %w", err)
	}
	tags, err := git(ctx, dir, "tag", "--points-at", "HEAD")
	if err != nil {
		return addr.Version{}, err
	}
	var found addr.Version
	for tag := range strings.FieldsSeq(tags) {
		v, ok := gitTag(tag)
		switch {
		case !ok || v == found:
		case !found.IsZero():
			return addr.Version{}, fmt.Errorf("the commit has tags of two versions, %s and %s: give the version itself", found, v)
		default:
			found = v
		}
	}
	if found.IsZero() {
		return addr.Version{}, fmt.Errorf("the tags of the commit are no versions: %s", text.Clip(strings.Join(strings.Fields(tags), ", ")))
	}
	return found, nil
}

// gitTag reads a version with or without v; git allows the + that registries
// do not.
func gitTag(tag string) (addr.Version, bool) {
	return addr.ParseTag(strings.Replace(tag, "+", "_", 1))
}

// gitRevision returns the id of the commit.
func gitRevision(ctx context.Context, dir string) (string, error) {
	return git(ctx, dir, "rev-parse", "--verify", "HEAD")
}

// gitTime returns when the commit was made; the zero value where there is no
// commit, or no git. Other failures are worth a word, because the digest
// depends on this.
func gitTime(ctx context.Context, dir string) (time.Time, []Warning, error) {
	out, err := git(ctx, dir, "log", "-1", "--format=%ct", "HEAD")
	switch {
	case ctx.Err() != nil:
		return time.Time{}, nil, ctx.Err()
	case errors.Is(err, exec.ErrNotFound), err != nil && isNoCommit(err):
		return time.Time{}, nil, nil
	case err != nil:
		return time.Time{}, []Warning{{Kind: WarnGit, Text: "the image has no time of creation: " + err.Error()}}, nil
	}
	seconds, err := strconv.ParseInt(out, 10, 64)
	if err != nil {
		return time.Time{}, nil, fmt.Errorf("git log: %q is no time", text.Clip(out))
	}
	return time.Unix(seconds, 0), nil, nil
}

func isNoCommit(err error) bool {
	message := err.Error()
	for _, known := range []string{"not a git repository", "does not have any commits", "ambiguous argument 'HEAD'", "bad revision 'HEAD'"} {
		if strings.Contains(message, known) {
			return true
		}
	}
	return false
}
