#!/usr/bin/env python3
"""Fills in the parts of the documents that a machine can answer, between `<!-- begin NAME ... -->` and `<!-- end NAME -->`.

    scripts/readme.py support [--check]     what is supported, asked of the library by `flashwave explain`
    scripts/readme.py figures               times, by `flashwave bench`; minutes, on a quiet machine
    scripts/readme.py kernels               the same for each instruction set, in docs/performance.md
    scripts/readme.py suite                 the suite `cpu` beside naive and beside one thread, there too
    scripts/readme.py peers                 what `make peers` measured last, as tables and a plot, there too

--check changes nothing and exits 1 if the text is not what the library answers.
"""
import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

SHAPE = "b2 hq8 hkv2 sq100 sk300 d64"
DTYPES = ["fp32", "fp16", "bf16"]
# What the table names, and the words that ask for it. Words of one pass only stand in braces.
FEATURES = [
    ("causal, any diagonal", "causal diagonal=7"),
    ("window, either side open", "window=64,-1"),
    ("scale, softcap", "scale=-0.3 softcap=20"),
    ("ALiBi, slopes by head or by batch and head", "alibi=bh"),
    ("bias, broadcast or not; its gradient", "bias=1hqk {bwd:want=dbias}"),
    ("bool bias", "bias=bhqk:bool"),
    ("sink; its gradient", "sink {bwd:want=dsink}"),
    ("dropout, mask on request", "dropout=0.1 {fwd:want=mask}"),
    ("lse; gradient through it", "{fwd:want=lse} {bwd:want=dlse}"),
    ("head dimensions 576 and 512", "d576 dv512"),
    ("ragged batches (cu_seqlens, seqused)", "varlen seqused"),
    ("ragged queries over a paged cache", "varlen paged=16"),
    ("paged keys, any page size", "paged=7"),
    ("cache with append and left padding", "cache append=2 leftpad"),
    ("paged cache with append", "cache paged=16 append=2"),
    ("rotary, interleaved or not, part of a head", "cache append=2 rotary=32i"),
    ("cache rows by index", "cache batchidx"),
    ("splits of the keys", "splits=3"),
    ("deterministic", "deterministic"),
    ("fp8 inputs", "fp8e4m3fn"),
]

FIGURES = [
    "fwd b1 hq16 sq2048 d128 fp32",
    "fwd b1 hq16 sq2048 d128 fp32 causal",
    "bwd b1 hq16 sq2048 d128 fp32",
    "fwd b1 hq16 sq2048 d128 bf16",
    "fwd b1 hq16 sq2048 d128 bf16 causal",
    "bwd b1 hq16 sq2048 d128 bf16",
    "fwd b1 hq32 hkv8 sq4096 d128 bf16 causal",
    "bwd b1 hq32 hkv8 sq4096 d128 bf16 causal",
]
ALONE = ["fwd b1 hq32 hkv8 sq1 sk8192 d128 bf16 cache"]  # naive has no caches
KERNELS = ["fwd b1 hq16 sq2048 d128 fp32", "fwd b1 hq16 sq2048 d128 fp16", "fwd b1 hq16 sq2048 d128 bf16",
           "bwd b1 hq16 sq2048 d128 fp32", "bwd b1 hq16 sq2048 d128 bf16"]
ISAS = ["portable", "avx2", "avx512", "avx512bf16"]
PEERS = ROOT / "build/peers.jsonl"
PLOT = "docs/figures/peers.svg"


class Command:
    def __init__(self, path):
        self.path = path

    def lines(self, *words, isa=None):
        """The exit status and the JSON objects that the command prints."""
        environment = dict(os.environ, **({"FLASHWAVE_CPU_ISA": isa} if isa else {}))
        done = subprocess.run([self.path, *words, "--json"], stdout=subprocess.PIPE, env=environment, text=True)
        return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]

    def version(self):
        done = subprocess.run([self.path, "--version"], stdout=subprocess.PIPE, text=True, check=True)
        return f"flashwave {done.stdout.strip()}"


def words_for(dtype, kind, words):
    """The problem line of a feature: its words win over the shape and the dtype, and those for the other pass go."""
    words = re.sub(r"\{(\w+):(\S+)\}", lambda found: found[2] if found[1] == kind else "", words)
    named = {re.match(r"[a-z]+", word)[0] for word in words.split()}
    shape = [word for word in SHAPE.split() if re.match(r"[a-z]+", word)[0] not in named]
    return " ".join([kind, *shape, *([] if "fp8" in words else [dtype]), *words.split()])


def answer(command, kind, words):
    """One cell: what the library says to the feature for all element types."""
    refused = {}
    for dtype in DTYPES:
        status, objects = command.lines("explain", words_for(dtype, kind, words))
        if status == 0:
            continue
        error = objects[-1]["error"]
        if status not in (2, 3):
            sys.exit(f"readme: {words_for(dtype, kind, words)}: {error['message']}")
        refused[dtype] = "-" if status == 2 else f"no: {error['message']}"
    if not refused:
        return "yes"
    if len(refused) == len(DTYPES) and len(set(refused.values())) == 1:
        return refused["fp32"]
    return "; ".join(f"{dtype} {refused.get(dtype, 'yes')}" for dtype in DTYPES)


def table(rows):
    head, *rest = rows
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rest])


def support(command):
    rows = [["feature", "forward", "backward"]]
    for name, words in FEATURES:
        rows.append([name, answer(command, "fwd", words), answer(command, "bwd", words)])
    return {"README.md": table(rows) + "\n\n`-`: the contract has no such thing, and says why when asked."}


def size(count):
    for unit in ["B", "KiB", "MiB"]:
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"


def time(seconds):
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.2f} s"


def machine(command):
    status, objects = command.lines("devices")
    if status != 0:
        sys.exit(f"readme: devices: {objects}")
    cpu = next(device for device in objects if device["device"] == "cpu")
    return f"{cpu['description']}, {cpu['isa']}, {command.version()}."


def measured(command, lines, *words, isa=None):
    print(isa or "", *lines, sep="\n  ", file=sys.stderr)
    status, objects = command.lines("bench", *lines, *words, isa=isa)
    if status != 0:
        sys.exit(f"readme: bench: {objects[-1]['error']['message']}")
    return objects


def figures(command):
    rows = [["problem", "time", "GFLOP/s", "of peak", "GB/s", "extra memory", "naive", "its extra memory", "speed-up"]]
    for m in measured(command, FIGURES, "--against", "naive") + measured(command, ALONE):
        row = [f"`{m['problem']}`", time(m["seconds"]), f"{m['gflops']:.0f}", f"{m['percent_of_peak']:.0f} %",
               f"{m['bytes_per_second'] / 1e9:.1f}", size(m["extra_bytes"])]
        beside = m["ratio"] is not None
        rows.append(row + ([time(m["against_seconds"]), size(m["against_extra_bytes"]), f"{m['ratio']:.2f} x"] if beside
                           else ["-"] * 3))
    return {"README.md": machine(command) + "\n\n" + table(rows)}


def kernels(command):
    columns = [measured(command, KERNELS, isa=isa) for isa in ISAS]
    rows = [["problem", *ISAS]]
    for row in zip(*columns):
        rows.append([f"`{row[0]['problem']}`"] +
                    [f"{m['gflops']:.0f} GFLOP/s, {m['percent_of_peak']:.0f} %" for m in row])
    return {"docs/performance.md": machine(command) + "\n\n" + table(rows)}


def suite(command):
    def timed(*words):
        return {m["problem"]: m for m in measured(command, [], "--suite", "cpu", *words)}

    rows = [["problem", "time", "spread", "GFLOP/s", "of peak", "of memory's speed", "extra memory", "over naive",
             "over one thread"]]
    alone = timed("--against", "cpu", "--against-threads", "1", "--rounds", "3")
    for line, m in timed("--against", "naive").items():
        rows.append([f"`{line}`", time(m["seconds"]), f"{100 * m['spread']:.0f} %", f"{m['gflops']:.0f}",
                     f"{m['percent_of_peak']:.0f} %", f"{m['percent_of_read']:.0f} %", size(m["extra_bytes"]),
                     f"{m['ratio']:.2f} x" if m["ratio"] else "-", f"{alone[line]['ratio']:.2f} x"])
    return {"docs/performance.md": machine(command) + "\n\n" + table(rows)}


def saved(path):
    """The records of bench/peers/peers.py, a list for each number of threads, most threads first."""
    if not path.exists():
        sys.exit(f"readme: no {path.relative_to(ROOT)}; `make peers` measures it")
    by_threads = {}
    for line in path.read_text().splitlines():
        record = json.loads(line)
        by_threads.setdefault(record["threads"], []).append(record)
    if any(records[-1]["kind"] != "tail" for records in by_threads.values()):
        sys.exit(f"readme: {path.relative_to(ROOT)} ends early; run `make peers` again")
    return [by_threads[threads] for threads in sorted(by_threads, reverse=True)]


def beside(row, name):
    """One cell: the speed of one contestant; for a peer also how many times faster flashwave is."""
    result = row["results"].get(name, {})
    if "seconds" not in result:
        return "-"
    unit = ("gbytes", "GB/s") if row["bound"] == "memory" else ("gflops", "GFLOP/s")
    speed = f"{result[unit[0]]:.3g} {unit[1]}, {result['percent_of_peak']:.0f} %"
    if name == "flashwave":
        return f"{speed}, spread {100 * result['spread']:.0f} %"
    if result["rounds"] == 1:
        return f"{speed}: {result['speedup']:.3g} x"
    return f"{speed}: {result['speedup']:.2f} x ({result['least_speedup']:.2f}-{result['most_speedup']:.2f})"


def beside_peers(records):
    """The tables of one number of threads, and who does not compute what, in his own words."""
    head, *rows, tail = records
    names = list(head["contestants"])
    reasons = {name: dict.fromkeys(row["results"][name]["declined"] for row in rows
                                   if "declined" in row["results"].get(name, {})) for name in names}
    notes = [f"{name}: {'; '.join(reasons[name])}" for name in names if reasons[name]]
    notes += [f"{name} is missing" for name, about in head["contestants"].items() if about.startswith("missing: ")]
    lines = [["problem", *names], *([f"`{row['problem']}`", *(beside(row, name) for name in names)] for row in rows)]
    worst = max(result.get("differs", 0) for row in rows for result in row["results"].values()
                if "fp32" in row["problem"].split())
    return "\n\n".join([
        f"**{head['threads']} thread{'s' if head['threads'] > 1 else ''}.** Medians of {head['rounds']} rounds; those who "
        f"waited for their turn used at most {tail['awake']:.2f} cores, other programs {tail['outside']:.2f} cores on "
        f"average; in fp32 all results agree to {worst:.0e}.", table(lines), "\n".join(f"- {note}." for note in notes)])


def peers(command):
    runs = saved(PEERS)
    head = runs[0][0]
    (ROOT / PLOT).parent.mkdir(exist_ok=True)
    plot = [ROOT / ".venv/bin/python", ROOT / "bench/peers/plot.py", PEERS, ROOT / PLOT]
    if subprocess.run(plot).returncode != 0:
        sys.exit("readme: no plot; `make peers` makes the .venv that it needs")
    about = [about for about in head["contestants"].values() if not about.startswith("missing: ")]
    first = f"{head['machine']}, {head['isa']}; {head['date']}, commit {head['commit']}; {', '.join(about)}."
    picture = f"![Percent of peak of flashwave and others]({Path(PLOT).relative_to('docs')})"
    return {"docs/performance.md": "\n\n".join([first, picture, *map(beside_peers, runs)])}


def replaced(text, name, body):
    pattern = re.compile(rf"(<!-- begin {name}\b[^>]*-->\n).*?(<!-- end {name} -->)", re.S)
    if not pattern.search(text):
        sys.exit(f"readme: no place for {name}")
    return pattern.sub(lambda found: f"{found[1]}\n{body}\n\n{found[2]}", text)


def main():
    parts = {"support": support, "figures": figures, "kernels": kernels, "suite": suite, "peers": peers}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", choices=parts)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--command", default=str(ROOT / "build/release/flashwave"))
    options = parser.parse_args()
    stale = False
    for part in options.parts:
        for name, body in parts[part](Command(options.command)).items():
            path = ROOT / name
            old = path.read_text()
            new = replaced(old, part, body)
            stale = stale or new != old
            if not options.check:
                path.write_text(new)
    if options.check and stale:
        sys.exit(f"readme: out of date; run scripts/readme.py {' '.join(options.parts)}")


if __name__ == "__main__":
    main()
