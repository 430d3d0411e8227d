package main

import (
	"context"
	"fmt"
)

// playgroundAddress is fixed so that a lock file made against the playground
// stays good when it is started again.
const playgroundAddress = "127.0.0.1:5055"

// playground serves the demo's registry until it is interrupted.
func playground(ctx context.Context) error {
	s, err := prepare(ctx, playgroundAddress)
	if err != nil {
		return err
	}
	defer s.registry.Close()
	if err := s.require("~> 1.0"); err != nil {
		return err
	}
	fmt.Printf(`
Everybody on this machine may pull and push. To play:

  cd %s
  export PATH=%s:$PATH PLUGINS_CACHE_DIR=%s
  plugins init

Interrupt to stop the registry; it forgets everything.
`, s.path("project"), s.path("bin"), s.path("cache"))
	<-ctx.Done()
	return nil
}
