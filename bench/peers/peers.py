#!/usr/bin/env python3
"""Times flashwave beside other libraries that compute attention on a CPU, those of them that are installed.

    make peers                           installs them, builds, and runs this
    bench/peers/peers.py [PROBLEM...]    problem lines; without any, those of bench/peers.suite

Everyone has the same inputs, the same number of threads and a process of its own; peak, flashwave and the others take
turns, several rounds, and medians count. The peak is that of arithmetic, or of reading memory where that takes longer.
speed-up: a peer's time over flashwave's in the same round. differs: its result from flashwave's, at most, of the largest
magnitude there.
"""
import argparse
import os
import sys
from pathlib import Path
from statistics import median

try:
    import numpy
except ImportError:
    sys.exit("peers: numpy is missing; `make peers` makes a .venv that has it")

from library import Failure, Library
from machine import facts
from problem import parse
from show import Show
from turns import CONTESTANTS, Team

ROOT = Path(__file__).resolve().parent.parent.parent
AGREES = {"fp32": 1e-4, "fp16": 2e-2, "bf16": 5e-2}


def measured(times, ours, problem, least):
    """What is told of a contestant that was measured; `least` is what no program can undercut, in seconds."""
    seconds = [time["seconds"] for time in times]
    ratios = [one / own["seconds"] for one, own in zip(seconds, ours)]
    return {"seconds": median(seconds), "spread": (max(seconds) - min(seconds)) / median(seconds), "rounds": len(times),
            "gflops": problem.flops / median(seconds) * 1e-9, "gbytes": problem.bytes / median(seconds) * 1e-9,
            "percent_of_peak": least / median(seconds) * 100,
            "speedup": median(ratios), "least_speedup": min(ratios), "most_speedup": max(ratios),
            "cores": max(time["cores"] for time in times)}


def difference(ours, theirs):
    return max(float(numpy.abs(a - b).max() / numpy.abs(a).max()) for a, b in zip(ours, theirs))


class Row:
    """One problem, everybody."""

    def __init__(self, team, problem):
        self.team, self.problem = team, problem
        self.notes = {player.name: {} for player in team.present}
        self.times = {player.name: [] for player in team.present}
        self.only = set()  # measured once
        self.prepare()

    def prepare(self):
        self.playing, answers = [], {}
        for player in self.team.present:
            status, value = self.team.turn(player, "prepare", self.problem)
            note = self.notes[player.name]
            if status != "done":
                note["declined"] = value
                continue
            self.playing.append(player)
            note["kernel"] = value["kernel"]
            if value["only"]:
                self.only.add(player.name)
                self.times[player.name].append(value["only"])
            answers[player.name] = self.team.turn(player, "answer")[1]
        if "flashwave" not in answers:
            raise Failure(self.notes["flashwave"]["declined"])
        for name, answer in answers.items():
            self.notes[name]["differs"] = difference(answers["flashwave"], answer)

    def run(self, rounds, progress):
        peaks = []
        for round_ in range(rounds):
            peaks.append(self.team.turn(self.playing[0], "peak", self.problem.dtype)[1])
            for player in self.playing:
                progress()
                if player.name not in self.only:
                    self.times[player.name].append(self.team.turn(player, "measure")[1])
        flops, bytes_ = (median(peak) for peak in zip(*peaks))
        by_flops, by_bytes = self.problem.flops / flops, self.problem.bytes / bytes_
        for player in self.playing:
            self.notes[player.name].update(
                measured(self.times[player.name], self.times["flashwave"], self.problem, max(by_flops, by_bytes)))
        return {"problem": self.problem.line, "threads": self.team.threads, "peak_gflops": flops * 1e-9,
                "peak_gbytes": bytes_ * 1e-9, "bound": "memory" if by_bytes > by_flops else "arithmetic",
                "results": self.notes}


def faults(record):
    """What must not be, in words: a wrong result, or more threads than were given."""
    limit = AGREES[next(dtype for dtype in AGREES if dtype in record["problem"].split())]
    for name, note in record["results"].items():
        if note.get("differs", 0) > limit:
            yield f"{name}: {record['problem']}: differs by {note['differs']:.1e}, more than {limit:.0e}"
        if note.get("cores", 0) > record["threads"] + 0.2:
            yield f"{name}: {record['problem']}: used {note['cores']:.1f} cores, not {record['threads']}"


def compare(options, show):
    library = Library(options.build / "libflashwave.so")
    problems = [parse(library, line) for line in options.problems or suite()]
    show.progress.expect(sum(problem.flops / threads for problem in problems for threads in options.threads))
    names = dict.fromkeys(["flashwave", *(options.against or CONTESTANTS)])
    bad = []
    for threads in options.threads:
        os.environ.update({name: str(threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")},
                          OPENBLAS_NUM_THREADS="1")  # numpy's, and the replica calls it from its own threads
        with Team(names, threads, options.build) as team:
            show.head({**facts(ROOT), **team.present[0].facts, "threads": threads, "rounds": options.rounds,
                       "contestants": {player.name: player.facts.get("about") or f"missing: {player.missing}"
                                       for player in team.players}})
            for problem in problems:
                progress = lambda: show.progress.show(problem.line)
                progress()
                record = Row(team, problem).run(options.rounds, progress)
                show.progress.done(problem.flops / threads)
                show.row(record)
                bad += faults(record)
            show.tail({"threads": threads, "awake": team.awake, "outside": team.outside()})
    return bad


def suite():
    lines = [line.split("#")[0].strip() for line in (ROOT / "bench/peers.suite").read_text().splitlines()]
    return [line for line in lines if line]


def numbers(text):
    return [int(number) for number in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="*", metavar="PROBLEM")
    parser.add_argument("--threads", type=numbers, default=sorted({1, len(os.sched_getaffinity(0))}),
                        help="one number or several, with commas; default: one, and all cores")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--against", action="append", choices=CONTESTANTS, help="a peer; default: all")
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="the build tree")
    parser.add_argument("--json", action="store_true", help="a JSON object a line")
    parser.add_argument("--save", type=Path, help="a file for the same objects")
    options = parser.parse_args()
    try:
        bad = compare(options, Show(options.json, options.save))
    except (Failure, OSError) as why:
        sys.exit(f"peers: {why}")
    for line in bad:
        print(f"peers: {line}", file=sys.stderr)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
