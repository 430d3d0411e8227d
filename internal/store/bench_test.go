package store_test

import (
	"context"
	"fmt"
	"testing"
)

// What a warm run asks of the store, for ten plugins.
func BenchmarkWarm(b *testing.B) {
	cache := b.TempDir()
	var plugins []plugin
	s := openFor(b, cache)
	for n := range 10 {
		p := makePlugin(fmt.Sprint(n))
		if _, err := p.put(s); err != nil {
			b.Fatal(err)
		}
		plugins = append(plugins, p)
	}
	for b.Loop() {
		s := openFor(b, cache)
		for _, p := range plugins {
			entry, err := s.Lookup(p.key)
			if err != nil {
				b.Fatal(err)
			}
			if err := entry.Check(context.Background(), p.want); err != nil {
				b.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
