package extract

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pluginlock/plugins/addr"
)

// HeaderError means that a file is not a program for the platform that it was
// offered for.
type HeaderError struct {
	Declared addr.Platform
	Found    string // what the file is, such as "linux/arm64 (ELF)"
}

func (e *HeaderError) Error() string {
	return fmt.Sprintf("the executable is declared for %s, but is %s", e.Declared, e.Found)
}

// headerBytes is how much of a file's beginning is looked at; PE files have
// their second header wherever the first one says.
const headerBytes = 1024

// CheckExecutable compares the header of a program with the platform that it
// was declared for. A script, which begins with "#!", fits every platform.
// Only fixed, small parts of the file are read, and nothing is executed.
//
// Errors: [*HeaderError]; those of reading.
func CheckExecutable(r io.ReaderAt, size int64, declared addr.Platform) error {
	head := make([]byte, min(size, headerBytes))
	if _, err := r.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if isScript(head) {
		return nil
	}
	programs, format, err := identify(r, head)
	if err != nil {
		return err
	}
	if len(programs) == 0 {
		return &HeaderError{declared, format}
	}
	var names []string
	for _, p := range programs {
		if p.fits(declared) {
			return nil
		}
		names = append(names, p.name(declared))
	}
	return &HeaderError{declared, strings.Join(names, " and ") + " (" + format + ")"}
}

// isScript reports whether head begins with "#!" and an interpreter.
func isScript(head []byte) bool {
	line, ok := bytes.CutPrefix(head, []byte("#!"))
	line, _, _ = bytes.Cut(line, []byte("\n"))
	return ok && len(bytes.TrimSpace(line)) > 0 && !bytes.ContainsRune(line, 0)
}

// program is what a header says a file runs on.
type program struct {
	systems []string // more than one where the header does not tell them apart
	arch    string   // of Go's names, or another one for what Go does not know
}

func (p program) fits(declared addr.Platform) bool {
	return p.arch == declared.Arch && slices.Contains(p.systems, declared.OS)
}

// name spells the platform, with the declared system where it may be that.
func (p program) name(declared addr.Platform) string {
	if slices.Contains(p.systems, declared.OS) {
		return declared.OS + "/" + p.arch
	}
	return p.systems[0] + "/" + p.arch
}

// identify tells what a file is. Without a program, format says why.
func identify(r io.ReaderAt, head []byte) (programs []program, format string, err error) {
	switch {
	case len(head) == 0:
		return nil, "an empty file", nil
	case bytes.HasPrefix(head, []byte(elf.ELFMAG)):
		programs, format = identifyELF(head)
	case bytes.HasPrefix(head, []byte("MZ")):
		return identifyPE(r, head)
	case bytes.HasPrefix(head, []byte("\x00asm")):
		return []program{{[]string{"wasip1", "js"}, "wasm"}}, "WebAssembly", nil
	case len(head) >= 8 && binary.BigEndian.Uint32(head) == macho.MagicFat:
		programs, format = identifyUniversal(head)
	case len(head) >= 28:
		programs, format = identifyOther(head)
	}
	if format == "" {
		format = fmt.Sprintf("no program that is known: it begins with %x", head[:min(len(head), 8)])
	}
	return programs, format, nil
}

// identifyOther tries the formats whose magic number depends on the processor.
func identifyOther(head []byte) ([]program, string) {
	if programs, format := identifyMacho(head); format != "" {
		return programs, format
	}
	switch binary.BigEndian.Uint32(head) {
	case 0x1eb:
		return []program{{[]string{"plan9"}, "386"}}, "Plan 9 a.out"
	case 0x647:
		return []program{{[]string{"plan9"}, "arm"}}, "Plan 9 a.out"
	case 0x8a97:
		return []program{{[]string{"plan9"}, "amd64"}}, "Plan 9 a.out"
	}
	if binary.BigEndian.Uint16(head) == 0x1f7 {
		return []program{{[]string{"aix"}, "ppc64"}}, "XCOFF"
	}
	return nil, ""
}

// identifyUniversal lists the programs of a universal Mach-O file. Java classes
// share its magic number, but no universal file has as many programs as the
// lowest class version would say.
func identifyUniversal(head []byte) ([]program, string) {
	const entry, most = 20, 30
	count := binary.BigEndian.Uint32(head[4:])
	if count == 0 || count > most {
		return nil, ""
	}
	var programs []program
	for at := 8; count > 0 && at+entry <= len(head); at, count = at+entry, count-1 {
		programs = append(programs, machoProgram(macho.Cpu(binary.BigEndian.Uint32(head[at:]))))
	}
	return programs, "universal Mach-O"
}

// identifyMacho reads the header of a Mach-O file in either byte order.
func identifyMacho(head []byte) ([]program, string) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		magic := order.Uint32(head)
		if magic != macho.Magic32 && magic != macho.Magic64 {
			continue
		}
		if macho.Type(order.Uint32(head[12:])) != macho.TypeExec {
			return nil, "a library or an object file (Mach-O)"
		}
		return []program{machoProgram(macho.Cpu(order.Uint32(head[4:])))}, "Mach-O"
	}
	return nil, ""
}

func machoProgram(cpu macho.Cpu) program {
	arch := map[macho.Cpu]string{macho.Cpu386: "386", macho.CpuAmd64: "amd64", macho.CpuArm: "arm",
		macho.CpuArm64: "arm64", macho.CpuPpc: "ppc", macho.CpuPpc64: "ppc64"}[cpu]
	if arch == "" {
		arch = fmt.Sprintf("CPU %#x", uint32(cpu))
	}
	return program{[]string{"darwin", "ios"}, arch}
}

// identifyPE reads the COFF header that the DOS header points to.
func identifyPE(r io.ReaderAt, head []byte) ([]program, string, error) {
	const notPE = "a DOS program, or a broken one for Windows"
	if len(head) < 0x40 {
		return nil, notPE, nil
	}
	coff := make([]byte, 24) // the signature and the header after it
	_, err := r.ReadAt(coff, int64(binary.LittleEndian.Uint32(head[0x3c:])))
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, "", err
	case !bytes.HasPrefix(coff, []byte("PE\x00\x00")):
		return nil, notPE, nil
	}
	flags := binary.LittleEndian.Uint16(coff[22:])
	if flags&pe.IMAGE_FILE_DLL != 0 || flags&pe.IMAGE_FILE_EXECUTABLE_IMAGE == 0 {
		return nil, "a library or an object file for Windows (PE)", nil
	}
	machine := binary.LittleEndian.Uint16(coff[4:])
	arch := map[uint16]string{pe.IMAGE_FILE_MACHINE_I386: "386", pe.IMAGE_FILE_MACHINE_AMD64: "amd64",
		pe.IMAGE_FILE_MACHINE_ARMNT: "arm", pe.IMAGE_FILE_MACHINE_ARM64: "arm64"}[machine]
	if arch == "" {
		arch = fmt.Sprintf("machine %#x", machine)
	}
	return []program{{[]string{"windows"}, arch}}, "PE", nil
}
