// Package durable writes files so that they survive a crash of the machine,
// and removes trees whatever their modes are. It is what the store and the
// install directory have in common; it knows neither.
//
// Nothing here makes a rename durable: [SyncDir] does, once for many.
package durable

import (
	"errors"
	"io/fs"
	"os"
)

// Create writes a new file, which must not exist, and syncs it. The mode is
// less the umask.
func Create(root *os.Root, name string, content []byte, mode fs.FileMode) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// RemoveAll also removes directories that their mode protects: garbage may
// have any.
func RemoveAll(root *os.Root, name string) error {
	err := root.RemoveAll(name)
	if err == nil {
		return nil
	}
	_ = fs.WalkDir(root.FS(), name, func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = root.Chmod(path, 0o700)
		}
		return nil
	})
	return root.RemoveAll(name)
}
