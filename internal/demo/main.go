// Command demo runs the main job of plugins from beginning to end on a registry
// in this process: it needs Go and nothing else, listens on loopback, keeps to
// the folder .demo and ends by itself. With -serve it leaves the registry
// running instead, as a playground.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run() error {
	serve := flag.Bool("serve", false, "leave the registry running until interrupted")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *serve {
		return playground(ctx)
	}
	return demo(ctx)
}
