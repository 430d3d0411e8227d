package publish

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"testing"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/getter"
	"github.com/pluginlock/plugins/internal/registrytest"
)

// helperPush pushes a layout to a source as 1.4.2.
func helperPush() {
	client, err := getter.New(getter.Options{})
	if err == nil {
		var source addr.Source
		if source, err = addr.ParseSource(os.Args[2]); err == nil {
			_, err = Push(context.Background(), PushOptions{Client: client, Source: source, Tag: "1.4.2", Path: os.Args[1]})
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// TestPushKilledProcess kills a real process, with SIGKILL, while it uploads.
func TestPushKilledProcess(t *testing.T) {
	r, layout := registrytest.New(t, registrytest.Options{}), aws(t)
	reached, goOn := make(chan struct{}), make(chan struct{})
	r.Front.Add(registrytest.Rule{Method: http.MethodPut, Path: "/v2/*/manifests/*", Times: 1, Func: func(w http.ResponseWriter, q *http.Request, next http.HandlerFunc) {
		close(reached)
		<-goOn
		next(w, q)
	}})
	cmd := helper(t, "push", "true", nil, layout.Layout, sourceAt(t, r).String())
	cmd.Stderr = os.Stderr
	must(t, cmd.Start())
	select {
	case <-reached:
	case <-t.Context().Done():
		t.Fatal("the push never came to its manifests")
	}
	must(t, cmd.Process.Kill())
	if err := cmd.Wait(); err == nil {
		t.Error("it was not killed")
	}
	close(goOn)
	if _, err := r.Resolve(repository, "1.4.2"); err == nil {
		t.Error("there is a tag after a killed push")
	}
	r.Front.Reset()
	result := pushed(t, options(t, r, layout.Layout))
	if result.Blobs[BlobExists] != 8 || r.Front.Count(http.MethodPut, "/v2/*/blobs/*") != 0 {
		t.Errorf("blobs were sent again: %v", result.Blobs)
	}
	if complete(t, r, "1.4.2") != layout.Digest {
		t.Error("the second run pushed something else")
	}
}
