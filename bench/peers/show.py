"""What is seen of a run: time left, a table or JSON lines."""
import json
import sys
import time


class Progress:
    """One line on a terminal, of work done, in any unit, and the time that the rest will take."""

    def __init__(self):
        self.begin, self.work, self.finished = time.monotonic(), 1, 0
        self.shown = sys.stderr.isatty()

    def expect(self, work):
        self.work = work

    def done(self, work):
        self.finished += work

    def show(self, words):
        if not self.shown:
            return
        left = ""
        if self.finished:
            seconds = (time.monotonic() - self.begin) * (self.work / self.finished - 1)
            left = f", about {seconds / 60:.0f} min left" if seconds > 90 else f", about {seconds:.0f} s left"
        print(f"\r\x1b[K{100 * self.finished / self.work:3.0f} %{left}  {words}", end="", file=sys.stderr, flush=True)

    def clear(self):
        if self.shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


class Show:
    """Records as they come: a table, or JSON lines; and JSON lines into a file."""

    COLUMNS = "  {:<12} {:>9} {:>8} {:>6} {:>7} {:>7} {:>9} {:>8}  {}"

    def __init__(self, as_json, save):
        self.progress, self.as_json = Progress(), as_json
        if save:
            save.parent.mkdir(parents=True, exist_ok=True)
        self.file = save.open("w") if save else None

    def line(self, kind, record):
        """Whether there is a table to print."""
        self.progress.clear()
        text = json.dumps({"kind": kind, **record})
        if self.file:
            print(text, file=self.file, flush=True)
        if self.as_json:
            print(text, flush=True)
        return not self.as_json

    def head(self, record):
        if self.line("head", record):
            print(f"\n{record['machine']}, {record['isa']}, {threads(record)}, median of {record['rounds']} rounds, "
                  f"{record['date']}, commit {record['commit']}")
            for name, about in record["contestants"].items():
                print(f"  {name}: {about}")
            print()
            print(self.COLUMNS.format("", "time", "GFLOP/s", "GB/s", "of peak", "spread", "speed-up",
                                      "differs", ""))

    def row(self, record):
        if not self.line("row", record):
            return
        peak = (f"{record['peak_gbytes']:.1f} GB/s" if record["bound"] == "memory" else
                f"{record['peak_gflops']:.0f} GFLOP/s")
        print(f"{record['problem']}, {threads(record)}, peak {peak}")
        for name, result in record["results"].items():
            if "declined" in result:
                print(f"  {name:<12} {result['declined']}")
                continue
            beside = f"{result['speedup']:.2f} x", f"{result['differs']:.0e}"
            print(self.COLUMNS.format(name, seconds(result["seconds"]), f"{result['gflops']:.1f}",
                                      f"{result['gbytes']:.1f}", f"{result['percent_of_peak']:.0f} %",
                                      f"{100 * result['spread']:.0f} %",
                                      *(("", "") if name == "flashwave" else beside), result["kernel"]))

    def tail(self, record):
        if self.line("tail", record):
            print(f"while one computed, those who waited used {record['awake']:.2f} cores at most; "
                  f"other programs used {record['outside']:.2f} cores")


def threads(record):
    return f"{record['threads']} thread{'s' if record['threads'] > 1 else ''}"


def seconds(value):
    return f"{value:.2f} s" if value >= 1 else f"{value * 1e3:.3g} ms" if value >= 1e-3 else f"{value * 1e6:.3g} us"
