#!/usr/bin/env python3
"""What the command prints and exits with.

    command_test.py FLASHWAVE [unittest arguments]
"""
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

FLASHWAVE = sys.argv.pop(1)


def run(*words, **more):
    return subprocess.run([FLASHWAVE, *words], capture_output=True, text=True, timeout=300, **more)


def json_lines(text):
    return [json.loads(line) for line in text.splitlines()]


def write_safetensors(path, tensors):
    """tensors: name -> (dtype, shape, bytes)"""
    header, data = {}, b""
    for name, (dtype, shape, raw) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    header.pop("__metadata__", None)
    return {name: (t["dtype"], t["shape"], data[slice(*t["data_offsets"])]) for name, t in header.items()}


def floats(count, start=0):
    return struct.pack(f"<{count}f", *[((i + start) * 37 % 19 - 9) / 8 for i in range(count)])


class Devices(unittest.TestCase):
    def test_lists_the_cpu(self):
        result = run("devices")
        self.assertEqual(result.returncode, 0)
        self.assertIn("cpu", result.stdout)
        self.assertNotIn("eager", result.stdout)
        self.assertIn("eager", run("devices", "--all").stdout)

    def test_json(self):
        device = json_lines(run("devices", "--json").stdout)[0]
        self.assertEqual(device["device"], "cpu")
        self.assertTrue(device["usable"])
        self.assertGreater(device["threads"], 0)


class Gpus(unittest.TestCase):
    def test_kernels_are_listed_or_their_absence_is_said(self):
        result = run("kernels", "--json")
        if result.returncode == 3:
            self.assertIn("no GPU kernels", json.loads(result.stdout)["error"]["message"])
            return
        for kernel in json_lines(result.stdout):
            for field in ("arch", "name", "vgprs", "agprs", "sgprs", "vgpr_spills", "sgpr_spills", "private_bytes",
                          "lds_bytes", "code_bytes", "occupancy"):
                self.assertIn(field, kernel)
            self.assertGreater(kernel["code_bytes"], 0)

    def test_an_architecture_without_kernels_is_named(self):
        result = run("kernels", "--arch", "gfx000")
        self.assertEqual(result.returncode, 3)
        self.assertIn("kernels", result.stderr)

    def test_the_doctor_writes_a_report_even_of_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.txt")
            result = run("doctor", "--device", "hip:99", "--report", path)
            self.assertEqual(result.returncode, 3)
            with open(path) as file:
                report = file.read()
            self.assertIn("/dev/kfd", report)
            self.assertIn("hip:0", report)


class Exits(unittest.TestCase):
    def test_help_is_no_failure_and_shows_examples(self):
        for verb in ([], ["run"], ["verify"], ["bench"], ["explain"], ["devices"]):
            result = run(*verb, "--help")
            self.assertEqual(result.returncode, 0, verb)
            self.assertIn("flashwave", result.stdout)

    def test_version(self):
        self.assertRegex(run("--version").stdout, r"\d+\.\d+\.\d+")

    def test_bad_words_exit_2(self):
        for words in ([], ["fly"], ["verify"], ["bench", "--rounds", "0"], ["verify", "--suite", "no-such"],
                      ["verify", "--cases", "/no/such/file"], ["verify", "--fuzz", "soon"]):
            result = run(*words)
            self.assertEqual(result.returncode, 2, words)
            self.assertTrue(result.stderr.strip(), words)

    def test_bad_problems_exit_2_and_say_why(self):
        bad = "fwd b1 hq3 hkv2 sq8 sk8 d64 bf16"
        for verb in ("bench", "verify", "explain"):
            result = run(verb, bad)
            self.assertEqual(result.returncode, 2, verb)
            self.assertIn("hkv", result.stderr)
            self.assertEqual(result.stdout, "")

    def test_errors_are_json_when_asked(self):
        for words in (["bench", "fwd sq8 d64 hq3 hkv2 bf16", "--json"], ["explain", "--json"]):
            result = run(*words)
            self.assertEqual(result.returncode, 2)
            (error,) = json_lines(result.stdout)
            self.assertEqual(error["error"]["code"], "invalid")
            self.assertEqual(error["error"]["exit"], 2)
            self.assertTrue(error["error"]["message"])

    def test_what_cannot_be_done_exits_3(self):
        self.assertEqual(run("explain", "fwd sq8 d600 bf16").returncode, 3)
        self.assertEqual(run("bench", "fwd sq8 d64 bf16", "--device", "abacus").returncode, 3)
        self.assertEqual(run("bench", "fwd sq8 d64 bf16", "--against", "abacus").returncode, 3)
        self.assertEqual(run("verify", "fwd b1000000 hq1000 sq100000 d64 bf16").returncode, 3)


class Explain(unittest.TestCase):
    problem = "fwd b1 hq8 hkv2 sq100 sk300 d72 dv40 bf16 window=64,0 softcap=20 sink paged=7 splits=3"

    def test_names_the_plan(self):
        result = run("explain", self.problem)
        self.assertEqual(result.returncode, 0)
        self.assertIn("splits", result.stdout)

    def test_json(self):
        (plan,) = json_lines(run("explain", self.problem, "--json").stdout)
        self.assertEqual(plan["plans"][0]["splits"], 3)
        (both,) = json_lines(run("explain", "fwd+bwd sq64 d64 bf16 want=lse,dlse", "--json").stdout)
        self.assertEqual([p["pass"] for p in both["plans"]], ["fwd", "bwd"])


class Verify(unittest.TestCase):
    def cases(self, text):
        file = tempfile.NamedTemporaryFile("w", suffix=".cases")
        file.write(text)
        file.flush()
        self.addCleanup(file.close)
        return file.name

    def test_ends_with_the_counts(self):
        result = run("verify", "fwd sq16 d16 fp32", "fwd+bwd sq9 d8 bf16 causal")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stdout.splitlines()[-1], "2 passed, 0 failed, 0 skipped")

    def test_refusals_are_checked_by_their_rule(self):
        name = self.cases("# a comment\n\nfwd sq4 d8 fp32\nrefuse heads-divide: fwd hq3 hkv2 sq4 d8 fp32\n")
        result = run("verify", "--cases", name)
        self.assertEqual((result.returncode, result.stdout.splitlines()[-1]), (0, "2 passed, 0 failed, 0 skipped"))
        name = self.cases("refuse heads-divide: fwd sq4 d8 fp32\nrefuse dim-range: fwd hq3 hkv2 sq4 d8 fp32\n")
        result = run("verify", "--cases", name)
        self.assertEqual((result.returncode, result.stdout.splitlines()[-1]), (1, "0 passed, 2 failed, 0 skipped"))
        self.assertIn("was not refused", result.stdout)

    def test_a_decline_fails_unless_it_may(self):
        line = "fwd sq4 d8 fp8e4m3fn"
        result = run("verify", "--cases", self.cases(f"{line}\n"))
        self.assertEqual((result.returncode, result.stdout.splitlines()[-1]), (1, "0 passed, 1 failed, 0 skipped"))
        result = run("verify", "--cases", self.cases(f"may-decline: {line}\nfwd sq4 d8 fp32\n"))
        self.assertEqual((result.returncode, result.stdout.splitlines()[-1]), (0, "1 passed, 0 failed, 0 skipped"))
        self.assertIn("declined", result.stdout)

    def test_a_bad_line_of_a_file_fails_and_is_named(self):
        result = run("verify", "--cases", self.cases("fwd sq4\n"))
        self.assertEqual(result.returncode, 1)
        self.assertIn(".cases:1)", result.stdout)

    def test_json(self):
        lines = json_lines(run("verify", "fwd sq4 d8 fp32", "--json").stdout)
        self.assertEqual(lines[0]["state"], "passed")
        self.assertIn("out", lines[0]["tensors"])
        self.assertEqual(lines[-1]["passed"], 1)

    def test_fuzz_counts_what_it_judged(self):
        result = run("verify", "--fuzz", "15", "--seed", "4")
        self.assertRegex(result.stdout.splitlines()[-1], r"^\d+ passed, \d+ failed, 0 skipped$")


class Bench(unittest.TestCase):
    def test_table(self):
        result = run("bench", "fwd hq2 sq64 d32 fp32", "--rounds", "2")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("GFLOP/s", result.stdout)
        self.assertEqual(result.stderr, "")  # no bar where nobody looks

    def test_json(self):
        # One round: the ratio is a median over rounds, and only of one it is that of the two times.
        result = run("bench", "fwd+bwd hq2 sq64 d32 bf16", "--rounds", "1", "--against", "eager", "--json")
        lines = json_lines(result.stdout)
        self.assertEqual([line["problem"].split()[0] for line in lines], ["fwd", "bwd"])
        for line in lines:
            for key in ("problem", "device", "isa", "threads", "seconds", "gflops", "percent_of_peak", "percent_of_read",
                        "extra_bytes", "ratio"):
                self.assertIn(key, line)
            self.assertGreater(line["seconds"], 0)
            self.assertGreater(line["gflops"], 0)
            self.assertAlmostEqual(line["ratio"], line["against_seconds"] / line["seconds"], places=6)

    def test_a_rival_that_declines_costs_a_dash(self):
        line = "fwd hq2 sq1 sk64 d32 bf16 cache"
        table = run("bench", line, "--rounds", "1", "--against", "naive")
        self.assertEqual(table.returncode, 0, table.stderr)
        self.assertIn("declines", table.stdout)
        record, = json_lines(run("bench", line, "--rounds", "1", "--against", "naive", "--json").stdout)
        self.assertIsNone(record["ratio"])
        self.assertIn("naive", record["against_declines"])

    def test_another_number_of_threads(self):
        result = run("bench", "fwd hq2 sq64 d32 bf16", "--rounds", "1", "--against", "cpu", "--against-threads", "1",
                     "--json")
        record, = json_lines(result.stdout)
        self.assertEqual(record["against_threads"], 1)
        self.assertGreater(record["ratio"], 0)

    def test_suites_are_well_formed(self):
        folder = os.path.join(os.path.dirname(__file__), "..", "..", "bench")
        suites = [name for name in os.listdir(folder) if name.endswith(".suite")]
        self.assertIn("quick.suite", suites)
        for name in suites:
            with open(os.path.join(folder, name)) as file:
                lines = [line.split("#")[0].strip() for line in file]
            for line in filter(None, lines):
                self.assertEqual(run("explain", line).returncode, 0, line)


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.input = os.path.join(folder.name, "in.safetensors")
        self.output = os.path.join(folder.name, "out.safetensors")

    def attention(self, prefix="", **more):
        shape, count = [1, 5, 2, 4], 40
        tensors = {prefix + name: ("F32", shape, floats(count, i)) for i, name in enumerate("qkv")}
        tensors.update({prefix + name: value for name, value in more.items()})
        return tensors

    def go(self, *words):
        return run("run", "--in", self.input, "--out", self.output, *words)

    def test_forward(self):
        write_safetensors(self.input, self.attention())
        result = self.go("--causal", "--check")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        out = read_safetensors(self.output)
        self.assertEqual(sorted(out), ["lse", "out"])
        self.assertEqual(out["out"][1], [1, 5, 2, 4])
        # The first row sees the first key only.
        v = read_safetensors(self.input)["v"][2]
        for mine, his in zip(struct.unpack("<8f", out["out"][2][:32]), struct.unpack("<8f", v[:32])):
            self.assertAlmostEqual(mine, his, places=5)

    def test_backward_and_several_attentions(self):
        tensors = self.attention("a.", dout=("F32", [1, 5, 2, 4], floats(40, 9)), sink=("F32", [2], floats(2)))
        tensors.update(self.attention("b."))
        write_safetensors(self.input, tensors)
        result = self.go("--check")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertEqual(sorted(read_safetensors(self.output)),
                         ["a.dk", "a.dq", "a.dsink", "a.dv", "a.lse", "a.out", "b.lse", "b.out"])
        self.assertEqual(self.go("--pass", "fwd").returncode, 0)
        self.assertEqual(sorted(read_safetensors(self.output)), ["a.lse", "a.out", "b.lse", "b.out"])
        self.assertEqual(self.go("--pass", "bwd").returncode, 2)  # b has no dout

    def test_varlen(self):
        ends = struct.pack("<3i", 0, 2, 5)
        tensors = {name: ("F32", [5, 2, 4], floats(40, i)) for i, name in enumerate("qkv")}
        tensors.update({"cu_seqlens_q": ("I32", [3], ends), "cu_seqlens_k": ("I32", [3], ends)})
        write_safetensors(self.input, tensors)
        result = self.go("--check", "--dropout", "0.2", "--mask", "--json")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertTrue(json_lines(result.stdout)[0]["passed"])
        self.assertEqual(read_safetensors(self.output)["dropout_mask"][1], [2, 2, 3, 3])

    def test_a_misspelt_tensor_is_not_ignored(self):
        write_safetensors(self.input, self.attention(bais=("F32", [1, 1, 5, 5], floats(25))))
        result = self.go()
        self.assertEqual(result.returncode, 2)
        self.assertIn("bais", result.stderr)
        self.assertFalse(os.path.exists(self.output))

    def test_only_regular_files_are_written_over(self):
        write_safetensors(self.input, self.attention())
        os.mkfifo(self.output)
        result = self.go()
        self.assertEqual(result.returncode, 2)
        self.assertIn("not a regular file", result.stderr)
        self.assertFalse(os.path.isfile(self.output))

    def test_numbers_below_0(self):
        write_safetensors(self.input, self.attention())
        result = self.go("--seed", "-1")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--seed: -1 is below 0", result.stderr)

    def test_refusals(self):
        def refused(tensors, sentence, *words):
            write_safetensors(self.input, tensors)
            result = self.go(*words)
            self.assertEqual(result.returncode, 2, sentence)
            self.assertIn(sentence, result.stderr)
            self.assertFalse(os.path.exists(self.output))

        tensors = self.attention()
        refused({"x": tensors["q"]}, "no tensor named q")
        refused({"q": tensors["q"], "k": tensors["k"]}, "no tensor 'v'")
        refused(self.attention(cu_seqlens_q=("I64", [2], bytes(16))), "int32")
        refused(self.attention(bias=("F64", [1, 1, 5, 5], bytes(200))), "F64")
        refused({**tensors, "k": ("F32", [1, 5, 2, 3], floats(30))}, "k")
        refused({**tensors, "q": ("F32", [40], floats(40))}, "dimensions")
        refused(tensors, "--causal", "--causal", "--window", "2,2")
        with open(self.input, "wb") as file:
            file.write(b"\xff" * 64)
        result = self.go()
        self.assertEqual(result.returncode, 2)
        self.assertIn("header", result.stderr)


if __name__ == "__main__":
    unittest.main()
