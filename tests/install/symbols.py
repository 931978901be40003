#!/usr/bin/env python3
"""Looks at what the library exports and imports, and at the objects of the instruction sets: symbols.py BUILD_TREE"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# A library never ends its caller nor talks to the terminal behind its back.
FORBIDDEN = {"abort", "exit", "_exit", "_Exit", "quick_exit", "__assert_fail", "printf", "puts", "putchar", "perror",
             "_ZSt4cout", "_ZSt4cerr", "_ZSt4clog"}


def nm(*arguments):
    """(kind, name) of each symbol."""
    lines = subprocess.run(["nm", *map(str, arguments)], capture_output=True, check=True, text=True).stdout.splitlines()
    return [found.groups() for line in lines if (found := re.match(r"(?:[0-9a-f]+| +) (\w) (.+)$", line))]


def exported(library):
    """The library exports the functions of flashwave.h, no more and no fewer."""
    header = (ROOT / "include/flashwave/flashwave.h").read_text()
    declared = set(re.findall(r"^FLASHWAVE_API .*?(\w+)\(", header, re.M))
    symbols = [(kind, name.split("@")[0]) for kind, name in nm("-D", "--defined-only", library) if kind != "A"]
    found = {name for _, name in symbols}
    yield from (f"exports {name}, which flashwave.h does not declare" for name in sorted(found - declared))
    yield from (f"does not export {name}" for name in sorted(declared - found))
    yield from (f"exports {name} as a weak symbol" for kind, name in symbols if kind in "WVu")


def imported(library):
    """Nothing imported ends the process or prints."""
    names = {name.split("@")[0] for _, name in nm("-D", "--undefined-only", library)}
    yield from (f"imports {name}" for name in sorted(names & FORBIDDEN))


# A GPU's runtime is opened while the program runs: the library loads without one.
NEEDED = {"libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "libc.so.6", "libdl.so.2", "libpthread.so.0",
          "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "libasan.so.8", "libubsan.so.1", "libtsan.so.2"}


def dynamic(library):
    text = subprocess.run(["readelf", "-d", library], capture_output=True, check=True, text=True).stdout
    if "[libflashwave.so.0]" not in text:
        yield "the SONAME is not libflashwave.so.0"
    yield from (f"needs {name}" for name in re.findall(r"\(NEEDED\).*\[(.+)\]", text) if name not in NEEDED)


# What the kernels of each instruction set must have, and those before it must not, in this order.
INSTRUCTIONS = {
    "portable": [],
    "avx2": ["%ymm", "vfmadd"],
    "avx512": ["%zmm", "vscalefps"],
    "avx512bf16": ["vdpbf16ps", "vcvtneps2bf16"],
    "avx512fp16": ["vcvtph2psx", "vcvtps2phx", "vcvtsh2ss", "vcvtss2sh"],
    "amx": ["ldtilecfg", "tilerelease", "tilezero", "tileloadd", "tilestored", "tdpbf16ps"],
}
# An instruction set has what those before it have, less what another element type needs.
UNNEEDED = {("avx512fp16", "avx512bf16"), ("amx", "avx512fp16")}


def isa_of(path):
    return path.parent.name.removeprefix("flashwave_cpu_").rpartition("_")[0]


def instructions(objects):
    """The kernels of an instruction set have its instructions, and none that only later ones have."""
    order = list(INSTRUCTIONS)
    for path in objects:
        isa = isa_of(path)
        rank = order.index("portable" if isa == "amx_emulated" else isa)
        code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], capture_output=True, check=True, text=True)
        for place, (other, words) in enumerate(INSTRUCTIONS.items()):
            for word in words:
                if place > rank and word in code.stdout:
                    yield f"{path.parent.name}: has {word} of {other}"
                if place <= rank and word not in code.stdout and (isa, other) not in UNNEEDED:
                    yield f"{path.parent.name}: lacks {word} of {other}"


def instruction_sets(objects):
    """A weak function compiled for one instruction set could become the copy that every machine runs: each must
    live in the namespace of its instruction set."""
    for path in objects:
        isa = isa_of(path)
        for kind, name in nm("-C", "--defined-only", path):
            if kind in "WVu" and f"fw::{isa}::" not in name:
                yield f"{path.parent.name}: weak {name} is outside of fw::{isa}"


def main():
    tree = Path(sys.argv[1])
    library = tree / "libflashwave.so"
    objects = sorted(tree.glob("src/cpu/isa/CMakeFiles/flashwave_cpu_*_*.dir/*.o"))
    faults = [*exported(library), *imported(library), *dynamic(library), *instruction_sets(objects),
              *instructions(objects)]
    if not objects:
        faults.append(f"no instruction set's objects under {tree}")
    print("\n".join(faults) if faults else f"symbols: clean, {len(objects)} objects of instruction sets looked at")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
