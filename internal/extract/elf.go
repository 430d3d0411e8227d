package extract

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
)

// elfKey is what tells architectures apart in an ELF header: mips and ppc64
// come in both byte orders, mips and amd64 in both widths.
type elfKey struct {
	machine elf.Machine
	class   elf.Class
	data    elf.Data
}

func elfArch(k elfKey) string {
	const little, big = elf.ELFDATA2LSB, elf.ELFDATA2MSB
	arch := map[elfKey]string{
		{elf.EM_386, elf.ELFCLASS32, little}:       "386",
		{elf.EM_X86_64, elf.ELFCLASS64, little}:    "amd64",
		{elf.EM_ARM, elf.ELFCLASS32, little}:       "arm",
		{elf.EM_AARCH64, elf.ELFCLASS64, little}:   "arm64",
		{elf.EM_LOONGARCH, elf.ELFCLASS64, little}: "loong64",
		{elf.EM_MIPS, elf.ELFCLASS32, big}:         "mips",
		{elf.EM_MIPS, elf.ELFCLASS32, little}:      "mipsle",
		{elf.EM_MIPS, elf.ELFCLASS64, big}:         "mips64",
		{elf.EM_MIPS, elf.ELFCLASS64, little}:      "mips64le",
		{elf.EM_PPC64, elf.ELFCLASS64, big}:        "ppc64",
		{elf.EM_PPC64, elf.ELFCLASS64, little}:     "ppc64le",
		{elf.EM_RISCV, elf.ELFCLASS64, little}:     "riscv64",
		{elf.EM_S390, elf.ELFCLASS64, big}:         "s390x",
	}[k]
	if arch == "" {
		return fmt.Sprintf("%v, %v, %v", k.machine, k.class, k.data)
	}
	return arch
}

// elfSystems lists the systems that an ELF header may stand for. Most leave the
// field at 0; those that set it are told apart.
func elfSystems(abi elf.OSABI) []string {
	switch abi {
	case elf.ELFOSABI_NONE:
		return []string{"linux", "android", "freebsd", "netbsd", "openbsd", "dragonfly", "solaris", "illumos"}
	case elf.ELFOSABI_LINUX:
		return []string{"linux", "android"}
	case elf.ELFOSABI_FREEBSD:
		return []string{"freebsd", "dragonfly"}
	case elf.ELFOSABI_NETBSD:
		return []string{"netbsd"}
	case elf.ELFOSABI_OPENBSD:
		return []string{"openbsd"}
	case elf.ELFOSABI_SOLARIS:
		return []string{"solaris", "illumos"}
	}
	return []string{abi.String()}
}

// identifyELF reads the fixed beginning of an ELF header; the fields after it
// are not needed, and so cannot mislead.
func identifyELF(head []byte) ([]program, string) {
	if len(head) < 52 { // a whole header of the smaller class
		return nil, "a broken ELF file"
	}
	data := elf.Data(head[elf.EI_DATA])
	var order binary.ByteOrder
	switch data {
	case elf.ELFDATA2LSB:
		order = binary.LittleEndian
	case elf.ELFDATA2MSB:
		order = binary.BigEndian
	default:
		return nil, "a broken ELF file"
	}
	if kind := elf.Type(order.Uint16(head[16:])); kind != elf.ET_EXEC && kind != elf.ET_DYN {
		return nil, "an ELF file that is no program"
	}
	k := elfKey{elf.Machine(order.Uint16(head[18:])), elf.Class(head[elf.EI_CLASS]), data}
	return []program{{elfSystems(elf.OSABI(head[elf.EI_OSABI])), elfArch(k)}}, "ELF"
}
