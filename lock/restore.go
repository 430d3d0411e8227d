package lock

import (
	"errors"
	"io/fs"
	"os"
)

// Restore takes a [Save] back: the lock file at path then has the bytes src
// again, or is gone where src is nil. Links and permission bits are treated as
// Save does.
func Restore(path string, src []byte) error {
	name, info, err := target(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && src == nil:
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case src == nil:
		return os.Remove(name)
	}
	return disk{create: createExclusive, rename: os.Rename}.replace(name, info, src)
}
