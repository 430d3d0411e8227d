package extract_test

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/pluginlock/plugins/addr"
	"github.com/pluginlock/plugins/internal/extract"
)

// elfHeader makes the beginning of an ELF file of 64 bits, or of 32.
func elfHeader(machine elf.Machine, class elf.Class, order binary.AppendByteOrder, abi elf.OSABI, kind elf.Type) []byte {
	data := elf.ELFDATA2LSB
	if order == binary.AppendByteOrder(binary.BigEndian) {
		data = elf.ELFDATA2MSB
	}
	h := append([]byte(elf.ELFMAG), byte(class), byte(data), 1, byte(abi))
	h = append(h, make([]byte, 8)...)
	h = order.AppendUint16(h, uint16(kind))
	h = order.AppendUint16(h, uint16(machine))
	return append(h, make([]byte, 44)...)
}

func machoHeader(cpu macho.Cpu, kind macho.Type) []byte {
	h := binary.LittleEndian.AppendUint32(nil, macho.Magic64)
	h = binary.LittleEndian.AppendUint32(h, uint32(cpu))
	h = binary.LittleEndian.AppendUint32(h, 0)
	h = binary.LittleEndian.AppendUint32(h, uint32(kind))
	return append(h, make([]byte, 16)...)
}

func universal(cpus ...macho.Cpu) []byte {
	h := binary.BigEndian.AppendUint32(nil, macho.MagicFat)
	h = binary.BigEndian.AppendUint32(h, uint32(len(cpus)))
	for _, c := range cpus {
		h = binary.BigEndian.AppendUint32(h, uint32(c))
		h = append(h, make([]byte, 16)...)
	}
	return h
}

func peFile(machine, flags uint16, at int) []byte {
	h := append([]byte("MZ"), make([]byte, 0x3a)...)
	h = binary.LittleEndian.AppendUint32(h, uint32(at))
	h = append(h, make([]byte, at-len(h))...)
	h = append(h, "PE\x00\x00"...)
	h = binary.LittleEndian.AppendUint16(h, machine)
	h = append(h, make([]byte, 16)...)
	return binary.LittleEndian.AppendUint16(h, flags)
}

func TestCheckExecutable(t *testing.T) {
	little, big := binary.AppendByteOrder(binary.LittleEndian), binary.AppendByteOrder(binary.BigEndian)
	linux := func(m elf.Machine) []byte { return elfHeader(m, elf.ELFCLASS64, little, 0, elf.ET_EXEC) }
	tests := []struct {
		name     string
		file     []byte
		declared string
		found    string // "" where it fits
	}{
		{"linux", linux(elf.EM_X86_64), "linux/amd64", ""},
		{"position independent", elfHeader(elf.EM_AARCH64, elf.ELFCLASS64, little, 0, elf.ET_DYN), "linux/arm64", ""},
		{"another architecture", linux(elf.EM_AARCH64), "linux/amd64", "linux/arm64 (ELF)"},
		{"x32", elfHeader(elf.EM_X86_64, elf.ELFCLASS32, little, 0, elf.ET_EXEC), "linux/amd64", "linux/EM_X86_64, ELFCLASS32, ELFDATA2LSB (ELF)"},
		{"32 bits", elfHeader(elf.EM_386, elf.ELFCLASS32, little, 0, elf.ET_EXEC), "linux/amd64", "linux/386 (ELF)"},
		{"arm variant", elfHeader(elf.EM_ARM, elf.ELFCLASS32, little, 0, elf.ET_EXEC), "linux/arm/v6", ""},
		{"byte order", elfHeader(elf.EM_PPC64, elf.ELFCLASS64, little, 0, elf.ET_EXEC), "linux/ppc64", "linux/ppc64le (ELF)"},
		{"big-endian", elfHeader(elf.EM_S390, elf.ELFCLASS64, big, 0, elf.ET_EXEC), "linux/s390x", ""},
		{"mips", elfHeader(elf.EM_MIPS, elf.ELFCLASS32, big, 0, elf.ET_EXEC), "linux/mipsle", "linux/mips (ELF)"},
		{"freebsd", elfHeader(elf.EM_X86_64, elf.ELFCLASS64, little, elf.ELFOSABI_FREEBSD, elf.ET_EXEC), "linux/amd64", "freebsd/amd64 (ELF)"},
		{"freebsd, declared", elfHeader(elf.EM_X86_64, elf.ELFCLASS64, little, elf.ELFOSABI_FREEBSD, elf.ET_EXEC), "freebsd/amd64", ""},
		{"linux for darwin", linux(elf.EM_X86_64), "darwin/amd64", "linux/amd64 (ELF)"},
		{"object file", elfHeader(elf.EM_X86_64, elf.ELFCLASS64, little, 0, elf.ET_REL), "linux/amd64", "an ELF file that is no program"},
		{"cut ELF", linux(elf.EM_X86_64)[:20], "linux/amd64", "a broken ELF file"},
		{"darwin", machoHeader(macho.CpuArm64, macho.TypeExec), "darwin/arm64", ""},
		{"darwin, other", machoHeader(macho.CpuAmd64, macho.TypeExec), "darwin/arm64", "darwin/amd64 (Mach-O)"},
		{"dylib", machoHeader(macho.CpuArm64, macho.TypeDylib), "darwin/arm64", "a library or an object file (Mach-O)"},
		{"universal", universal(macho.CpuAmd64, macho.CpuArm64), "darwin/arm64", ""},
		{"universal, without", universal(macho.CpuAmd64, macho.CpuPpc), "darwin/arm64", "darwin/amd64 and darwin/ppc (universal Mach-O)"},
		{"universal for linux", universal(macho.CpuAmd64), "linux/amd64", "darwin/amd64 (universal Mach-O)"},
		{"windows", peFile(pe.IMAGE_FILE_MACHINE_AMD64, 0x22, 0x80), "windows/amd64", ""},
		{"windows, far header", peFile(pe.IMAGE_FILE_MACHINE_ARM64, 0x22, 0x8000), "windows/arm64", ""},
		{"windows, other", peFile(pe.IMAGE_FILE_MACHINE_AMD64, 0x22, 0x80), "windows/arm64", "windows/amd64 (PE)"},
		{"dll", peFile(pe.IMAGE_FILE_MACHINE_AMD64, 0x2022, 0x80), "windows/amd64", "a library or an object file for Windows (PE)"},
		{"dos", append([]byte("MZ"), make([]byte, 100)...), "windows/amd64", "a DOS program, or a broken one for Windows"},
		{"wasm", []byte("\x00asm\x01\x00\x00\x00"), "wasip1/wasm", ""},
		{"script", []byte("#!/bin/sh\nexit 0\n"), "darwin/arm64", ""},
		{"script without interpreter", []byte("#!\n"), "linux/amd64", "no program that is known: it begins with 23210a"},
		{"empty", nil, "linux/amd64", "an empty file"},
		{"text", []byte("hello, this is only a text file\n"), "linux/amd64", "no program that is known: it begins with 68656c6c6f2c2074"},
		{"java", append([]byte{0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52}, make([]byte, 30)...), "darwin/arm64", "no program that is known: it begins with cafebabe00000034"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			declared, err := addr.ParsePlatform(test.declared)
			must(t, err)
			err = extract.CheckExecutable(bytes.NewReader(test.file), int64(len(test.file)), declared)
			found := ""
			if header, ok := errors.AsType[*extract.HeaderError](err); ok {
				found = header.Found
			} else {
				must(t, err)
			}
			if found != test.found {
				t.Errorf("found %q, want %q", found, test.found)
			}
		})
	}
}

func TestCheckExecutableOfThisTest(t *testing.T) {
	path, err := os.Executable()
	must(t, err)
	f, err := os.Open(path)
	must(t, err)
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	must(t, err)
	must(t, extract.CheckExecutable(f, info.Size(), addr.HostPlatform()))
	other := addr.Platform{OS: "plan9", Arch: "arm"}
	if _, ok := errors.AsType[*extract.HeaderError](extract.CheckExecutable(f, info.Size(), other)); !ok {
		t.Errorf("the test's own program fits %s", other)
	}
}

// FuzzExecutableHeader: whatever the bytes, a file fits at most the platforms
// that its format is for, little of it is read, and nothing panics.
func FuzzExecutableHeader(f *testing.F) {
	f.Add(elfHeader(elf.EM_X86_64, elf.ELFCLASS64, binary.LittleEndian, 0, elf.ET_EXEC))
	f.Add(machoHeader(macho.CpuArm64, macho.TypeExec))
	f.Add(universal(macho.CpuAmd64, macho.CpuArm64))
	f.Add(peFile(pe.IMAGE_FILE_MACHINE_AMD64, 0x22, 0x80))
	f.Add([]byte("#!/bin/sh\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		var fits []string
		r := &countedAt{r: bytes.NewReader(file)}
		for _, os := range []string{"linux", "darwin", "windows"} {
			err := extract.CheckExecutable(r, int64(len(file)), addr.Platform{OS: os, Arch: "amd64"})
			if err == nil {
				fits = append(fits, os)
			} else if _, ok := errors.AsType[*extract.HeaderError](err); !ok {
				t.Errorf("%s: %v", os, err)
			}
		}
		if len(fits) > 1 && !slices.Equal(fits, []string{"linux", "darwin", "windows"}) {
			t.Errorf("fits %v", fits)
		}
		if r.n > 3*2048 {
			t.Errorf("%d bytes were read", r.n)
		}
	})
}

type countedAt struct {
	r io.ReaderAt
	n int
}

func (c *countedAt) ReadAt(p []byte, off int64) (int, error) {
	c.n += len(p)
	return c.r.ReadAt(p, off)
}
