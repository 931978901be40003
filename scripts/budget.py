#!/usr/bin/env python3
"""Checks what GPU kernels cost, by what their code objects say of them (`flashwave kernels --json`):

    scripts/budget.py --command build/release/flashwave [--archs gfx90a,gfx942,gfx950]

No kernel has private memory or spills vector registers; scalar spills are at most 64. There is a bound on how many
kernels an architecture has. With --archs, each of these must be there.
"""
import argparse
import json
import subprocess
import sys
from collections import Counter

LIMITS = {"private_bytes": 0, "vgpr_spills": 0, "sgpr_spills": 64}
MOST_KERNELS = 130  # of an architecture


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", required=True, help="the flashwave command whose library is looked at")
    parser.add_argument("--archs", default="", help="architectures that must have kernels, with commas between")
    options = parser.parse_args()
    listed = subprocess.run([options.command, "kernels", "--json"], capture_output=True, text=True)
    kernels = [json.loads(line) for line in listed.stdout.splitlines() if '"arch"' in line]
    counts = Counter(kernel["arch"] for kernel in kernels)
    faults = [f"{arch} has no kernels" for arch in filter(None, options.archs.split(",")) if not counts[arch]]
    faults += [f"{arch} has {count} kernels, over {MOST_KERNELS}" for arch, count in counts.items()
               if count > MOST_KERNELS]
    faults += [f"{kernel['arch']}/{kernel['name']}: {field} is {kernel[field]}, over {limit}"
               for kernel in kernels for field, limit in LIMITS.items() if kernel[field] > limit]
    for fault in faults:
        print(f"budget: {fault}")
    summary = ", ".join(f"{count} for {arch}" for arch, count in sorted(counts.items())) or "no kernels"
    print(f"budget: {summary}; {len(faults) or 'none'} over the limits")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
