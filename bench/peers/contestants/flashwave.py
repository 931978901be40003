"""This library, through its C interface."""
import ctypes

import numpy

from library import Library
from problem import DTYPES, inputs, widen


class Flashwave:
    GET = "make build"

    def __init__(self, threads, build):
        self.library = Library(build / "libflashwave.so")
        self.library.call("set_threads", threads)
        device = self.library.device()
        self.threads = device.threads
        self.about = f"flashwave {self.library.version()}"
        self.machine, self.isa = device.description.decode(), device.isa.decode()

    def prepare(self, problem):
        self.dtype = problem.dtype
        self.arrays = dict(zip(["q", "k", "v", "dout"], inputs(problem)))
        self.arrays["out"] = numpy.empty(problem.q_shape, DTYPES[problem.dtype])
        call = {name: self.tensor(name) for name in ("q", "k", "v", "out")}
        if problem.causal:
            call.update(has_window=1, window_left=-1, window_right=0)
        self.answers = ["out"]
        if problem.backward:
            self.arrays["lse"] = numpy.empty((problem.batch, problem.heads_q, problem.seq_q), numpy.float32)
            call["lse"] = self.tensor("lse", "fp32")
            self.call = self.library.make("attention", **call)
            self.run()
            self.answers = ["dq", "dk", "dv"]
            self.arrays.update((name, numpy.empty_like(self.arrays[name[1:]])) for name in self.answers)
            call.update((name, self.tensor(name)) for name in ("dout", *self.answers))
            call["pass"] = self.library.constants["BACKWARD"]
        self.call = self.library.make("attention", **call)
        self.add_workspace()
        return self.kernel(problem)

    def tensor(self, name, dtype=None):
        array = self.arrays[name]
        return self.library.tensor(array.ctypes.data, dtype or self.dtype, array.shape)

    def add_workspace(self):
        size = ctypes.c_size_t()
        self.library.call("workspace_size", ctypes.byref(self.call), ctypes.byref(size))
        self.workspace = numpy.empty(size.value + 256, numpy.uint8)
        self.call.workspace = self.workspace.ctypes.data + 255 & ~255
        self.call.workspace_bytes = size.value

    def kernel(self, problem):
        plan = self.library.make("plan")
        asked = self.library.parse(problem.line)[0]
        self.library.call("make_plan", b"cpu", ctypes.byref(asked), ctypes.byref(plan))
        return plan.instance.decode()

    def run(self):
        self.library.call("run", ctypes.byref(self.call))

    def answer(self):
        return [widen(self.arrays[name], self.dtype) for name in self.answers]

    def peak(self, dtype):
        return self.library.peak(dtype)
