package config

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/pluginlock/plugins/addr"
)

// Digest returns the project directory and what [Config.Digest] would be,
// without parsing anything. It is for callers that remember what [Load] came
// to. The diagnostics are about files that are missing or cannot be read; then
// there is no digest. ToolVersion and DefaultPrefix do not count.
func Digest(o Options) (dir string, digest addr.Digest, diags hcl.Diagnostics) {
	l := &loader{options: o, config: &Config{}, sum: newSum()}
	paths, diags := l.find()
	if diags.HasErrors() {
		return l.config.Dir, "", diags
	}
	for _, path := range paths {
		if _, problem := l.sum.readFile(path); problem != nil {
			diags = append(diags, problem)
		}
	}
	return l.config.Dir, l.sum.digest(), diags
}

// sum is the digest of files and their absolute names.
type sum struct {
	hash   hash.Hash
	failed bool // a file could not be read
}

func newSum() *sum { return &sum{hash: sha256.New()} }

// readFile reads a file and adds it.
func (s *sum) readFile(path string) ([]byte, *hcl.Diagnostic) {
	text, problem := readFile(path)
	absolute, err := filepath.Abs(path)
	if problem != nil || err != nil {
		s.failed = true
		return text, problem
	}
	_, _ = fmt.Fprintf(s.hash, "%q %d\n", absolute, len(text)) // a hash takes everything
	_, _ = s.hash.Write(text)
	return text, nil
}

func (s *sum) digest() addr.Digest {
	if s.failed {
		return ""
	}
	return addr.DigestFrom(s.hash)
}
