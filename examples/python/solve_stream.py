"""Solves 3x3 boards over one stream; see "From Python with generated stubs" in README.md for how to run it."""
import sys
import grpc
from taquin.v1 import solver_pb2, solver_pb2_grpc

def jobs(boards):
    for board in boards:
        sliding = {"grid": {"rows": 3, "columns": 3}, "start": [int(tile) for tile in board]}
        yield solver_pb2.SolveStreamRequest(job={"request_id": board, "sliding": sliding})

server, *boards = sys.argv[1:] or [""]
if not boards or not all(board.isascii() and board.isdigit() for board in boards):
    sys.exit("usage: solve_stream.py HOST:PORT BOARD...    a board is its digits, as in 867254301")
with grpc.insecure_channel(server) as channel:
    solver = solver_pb2_grpc.SolverServiceStub(channel)
    for response in solver.SolveStream(jobs(boards), timeout=60):
        answer = response.answer
        outcome = answer.WhichOneof("outcome")
        details = {"solution": [answer.solution.distance, answer.solution.moves], "error": [answer.error.message]}
        print(answer.request_id, outcome, *details.get(outcome, []))
