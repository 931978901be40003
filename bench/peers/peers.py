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

try:
    from library import Failure, Library
    from machine import facts
    from problem import parse
    from row import Row, faults
    from show import Show
    from turns import CONTESTANTS, Team
except ImportError as error:
    sys.exit(f"peers: {error}; `make peers` makes a .venv that has what is needed")

ROOT = Path(__file__).resolve().parent.parent.parent


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
            if team.players[0].missing:
                raise Failure(team.players[0].missing)
            show.head({**facts(ROOT), **team.present[0].facts, "threads": threads, "rounds": options.rounds,
                       "contestants": {player.name: player.facts.get("about") or f"missing: {player.missing}"
                                       for player in team.players}})
            bad += [f"{player.name}: has {player.facts['threads']} threads, not {threads}" for player in team.present
                    if player.facts["threads"] != threads]
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


def positive(text):
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError("a number from 1 up")
    return number


def numbers(text):
    return [positive(number) for number in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="*", metavar="PROBLEM")
    parser.add_argument("--threads", type=numbers, default=sorted({1, len(os.sched_getaffinity(0))}, reverse=True),
                        help="one number or several, with commas; default: all cores, then one")
    parser.add_argument("--rounds", type=positive, default=5)
    parser.add_argument("--against", action="append", choices=CONTESTANTS, help="a peer; default: all")
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="the build tree")
    parser.add_argument("--json", action="store_true", help="a JSON object a line")
    parser.add_argument("--save", type=Path, help="a file for the same objects")
    options = parser.parse_args()
    try:
        bad = compare(options, Show(options.json, options.save))
    except (Failure, OSError) as why:
        sys.exit(f"peers: {why}")
    except KeyboardInterrupt:
        sys.exit("\npeers: stopped")
    for line in bad:
        print(f"peers: {line}", file=sys.stderr)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
