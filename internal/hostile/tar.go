package hostile

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
)

// Types of entries, as in a header.
const (
	regular  = '0'
	hardLink = '1'
	symlink  = '2'
	device   = '3'
	block    = '4'
	dir      = '5'
	fifo     = '6'
	cont     = '7'
	sparse   = 'S'
	global   = 'g'
	extended = 'x'
	longName = 'L'
	longLink = 'K'
)

// entry is one entry of an archive. A name or target that does not fit a header
// gets an extended one before it.
type entry struct {
	typeflag byte
	name     string
	target   string
	mode     int64
	content  string
}

func file(name string) entry         { return entry{regular, name, "", 0o755, "content of " + name + "\n"} }
func link(name, target string) entry { return entry{symlink, name, target, 0o777, ""} }

// paxEntry is an extended header for the entry after it.
func paxEntry(typeflag byte, records ...string) entry {
	var b strings.Builder
	for _, r := range records {
		b.WriteString(paxRecord(r))
	}
	return entry{typeflag, "pax", "", 0o644, b.String()}
}

// paxRecord puts the length before "key=value"; it counts its own digits.
func paxRecord(r string) string {
	size := len(r) + 3
	for len(fmt.Sprintf("%d %s\n", size, r)) != size {
		size++
	}
	return fmt.Sprintf("%d %s\n", size, r)
}

// tarball joins entries and ends the archive.
func tarball(entries ...entry) []byte { return append(opened(entries...), make([]byte, 1024)...) }

// opened joins entries without the end of an archive.
func opened(entries ...entry) []byte {
	var b bytes.Buffer
	for _, e := range entries {
		if len(e.name) > 100 {
			b.Write(opened(paxEntry(extended, "path="+e.name)))
			e.name = "long"
		}
		b.Write(header(e, int64(len(e.content))))
		b.WriteString(e.content)
		b.Write(make([]byte, -len(e.content)&511))
	}
	return b.Bytes()
}

// header makes a ustar header; the size is the caller's to lie about.
func header(e entry, size int64) []byte {
	h := make([]byte, 512)
	copy(h[0:100], e.name)
	copy(h[100:], fmt.Sprintf("%07o", e.mode))
	copy(h[108:], "0000000\x000000000")
	if size < 1<<33 {
		copy(h[124:], fmt.Sprintf("%011o", size))
	} else { // base 256
		binary.BigEndian.PutUint64(h[128:], uint64(size))
		h[124] = 0x80
	}
	copy(h[136:], "00000000000")
	h[156] = e.typeflag
	copy(h[157:257], e.target)
	copy(h[257:], "ustar\x0000")
	return checksummed(h)
}

func checksummed(h []byte) []byte {
	copy(h[148:156], "        ")
	sum := 0
	for _, c := range h {
		sum += int(c)
	}
	copy(h[148:], fmt.Sprintf("%06o\x00", sum))
	return h
}

func gzipped(content []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(content) // to memory: cannot fail
	_ = w.Close()
	return b.Bytes()
}

// gzippedZeros compresses content and size zeros, a number of mebibytes, after
// it. One mebibyte of zeros that follows another is always the same bytes, which
// are compressed once and repeated.
func gzippedZeros(content []byte, size int64) []byte {
	b := bytes.NewBuffer([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}) // RFC 1952, section 2.3
	w, _ := flate.NewWriter(b, flate.DefaultCompression)               // the level is a proper one
	sum := crc32.NewIEEE()
	block := func(p []byte) []byte {
		start := b.Len()
		_, _ = w.Write(p) // to memory: cannot fail
		_ = w.Flush()
		return bytes.Clone(b.Bytes()[start:])
	}
	zeros := make([]byte, mib)
	block(content)
	block(zeros)
	again := block(zeros)
	for range size/mib - 2 {
		b.Write(again)
	}
	_ = w.Close()
	_, _ = io.Copy(sum, io.MultiReader(bytes.NewReader(content), io.LimitReader(zeroReader{}, size)))
	trailer := binary.LittleEndian.AppendUint32(nil, sum.Sum32())
	b.Write(binary.LittleEndian.AppendUint32(trailer, uint32(int64(len(content))+size)))
	return b.Bytes()
}

// largestBlock is what one block of a zstd frame may unpack to.
const largestBlock = 128 << 10

// zstdFrame makes a frame of blocks; window is the descriptor of RFC 8878,
// section 3.1.1.1.2: a logarithm, less 10, times 8.
func zstdFrame(window byte, blocks ...[]byte) []byte {
	frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, window}
	for _, b := range blocks {
		frame = append(frame, b...)
	}
	return append(frame, 1, 0, 0) // an empty last block
}

// window8M asks for 8 MiB, what every decoder has.
const window8M = (23 - 10) << 3

func zstdRaw(content []byte) []byte { return zstdFrame(window8M, rawBlock(content)) }

func rawBlock(content []byte) []byte { return append(blockHeader(0, len(content)), content...) }

// zeroBlocks unpacks to size zeros and takes four bytes for each 128 KiB.
func zeroBlocks(size int64) []byte {
	var b []byte
	for ; size > 0; size -= largestBlock {
		b = append(append(b, blockHeader(1, int(min(size, largestBlock)))...), 0)
	}
	return b
}

func blockHeader(kind, size int) []byte {
	h := uint32(size)<<3 | uint32(kind)<<1
	return []byte{byte(h), byte(h >> 8), byte(h >> 16)}
}

// skippable puts frames around another that decoders pass over.
func skippable(frame []byte) []byte {
	skip := []byte{0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 'n', 'o', 't', 'e'}
	return append(append(append([]byte{}, skip...), frame...), skip...)
}
