"""Solves 3x3 boards over one stream; see "From Python" in README.md for how to run it."""
import sys
import grpc
from taquin.v1 import solver_pb2, solver_pb2_grpc

def jobs(boards):
    for board in boards:
        sliding = {"grid": {"rows": 3, "columns": 3}, "start": [int(tile) for tile in board]}
        yield solver_pb2.SolveStreamRequest(job={"request_id": board, "sliding": sliding})

server, *boards = sys.argv[1:]
with grpc.insecure_channel(server) as channel:
    solver = solver_pb2_grpc.SolverServiceStub(channel)
    for response in solver.SolveStream(jobs(boards), timeout=60):
        answer = response.answer
        outcome = answer.WhichOneof("outcome")
        details = [answer.solution.distance, answer.solution.moves] if outcome == "solution" else []
        print(answer.request_id, outcome, *details)
