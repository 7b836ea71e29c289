"""The worker seen from outside: clients that share no line with it, made from proto/ and from what it says of itself.
And the client's load report, seen by a browser.

    test_outside.py --server PATH [names of tests, options of unittest]

PATH (or the environment's TAQUIN_SERVER) is a server built with the cargo feature `faults`; taquin-client lies beside
it. The packages of requirements.txt must be installed; `run` sees to that. Nothing here leaves the loopback interface.
"""
import argparse
import collections
import faulthandler
import functools
import itertools
import json
import os
import queue
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import google.rpc
import grpc
import grpc_tools
from google.protobuf import descriptor_pool, json_format, message_factory
from google.rpc import code_pb2, error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
from grpc_status import rpc_status
from grpc_tools import protoc

import browser

ROOT = Path(__file__).resolve().parents[2]
# Where google/rpc/*.proto lie.
GOOGLE = Path(next(iter(google.rpc.__path__))).parents[1]
SERVICE = "taquin.v1.SolverService"
# Seconds that no call, and no process, should ever need.
PATIENCE = 60
# Seconds after which the whole of it is given up.
ALL_PATIENCE = 600
SEED = 20250101

BINARY = None
WORK = None
SERVER = None
pb = pb_grpc = None


def say(text):
    print(f"    {text}", file=sys.stderr)


# ---- The server, and tools beside it


class Server:
    """A server process of our own, on a loopback port that the system chooses; without tables unless asked for, since
    they leave nothing to search."""

    running = []

    def __init__(self, *flags, tables=False, dial=grpc.insecure_channel):
        command = [BINARY, "--listen", "127.0.0.1:0", "--log-format", "json", "--log", "info", *flags]
        if not tables:
            command += ["--sweep", "off", "--max-table-bytes", "0"]
        env = {name: value for name, value in os.environ.items() if not name.startswith("TAQUIN_")}
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.running.append(self.process)
        self.log, started = [], queue.Queue()
        self.reader = threading.Thread(target=self._read_log, args=[started], daemon=True)
        self.reader.start()
        try:
            self.address = started.get(timeout=PATIENCE)
            if self.address is None:
                raise RuntimeError("the server did not start: " + "".join(self.log))
            self.channel = dial(self.address)
            self.solver = pb_grpc.SolverServiceStub(self.channel)
            self.health = health_pb2_grpc.HealthStub(self.channel)
            self._wait_until_serving()
        except BaseException:
            self.kill()
            raise

    def _read_log(self, started):
        for line in self.process.stderr:
            self.log.append(line)
            if line.startswith("{"):
                event = json.loads(line)
                if event.get("message") == "serving":
                    started.put(event["address"])
        started.put(None)

    def _wait_until_serving(self):
        request = health_pb2.HealthCheckRequest(service=SERVICE)
        until = time.monotonic() + PATIENCE
        serving = health_pb2.HealthCheckResponse.SERVING
        while self.health.Check(request, timeout=PATIENCE, wait_for_ready=True).status != serving:
            if time.monotonic() > until:
                raise RuntimeError("the server does not come to serve")
            time.sleep(0.02)

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def exit_code(self):
        code = self.process.wait(timeout=PATIENCE)
        self.reader.join(timeout=PATIENCE)
        return code

    def kill(self):
        if hasattr(self, "channel"):
            self.channel.close()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(timeout=PATIENCE)
        self.reader.join(timeout=PATIENCE)
        self.process.stderr.close()
        self.running.remove(self.process)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


def give_up():
    """Ends everything when a test hangs: says where, and leaves no server behind."""
    faulthandler.dump_traceback()
    say(f"given up after {ALL_PATIENCE} s")
    for process in Server.running:
        process.kill()
    os._exit(1)


def tool(name, requirements="tests/outside/requirements.txt"):
    """The path of a command that comes with the packages; without it CI fails, and others are told."""
    path = shutil.which(name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    works = path and subprocess.run([path, "--help"], capture_output=True, timeout=PATIENCE).returncode == 0
    if not works:
        reason = f"{name} is not to be had here: see {requirements}"
        if os.environ.get("CI") == "true":
            raise AssertionError(reason)
        say(reason)
        raise unittest.SkipTest(reason)
    return path


def chromium():
    """The path of a browser; without it CI fails, and others are told."""
    path = next(filter(None, map(shutil.which, browser.NAMES)), None)
    if not path:
        reason = "no Chromium is to be had here (Debian: chromium), so no report was opened"
        if os.environ.get("CI") == "true":
            raise AssertionError(reason)
        say(reason)
        raise unittest.SkipTest(reason)
    return path


def run(*command, stdin=None, **kwargs):
    """Runs a command to its end. Its standard input is always given, so that it waits for none."""
    return subprocess.run(
        [str(word) for word in command], input=stdin or "", capture_output=True, text=True, timeout=PATIENCE, **kwargs
    )


def setUpModule():
    global WORK, SERVER, pb, pb_grpc
    watchdog = threading.Timer(ALL_PATIENCE, give_up)
    watchdog.daemon = True
    watchdog.start()
    unittest.addModuleCleanup(watchdog.cancel)
    # Neither a proxy nor a cache of the user's has a part in this.
    os.environ["no_proxy"] = os.environ["NO_PROXY"] = "127.0.0.1"
    work = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(work.cleanup)
    WORK = Path(work.name)
    os.environ["BUF_CACHE_DIR"] = str(WORK / "buf-cache")

    stubs = WORK / "stubs"
    stubs.mkdir()
    well_known = Path(grpc_tools.__file__).parent / "_proto"
    arguments = [f"-I{ROOT / 'proto'}", f"-I{GOOGLE}", f"-I{well_known}"]
    arguments += [f"--python_out={stubs}", f"--grpc_python_out={stubs}", "taquin/v1/solver.proto"]
    if protoc.main(["protoc", *arguments]) != 0:
        raise RuntimeError("no stubs could be made from proto/")
    sys.path.insert(0, str(stubs))
    from taquin.v1 import solver_pb2, solver_pb2_grpc

    pb, pb_grpc = solver_pb2, solver_pb2_grpc
    SERVER = Server("--workers", "2")
    unittest.addModuleCleanup(SERVER.kill)


# ---- Boards, in plain Python


@functools.lru_cache(maxsize=None)
def steps(rows, columns):
    """For each cell: the letter of each way the blank can go, and the cell where it comes to stand."""
    ways = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}
    return [
        {
            letter: (row + down) * columns + column + right
            for letter, (down, right) in ways.items()
            if 0 <= row + down < rows and 0 <= column + right < columns
        }
        for row in range(rows)
        for column in range(columns)
    ]


def swapped(board, one, other):
    tiles = list(board)
    tiles[one], tiles[other] = tiles[other], tiles[one]
    return tuple(tiles)


def replay(rows, columns, board, moves):
    """Where the moves lead. KeyError when one leads off the board."""
    for letter in moves:
        blank = board.index(0)
        board = swapped(board, blank, steps(rows, columns)[blank][letter])
    return board


def standard(cells):
    return (*range(1, cells), 0)


@functools.lru_cache(maxsize=None)
def distances(rows, columns, goal):
    """The distance of every board that reaches the goal: breadth first, from the goal."""
    table, level = {goal: 0}, [goal]
    for distance in itertools.count(1):
        reached = []
        for board in level:
            blank = board.index(0)
            for cell in steps(rows, columns)[blank].values():
                neighbour = swapped(board, blank, cell)
                if neighbour not in table:
                    table[neighbour] = distance
                    reached.append(neighbour)
        if not reached:
            return table
        level = reached


def is_solvable(rows, columns, start, goal):
    if 1 in (rows, columns):
        return [tile for tile in start if tile] == [tile for tile in goal if tile]
    # Sort start into goal by swaps: they must be as odd as the blank's way.
    tiles, odd = list(start), False
    for cell, wanted in enumerate(goal):
        if tiles[cell] != wanted:
            odd = not odd
            other = tiles.index(wanted)
            tiles[cell], tiles[other] = tiles[other], tiles[cell]
    (row, column), (to_row, to_column) = divmod(start.index(0), columns), divmod(goal.index(0), columns)
    return odd == ((row + column + to_row + to_column) % 2 == 1)


GOAL_LAST, GOAL_CENTRE = (1, 2, 3, 4, 5, 6, 7, 8, 0), (1, 2, 3, 8, 0, 4, 7, 6, 5)


def true_distance(rows, columns, start, goal):
    """By a table: `None` when the goal is out of reach. KeyError where no table was made."""
    cells, blank = rows * columns, goal.index(0)
    known = {(3, 3, 8): GOAL_LAST, (3, 3, 4): GOAL_CENTRE}.get((rows, columns, blank))
    if known is None:
        if cells == 9 and min(rows, columns) > 1:
            raise KeyError("no table")
        known = standard(cells)[:blank] + (0,) + standard(cells)[blank:-1]
    # Names of tiles don't matter: call them so that the goal becomes that of the table.
    name = dict(zip(goal, known))
    return distances(rows, columns, known).get(tuple(name[tile] for tile in start))


def job(request_id, start, rows=3, columns=3, goal=(), **more):
    sliding = {"grid": {"rows": rows, "columns": columns}, "start": start, "goal": goal}
    return pb.Job(request_id=request_id, sliding=sliding, **more)


def job_message(*args, **kwargs):
    return pb.SolveStreamRequest(job=job(*args, **kwargs))


def cancel(**which):
    return pb.SolveStreamRequest(cancel=which)


def violations(status):
    """The fields that a google.rpc.Status names; it must hold a BadRequest."""
    details = [any_.TypeName() for any_ in status.details]
    assert details == ["google.rpc.BadRequest"], details
    bad_request = error_details_pb2.BadRequest()
    assert status.details[0].Unpack(bad_request)
    assert all(violation.description for violation in bad_request.field_violations), bad_request
    return [violation.field for violation in bad_request.field_violations]


def malformed_jobs():
    """Jobs that are wrong, each in its own way, and the field that is to be named."""
    grid, start = {"rows": 3, "columns": 3}, GOAL_LAST
    most = 2**32 - 1
    return [
        (pb.Job(sliding={"grid": grid}), "job.sliding.start"),
        (pb.Job(sliding={"grid": grid, "start": start[:8]}), "job.sliding.start"),
        (pb.Job(sliding={"grid": grid, "start": start + (9,)}), "job.sliding.start"),
        (pb.Job(sliding={"grid": grid, "start": (1, 2, 3, 4, 5, 6, 7, 1, 0)}), "job.sliding.start[7]"),
        (pb.Job(sliding={"grid": grid, "start": (1, 2, 3, 4, 5, 6, 7, 9, 0)}), "job.sliding.start[7]"),
        (pb.Job(sliding={"grid": grid, "start": (most, 2, 3, 4, 5, 6, 7, 8, 0)}), "job.sliding.start[0]"),
        (pb.Job(sliding={"grid": grid, "start": (0, 2, 3, 4, 5, 6, 7, 8, 0)}), "job.sliding.start[8]"),
        (pb.Job(sliding={"grid": grid, "start": start, "goal": (1, 2)}), "job.sliding.goal"),
        (pb.Job(sliding={"grid": grid, "start": start, "goal": (1,) * 9}), "job.sliding.goal[1]"),
        (pb.Job(sliding={"grid": {"columns": 3}, "start": start}), "job.sliding.grid.rows"),
        (pb.Job(sliding={"grid": {"rows": 3}, "start": start}), "job.sliding.grid.columns"),
        (pb.Job(sliding={"grid": {"rows": 4, "columns": 5}, "start": range(20)}), "job.sliding.grid"),
        (pb.Job(sliding={"grid": {"rows": most, "columns": most}, "start": start}), "job.sliding.grid"),
        (pb.Job(sliding={"start": start}), "job.sliding.layout"),
        (pb.Job(), "job.problem"),
        (job("", start, algorithm=99), "job.algorithm"),
        (job("", start, objective=99), "job.objective"),
        (job("", start, metric=99), "job.metric"),
        (job("", start, priority=-1), "job.priority"),
        (job("", start, budget={"max_time_ms": most}), "job.budget.max_time_ms"),
        (job("", start, budget={"max_nodes": 2**64 - 1}), "job.budget.max_nodes"),
        (job("n" * 129, start), "job.request_id"),
    ]


# ---- One long conversation

# Boards of the long conversation: so many of rows, columns, goal (`None`: the default one; `random`: a new one each).
MIX = [
    (3000, 3, 3, None),
    (500, 3, 3, GOAL_LAST),
    (2500, 3, 3, GOAL_CENTRE),
    (1000, 3, 3, random),
    (700, 2, 3, None),
    (300, 3, 2, random),
    (700, 2, 4, None),
    (300, 4, 2, random),
    *((50, 1, cells, None) for cells in range(1, 10)),
    *((50, cells, 1, random) for cells in range(1, 10)),
    (100, 1, 9, None),
]
Board = collections.namedtuple("Board", "rows columns start goal message")


def boards():
    """The boards of `MIX`, each under an id of its own, in random order; half of them can't be solved."""
    rng = random.Random(SEED)
    kinds = [kind for number, *kind in MIX for _ in range(number)]
    rng.shuffle(kinds)
    algorithms = list(pb.Algorithm.values())
    for number, (rows, columns, wanted) in enumerate(kinds):
        cells = rows * columns
        goal = tuple(rng.sample(range(cells), cells)) if wanted is random else wanted or standard(cells)
        start = tuple(rng.sample(range(cells), cells))
        if 1 in (rows, columns) and rng.random() < 0.5:
            # Chance would hardly ever give a line that can be solved.
            start = [tile for tile in goal if tile]
            start.insert(rng.randrange(cells), 0)
            start = tuple(start)
        message = job_message(
            f"board-{number}",
            start,
            rows,
            columns,
            () if wanted is None else goal,
            # The slow two are asked for small boards alone.
            algorithm=rng.choice(algorithms if cells < 9 else [0, pb.ALGORITHM_BIDIRECTIONAL, pb.ALGORITHM_A_STAR]),
            objective=rng.choice(pb.Objective.values()),
            priority=rng.choice(pb.Priority.values()),
            budget={"max_time_ms": 60_000},
        )
        yield message.job.request_id, Board(rows, columns, start, goal, message)


class LongConversation(unittest.TestCase):
    """10,000 boards, malformed jobs among them, and one job that is cancelled: on one stream."""

    SLOW = "slow#delay-ms=60000"

    @classmethod
    def setUpClass(cls):
        cls.boards = dict(boards())
        cls.malformed = {}
        for number, (wrong, field) in enumerate(malformed_jobs()):
            wrong.request_id = wrong.request_id or f"malformed-{number}"
            # An id that is too long comes back cut off.
            cls.malformed[wrong.request_id[:128]] = (wrong, field)
        cls.answers, cls.times, cls.cancelled_at = [], {}, None

        begin = time.monotonic()
        for response in SERVER.solver.SolveStream(cls.say_all(), timeout=4 * PATIENCE):
            cls.answers.append(response.answer)
            cls.times[response.answer.request_id] = time.monotonic()
        seconds = time.monotonic() - begin
        say(f"{len(cls.answers)} answers in {seconds:.1f} s, {len(cls.answers) / seconds:.0f} a second")
        cls.by_id = {answer.request_id: answer for answer in cls.answers}

    @classmethod
    def say_all(cls):
        # Its board is another's too; since it bypasses the cache, nobody waits for its search.
        slow = dict(bypass_cache=True, budget={"max_time_ms": 60_000})
        yield job_message(cls.SLOW, (8, 6, 7, 2, 5, 4, 3, 0, 1), **slow)
        malformed = iter(cls.malformed.values())
        for number, board in enumerate(cls.boards.values()):
            if number % 100 == 50:
                for wrong, _ in itertools.islice(malformed, 1):
                    yield pb.SolveStreamRequest(job=wrong)
            if number == 600:
                cls.cancelled_at = time.monotonic()
                yield cancel(request_id=cls.SLOW)
                yield cancel(request_id="an id that nobody has")
            yield board.message

    def test_every_id_is_answered_exactly_once(self):
        self.assertEqual(len(self.boards), 10_000)
        answered = collections.Counter(answer.request_id for answer in self.answers)
        self.assertEqual(answered, collections.Counter([*self.boards, *self.malformed, self.SLOW]))

    def test_boards_are_solved_or_unsolvable_as_they_are(self):
        seen = collections.Counter()
        for request_id, board in self.boards.items():
            answer = self.by_id[request_id]
            outcome = answer.WhichOneof("outcome")
            seen[outcome, answer.source] += 1
            with self.subTest(board=board, answer=answer):
                expected = "solution" if is_solvable(*board[:4]) else "unsolvable"
                self.assertEqual(outcome, expected)
                self.assertNotEqual(answer.source, pb.SOURCE_UNSPECIFIED)
                if outcome == "unsolvable":
                    line = 1 in (board.rows, board.columns)
                    reason = pb.Unsolvable.REASON_ORDER if line else pb.Unsolvable.REASON_PARITY
                    self.assertEqual(answer.unsolvable.reason, reason)
                    self.assertEqual(answer.source, pb.SOURCE_RULE)
        say(", ".join(f"{outcome} by {pb.Source.Name(source)[7:]}: {n}" for (outcome, source), n in seen.items()))
        self.assertGreater(seen["unsolvable", pb.SOURCE_RULE], 4000)
        self.assertGreater(seen["solution", pb.SOURCE_SEARCH], 1000)

    def solutions(self):
        for request_id, board in self.boards.items():
            answer = self.by_id[request_id]
            if answer.HasField("solution"):
                yield board, answer.solution

    def test_paths_replay_to_their_goals(self):
        for board, solution in self.solutions():
            with self.subTest(board=board, solution=solution):
                if board.message.job.objective == pb.OBJECTIVE_DISTANCE:
                    self.assertEqual(solution.moves, "")
                else:
                    self.assertEqual(len(solution.moves), solution.distance)
                    self.assertEqual(replay(*board[:3], solution.moves), board.goal)

    def test_distances_are_those_of_plain_tables(self):
        compared, unknown = 0, 0
        for board, solution in self.solutions():
            try:
                distance = true_distance(*board[:4])
            except KeyError:
                unknown += 1
                continue
            compared += 1
            with self.subTest(board=board):
                self.assertEqual(solution.distance, distance)
        say(f"{compared} distances compared with tables, {unknown} goals have none")
        self.assertGreater(compared, 4000)
        self.assertEqual(len(distances(3, 3, GOAL_LAST)), 181_440)
        self.assertEqual(len(distances(3, 3, GOAL_CENTRE)), 181_440)

    def test_malformed_jobs_name_their_field(self):
        for request_id, (wrong, field) in self.malformed.items():
            answer = self.by_id[request_id]
            with self.subTest(job=wrong):
                self.assertEqual(answer.WhichOneof("outcome"), "error")
                self.assertEqual(answer.error.code, code_pb2.INVALID_ARGUMENT)
                self.assertTrue(answer.error.message.startswith(field + ": "), answer.error.message)
                self.assertEqual(violations(answer.error), [field])
                self.assertEqual(answer.source, pb.SOURCE_UNSPECIFIED)

    def test_the_cancelled_job_is_answered_in_time(self):
        self.assertEqual(self.by_id[self.SLOW].WhichOneof("outcome"), "cancelled")
        seconds = self.times[self.SLOW] - self.cancelled_at
        say(f"cancelled amid the others in {1000 * seconds:.0f} ms")
        self.assertLess(seconds, 10)


# ---- Short conversations


class Conversation:
    """A stream that a test speaks and hears step by step."""

    def __init__(self, solver, timeout=PATIENCE):
        self.said = queue.Queue()
        self.call = solver.SolveStream(iter(self.said.get, None), timeout=timeout)

    def say(self, *messages):
        for message in messages:
            self.said.put(message)

    def hear(self):
        return next(self.call).answer

    def hang_up(self):
        """Says no more, and hears the rest."""
        self.said.put(None)
        return [response.answer for response in self.call]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.call.cancel()
        self.said.put(None)


class ShortConversations(unittest.TestCase):
    HARD = (8, 6, 7, 2, 5, 4, 3, 0, 1)

    def test_a_cancel_is_answered_at_once(self):
        with Conversation(SERVER.solver) as talk:
            talk.say(job_message("slow#delay-ms=60000", self.HARD, bypass_cache=True))
            # By when it is answered, a worker has begun with the other.
            talk.say(job_message("quick", GOAL_LAST))
            self.assertEqual(talk.hear().request_id, "quick")
            begin = time.monotonic()
            talk.say(cancel(request_id="slow#delay-ms=60000"))
            answer = talk.hear()
            seconds = time.monotonic() - begin
            self.assertEqual((answer.request_id, answer.WhichOneof("outcome")), ("slow#delay-ms=60000", "cancelled"))
            self.assertLess(seconds, 1)
            self.assertEqual(talk.hang_up(), [])
        say(f"cancelled in {1000 * seconds:.1f} ms")

    def test_cancel_all_answers_all(self):
        # More than there are workers, so some have not begun.
        ids = {f"{number}#delay-ms=60000" for number in range(6)}
        with Conversation(SERVER.solver) as talk:
            talk.say(*(job_message(id_, self.HARD, bypass_cache=True) for id_ in ids), cancel(all=True))
            answers = talk.hang_up()
        self.assertEqual(len(answers), 6)
        self.assertEqual({answer.request_id for answer in answers}, ids)
        self.assertEqual({answer.WhichOneof("outcome") for answer in answers}, {"cancelled"})

    def test_half_closing_keeps_the_answers(self):
        with Conversation(SERVER.solver) as talk:
            talk.say(job_message("slow#delay-ms=300", self.HARD, bypass_cache=True))
            (answer,) = talk.hang_up()
        self.assertEqual(answer.solution.distance, 31)

    def test_a_client_that_goes_frees_the_workers(self):
        with Conversation(SERVER.solver) as talk:
            for number in range(4):
                talk.say(job_message(f"{number}#delay-ms=60000", self.HARD, bypass_cache=True))
            talk.say(job_message("quick", GOAL_LAST))
            talk.hear()
        answer = SERVER.solver.Solve(pb.SolveRequest(job=job("", self.HARD, bypass_cache=True)), timeout=15).answer
        self.assertEqual(answer.solution.distance, 31)

    def test_an_id_in_flight_is_taken(self):
        slow = job_message("twin#delay-ms=1000", self.HARD, bypass_cache=True)
        with Conversation(SERVER.solver) as talk:
            talk.say(slow, slow)
            refused, (solved,) = talk.hear(), talk.hang_up()
        self.assertEqual(refused.error.code, code_pb2.ALREADY_EXISTS)
        self.assertEqual(violations(refused.error), ["job.request_id"])
        self.assertEqual(solved.solution.distance, 31)

    def test_a_panic_is_the_error_of_its_job_alone(self):
        with Conversation(SERVER.solver) as talk:
            talk.say(job_message("#panic", self.HARD, bypass_cache=True))
            self.assertEqual(talk.hear().error.code, code_pb2.INTERNAL)
            talk.say(job_message("next", self.HARD, bypass_cache=True))
            self.assertEqual(talk.hear().solution.distance, 31)
            self.assertEqual(talk.hang_up(), [])

    def test_budgets_end_with_their_limit(self):
        cases = [
            ("", {"max_moves": 30}, pb.LimitReached.LIMIT_MOVES),
            ("", {"max_nodes": 1}, pb.LimitReached.LIMIT_NODES),
            ("#delay-ms=60000", {"max_time_ms": 100}, pb.LimitReached.LIMIT_TIME),
        ]
        for name, budget, limit in cases:
            with self.subTest(budget=budget):
                wanted = job(name, self.HARD, bypass_cache=True, budget=budget)
                answer = SERVER.solver.Solve(pb.SolveRequest(job=wanted), timeout=PATIENCE).answer
                self.assertEqual(answer.limit_reached.limit, limit)
                self.assertLessEqual(answer.limit_reached.lower_bound, 31)
        self.assertEqual(pb.LimitReached.Limit.Name(limit), "LIMIT_TIME")

    def test_misuse_ends_the_stream(self):
        for message in [pb.SolveStreamRequest(), cancel(), cancel(all=False)]:
            with self.subTest(message=message), Conversation(SERVER.solver) as talk:
                talk.say(job_message("before", GOAL_LAST), message)
                self.assertEqual(talk.hear().request_id, "before")
                with self.assertRaises(grpc.RpcError) as raised:
                    talk.hear()
                self.assertEqual(raised.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)

    def test_jobs_that_are_not_read_yet_do_not_end_the_connection(self):
        """gRPC for Python sends each message as a frame of its own; thousands of them wait in the server here."""
        streams, jobs = 8, 2500

        def say_all(number):
            yield job_message(f"{number}#delay-ms=1500", self.HARD, bypass_cache=True)
            for id_ in range(jobs):
                yield job_message(str(id_), (0,), 1, 1)

        with Server("--workers", str(streams), "--max-in-flight-per-stream", "1") as server:
            calls = [server.solver.SolveStream(say_all(number), timeout=PATIENCE) for number in range(streams)]
            answers = [response.answer for call in calls for response in call]
        outcomes = collections.Counter(answer.WhichOneof("outcome") for answer in answers)
        self.assertEqual(outcomes, {"solution": streams * (jobs + 1)})

    def test_a_deadline_holds_on_a_stream_that_is_never_idle(self):
        def flood():
            for number in itertools.count():
                yield job_message(str(number), GOAL_LAST)

        begin = time.monotonic()
        with self.assertRaises(grpc.RpcError) as raised:
            collections.deque(SERVER.solver.SolveStream(flood(), timeout=0.5), maxlen=0)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.DEADLINE_EXCEEDED)
        self.assertLess(time.monotonic() - begin, 5)


# ---- Unary calls


class Unary(unittest.TestCase):
    def solve(self, wanted, **kwargs):
        return SERVER.solver.Solve(pb.SolveRequest(job=wanted), **{"timeout": PATIENCE, **kwargs}).answer

    def error(self, wanted, **kwargs):
        with self.assertRaises(grpc.RpcError) as raised:
            self.solve(wanted, **kwargs)
        return raised.exception

    def test_a_board(self):
        board = (1, 8, 2, 0, 4, 3, 7, 6, 5)
        answer = self.solve(job("mine", board))
        self.assertEqual(answer.request_id, "mine")
        self.assertEqual(answer.solution.distance, distances(3, 3, GOAL_LAST)[board])
        self.assertEqual(replay(3, 3, board, answer.solution.moves), GOAL_LAST)
        again = self.solve(job("again", board))
        self.assertEqual(again.solution, answer.solution)
        self.assertEqual(again.source, pb.SOURCE_CACHE)

    def test_defaults_spelled_out_mean_the_same(self):
        board = (7, 2, 4, 5, 0, 6, 8, 3, 1)
        plain = self.solve(job("", board, bypass_cache=True))
        spelled = job("", board, goal=GOAL_LAST, algorithm=pb.ALGORITHM_UNSPECIFIED, bypass_cache=True)
        spelled.objective, spelled.metric = pb.OBJECTIVE_SHORTEST_PATH, pb.METRIC_SINGLE_TILE
        spelled.priority = pb.PRIORITY_NORMAL
        self.assertEqual(self.solve(spelled).solution, plain.solution)

    def test_all_algorithms_give_the_same_path(self):
        board = (8, 0, 6, 5, 4, 7, 2, 3, 1)
        paths = {
            self.solve(job("", board, algorithm=algorithm, bypass_cache=True)).solution.moves
            for algorithm in pb.Algorithm.values()
        }
        self.assertEqual(len(paths), 1, paths)

    def test_malformed_jobs_name_their_field(self):
        for wrong, field in malformed_jobs():
            with self.subTest(job=wrong):
                error = self.error(wrong)
                self.assertEqual(error.code(), grpc.StatusCode.INVALID_ARGUMENT)
                self.assertEqual(violations(rpc_status.from_call(error)), [field])
        with self.assertRaises(grpc.RpcError) as raised:
            SERVER.solver.Solve(pb.SolveRequest(), timeout=PATIENCE)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.INVALID_ARGUMENT)

    def test_a_panic_is_internal(self):
        error = self.error(job("#panic", ShortConversations.HARD, bypass_cache=True))
        self.assertEqual(error.code(), grpc.StatusCode.INTERNAL)

    def test_a_deadline(self):
        slow = job("#delay-ms=60000", ShortConversations.HARD, bypass_cache=True)
        begin = time.monotonic()
        errors = [self.error(slow, timeout=0.2) for _ in range(5)]
        self.assertLess(time.monotonic() - begin, 5)
        self.assertEqual({error.code() for error in errors}, {grpc.StatusCode.DEADLINE_EXCEEDED})
        # None of them keeps a worker.
        self.solve(job("", ShortConversations.HARD, bypass_cache=True), timeout=15)

    def test_server_info(self):
        info = SERVER.solver.GetServerInfo(pb.GetServerInfoRequest(), timeout=PATIENCE)
        self.assertIn(f'version = "{info.version}"', (ROOT / "Cargo.toml").read_text())
        self.assertEqual(info.workers, 2)
        self.assertEqual(info.limits.max_cells, 16)
        unset = [field.name for field in info.limits.DESCRIPTOR.fields if not getattr(info.limits, field.name)]
        self.assertEqual(unset, ["max_table_bytes"])

    def test_what_is_no_message_or_no_method_has_a_status(self):
        def call(method, request, **kwargs):
            with self.assertRaises(grpc.RpcError) as raised:
                SERVER.channel.unary_unary(f"/{SERVICE}/{method}")(request, timeout=PATIENCE, **kwargs)
            return raised.exception

        self.assertEqual(call("Solve", b"\xff\xff\xff").code(), grpc.StatusCode.INTERNAL)
        too_large = call("Solve", b"\0" * (5 << 20))
        self.assertEqual(too_large.code(), grpc.StatusCode.OUT_OF_RANGE)
        self.assertIn(str(4 << 20), too_large.details())
        compressed = call("Solve", b"\n\0", compression=grpc.Compression.Gzip)
        self.assertEqual(compressed.code(), grpc.StatusCode.UNIMPLEMENTED)
        self.assertIn("gzip", compressed.details())
        self.assertEqual(call("Salve", b"").code(), grpc.StatusCode.UNIMPLEMENTED)


# ---- What it says of itself


class Packed(unittest.TestCase):
    """Boards in bulk, packed and read by what the contract says, and nothing else."""

    MOVES = {0: -3, 1: 3, 2: -1, 3: 1}

    @classmethod
    def setUpClass(cls):
        cls.server = Server(tables=True)

    @classmethod
    def tearDownClass(cls):
        cls.server.kill()

    @staticmethod
    def pack(tiles):
        return sum(tile << (4 * cell) for cell, tile in enumerate(tiles[:8])).to_bytes(4, "little")

    def test_ten_thousand_boards_in_messages_of_a_thousand(self):
        rng = random.Random(SEED)
        goal = rng.sample(range(9), 9)
        boards = [rng.sample(range(9), 9) for _ in range(10_000)]
        messages = [boards[i : i + 1000] for i in range(0, 10_000, 1000)]
        requests = (
            pb.SolvePackedRequest(
                request_id=str(number), grid=pb.Grid(rows=3, columns=3), goal=goal, boards=b"".join(map(self.pack, message))
            )
            for number, message in enumerate(messages)
        )
        solved = 0
        for answer in self.server.solver.SolvePacked(requests, timeout=PATIENCE):
            message = messages[int(answer.request_id)]
            messages[int(answer.request_id)] = None
            for i, tiles in enumerate(message):
                word = int.from_bytes(answer.words[8 * i : 8 * i + 8], "little")
                distance = int.from_bytes(answer.distances[2 * i : 2 * i + 2], "little")
                if answer.outcomes[i] == pb.PACKED_OUTCOME_UNSOLVABLE:
                    self.assertEqual((word, distance), (0, 0))
                    continue
                self.assertEqual(answer.outcomes[i], pb.PACKED_OUTCOME_SOLVED)
                self.assertEqual(word.bit_length() - 1, 2 * distance)
                tiles = list(tiles)
                for move in range(distance):
                    blank = tiles.index(0)
                    to = blank + self.MOVES[word >> (2 * move) & 3]
                    tiles[blank], tiles[to] = tiles[to], tiles[blank]
                self.assertEqual(tiles, goal)
                solved += 1
        self.assertEqual(messages, [None] * 10)
        self.assertTrue(4500 < solved < 5500, solved)

    def test_what_is_no_board_has_its_outcome(self):
        boards = self.pack(range(9)) + b"\xff\xff\xff\xff"
        requests = [pb.SolvePackedRequest(grid=pb.Grid(rows=3, columns=3), boards=boards), pb.SolvePackedRequest()]
        first, second = self.server.solver.SolvePacked(iter(requests), timeout=PATIENCE)
        self.assertEqual(list(first.outcomes), [pb.PACKED_OUTCOME_SOLVED, pb.PACKED_OUTCOME_MALFORMED])
        self.assertEqual(second.error.code, code_pb2.INVALID_ARGUMENT)

    def test_the_tables_are_reported(self):
        deadline = time.monotonic() + PATIENCE
        while not (tables := self.server.solver.GetServerInfo(pb.GetServerInfoRequest(), timeout=PATIENCE).tables).standard_ready:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        self.assertEqual(tables.standard_bytes, 3 * 181_440 * 8)


class Health(unittest.TestCase):
    def test_check(self):
        for service in ["", SERVICE]:
            answer = SERVER.health.Check(health_pb2.HealthCheckRequest(service=service), timeout=PATIENCE)
            self.assertEqual(answer.status, health_pb2.HealthCheckResponse.SERVING)
        with self.assertRaises(grpc.RpcError) as raised:
            SERVER.health.Check(health_pb2.HealthCheckRequest(service="taquin.v9.NoService"), timeout=PATIENCE)
        self.assertEqual(raised.exception.code(), grpc.StatusCode.NOT_FOUND)


class Reflection(unittest.TestCase):
    def test_v1alpha_is_enough_to_make_a_client(self):
        database = ProtoReflectionDescriptorDatabase(SERVER.channel)
        self.assertIn(SERVICE, database.get_services())
        pool = descriptor_pool.DescriptorPool(database)
        method = pool.FindServiceByName(SERVICE).FindMethodByName("Solve")
        request, response = (
            message_factory.GetMessageClass(kind) for kind in (method.input_type, method.output_type)
        )
        grid = {"rows": 3, "columns": 3}
        wanted = request(job={"sliding": {"grid": grid, "start": (1, 2, 3, 4, 5, 6, 7, 0, 8)}})
        solve = SERVER.channel.unary_unary(
            f"/{SERVICE}/Solve", request_serializer=request.SerializeToString, response_deserializer=response.FromString
        )
        self.assertEqual(solve(wanted, timeout=PATIENCE).answer.solution.moves, "R")
        # What a google.rpc.Status carries, and health, are known too.
        for name in ["google.rpc.BadRequest", "google.rpc.RetryInfo", "grpc.health.v1.HealthCheckResponse"]:
            self.assertEqual(pool.FindMessageTypeByName(name).full_name, name)


# ---- The end


class Security(unittest.TestCase):
    """A worker with the certificate and the tokens that the README makes."""

    @classmethod
    def setUpClass(cls):
        tool("openssl", "Debian's package openssl")
        work = tempfile.TemporaryDirectory(dir=WORK)
        cls.addClassCleanup(work.cleanup)
        folder = Path(work.name)
        section = (ROOT / "README.md").read_text().split("\n## Security\n")[1]
        commands = section.split("```sh\n")[1].split("taquin-server --tls-cert")[0]
        made = run("bash", "-euc", commands, cwd=folder)
        assert made.returncode == 0, made.stderr
        cls.certificate, cls.token = folder / "server.pem", (folder / "game.token").read_text().strip()
        cls.trust = grpc.ssl_channel_credentials(cls.certificate.read_bytes())
        flags = ["--tls-cert", cls.certificate, "--tls-key", folder / "server.key", "--tokens", folder / "tokens"]
        dial = functools.partial(grpc.secure_channel, credentials=cls.trust)
        cls.server = Server(*map(str, flags), dial=dial)
        cls.addClassCleanup(cls.server.kill)

    def solve(self, solver, **how):
        request = pb.SolveRequest(job=job("", (8, 6, 7, 2, 5, 4, 3, 0, 1)))
        return solver.Solve(request, timeout=PATIENCE, **how)

    def assertRefused(self, code, solver, **how):
        with self.assertRaises(grpc.RpcError) as refused:
            self.solve(solver, **how)
        self.assertEqual(refused.exception.code(), code, refused.exception)
        return refused.exception.details()

    def test_a_token_opens_every_call(self):
        metadata = [("authorization", f"Bearer {self.token}")]
        answer = self.solve(self.server.solver, metadata=metadata).answer
        self.assertEqual(answer.solution.distance, 31)
        jobs = iter([job_message("a", GOAL_LAST)])
        answers = self.server.solver.SolveStream(jobs, metadata=metadata, timeout=PATIENCE)
        self.assertEqual([answer.answer.request_id for answer in answers], ["a"])
        # As a client sends it that is told of the token once.
        credentials = grpc.composite_channel_credentials(self.trust, grpc.access_token_call_credentials(self.token))
        with grpc.secure_channel(self.server.address, credentials) as channel:
            self.assertEqual(self.solve(pb_grpc.SolverServiceStub(channel)).answer.solution.distance, 31)

    def test_without_one_or_with_another_nothing_is_said(self):
        unauthenticated = grpc.StatusCode.UNAUTHENTICATED
        self.assertRefused(unauthenticated, self.server.solver)
        for token in ("", self.token[:-1], self.token + "0", "x" * 1000):
            metadata = [("authorization", f"Bearer {token}")]
            told = self.assertRefused(unauthenticated, self.server.solver, metadata=metadata)
            self.assertNotIn(self.token[:-1], told)
        self.assertNotIn(self.token[:-1], "".join(self.server.log))

    def test_plain_text_and_distrust_get_nowhere(self):
        for dial in (
            grpc.insecure_channel,
            functools.partial(grpc.secure_channel, credentials=grpc.ssl_channel_credentials()),
        ):
            with dial(self.server.address) as channel:
                self.assertRefused(grpc.StatusCode.UNAVAILABLE, pb_grpc.SolverServiceStub(channel))

    def test_grpcurl_lists_the_services_to_who_shows_a_token(self):
        command = [tool("grpcurl"), "-cacert", self.certificate, "-H", f"authorization: Bearer {self.token}"]
        listed = run(*command, self.server.address, "list")
        self.assertEqual(listed.returncode, 0, listed.stderr)
        self.assertIn(SERVICE, listed.stdout.split())
        self.assertNotEqual(run(*command[:3], self.server.address, "list").returncode, 0)


class Drain(unittest.TestCase):
    def test_sigterm_drains(self):
        with Server("--workers", "1") as server:
            statuses = queue.Queue()

            def watch():
                try:
                    request = health_pb2.HealthCheckRequest(service=SERVICE)
                    for response in server.health.Watch(request, timeout=PATIENCE):
                        statuses.put(health_pb2.HealthCheckResponse.ServingStatus.Name(response.status))
                except grpc.RpcError:
                    statuses.put("over")

            watcher = threading.Thread(target=watch, daemon=True)
            watcher.start()
            self.assertEqual(statuses.get(timeout=PATIENCE), "SERVING")
            with Conversation(server.solver) as talk:
                talk.say(job_message("taken#delay-ms=2000", ShortConversations.HARD))
                talk.say(job_message("quick", GOAL_LAST))
                self.assertEqual(talk.hear().request_id, "quick")
                server.terminate()
                begin = time.monotonic()
                self.assertEqual(statuses.get(timeout=PATIENCE), "NOT_SERVING")
                self.assertLess(time.monotonic() - begin, 1.5, "while a job is still in flight")
                # What was taken is answered; then the caller is told to go elsewhere.
                self.assertEqual(talk.hear().solution.distance, 31)
                with self.assertRaises(grpc.RpcError) as raised:
                    talk.hear()
                self.assertEqual(raised.exception.code(), grpc.StatusCode.UNAVAILABLE)
                details = rpc_status.from_call(raised.exception).details
                self.assertEqual([detail.TypeName() for detail in details], ["google.rpc.RetryInfo"])
            self.assertEqual(server.exit_code(), 0, "".join(server.log))
            say(f"drained in {time.monotonic() - begin:.2f} s, a job of 2 s in flight")
            watcher.join(timeout=PATIENCE)

    def test_sigterm_ends_an_idle_server_whose_health_is_watched(self):
        with Server() as server:
            watch = server.health.Watch(health_pb2.HealthCheckRequest(), timeout=PATIENCE)
            self.assertEqual(next(watch).status, health_pb2.HealthCheckResponse.SERVING)
            begin = time.monotonic()
            server.terminate()
            self.assertEqual(next(watch).status, health_pb2.HealthCheckResponse.NOT_SERVING)
            self.assertEqual(server.exit_code(), 0, "".join(server.log))
            say(f"an idle server ends in {time.monotonic() - begin:.2f} s")


# ---- Clients for the command line


def json_job(request_id, start):
    return {"job": {"request_id": request_id, "sliding": {"grid": {"rows": 3, "columns": 3}, "start": list(start)}}}


def json_stream(text):
    """The JSON objects that stand one after another."""
    decoder, at = json.JSONDecoder(), 0
    while at < len(text.rstrip()):
        value, at = decoder.raw_decode(text, at)
        yield value
        at += len(text[at:]) - len(text[at:].lstrip())


class CommandLine(unittest.TestCase):
    ONE, PARITY = (1, 2, 3, 4, 5, 6, 7, 0, 8), (2, 1, 3, 4, 5, 6, 7, 8, 0)
    CONVERSATION = [("one", ONE), ("none", PARITY), ("bad", ONE[:8]), ("solved", GOAL_LAST)]

    def check_conversation(self, text):
        answers = [json_format.ParseDict(value, pb.SolveStreamResponse()).answer for value in json_stream(text)]
        outcomes = {answer.request_id: answer.WhichOneof("outcome") for answer in answers}
        expected = {"one": "solution", "none": "unsolvable", "bad": "error", "solved": "solution"}
        self.assertEqual(outcomes, expected)
        self.assertEqual(len(answers), 4)

    def conversation(self):
        return "\n".join(json.dumps(json_job(*job_)) for job_ in self.CONVERSATION)


class Grpcurl(CommandLine):
    @classmethod
    def setUpClass(cls):
        cls.tool = tool("grpcurl")

    def grpcurl(self, *arguments, data=None, code=0):
        options = ["-plaintext", "-max-time", PATIENCE] + (["-d", "@"] if data else [])
        done = run(self.tool, *options, SERVER.address, *arguments, stdin=data)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stderr

    def test_list(self):
        self.assertIn(SERVICE, self.grpcurl("list").split())
        methods = [f"{SERVICE}.{method}" for method in ("GetServerInfo", "Solve", "SolvePacked", "SolveStream")]
        self.assertEqual(self.grpcurl("list", SERVICE).split(), methods)

    def test_describe(self):
        self.assertIn("rpc SolveStream ( stream .taquin.v1.SolveStreamRequest )", self.grpcurl("describe", SERVICE))
        # Comments come along, and so does what is imported.
        self.assertIn("// Rows, at least 1.", self.grpcurl("describe", "taquin.v1.Grid"))
        self.assertIn("message Status", self.grpcurl("describe", "google.rpc.Status"))

    def test_solve(self):
        text = self.grpcurl(f"{SERVICE}/Solve", data=json.dumps(json_job("one", self.ONE)))
        self.assertEqual(json.loads(text)["answer"]["solution"], {"distance": 1, "moves": "R"})

    def test_an_error_is_shown_with_its_field(self):
        # grpcurl ends with 64 and the code.
        code = 64 + code_pb2.INVALID_ARGUMENT
        text = self.grpcurl(f"{SERVICE}/Solve", data=json.dumps(json_job("bad", self.ONE[:8])), code=code)
        self.assertIn("Code: InvalidArgument", text)
        self.assertIn('"field":"job.sliding.start"', text)

    def test_solve_stream(self):
        self.check_conversation(self.grpcurl(f"{SERVICE}/SolveStream", data=self.conversation()))

    def test_server_info(self):
        info = json.loads(self.grpcurl(f"{SERVICE}/GetServerInfo"))
        self.assertEqual(info["limits"]["maxCells"], 16)

    def test_health(self):
        data = json.dumps({"service": SERVICE})
        self.assertEqual(json.loads(self.grpcurl("grpc.health.v1.Health/Check", data=data)), {"status": "SERVING"})


class Buf(CommandLine):
    @classmethod
    def setUpClass(cls):
        cls.tool = tool("buf")

    def curl(self, path, *arguments, data=None, code=0):
        """Speaks reflection v1, and gRPC."""
        options = ["--reflect", "--reflect-protocol", "grpc-v1", "--protocol", "grpc", "--http2-prior-knowledge"]
        options += ["--data", "@-"] if data else []
        url = f"http://{SERVER.address}{path}"
        done = run(self.tool, "curl", *options, *arguments, url, stdin=data, cwd=WORK)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stderr

    def test_list(self):
        services = self.curl("", "--list-services").split()
        self.assertIn(SERVICE, services)
        self.assertIn("grpc.reflection.v1.ServerReflection", services)
        self.assertIn(f"{SERVICE}/SolveStream", self.curl("", "--list-methods").split())

    def test_solve(self):
        text = self.curl(f"/{SERVICE}/Solve", data=json.dumps(json_job("one", self.ONE)))
        self.assertEqual(json.loads(text)["answer"]["solution"], {"distance": 1, "moves": "R"})

    def test_an_error_is_shown_with_its_detail(self):
        # buf ends with 8 times the code.
        code = 8 * code_pb2.INVALID_ARGUMENT
        text = self.curl(f"/{SERVICE}/Solve", data=json.dumps(json_job("bad", self.ONE[:8])), code=code)
        error = json.loads(text)
        self.assertEqual(error["code"], "invalid_argument")
        self.assertEqual([detail["type"] for detail in error["details"]], ["google.rpc.BadRequest"])

    def test_solve_stream(self):
        self.check_conversation(self.curl(f"/{SERVICE}/SolveStream", data=self.conversation()))

    def test_lint(self):
        """The contract's lint, with google/rpc beside it, which it imports and the repository does not hold."""
        workspace = WORK / "lint"
        shutil.copytree(ROOT / "proto", workspace / "proto")
        (workspace / "imports/google/rpc").mkdir(parents=True)
        for proto in (GOOGLE / "google/rpc").glob("*.proto"):
            shutil.copy(proto, workspace / "imports/google/rpc")
        ours = ROOT / "buf.yaml"
        config = ours.read_text() if ours.exists() else "version: v2\nmodules:\n  - path: proto\nlint:\n  use: [STANDARD]\n"
        module = "  - path: proto\n"
        self.assertEqual(config.count(module), 1)
        (workspace / "buf.yaml").write_text(config.replace(module, module + "  - path: imports\n"))
        done = run(self.tool, "lint", "proto", cwd=workspace)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


class Example(unittest.TestCase):
    def test_solve_stream(self):
        script = ROOT / "examples/python/solve_stream.py"
        command = [sys.executable, script, SERVER.address, "867254301", "213456780", "123456708"]
        done = run(*command, env={**os.environ, "PYTHONPATH": str(WORK / "stubs")})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        answers = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()}
        self.assertEqual(answers["123456708"], ["solution", "1", "R"])
        self.assertEqual(answers["213456780"][0], "unsolvable")
        self.assertEqual(answers["867254301"][:2], ["solution", "31"])


class LoadReport(unittest.TestCase):
    """The page of a real run, in a real browser."""

    WIDTH, HEIGHT = 1200, 900
    # Of each line in each figure: its class, its box in the window when it is scrolled to, and its length.
    LINES = """
        Object.fromEntries([...document.querySelectorAll("figure")].map(figure => {
            figure.scrollIntoView({block: "center"});
            return [figure.id, [...figure.querySelectorAll("path.line")].map(path => {
                const {left, top, right, bottom} = path.getBoundingClientRect();
                const style = getComputedStyle(path);
                return {name: path.classList[0], left, top, right, bottom, length: path.getTotalLength(),
                        stroke: style.stroke, visible: style.visibility == "visible" && style.opacity > 0};
            })];
        }))"""

    @classmethod
    def setUpClass(cls):
        program = chromium()
        folder = WORK / "load"
        folder.mkdir()
        cls.page, figures, rows = folder / "report.html", folder / "report.json", folder / "report.csv"
        command = [Path(BINARY).with_name("taquin-client"), "load", "--endpoint", SERVER.address, "--duration", "3s"]
        command += ["--rate", "2000", "--unsolvable-ratio", "0.1", "--fail-if", "p50>10s"]
        for output in (cls.page, figures, rows):
            command += ["--output", output]
        done = run(*command)
        if done.returncode != 0:
            raise AssertionError(f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
        cls.printed, cls.rows = done.stdout, rows.read_text().splitlines()
        cls.figures = json.loads(figures.read_text())
        cls.browser = browser.Browser(program)
        cls.addClassCleanup(cls.browser.close)

    def open(self, scheme="light"):
        self.browser.open(self.page.as_uri(), self.WIDTH, self.HEIGHT, scheme)

    def test_the_plots_are_drawn(self):
        self.open()
        figures = self.browser.evaluate(self.LINES)
        lines = {figure: [line["name"] for line in lines] for figure, lines in figures.items()}
        self.assertEqual(lines["percentiles"], ["blue", "amber"])
        self.assertEqual(lines["throughput"], ["blue", "grey"])
        self.assertEqual(set(lines["latency"]), {"teal", "blue", "grey"})
        for figure, drawn in figures.items():
            for line in drawn:
                with self.subTest(figure=figure, line=line):
                    self.assertTrue(line["visible"] and line["stroke"] != "none")
                    self.assertTrue(0 <= line["left"] and line["right"] <= self.WIDTH)
                    self.assertTrue(0 <= line["top"] and line["bottom"] <= self.HEIGHT)
                    self.assertGreater(line["length"], 300)
            widest = max(drawn, key=lambda line: line["right"] - line["left"])
            self.assertGreater(widest["right"] - widest["left"], self.WIDTH / 2)
        curve = figures["percentiles"][0]
        self.assertGreater(curve["bottom"] - curve["top"], 20)

    def test_nothing_leaves_the_page(self):
        self.open()
        self.assertEqual([url for url in self.browser.requests if not url.startswith("data:")], [self.page.as_uri()])
        self.assertEqual(self.browser.complaints, [])
        self.assertEqual(self.browser.evaluate("document.scripts.length"), 0)

    def test_it_is_light_or_dark_as_its_reader_wants_and_fits_the_window(self):
        background = "getComputedStyle(document.body).backgroundColor"
        overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        seen = {}
        for scheme in ("light", "dark"):
            self.open(scheme)
            seen[scheme] = self.browser.evaluate(background)
            self.assertEqual(self.browser.evaluate(overflow), 0)
        self.assertNotEqual(seen["light"], seen["dark"])

    def test_all_formats_tell_the_same_run(self):
        self.open()
        succeeded = self.figures["boards"]["succeeded"]
        self.assertGreater(succeeded, 0)
        self.assertEqual(self.figures["boards"]["failed"], 0)
        self.assertEqual(sum(interval["succeeded"] for interval in self.figures["intervals"]), succeeded)
        column = self.rows[0].split(",").index("succeeded")
        self.assertEqual(sum(int(row.split(",")[column]) for row in self.rows[1:]), succeeded)
        text = f"{succeeded:,}"
        self.assertIn(text, self.printed)
        self.assertIn(text, self.browser.evaluate("document.body.innerText"))


class K6(unittest.TestCase):
    """The comparison of benches/k6 in small: another load generator drives the worker, and nothing fails."""

    def test_it_drives_the_same_load(self):
        folder = ROOT / "benches" / "k6"
        tool("k6", "benches/k6/requirements.txt")
        command = [sys.executable, folder / "compare.py", "--server", BINARY, "--json"]
        command += ["--client", Path(BINARY).with_name("taquin-client"), "--seconds", "1", "--rounds", "1"]
        done = run(*command)
        self.assertEqual(done.returncode, 0, f"{done.stdout}\n{done.stderr}")
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([row["driver"] for row in rows], ["k6", "taquin-client"] * (len(rows) // 2))
        self.assertEqual([row["mode"] for row in rows[::2]], ["unary", "unary", "stream", "stream"])
        for row in rows:
            with self.subTest(**row):
                self.assertGreater(row["rate"], 0)
                self.assertTrue(0 < row["p50"] <= row["p99"])
                # No loop has more boards under way than it was told to: Little's law, with room for the ends of the run.
                self.assertLess(row["rate"] * row["mean"] / 1000, 1.2 * row["connections"] * row["in_flight"])


def main():
    global BINARY
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], add_help=False)
    parser.add_argument("--server", default=os.environ.get("TAQUIN_SERVER"))
    arguments, rest = parser.parse_known_args()
    if not arguments.server or not os.access(arguments.server, os.X_OK):
        sys.exit(f"--server or TAQUIN_SERVER must name a server's binary, not {arguments.server!r}")
    BINARY = os.path.abspath(arguments.server)
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
