package imagetest

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
)

// Text is the line by which the default executable of an image proves which
// bytes were installed: "aws 1.2.0 linux/amd64".
func Text(name, version, platform string) string {
	return name + " " + version + " " + platform
}

// Script is a program that prints text, on every system with a /bin/sh.
func Script(text string) string {
	return "#!/bin/sh\necho '" + text + "'\n"
}

// Native returns a file that starts with the smallest proper header of an
// executable for a platform and goes on with text. Nothing can run it; it is
// there for what reads headers. An operating system without a format of its own
// here (js, wasip1, plan9, aix) is an error.
func Native(platform, text string) (string, error) {
	p, err := parsePlatform(platform)
	if err != nil {
		return "", err
	}
	var header []byte
	switch p.OS {
	case "linux", "android", "freebsd", "netbsd", "openbsd", "dragonfly", "illumos", "solaris":
		header, err = elfHeader(p.OS, p.Architecture)
	case "darwin", "ios":
		header, err = machoHeader(p.Architecture)
	case "windows":
		header, err = peHeader(p.Architecture)
	default:
		err = fmt.Errorf("no executable format for %s", platform)
	}
	if err != nil {
		return "", err
	}
	return string(header) + "\n" + text + "\n", nil
}

// elfTarget says how an architecture's ELF files are laid out.
type elfTarget struct {
	machine elf.Machine
	class   elf.Class
	order   binary.ByteOrder
}

func elfTargetOf(arch string) (elfTarget, bool) {
	little, big := binary.ByteOrder(binary.LittleEndian), binary.ByteOrder(binary.BigEndian)
	target, ok := map[string]elfTarget{
		"386":      {elf.EM_386, elf.ELFCLASS32, little},
		"amd64":    {elf.EM_X86_64, elf.ELFCLASS64, little},
		"arm":      {elf.EM_ARM, elf.ELFCLASS32, little},
		"arm64":    {elf.EM_AARCH64, elf.ELFCLASS64, little},
		"loong64":  {elf.EM_LOONGARCH, elf.ELFCLASS64, little},
		"mips":     {elf.EM_MIPS, elf.ELFCLASS32, big},
		"mipsle":   {elf.EM_MIPS, elf.ELFCLASS32, little},
		"mips64":   {elf.EM_MIPS, elf.ELFCLASS64, big},
		"mips64le": {elf.EM_MIPS, elf.ELFCLASS64, little},
		"ppc64":    {elf.EM_PPC64, elf.ELFCLASS64, big},
		"ppc64le":  {elf.EM_PPC64, elf.ELFCLASS64, little},
		"riscv64":  {elf.EM_RISCV, elf.ELFCLASS64, little},
		"s390x":    {elf.EM_S390, elf.ELFCLASS64, big},
	}[arch]
	return target, ok
}

// elfABI is what Go's linker writes; systems that are not listed use 0.
func elfABI(os string) elf.OSABI {
	return map[string]elf.OSABI{
		"freebsd": elf.ELFOSABI_FREEBSD, "netbsd": elf.ELFOSABI_NETBSD, "openbsd": elf.ELFOSABI_OPENBSD,
		"illumos": elf.ELFOSABI_SOLARIS, "solaris": elf.ELFOSABI_SOLARIS,
	}[os]
}

// elfHeader is an ELF header with one loadable segment and no interpreter: a
// statically linked program as far as a header tells.
func elfHeader(os, arch string) ([]byte, error) {
	t, ok := elfTargetOf(arch)
	if !ok {
		return nil, fmt.Errorf("no ELF machine for %s", arch)
	}
	data := elf.ELFDATA2LSB
	if t.order == binary.ByteOrder(binary.BigEndian) {
		data = elf.ELFDATA2MSB
	}
	ident := [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(t.class), byte(data), byte(elf.EV_CURRENT), byte(elfABI(os))}
	if t.class == elf.ELFCLASS32 {
		return pack(t.order,
			elf.Header32{Ident: ident, Type: uint16(elf.ET_EXEC), Machine: uint16(t.machine), Version: uint32(elf.EV_CURRENT),
				Entry: 0x10054, Phoff: 52, Ehsize: 52, Phentsize: 32, Phnum: 1},
			elf.Prog32{Type: uint32(elf.PT_LOAD), Vaddr: 0x10000, Paddr: 0x10000, Filesz: 84, Memsz: 84, Flags: uint32(elf.PF_R | elf.PF_X), Align: 0x1000})
	}
	return pack(t.order,
		elf.Header64{Ident: ident, Type: uint16(elf.ET_EXEC), Machine: uint16(t.machine), Version: uint32(elf.EV_CURRENT),
			Entry: 0x400078, Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1},
		elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Vaddr: 0x400000, Paddr: 0x400000, Filesz: 120, Memsz: 120, Align: 0x1000})
}

func machoHeader(arch string) ([]byte, error) {
	cpu, ok := map[string]macho.Cpu{"amd64": macho.CpuAmd64, "arm64": macho.CpuArm64}[arch]
	if !ok {
		return nil, fmt.Errorf("no Mach-O processor for %s", arch)
	}
	reserved := uint32(0) // pads the header to 64 bits
	return pack(binary.LittleEndian, macho.FileHeader{Magic: macho.Magic64, Cpu: cpu, Type: macho.TypeExec}, reserved)
}

func peHeader(arch string) ([]byte, error) {
	machine, ok := map[string]uint16{
		"386": pe.IMAGE_FILE_MACHINE_I386, "amd64": pe.IMAGE_FILE_MACHINE_AMD64,
		"arm": pe.IMAGE_FILE_MACHINE_ARMNT, "arm64": pe.IMAGE_FILE_MACHINE_ARM64,
	}[arch]
	if !ok {
		return nil, fmt.Errorf("no PE machine for %s", arch)
	}
	const optional64, optional32 = 0x20b, 0x10b
	var optional any = pe.OptionalHeader64{Magic: optional64, Subsystem: pe.IMAGE_SUBSYSTEM_WINDOWS_CUI, NumberOfRvaAndSizes: 16}
	if arch == "386" || arch == "arm" {
		optional = pe.OptionalHeader32{Magic: optional32, Subsystem: pe.IMAGE_SUBSYSTEM_WINDOWS_CUI, NumberOfRvaAndSizes: 16}
	}
	var dos [64]byte
	dos[0], dos[1], dos[0x3c] = 'M', 'Z', byte(len(dos)) // 0x3c holds the offset of "PE"
	return pack(binary.LittleEndian, dos, [4]byte{'P', 'E'},
		pe.FileHeader{Machine: machine, SizeOfOptionalHeader: uint16(binary.Size(optional)), Characteristics: pe.IMAGE_FILE_EXECUTABLE_IMAGE},
		optional)
}

func pack(order binary.ByteOrder, parts ...any) ([]byte, error) {
	var b bytes.Buffer
	for _, p := range parts {
		if err := binary.Write(&b, order, p); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// Noise returns n bytes that do not compress, always the same for one seed.
func Noise(seed string, n int) string {
	var key [32]byte
	copy(key[:], seed)
	content := make([]byte, n)
	_, _ = rand.NewChaCha8(key).Read(content) // never fails
	return string(content)
}
