"""PyTorch's scaled_dot_product_attention. Its tensors are contiguous as (batch, heads, rows, dim), its fastest layout."""
from problem import inputs


class PyTorch:
    GET = "pip install torch==2.13.0"

    def __init__(self, threads, build):
        import torch
        self.torch = torch
        torch.set_num_threads(threads)
        self.threads = torch.get_num_threads()
        self.about = f"PyTorch {torch.__version__}"

    def prepare(self, problem):
        attend = self.torch.nn.functional.scaled_dot_product_attention
        q, k, v, dout = (self.tensor(array, problem) for array in inputs(problem))
        settings = {"is_causal": problem.causal, "enable_gqa": problem.heads_q != problem.heads_k}
        self.backward = problem.backward
        if self.backward:
            for tensor in (q, k, v):
                tensor.requires_grad_()
            out = attend(q, k, v, **settings)
            self.pass_ = lambda: self.torch.autograd.grad(out, (q, k, v), dout, retain_graph=True)
            return self.operator(lambda: attend(q, k, v, **settings))
        self.pass_ = lambda: (attend(q, k, v, **settings),)
        return self.operator(self.run)

    def tensor(self, array, problem):
        if problem.dtype == "bf16":
            made = self.torch.from_numpy(array.view("int16")).view(self.torch.bfloat16)
        else:
            made = self.torch.from_numpy(array)
        return made.transpose(1, 2).contiguous()

    def operator(self, forward):
        """The operator that PyTorch chooses."""
        from torch.utils._python_dispatch import TorchDispatchMode
        names = []

        class Listen(TorchDispatchMode):
            def __torch_dispatch__(self, operator, types, arguments=(), named=None):
                names.append(operator.__name__)
                return operator(*arguments, **(named or {}))

        with Listen():
            forward()
        fused = [name for name in names if name.startswith("_scaled_dot_product_")]
        return "+".join(dict.fromkeys(name.split(".")[0].removeprefix("_scaled_dot_product_") for name in fused or names))

    def run(self):
        with self.torch.set_grad_enabled(self.backward):
            self.results = self.pass_()

    def answer(self):
        return [result.detach().transpose(1, 2).float().numpy() for result in self.results]
