#!/usr/bin/env python3
"""Puts each fault of tests/mutants/mutants.txt into a copy of the tree, one at a time, and expects a test to turn red.

A fault that nothing notices must say why in its entry; any other survivor makes the exit status 1.
"""
import argparse
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "tests/mutants/mutants.txt"
WORK = ROOT / "build/mutants"
COPY, BUILD = WORK / "source", WORK / "build"

# What builds fast and still runs every rule: portable kernels, little optimisation.
CONFIGURE = ["-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O1 -w", "-DFLASHWAVE_CPU_X86=OFF", "-DFLASHWAVE_INSTALL=OFF",
             "-DFLASHWAVE_EMULATOR=OFF", "-DFLASHWAVE_ARCHS="]

# Name: what to build, what to run, and what else its environment has.
SUITES = {
    "meaning": ("unit_meaning", ["unit_meaning", "--gtest_brief=1"], {}),
    # with new memory filled by glibc, so that what is left unset is noticed
    "quick": ("flashwave_command", ["flashwave", "verify", "--suite", "quick"],
              {"GLIBC_TUNABLES": "glibc.malloc.perturb=90"}),
    "tiles": ("unit_cpu", ["unit_cpu", "--gtest_brief=1", "--gtest_filter=Tile*"], {}),
    "twin": ("flashwave_command", ["flashwave", "verify", "--suite", "quick"], {"FLASHWAVE_CPU_ISA": "amx_emulated"}),
}
LONGEST_RUN = 120  # seconds; a test that hangs has noticed, too


class Wrong(Exception):
    """The table or the tree is not as it should be: nothing can be said about the tests."""


@dataclass
class Mutant:
    file: str
    suite: str
    what: str
    old: str = ""
    new: str = ""
    explanation: str = ""


def read_table():
    mutants = []
    for number, line in enumerate(TABLE.read_text().splitlines(), 1):
        kind, text = line[:1], line[2:]
        if not line.strip() or kind == "#":
            continue
        if kind == "@":
            file, suite, what = text.split(maxsplit=2)
            mutants.append(Mutant(file, suite, what))
        elif kind in "-+=" and mutants:
            name = {"-": "old", "+": "new", "=": "explanation"}[kind]
            setattr(mutants[-1], name, (getattr(mutants[-1], name) + "\n" + text).lstrip("\n"))
        else:
            raise Wrong(f"{TABLE.name}:{number} is no part of an entry: {line}")
        if mutants[-1].suite not in SUITES:
            raise Wrong(f"{TABLE.name}:{number} names the suite {mutants[-1].suite}; there are {', '.join(SUITES)}")
    return mutants


def mutated(mutant, root):
    text = (root / mutant.file).read_text()
    found = text.count(mutant.old)
    if not mutant.old or found != 1:
        raise Wrong(f"{mutant.file} has the text {mutant.old!r} {found} times, not once: update {TABLE.name}")
    return text.replace(mutant.old, mutant.new)


def copy_tree():
    """The tree as it is, less what git ignores. Files that are the same keep their time, so that little is rebuilt."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.split("\0")
    wanted = {name for name in listed if name and (ROOT / name).is_file()}
    for path in COPY.rglob("*"):
        if path.is_file() and str(path.relative_to(COPY)) not in wanted:
            path.unlink()
    for name in wanted:
        source, target = ROOT / name, COPY / name
        if not target.is_file() or source.read_bytes() != target.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            shutil.copymode(source, target)


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def build(target, jobs):
    done = run(["cmake", "--build", BUILD, "--target", target, "-j", str(jobs)])
    if done.returncode:
        raise Wrong(f"does not build:\n{done.stdout[-3000:]}")


def is_red(suite):
    _, (program, *arguments), more = SUITES[suite]
    environment = {**os.environ, "FLASHWAVE_LOG": "", **more}
    try:
        return run([str(BUILD / program), *arguments], cwd=BUILD, timeout=LONGEST_RUN, env=environment).returncode != 0
    except subprocess.TimeoutExpired:
        return True


def killer(mutant, jobs):
    """The suite that turned red, or None. The one that should is asked first."""
    for suite in sorted(SUITES, key=lambda name: name != mutant.suite):
        sees = mutant.file.startswith("src/meaning/") if suite == "meaning" else suite in ("quick", mutant.suite)
        if not sees:
            continue
        build(SUITES[suite][0], jobs)
        if is_red(suite):
            return suite
    return None


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", default="", metavar="TEXT", help="faults whose file or description has this text")
    options.add_argument("--jobs", type=int, default=os.cpu_count())
    asked = options.parse_args()

    mutants = read_table()
    for mutant in mutants:  # all of the table, before anything is built
        mutated(mutant, ROOT)
    mutants = [m for m in mutants if asked.only in m.file or asked.only in m.what]

    COPY.mkdir(parents=True, exist_ok=True)
    copy_tree()
    configured = run(["cmake", "-S", COPY, "-B", BUILD, "-G", "Ninja", *CONFIGURE])
    if configured.returncode:
        raise Wrong(configured.stdout[-3000:])
    for suite in SUITES:
        build(SUITES[suite][0], asked.jobs)
        if is_red(suite):
            raise Wrong(f"suite {suite} is red before any fault is put in")

    survivors = []
    for number, mutant in enumerate(mutants, 1):
        path = COPY / mutant.file
        clean = path.read_text()
        start = time.monotonic()
        path.write_text(mutated(mutant, COPY))
        try:
            by = killer(mutant, asked.jobs)
        except Wrong as wrong:
            raise Wrong(f"{mutant.file}, {mutant.what}: {wrong}") from wrong
        finally:
            path.write_text(clean)
        if by is None:
            survivors.append(mutant)
        fate = f"killed by {by}" if by else "SURVIVED"
        print(f"{number:3}/{len(mutants)} {time.monotonic() - start:4.0f} s  {fate:17} {mutant.file}: {mutant.what}",
              flush=True)

    for mutant in survivors:
        print(f"survivor: {mutant.file}: {mutant.what}\n    {mutant.explanation or 'not explained'}")
    print(f"killed {len(mutants) - len(survivors)} of {len(mutants)}, "
          f"{sum(1 for m in survivors if m.explanation)} survivors explained")
    return 1 if any(not m.explanation for m in survivors) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Wrong as wrong:
        print(f"mutants: {wrong}", file=sys.stderr)
        sys.exit(2)
