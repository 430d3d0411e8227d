package hostile

import (
	"bytes"
	"io"
	"sync"
)

// Stream is an archive that is made while it is read.
type Stream struct {
	Size   int64 // bytes
	header []byte
	file   int64
}

// OneFile is an uncompressed archive of one file of a repeating pattern, of any
// size, which takes no memory.
func OneFile(name string, size int64) Stream {
	h := header(entry{regular, name, "", 0o755, ""}, size)
	return Stream{int64(len(h)) + size + -size&511 + 1024, h, size}
}

// Reader reads the archive from its beginning.
func (s Stream) Reader() io.Reader {
	return io.MultiReader(bytes.NewReader(s.header), io.LimitReader(&pattern{}, s.file),
		io.LimitReader(zeroReader{}, s.Size-int64(len(s.header))-s.file))
}

// pattern repeats 251 bytes, a prime, so that blocks differ.
type pattern struct{ at int }

const period = 251

// periods is the pattern often enough to be copied in long pieces.
var periods = sync.OnceValue(func() []byte {
	once := make([]byte, period)
	for i := range once {
		once[i] = byte(i)
	}
	return bytes.Repeat(once, 1024)
})

func (r *pattern) Read(p []byte) (int, error) {
	n := copy(p, periods()[r.at:])
	r.at = (r.at + n) % period
	return n, nil
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
