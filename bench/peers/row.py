"""One problem, everybody: the rounds, and what is told of them."""
from statistics import median

import numpy

from library import Failure

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
    def __init__(self, team, problem):
        self.team, self.problem = team, problem
        self.playing = list(team.present)
        self.notes = {player.name: {} for player in self.playing}
        self.times = {player.name: [] for player in self.playing}
        self.only = set()  # names of those who are measured once
        answers = {player.name: answer for player in team.present if (answer := self.prepare(player)) is not None}
        for name, answer in answers.items():
            self.notes[name]["differs"] = difference(answers["flashwave"], answer)

    def ask(self, player, word, argument=None):
        """What a player answers; None if it declines, which is then all that is told of it."""
        status, value = self.team.turn(player, word, argument)
        if status == "done":
            return value
        if player.name == "flashwave":
            raise Failure(f"{self.problem.line}: {value}")
        self.notes[player.name] = {"declined": value}
        self.playing.remove(player)
        return None

    def prepare(self, player):
        prepared = self.ask(player, "prepare", self.problem)
        if prepared is None:
            return None
        self.notes[player.name]["kernel"] = prepared["kernel"]
        if prepared["only"]:
            self.only.add(player.name)
            self.times[player.name].append(prepared["only"])
        return self.ask(player, "answer")

    def run(self, rounds, progress):
        peaks = []
        for _ in range(rounds):
            peaks.append(self.ask(self.playing[0], "peak", self.problem.dtype))
            for player in list(self.playing):
                progress()
                if player.name not in self.only and (time := self.ask(player, "measure")):
                    self.times[player.name].append(time)
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
        if not note.get("differs", 0) <= limit:  # NaN too
            yield f"{name}: {record['problem']}: differs by {note['differs']:.1e}, more than {limit:.0e}"
        if note.get("cores", 0) > record["threads"] + 0.2:
            yield f"{name}: {record['problem']}: used {note['cores']:.1f} cores, not {record['threads']}"
