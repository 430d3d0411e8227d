package config

import (
	"crypto/sha256"
	"fmt"
	"hash"

	"github.com/hashicorp/hcl/v2"

	"github.com/pluginlock/plugins/addr"
)

// Digest returns the project directory and what [Config.Digest] would be,
// without parsing anything. It is for callers that remember what [Load] came
// to. The digest is "" where a file cannot be read.
func Digest(o Options) (dir string, digest addr.Digest, diags hcl.Diagnostics) {
	l := &loader{options: o, config: &Config{}}
	paths, diags := l.find()
	sum := newSum()
	for _, path := range paths {
		if _, problem := sum.readFile(path); problem != nil {
			diags = append(diags, problem)
		}
	}
	return l.config.Dir, sum.digest(), diags
}

// sum is the digest of files and their names.
type sum struct {
	hash   hash.Hash
	failed bool // a file could not be read
}

func newSum() *sum { return &sum{hash: sha256.New()} }

// readFile reads a file and adds it.
func (s *sum) readFile(path string) ([]byte, *hcl.Diagnostic) {
	text, problem := readFile(path)
	if problem != nil {
		s.failed = true
		return nil, problem
	}
	_, _ = fmt.Fprintf(s.hash, "%q %d\n", path, len(text)) // a hash takes everything
	_, _ = s.hash.Write(text)
	return text, nil
}

func (s *sum) digest() addr.Digest {
	if s.failed {
		return ""
	}
	return addr.DigestFrom(s.hash)
}
