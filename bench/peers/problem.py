"""The problems that peers compute too, their tensors, and numbers of 16 bits."""
from dataclasses import dataclass

import numpy

from library import Failure

DTYPES = {"fp32": numpy.float32, "fp16": numpy.float16, "bf16": numpy.uint16}  # bf16 as bits


@dataclass(frozen=True)
class Problem:
    line: str
    backward: bool
    dtype: str
    batch: int
    heads_q: int
    heads_k: int
    seq_q: int
    seq_k: int
    dim: int
    causal: bool
    flops: float
    bytes: float

    @property
    def q_shape(self):
        return self.batch, self.seq_q, self.heads_q, self.dim

    @property
    def k_shape(self):
        return self.batch, self.seq_k, self.heads_k, self.dim


def parse(library, line):
    p, counts, printed = library.parse(line)
    backward = getattr(p, "pass") == library.constants["BACKWARD"]
    dtype = next(name for name in DTYPES if library.constants[name.upper()] == p.dtype)
    causal = p.window_right == 0
    plain = (f"{'bwd' if backward else 'fwd'} b{p.batch} hq{p.heads_q} hkv{p.heads_k} sq{p.seq_q} sk{p.seq_k} "
             f"d{p.dim_qk} {dtype}{' causal' if causal else ''}")
    if library.parse(plain)[2] != printed:
        raise Failure(f"{line}: only fwd or bwd, b, hq, hkv, sq, sk, d, a dtype and causal are compared with peers")
    if causal and p.seq_q != p.seq_k:
        raise Failure(f"{line}: the diagonal of causal is another one in PyTorch when sq is not sk")
    return Problem(line, backward, dtype, p.batch, p.heads_q, p.heads_k, p.seq_q, p.seq_k, p.dim_qk, causal,
                   counts.flops, counts.bytes)


def narrow(values, dtype):
    """fp32 rounded to nearest, ties to even, as an array of dtype."""
    if dtype != "bf16":
        return values.astype(DTYPES[dtype])
    bits = values.view(numpy.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(numpy.uint16)


def widen(values, dtype):
    if dtype != "bf16":
        return values.astype(numpy.float32)
    return (values.astype(numpy.uint32) << 16).view(numpy.float32)


def inputs(problem):
    """q, k, v and dout as (batch, rows, heads, dim), the same numbers for everyone who asks."""
    random = numpy.random.default_rng(0)
    shapes = [problem.q_shape, problem.k_shape, problem.k_shape, problem.q_shape]
    return [narrow(random.standard_normal(shape, dtype=numpy.float32), problem.dtype) for shape in shapes]
