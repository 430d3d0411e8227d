package hostile

import (
	"bytes"
	"slices"

	"github.com/pluginlock/plugins/internal/extract"
)

const (
	mib = 1 << 20
	gib = 1 << 30
)

// zeros is an archive of files of zeros, as a zstd frame of next to no size.
func zeros(count int, size int64) []byte {
	var blocks [][]byte
	for i := range count {
		h := header(entry{regular, "plugin/" + digits(i/100) + digits(i%100), "", 0o644, ""}, size)
		blocks = append(blocks, rawBlock(h), zeroBlocks(size+(-size&511)))
	}
	return zstdFrame(window8M, append(blocks, zeroBlocks(1024))...)
}

func makeBombs() []Archive {
	run := file("plugin/run")
	many := []entry{run}
	for i := range 201 {
		for j := range 100 {
			many = append(many, link("plugin/"+digits(i/100)+digits(i%100)+digits(j), "run"))
		}
	}
	directories := slices.Repeat([]entry{{dir, "plugin/d", "", 0o755, ""}}, 20_001)
	big := entry{regular, "plugin/big", "", 0o644, ""}
	return []Archive{
		{"ten-gigabytes", "C36", "one file of 10 GiB of zeros", zeros(1, 10*gib), tooMuch},
		{"zeros-zstd", "C36", "a file below the limit that packs too well", zeros(1, 900*mib), tooMuch},
		{"zeros-gzip", "C36", "the same with gzip, 100 MiB", gzippedZeros(header(big, 100*mib-1024), 100*mib), tooMuch},
		{"many-large", "C36", "2000 files of 10 MiB", zeros(2000, 10*mib), tooMuch},
		{"many-entries", "C36", "20,100 links", gzipped(tarball(many...)), tooMuch},
		{"many-times", "C36", "one directory 20,001 times", gzipped(tarball(directories...)), tooMuch},
		{"long-content", "C36", "a header of 1 KB with more content", gzipped(append(append(header(big, 1024), bytes.Repeat([]byte("x"), 64<<10)...), make([]byte, 1024)...)), unsound},
		{"long-zeros", "C36", "a header of 1 KB with zeros for more", gzippedZeros(header(big, 1024), 8*mib), unsound},
	}
}

// sizes are archives whose headers, or whose compression, say what is not so.
func sizes() []Archive {
	run := file("plugin/run")
	big := entry{regular, "plugin/big", "", 0o644, ""}
	return []Archive{
		{"gzip-of-gzip", "C36", "compressed twice", gzipped(gzipped(tarball(run))), unsound},
		{"window", "C36", "a zstd frame that asks for 2 GiB of memory", zstdFrame((31-10)<<3, rawBlock(tarball(run))), tooMuch},
		{"short-content", "C36", "a header of 1 GB with 1 KB of content", gzipped(append(header(big, 1_000_000_000), make([]byte, 1024)...)), badSize},
		{"sparse-gnu", "C36", "an old sparse file that claims 1 TiB", gzipped(append(oldSparse(), make([]byte, 1024)...)), badType},
		bad("sparse-pax", "C36", badType, "a PAX sparse file that claims 1 TiB",
			paxEntry(extended, "GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=plugin/s", "GNU.sparse.realsize=1099511627776"),
			entry{regular, "plugin/s", "", 0o644, "1\n1099511627776\n0\n" + string(make([]byte, 494))}),
		{"gzip-two-archives", "C36", "two whole archives in two gzip members", append(gzipped(tarball(run)), gzipped(tarball(file("plugin/x")))...), unsound},
	}
}

// oldSparse is the header of a sparse file in GNU tar's own format: nothing but
// a hole of 1 TiB.
func oldSparse() []byte {
	h := header(entry{sparse, "plugin/s", "", 0o644, ""}, 0)
	copy(h[257:], "ustar  \x00")
	clear(h[329:345])        // device numbers
	h[386], h[392] = 0x80, 1 // its one piece begins at 2^40, base 256,
	copy(h[398:], "00000000000")
	h[483], h[489] = 0x80, 1 // which is also where the file ends
	return checksummed(h)
}

func types() []Archive {
	sized := header(link("plugin/x", "run"), 512)
	return []Archive{
		bad("device", "types", badType, "a character device", entry{device, "plugin/x", "", 0o666, ""}),
		bad("block-device", "types", badType, "a block device", entry{block, "plugin/x", "", 0o666, ""}),
		bad("fifo", "types", badType, "a FIFO", entry{fifo, "plugin/x", "", 0o666, ""}),
		bad("contiguous", "types", badType, "a type that nobody writes", entry{cont, "plugin/x", "", 0o666, ""}),
		bad("unknown", "types", badType, "a type of a vendor", entry{'Z', "plugin/x", "", 0o666, ""}),
		bad("global-header", "types", badType, "a global PAX header", paxEntry(global, "path=plugin/y"), file("plugin/x")),
		{"link-with-content", "types", "a link whose header has a size: readers differ in what follows",
			gzipped(slices.Concat(opened(file("plugin/run")), sized, tarball(file("plugin/y")))), badSize},
		bad("directory-with-content", "types", badSize, "a directory with content", entry{dir, "plugin/d", "", 0o755, "x"}),
	}
}

func broken() []Archive {
	whole := tarball(file("plugin/run"))
	packed := gzipped(whole)
	wrong := slices.Clone(packed)
	wrong[len(wrong)-6] ^= 1 // in the check sum
	part := func(name, about string, layer []byte, want extract.Kind) Archive {
		return Archive{name, "broken", about, layer, want}
	}
	return []Archive{
		part("nothing", "no bytes at all", nil, unsound),
		part("text", "not an archive", []byte("<html>not found</html>"), unsound),
		part("xz", "a compression that is not supported", []byte("\xfd7zXZ\x00\x00\x04"), unsound),
		part("cut-gzip", "the first half of a gzip stream", packed[:len(packed)/2], unsound),
		part("cut-tar", "a tar that ends within a file", whole[:520], badSize),
		part("cut-header", "a tar that ends within a header", whole[:300], unsound),
		part("wrong-crc", "gzip with a wrong check sum", wrong, unsound),
		part("header-sum", "a header with a wrong sum", append([]byte("x"), whole[1:]...), unsound),
		part("data-after-tar", "data after the end of the archive", gzipped(append(slices.Clone(whole), "more"...)), unsound),
		part("tar-after-tar", "an archive after the archive", append(slices.Clone(whole), whole...), unsound),
		part("data-after-gzip", "data after the gzip stream", append(slices.Clone(packed), "more"...), unsound),
		part("zeros-after-gzip", "zeros after the gzip stream", append(slices.Clone(packed), make([]byte, 512)...), unsound),
		part("data-after-zstd", "data after the zstd frame", append(zstdRaw(whole), "more"...), unsound),
	}
}
