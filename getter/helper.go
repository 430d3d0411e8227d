package getter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/pluginlock/plugins/internal/text"
)

// DefaultHelperTimeout is how long a credential helper may take.
const DefaultHelperTimeout = 15 * time.Second

// maxHelperOutput bounds what a helper may print, in bytes.
const maxHelperOutput = 1 << 20

// helpers runs credential helpers, each once for each key: some ask the user,
// some take seconds.
type helpers struct {
	timeout time.Duration

	mu   sync.Mutex
	runs map[[2]string]*helperRun // by helper and key
}

type helperRun struct {
	done  chan struct{}
	found Credential
	err   error
}

// get asks a helper. A helper that has nothing gives the zero value.
func (h *helpers) get(ctx context.Context, name, key string) (Credential, error) {
	id := [2]string{name, key}
	for {
		h.mu.Lock()
		run := h.runs[id]
		if run == nil {
			run = &helperRun{done: make(chan struct{})}
			h.runs[id] = run
			h.mu.Unlock()
			run.found, run.err = h.run(ctx, name, key)
			if ctx.Err() != nil {
				h.mu.Lock()
				delete(h.runs, id) // cut short by the caller: says nothing
				h.mu.Unlock()
				run.err = ctx.Err()
			}
			close(run.done)
			return run.found, run.err
		}
		h.mu.Unlock()
		select {
		case <-run.done:
		case <-ctx.Done():
			return Credential{}, ctx.Err()
		}
		if !errors.Is(run.err, context.Canceled) && !errors.Is(run.err, context.DeadlineExceeded) {
			return run.found, run.err
		}
	}
}

// run starts the program by the protocol of Docker's credential helpers: the
// key on standard input, JSON on standard output.
func (h *helpers) run(ctx context.Context, name, key string) (Credential, error) {
	program := "docker-credential-" + name
	if !isHelperName(name) {
		return Credential{}, fmt.Errorf("credential helper %q has no proper name", text.Clip(name))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, h.timeout, errHelperHangs)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "get")
	cmd.WaitDelay = time.Second / 2 // a grandchild may hold the pipes open
	cmd.Stdin = strings.NewReader(key)
	var out, problem limitedBuffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	err := cmd.Run()
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // done, whoever still holds the pipes
		return parseHelperAnswer(program, out.Bytes())
	case errors.Is(context.Cause(ctx), errHelperHangs):
		return Credential{}, fmt.Errorf("credential helper %s gave no answer within %s", program, h.timeout)
	case strings.Contains(out.String(), "credentials not found"):
		return Credential{}, nil
	case errors.Is(err, exec.ErrNotFound):
		return Credential{}, fmt.Errorf("credential helper %s is not installed (not in PATH)", program)
	}
	return Credential{}, fmt.Errorf("credential helper %s failed: %w%s", program, err, helperWords(problem.String(), out.String()))
}

var errHelperHangs = errors.New("the helper hangs")

func parseHelperAnswer(program string, raw []byte) (Credential, error) {
	var answer struct{ Username, Secret string }
	if err := json.Unmarshal(raw, &answer); err != nil {
		return Credential{}, fmt.Errorf("credential helper %s printed something other than JSON", program)
	}
	found := Credential{Ambient: true, Origin: "credential helper " + program}
	if answer.Username == "<token>" {
		found.IdentityToken = answer.Secret
	} else {
		found.Username, found.Password = answer.Username, answer.Secret
	}
	return found, nil
}

// helperWords is the first line of what a helper says about its failure. By
// the protocol that comes on standard output, where credentials come, too, so
// what looks like those is left out.
func helperWords(stderr, stdout string) string {
	for _, words := range []string{stderr, stdout} {
		line, _, _ := strings.Cut(strings.TrimSpace(words), "\n")
		if line != "" && !strings.Contains(line, "{") {
			return ": " + text.Clip(line)
		}
	}
	return ""
}

// isHelperName keeps a name in a file from being a path or an option.
func isHelperName(name string) bool {
	ok := func(r rune) bool {
		return r == '-' || r == '_' || r == '.' || (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z') || (r >= '0' && r <= '9')
	}
	return name != "" && len(name) <= 100 && strings.IndexFunc(name, func(r rune) bool { return !ok(r) }) < 0
}

// limitedBuffer keeps the beginning of what is written to it. The buffer is not
// embedded: its ReadFrom, which copying prefers, would take everything.
type limitedBuffer struct{ kept bytes.Buffer }

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if room := maxHelperOutput - b.kept.Len(); room > 0 {
		b.kept.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}

func (b *limitedBuffer) Bytes() []byte  { return b.kept.Bytes() }
func (b *limitedBuffer) String() string { return b.kept.String() }
