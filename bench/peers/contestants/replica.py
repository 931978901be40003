"""PyTorch's algorithm rebuilt over OpenBLAS (fp32) and oneDNN (bf16): bench/peers/replica."""
import ctypes

import numpy

from contestants import Declined
from problem import inputs, widen

PRODUCTS = {"fp32": ("OpenBLAS", "libopenblas-dev"), "bf16": ("oneDNN", "libdnnl-dev")}


class Shape(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("batch", "heads", "queries", "keys", "dim")]
    _fields_ += [(name, ctypes.c_int32) for name in ("causal", "threads")]


class Replica:
    GET = "apt-get install libopenblas-dev libdnnl-dev, and build again"

    def __init__(self, threads, build):
        self.functions = ctypes.CDLL(str(build / "libflashwave_replica.so"))
        self.threads = threads
        self.about = "PyTorch's algorithm rebuilt"

    def prepare(self, problem):
        if problem.heads_q != problem.heads_k:
            raise Declined("it has no grouped heads")
        if problem.dtype not in PRODUCTS or problem.backward and problem.dtype != "fp32":
            raise Declined(f"it is not rebuilt for {problem.dtype} {'backward' if problem.backward else 'forward'}")
        product, package = PRODUCTS[problem.dtype]
        self.dtype = problem.dtype
        self.shape = Shape(problem.batch, problem.heads_q, problem.seq_q, problem.seq_k, problem.dim, problem.causal,
                           self.threads)
        q, k, v, dout = (numpy.ascontiguousarray(array.transpose(0, 2, 1, 3)) for array in inputs(problem))
        out, lse = numpy.empty_like(q), numpy.empty(q.shape[:3], numpy.float32)
        self.use(f"forward_{problem.dtype}", package, q, k, v, out, lse)
        self.answers = [out]
        if problem.backward:
            self.run()
            self.answers = [numpy.empty_like(array) for array in (q, k, v)]
            self.use("backward_fp32", package, q, k, v, out, lse, dout, *self.answers)
        return product

    def use(self, name, package, *arrays):
        function = getattr(self.functions, f"replica_{name}", None)
        if function is None:
            raise Declined(f"not built: apt-get install {package}, and build again")
        self.function, self.arrays = function, arrays
        self.pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]

    def run(self):
        self.function(ctypes.byref(self.shape), *self.pointers)

    def answer(self):
        return [widen(array, self.dtype).transpose(0, 2, 1, 3) for array in self.answers]
