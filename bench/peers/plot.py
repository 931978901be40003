#!/usr/bin/env python3
"""Draws what bench/peers/peers.py saved: bars of percent of peak, for the largest number of threads.

    bench/peers/plot.py FIGURES.jsonl PLOT.svg     or .png
"""
import json
import re
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

GREY = "#7d858f"  # seen on white and on black
COLOURS = {"flashwave": "#2f8fdd", "PyTorch": "#e8833a", "onnxruntime": "#3fa77c", "replica": "#a58ac9"}
NAMES = {"replica": "PyTorch's algorithm\non OpenBLAS or oneDNN"}
BAR = 0.2


def rows_of(path):
    with open(path) as file:
        records = [json.loads(line) for line in file]
    most = max(record["threads"] for record in records)
    return [record for record in records if record["kind"] == "row" and record["threads"] == most]


def dtype_of(row):
    return next(word for word in row["problem"].split() if word in ("fp32", "bf16", "fp16"))


def label(line):
    """`fwd b1 hq16 sq2048 d128 fp32 causal` is two short lines."""
    sizes = dict(re.findall(r"\b(b|hq|hkv|sq|sk|d)(\d+)\b", line))
    kind = "decode" if sizes["sq"] == "1" else "backward" if line.startswith("bwd") else "forward"
    shape = f"{sizes['sk']} keys" if kind == "decode" else f"S {sizes['sq']}, D {sizes['d']}"
    return f"{kind}{', causal' if 'causal' in line else ''}\n{shape}"


def draw_panel(axes, rows, names):
    for place, row in enumerate(rows):
        shown = [name for name in names if "percent_of_peak" in row["results"].get(name, {})]
        for index, name in enumerate(shown):
            percent = row["results"][name]["percent_of_peak"]
            y = place + (index - (len(shown) - 1) / 2) * BAR
            axes.barh(y, percent, BAR * 0.9, color=COLOURS[name])
            axes.text(percent + 1, y, f"{percent:.0f}", va="center", fontsize=7, color=GREY)
    axes.set_yticks(range(len(rows)), [label(row["problem"]) for row in rows], fontsize=8)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlim(0, 112)  # the figure of a full bar has room
    axes.set_xticks([0, 25, 50, 75, 100])
    axes.grid(axis="x", color=GREY, alpha=0.3, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(colors=GREY, length=0)
    for side, spine in axes.spines.items():
        spine.set_visible(side == "left")
        spine.set_color(GREY)


def draw(rows, path):
    names = [name for name in COLOURS if any("percent_of_peak" in row["results"].get(name, {}) for row in rows)]
    dtypes = list(dict.fromkeys(map(dtype_of, rows)))
    figure, panels = pyplot.subplots(1, len(dtypes), figsize=(11, 5.6), squeeze=False, layout="constrained")
    for axes, dtype in zip(panels[0], dtypes):
        draw_panel(axes, [row for row in rows if dtype_of(row) == dtype], names)
        axes.set_title(dtype, fontsize=11, color=GREY)
    figure.supxlabel("percent of peak: of arithmetic, for decode of reading memory", fontsize=9, color=GREY)
    bars = [matplotlib.patches.Patch(color=COLOURS[name]) for name in names]
    figure.legend(bars, [NAMES.get(name, name) for name in names], loc="outside upper center", ncols=len(names),
                  frameon=False, fontsize=9, labelcolor=GREY)
    figure.savefig(path, transparent=True, metadata={"Date": None} if path.endswith(".svg") else None)


if __name__ == "__main__":
    matplotlib.rcParams["svg.hashsalt"] = "flashwave"  # equal figures, equal file
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    draw(rows_of(sys.argv[1]), sys.argv[2])
