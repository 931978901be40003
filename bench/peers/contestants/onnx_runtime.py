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
        operator, feeds, attributes = self.grouped(q, k, v) if grouped else self.multi_head(q, k, v)
        try:
            self.open(operator, feeds, attributes)
            self.run()
        except self.runtime.capi.onnxruntime_pybind11_state.NotImplemented:
            raise Declined(f"its CPU provider has no {operator} in {problem.dtype}") from None
        return operator

    def multi_head(self, q, k, v):
        rows = {"query": q, "key": k, "value": v}
        return "MultiHeadAttention", {name: flat(array) for name, array in rows.items()}, {"num_heads": q.shape[2]}

    def grouped(self, q, k, v):
        """The queries' own keys are new, as in decoding, and are appended to a cache, in place."""
        problem = self.problem
        past = problem.seq_k - problem.seq_q
        feeds = {"query": flat(q), "key": flat(k[:, past:]), "value": flat(v[:, past:])}
        for name, array in (("past_key", k), ("past_value", v)):
            feeds[name] = numpy.ascontiguousarray(array.transpose(0, 2, 1, 3))
            feeds[name][:, :, past:] = 0
        feeds["seqlens_k"] = numpy.full(problem.batch, problem.seq_k - 1, numpy.int32)
        feeds["total_sequence_length"] = numpy.array(problem.seq_k, numpy.int32)
        return "GroupQueryAttention", feeds, {"num_heads": problem.heads_q, "kv_num_heads": problem.heads_k}

    def open(self, operator, feeds, attributes):
        """A model of one operator, its inputs and outputs bound to memory that stays."""
        value = self.runtime.OrtValue
        inputs_ = {name: value.ortvalue_from_numpy(array) for name, array in feeds.items()}
        self.out = value.ortvalue_from_shape_and_type(feeds["query"].shape, feeds["query"].dtype)
        outputs = {"out": self.out}
        for name in ("key", "value"):
            if f"past_{name}" in feeds:
                outputs[f"present_{name}"] = inputs_[f"past_{name}"]
        self.session = self.session_for(operator, inputs_, outputs, attributes)
        self.binding = self.session.io_binding()
        for name, bound in inputs_.items():
            self.binding.bind_ortvalue_input(name, bound)
        for name, bound in outputs.items():
            self.binding.bind_ortvalue_output(name, bound)

    def session_for(self, operator, inputs_, outputs, attributes):
        helper = self.onnx.helper
        node = helper.make_node(operator, list(inputs_), list(outputs), domain="com.microsoft", **attributes)
        typed = [[helper.make_tensor_value_info(name, value.element_type(), value.shape())
                  for name, value in values.items()] for values in (inputs_, outputs)]
        model = helper.make_model(helper.make_graph([node], "attention", *typed), ir_version=10,
                                  opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)])
        settings = self.runtime.SessionOptions()
        settings.intra_op_num_threads, settings.inter_op_num_threads = self.threads, 1
        settings.log_severity_level = 4
        settings.add_session_config_entry("session.force_spinning_stop", "1")  # after a run: others have their turn
        return self.runtime.InferenceSession(model.SerializeToString(), settings, ["CPUExecutionProvider"])

    def run(self):
        self.session.run_with_iobinding(self.binding)

    def answer(self):
        return [self.out.numpy().astype(numpy.float32).reshape(self.problem.q_shape)]


def flat(array):
    """(batch, rows, heads * dim)."""
    return numpy.ascontiguousarray(array.reshape(*array.shape[:2], -1))
