package extract

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// source is a blob that is being read: it obeys the context, holds the blob to
// the size of its descriptor, and remembers the first error of the reader below,
// which a decoder may wrap, replace or drop.
type source struct {
	ctx  context.Context
	r    io.Reader
	size int64 // of the descriptor
	n    int64 // bytes read
	err  error // not io.EOF
	done bool  // io.EOF was seen
}

// SizeError means that a blob has not the size of its descriptor.
type SizeError struct {
	Want, Got int64 // bytes; Got is Want+1 for a blob that is longer, however much
}

func (e *SizeError) Error() string {
	if e.Got > e.Want {
		return fmt.Sprintf("the blob is longer than the %d bytes of its descriptor", e.Want)
	}
	return fmt.Sprintf("the blob ends after %d of %d bytes", e.Got, e.Want)
}

func (s *source) Read(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	if s.done {
		return 0, io.EOF
	}
	if s.err = s.ctx.Err(); s.err != nil {
		return 0, s.err
	}
	n, err := s.r.Read(p)
	s.n += int64(n)
	switch {
	case s.n > s.size:
		s.err = &SizeError{s.size, s.size + 1}
		return 0, s.err
	case errors.Is(err, io.EOF) && s.n < s.size:
		s.err = &SizeError{s.size, s.n}
		return n, s.err
	case errors.Is(err, io.EOF):
		s.done = true
	case err != nil:
		s.err = err
	}
	return n, err
}

// Pooled buffers: one to read packed bytes through, one to move content.
var (
	readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 64<<10) }}
	buffers = sync.Pool{New: func() any { b := make([]byte, 128<<10); return &b }}
)
