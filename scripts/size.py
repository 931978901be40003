#!/usr/bin/env python3
"""Reports the size of the code: lines a floor, files over 500 lines, functions over 60, template lists over 4.

Only a report: a large file or function asks for the missing idea, it is not an error.
"""
import re
import subprocess
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE_LIMIT, FUNCTION_LIMIT, TEMPLATE_LIMIT = 500, 60, 4
SOURCES = {".h", ".hpp", ".c", ".cpp", ".hip", ".inc", ".py", ".sh", ".cmake"}
FUNCTION = re.compile(r"^(?!namespace|struct|class|enum|union|extern|using|typedef|constexpr \w+ \w+\[)\S.*\)[^;=]*\{$")
TEMPLATE = re.compile(r"\btemplate\s*<([^>{;]*)>")


def tracked():
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    return sorted(name for name in names.split("\0") if Path(name).suffix in SOURCES and (ROOT / name).exists())


def floor_of(name):
    parts = Path(name).parts
    return "/".join(parts[:2]) if parts[0] in ("src", "tests") and len(parts) > 2 else parts[0] if len(parts) > 1 else "."


def long_functions(lines):
    """Functions at the outermost level, as clang-format writes them: `...) {` to the next `}` in its column."""
    start = None
    for number, line in enumerate(lines, 1):
        if start is None and FUNCTION.match(line):
            start = number
        elif start is not None and line.startswith("}"):
            if number - start + 1 > FUNCTION_LIMIT:
                yield start, number - start + 1
            start = None


def main():
    lines_of, notes = Counter(), []
    for name in tracked():
        lines = (ROOT / name).read_text().splitlines()
        lines_of[floor_of(name)] += len(lines)
        if len(lines) > FILE_LIMIT:
            notes.append(f"{name}: {len(lines)} lines")
        if Path(name).suffix in (".hpp", ".cpp"):
            notes += [f"{name}:{start}: a function of {count} lines" for start, count in long_functions(lines)]
            notes += [f"{name}:{number}: {found.group(1).count(',') + 1} template parameters"
                      for number, line in enumerate(lines, 1)
                      if (found := TEMPLATE.search(line)) and found.group(1).count(",") >= TEMPLATE_LIMIT]
    for floor, count in sorted(lines_of.items()):
        print(f"{count:7d}  {floor}")
    print(f"{sum(lines_of.values()):7d}  in all")
    print("\n".join(notes) if notes else "no file or function is over the limits")


if __name__ == "__main__":
    main()
