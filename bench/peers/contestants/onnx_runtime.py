"""onnxruntime's own operators on its CPU provider: MultiHeadAttention, and GroupQueryAttention for causal and decode."""
import numpy

from contestants import Declined
from problem import inputs


class OnnxRuntime:
    GET = "pip install onnxruntime onnx"

    def __init__(self, threads, build):
        import onnx
        import onnxruntime
        self.onnx, self.runtime = onnx, onnxruntime
        self.threads = threads
        self.about = f"onnxruntime {onnxruntime.__version__}"

    def prepare(self, problem):
        if problem.backward:
            raise Declined("it has no backward pass")
        if problem.dtype == "bf16":
            raise Declined("its CPU provider has no bf16")
        self.problem = problem
        q, k, v, _ = inputs(problem)
        grouped = problem.causal or problem.heads_q != problem.heads_k
        if grouped and not problem.causal and problem.seq_q != 1:
            raise Declined("GroupQueryAttention is always causal")
        self.kind = numpy.float16 if problem.dtype == "fp16" else numpy.float32
        operator, feeds, attributes = self.grouped(q, k, v) if grouped else self.multi_head(q, k, v)
        outputs = {"out": (problem.batch, problem.seq_q, problem.heads_q * problem.dim)}
        if grouped:
            outputs.update({name: (problem.batch, problem.heads_k, problem.seq_k, problem.dim)
                            for name in ("present_key", "present_value")})
        try:
            self.open(operator, feeds, outputs, attributes)
            self.run()
        except self.runtime.capi.onnxruntime_pybind11_state.NotImplemented:
            raise Declined(f"its CPU provider has no {operator} in {problem.dtype}") from None
        return operator

    def multi_head(self, q, k, v):
        rows = {"query": q, "key": k, "value": v}
        return "MultiHeadAttention", {name: flat(array) for name, array in rows.items()}, {"num_heads": q.shape[2]}

    def grouped(self, q, k, v):
        """The last query's keys are new, as in decoding: the others are a cache, empty when all keys are new."""
        problem = self.problem
        past = problem.seq_k - problem.seq_q
        feeds = {"query": flat(q), "key": flat(k[:, past:]), "value": flat(v[:, past:])}
        for name, array in (("past_key", k), ("past_value", v)):
            feeds[name] = numpy.ascontiguousarray(array[:, :past].transpose(0, 2, 1, 3))
        feeds["seqlens_k"] = numpy.full(problem.batch, problem.seq_k - 1, numpy.int32)
        feeds["total_sequence_length"] = numpy.array(problem.seq_k, numpy.int32)
        return "GroupQueryAttention", feeds, {"num_heads": problem.heads_q, "kv_num_heads": problem.heads_k}

    def open(self, operator, feeds, outputs, attributes):
        """A model of one operator, its inputs and outputs bound to memory that stays."""
        helper = self.onnx.helper
        node = helper.make_node(operator, list(feeds), list(outputs), domain="com.microsoft", **attributes)
        kinds = {numpy.dtype(kind): helper.np_dtype_to_tensor_dtype(numpy.dtype(kind))
                 for kind in (self.kind, numpy.int32)}
        given = [helper.make_tensor_value_info(name, kinds[array.dtype], array.shape) for name, array in feeds.items()]
        made = [helper.make_tensor_value_info(name, kinds[numpy.dtype(self.kind)], shape)
                for name, shape in outputs.items()]
        model = helper.make_model(helper.make_graph([node], "attention", given, made), ir_version=10,
                                  opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)])
        settings = self.runtime.SessionOptions()
        settings.intra_op_num_threads, settings.inter_op_num_threads = self.threads, 1
        settings.log_severity_level = 4
        settings.add_session_config_entry("session.force_spinning_stop", "1")  # after a run, while others have their turn
        self.session = self.runtime.InferenceSession(model.SerializeToString(), settings, ["CPUExecutionProvider"])
        self.binding = self.session.io_binding()
        value = self.runtime.OrtValue
        self.feeds = {name: value.ortvalue_from_numpy(array) for name, array in feeds.items()}
        self.outputs = {name: value.ortvalue_from_shape_and_type(shape, self.kind) for name, shape in outputs.items()}
        for name, bound in self.feeds.items():
            self.binding.bind_ortvalue_input(name, bound)
        for name, bound in self.outputs.items():
            self.binding.bind_ortvalue_output(name, bound)

    def run(self):
        self.session.run_with_iobinding(self.binding)

    def answer(self):
        return [self.outputs["out"].numpy().astype(numpy.float32).reshape(self.problem.q_shape)]


def flat(array):
    """(batch, rows, heads * dim)."""
    return numpy.ascontiguousarray(array.reshape(*array.shape[:2], -1))
