#!/usr/bin/env python3
"""Checks that includes only point down: the table of floors in docs/design.md.

Prints each line that breaks the rule; exits 1 if there is one.
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Folder of src/ -> the folders of src/ whose headers it may include. "std" is the standard library and the system.
BELOW_BACKEND = ["std", "base", "problem", "meaning", "reference", "plan"]
FLOORS = {
    "base": ["std", "base"],
    "problem": ["std", "base", "problem"],
    "meaning": ["meaning"],  # it must compile for any device: not even std
    "reference": ["std", "base", "problem", "reference"],  # never meaning: the oracle shares nothing
    "plan": ["std", "base", "problem", "meaning", "plan"],
    "backend": BELOW_BACKEND + ["backend"],
    "gpu": BELOW_BACKEND + ["gpu"],
    "cpu": BELOW_BACKEND + ["backend", "cpu"],
    "amd/kernels": ["meaning", "amd/kernels"],  # device code
    "amd": BELOW_BACKEND + ["backend", "gpu", "amd"],
    "api": BELOW_BACKEND + ["backend", "gpu", "cpu", "amd", "api", "flashwave"],
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SYSTEM = re.compile(r"(sys/|linux/|asm/)?[a-z0-9_]+(\.h)?$")
SOURCES = {".h", ".hpp", ".c", ".cpp", ".hip", ".inc"}


def tracked():
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT,
                           capture_output=True, check=True, text=True).stdout.split("\0")
    return sorted(name for name in names if Path(name).suffix in SOURCES and (ROOT / name).exists())


def complaint(name, bracket, target):
    """None, or why the file `name` may not include `target`."""
    parts = Path(name).parts
    folder = target.split("/")[0] if "/" in target else ""
    if parts[0] == "src":
        floor = next((f for f in ("/".join(parts[1:3]), parts[1]) if f in FLOORS), None)
        if floor is None:
            return f"src/{parts[1]} is no floor"
        allowed = FLOORS[floor]
        if bracket == '"':
            ok = any(target.startswith(each + "/") for each in allowed)
            return None if ok else f"src/{floor} may include {', '.join(allowed)}"
        if "std" not in allowed:
            return f"src/{floor} includes nothing but {', '.join(allowed)}"
        return None if SYSTEM.match(target) else "the library needs nothing but the standard library"
    if parts[0] == "include":
        return None if folder == "flashwave" or bracket == "<" and SYSTEM.match(target) else \
            "public headers include only the standard library and each other"
    if parts[:2] in (("tests", "unit"), ("tests", "fuzz")):
        return None
    public = ["cdna"] if parts[0] == "emulator" else ["flashwave", "cdna"]  # cdna is the emulator's own header
    if folder in public or bracket == "<" and folder != "flashwave":
        return None
    own = [(ROOT / name).parent / target, ROOT / parts[0] / target]
    if parts[0] == "tests":  # they judge with what the command judges with
        own.append(ROOT / "tools" / target)
    if any(path.exists() for path in own):
        return None
    return f"{parts[0]} sees only {', '.join(public)} and its own folder"


def main():
    bad = 0
    for name in tracked():
        for number, line in enumerate((ROOT / name).read_text().splitlines(), 1):
            if found := INCLUDE.match(line):
                if why := complaint(name, *found.groups()):
                    print(f"{name}:{number}: {line.strip()}: {why}")
                    bad += 1
    print(f"floors: {bad} includes point up" if bad else "floors: every include points down")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
