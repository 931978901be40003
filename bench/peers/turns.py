"""Processes that take turns: one computes while the others sleep, and it is checked that they do."""
import multiprocessing
import signal
import time

from contestants import Declined
from contestants.flashwave import Flashwave
from contestants.onnx_runtime import OnnxRuntime
from contestants.pytorch import PyTorch
from contestants.replica import Replica
from library import Failure
from machine import busy_seconds

CONTESTANTS = {"flashwave": Flashwave, "PyTorch": PyTorch, "onnxruntime": OnnxRuntime, "replica": Replica}
LEAST_SECONDS = 0.1  # of a measurement: short calls are repeated
SLOW_SECONDS = 3     # a call that takes longer is measured once


class Timer:
    """Seconds of a call, and how many cores it kept busy."""

    def measure(self):
        begin, used = time.perf_counter(), time.process_time()
        for _ in range(self.calls):
            self.run()
        seconds = time.perf_counter() - begin
        return {"seconds": seconds / self.calls, "cores": (time.process_time() - used) / seconds}

    def prepare(self, run):
        """The first call touches pages and makes plans and pools; the second, if the first was short, says how long one
        is. The answer is the measurement if there will be no other."""
        self.run, self.calls = run, 1
        for _ in range(2):
            first = self.measure()
            if first["seconds"] > LEAST_SECONDS:
                break
        self.calls = max(1, round(LEAST_SECONDS / first["seconds"]))
        return first if first["seconds"] > SLOW_SECONDS else None


def sentence(error):
    """A foreign library's error on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def serve(connection, name, threads, build):
    """A process: answers (word, argument) with (status, value) until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        contestant = CONTESTANTS[name](threads, build)
    except (ImportError, OSError) as error:
        connection.send(("missing", f"{sentence(error)}; to get it: {CONTESTANTS[name].GET}"))
        return
    timer = Timer()

    def prepare(problem):
        kernel = contestant.prepare(problem)
        return {"kernel": kernel, "only": timer.prepare(contestant.run)}

    words = {"prepare": prepare, "measure": lambda _: timer.measure(), "answer": lambda _: contestant.answer(),
             "peak": lambda dtype: contestant.peak(dtype)}

    def reply(word, argument):
        try:
            return "done", words[word](argument)
        except (Declined, Failure) as why:
            return "declined", str(why)
        except Exception as error:  # of a peer's library: a line in the table, not the end of the run
            return "declined", sentence(error)

    facts = {key: value for key, value in vars(contestant).items() if isinstance(value, (str, int))}
    try:
        connection.send(("done", facts))
        while True:
            connection.send(reply(*connection.recv()))
    except (EOFError, BrokenPipeError):
        return  # nobody asks any more


class Player:
    def __init__(self, name, threads, build):
        context = multiprocessing.get_context("spawn")
        self.name = name
        self.connection, other = context.Pipe()
        self.process = context.Process(target=serve, args=(other, name, threads, build), daemon=True)
        self.process.start()
        other.close()
        status, value = self.answer()
        self.missing = value if status != "done" else None
        self.facts = value if status == "done" else {}

    def ask(self, word, argument):
        try:
            self.connection.send((word, argument))
        except OSError:
            pass  # it has ended: answer() says so
        return self.answer()

    def answer(self):
        try:
            return self.connection.recv()
        except (EOFError, OSError):
            self.process.join()
            return "declined", f"its process ended with {self.process.exitcode}"

    def cpu_seconds(self):
        try:
            return time.clock_gettime(~self.process.pid << 3 | 2)  # Linux: the clock of a process and all its threads
        except OSError:
            return 0  # it has ended


class Team:
    """Players of one number of threads.

    `awake` is the most that those who waited computed during a measurement, `outside()` what other programs have computed
    since the team was made; both in cores.
    """

    def __init__(self, names, threads, build):
        self.players = [Player(name, threads, build) for name in names]
        self.threads, self.awake = threads, 0.0
        self.present = [player for player in self.players if not player.missing]
        self.begin, self.others = time.perf_counter(), self.others_seconds()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for player in self.players:
            player.connection.close()
            player.process.join()

    def turn(self, player, word, argument=None):
        """What a player answers; others sleep before and after."""
        others = [other for other in self.present if other is not player]
        begin, used = time.perf_counter(), busy(others)
        reply = player.ask(word, argument)
        if word == "measure":
            self.awake = max(self.awake, (busy(others) - used) / (time.perf_counter() - begin))
        self.settle()
        return reply

    def others_seconds(self):
        return busy_seconds() - busy(self.present) - time.process_time()

    def outside(self):
        return (self.others_seconds() - self.others) / (time.perf_counter() - self.begin)

    def settle(self):
        """Threads that wait for work by turning in circles do so for some milliseconds. On a busy machine they may pause
        without having ended, so they must be quiet twice; after two seconds `awake` tells."""
        quiet, end = 0, time.perf_counter() + 2
        while quiet < 2 and time.perf_counter() < end:
            used = busy(self.present)
            time.sleep(0.005)
            quiet = quiet + 1 if busy(self.present) - used < 0.0002 else 0


def busy(players):
    return sum(player.cpu_seconds() for player in players)
