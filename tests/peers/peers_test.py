#!/usr/bin/env python3
"""bench/peers on small problems, without the peers that have to be installed: peers_test.py BUILD."""
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
VENV = ROOT / ".venv/bin/python"
BUILD = Path(sys.argv.pop(1)).resolve()
PROBLEMS = ["fwd b1 hq2 sq300 sk700 d64 fp32", "fwd b2 hq3 sq300 d40 bf16 causal", "bwd b1 hq2 sq300 sk700 d64 fp32",
            "bwd b2 hq2 sq900 d32 fp32 causal"]


def run(*words, build=BUILD):
    command = [sys.executable, ROOT / "bench/peers/peers.py", "--build", build, "--against", "replica", *words]
    return subprocess.run(command, capture_output=True, text=True)


def records(*words, **settings):
    done = run("--rounds", "2", "--json", *words, **settings)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


class Peers(unittest.TestCase):
    def test_everyone_is_measured_and_agrees(self):
        head, *rows, tail = records("--threads", "2", *PROBLEMS)
        self.assertEqual((head["kind"], tail["kind"]), ("head", "tail"))
        self.assertEqual([row["problem"] for row in rows], PROBLEMS)
        built = (BUILD / "libflashwave_replica.so").exists()
        for row in rows:
            self.assertEqual("replica" in row["results"], built)
            for name, result in row["results"].items():
                if "not built" in result.get("declined", ""):
                    continue
                self.assertEqual(result["rounds"], 2, (name, result))
                self.assertLess(result["differs"], 1e-5 if "fp32" in row["problem"] else 2e-2, name)
                self.assertGreater(result["percent_of_peak"], 0)
                self.assertGreater(result["speedup"], 0)

    def test_what_is_missing_or_declined_costs_a_line(self):
        with tempfile.TemporaryDirectory() as build:
            os.symlink(BUILD / "libflashwave.so", Path(build, "libflashwave.so"))
            head, row, _ = records("--threads", "1", "fwd sq8 d8 fp16", build=build)
        self.assertIn("apt-get install", head["contestants"]["replica"])
        self.assertEqual(list(row["results"]), ["flashwave"])
        if (BUILD / "libflashwave_replica.so").exists():
            self.assertIn("fp16", records("--threads", "1", "fwd sq8 d8 fp16")[1]["results"]["replica"]["declined"])

    def test_problems_that_peers_do_not_share_are_refused(self):
        for line in ("fwd sq8 d8 fp32 window=3,0", "fwd sq8 sk9 d8 fp32 causal", "fwd+bwd sq8 d8 fp32", "fly"):
            done = run(line)
            self.assertEqual(done.returncode, 1, line)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_documents_hold_what_was_saved(self):
        spec = importlib.util.spec_from_file_location("readme", ROOT / "scripts/readme.py")
        readme = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(readme)
        with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
            path = Path(folder, "figures.jsonl")
            records("--threads", "1,2", "--save", str(path), PROBLEMS[0])
            text = [readme.beside_peers(records_) for records_ in readme.saved(path)]
        self.assertTrue(text[0].startswith("**2 threads.**") and text[1].startswith("**1 thread.**"), text)
        self.assertIn(f"| `{PROBLEMS[0]}` | ", text[0])
        self.assertIn("GFLOP/s", text[0])


if __name__ == "__main__":
    if not importlib.util.find_spec("numpy"):
        if VENV.exists() and sys.executable != str(VENV):
            os.execv(VENV, [VENV, __file__, BUILD])
        print("skipped: numpy is missing; `make peers` makes a .venv that has it")
        sys.exit(77)
    unittest.main()
