"""libflashwave from Python: its structs are read from flashwave.h, so that they cannot differ from it."""
import ctypes
import re
from pathlib import Path

HEADER = Path(__file__).resolve().parent.parent.parent / "include/flashwave/flashwave.h"
TYPES = {"int32_t": ctypes.c_int32, "uint32_t": ctypes.c_uint32, "int64_t": ctypes.c_int64,
         "uint64_t": ctypes.c_uint64, "size_t": ctypes.c_size_t, "float": ctypes.c_float, "double": ctypes.c_double,
         "char": ctypes.c_char}


class Failure(Exception):
    """A call that the library refused, in its own words."""


def constants(text):
    found = re.findall(r"\bFLASHWAVE_(\w+)\s*=\s*(\d+)", text) + re.findall(r"#define FLASHWAVE_(\w+) (\d+)", text)
    return {name: int(value) for name, value in found}


def field(declaration, types, sizes):
    """The ctypes fields of one declaration: `type name, *name, name[SIZE]` or a pointer to a function."""
    if pointer := re.search(r"\(\*(\w+)\)", declaration):
        return [(pointer[1], ctypes.c_void_p)]
    kind, names = re.match(r"(?:const )?(\w+)\s*(.+)", declaration).groups()
    fields = []
    for name in names.split(","):
        star, name, size = re.match(r"\s*(\*?)\s*(\w+)(?:\[(\w+)\])?", name).groups()
        made = (ctypes.c_char_p if kind == "char" else ctypes.c_void_p) if star else types[kind]
        fields.append((name, made * (sizes.get(size.removeprefix("FLASHWAVE_")) or int(size)) if size else made))
    return fields


def structs(text):
    """Every struct of a header, by name without flashwave_; each sets its own struct_size."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    types, sizes, made = dict(TYPES), constants(text), {}
    for body, name in re.findall(r"typedef struct \w+ \{(.*?)\} flashwave_(\w+);", text, re.S):
        declarations = [" ".join(part.split()) for part in body.split(";")]
        fields = [one for part in filter(None, declarations) for one in field(part, types, sizes)]
        types[f"flashwave_{name}"] = made[name] = type(name, (ctypes.Structure,), {"_fields_": fields})
    return made


class Library:
    def __init__(self, path):
        text = HEADER.read_text()
        self.constants = constants(text)
        self.structs = structs(text)
        self.functions = ctypes.CDLL(str(path))
        for name in ("message", "version"):
            getattr(self.functions, f"flashwave_{name}").restype = ctypes.c_char_p

    def call(self, name, *arguments):
        if getattr(self.functions, f"flashwave_{name}")(*arguments) != self.constants["OK"]:
            raise Failure(self.functions.flashwave_message().decode())

    def make(self, name, **values):
        made = self.structs[name](**values)
        if hasattr(made, "struct_size"):
            made.struct_size = ctypes.sizeof(made)
        return made

    def version(self):
        return self.functions.flashwave_version().decode()

    def device(self, name="cpu"):
        for index in range(64):
            device = self.make("device")
            self.call("device_at", ctypes.c_size_t(index), ctypes.byref(device))
            if device.name.decode() == name:
                return device

    def tensor(self, address, dtype, shape):
        """A contiguous tensor."""
        made = self.make("tensor", data=address, dtype=self.constants[dtype.upper()], rank=len(shape))
        stride = 1
        for axis in reversed(range(len(shape))):
            made.shape[axis], made.stride[axis] = shape[axis], stride
            stride *= shape[axis]
        return made

    def parse(self, line):
        """What a problem line asks for, its flops and bytes, and the line as the library prints it."""
        case, text, problem, counts = ctypes.c_void_p(), ctypes.c_void_p(), self.make("problem"), self.make("counts")
        self.call("case_parse", line.encode(), ctypes.byref(case))
        self.call("case_problem", case, ctypes.byref(problem))
        self.call("case_counts", case, getattr(problem, "pass"), ctypes.byref(counts))
        self.call("case_print", case, ctypes.byref(text))
        printed = ctypes.string_at(text.value).decode()
        self.functions.flashwave_free(text)
        self.functions.flashwave_case_free(case)
        return problem, counts, printed

    def peak(self, dtype):
        """Flops a second, of bf16 dot products where the machine has them, and bytes a second."""
        peak = self.make("peak")
        self.call("measure_peak", b"cpu", self.constants[dtype.upper()], ctypes.byref(peak))
        return peak.dot_flops if dtype == "bf16" and peak.dot_flops > 0 else peak.fma_flops, peak.read_bytes
