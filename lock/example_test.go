package lock_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/lock"
)

// A bot found version 1.5.0 of one plugin and writes it into the lock file.
func Example() {
	path, remove, err := exampleLock()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer remove()

	changes, err := updateAWS(path)
	if err != nil {
		fmt.Println(err)
	}
	for _, change := range changes {
		fmt.Println(change)
	}
	// Output:
	// ~ aws 1.4.2 -> 1.5.0, protocols 5 -> 5,6, with linux/arm64
}

// updateAWS is the whole of the bot but for the registry, from which the
// digests come in truth.
func updateAWS(path string) ([]lock.Change, error) {
	f, _, err := lock.Load(path)
	if err != nil {
		return nil, err
	}
	before := f.Clone()
	entry, ok := f.Entry("aws")
	if !ok {
		return nil, errors.New("aws is not locked")
	}
	updated := *entry // name, source and executable stay
	if updated.Version, err = addr.ParseVersion("1.5.0"); err != nil {
		return nil, err
	}
	updated.Tag = "v1.5.0" // the registry has it with a v; otherwise ""
	updated.Digest = addr.DigestOf([]byte("the index"))
	updated.Protocols = []int{5, 6}
	updated.Platforms = nil
	for _, name := range []string{"linux/arm64", "linux/amd64"} { // Set sorts them
		platform, err := addr.ParsePlatform(name)
		if err != nil {
			return nil, err
		}
		updated.Platforms = append(updated.Platforms, lock.Platform{
			Platform:         platform,
			Manifest:         addr.DigestOf([]byte("the manifest for " + name)),
			ExecutableDigest: addr.DigestOf([]byte("the executable for " + name)),
		})
	}
	f.Set(updated)
	if _, err := lock.Save(path, f); err != nil {
		return nil, err
	}
	return lock.Diff(before, f), nil
}

// exampleLock makes a directory with a lock file in it.
func exampleLock() (path string, remove func(), err error) {
	dir, err := os.MkdirTemp("", "lock")
	if err != nil {
		return "", nil, err
	}
	content := fmt.Sprintf(`lock_format = 1

plugin "aws" {
  source    = "registry.example.com/fleeting/aws"
  version   = "1.4.2"
  digest    = %[1]q
  protocols = [5]

  platform "linux/amd64" {
    manifest          = %[1]q
    executable_digest = %[1]q
  }
}
`, addr.DigestOf([]byte("an older index")))
	path = filepath.Join(dir, lock.FileName)
	return path, func() { _ = os.RemoveAll(dir) }, os.WriteFile(path, []byte(content), 0o644)
}
