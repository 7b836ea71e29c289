// The load of `taquin-client load`, driven by k6: boards over unary calls or streams, in a closed or an open loop.
//
// Environment: ADDRESS; BOARDS, a file of nine digits a line; MODE, unary or stream; VUS; SECONDS; IN_FLIGHT, boards under
// way on each stream; RATE, calls due a second, in an open loop. `compare.py` sets them, and reads the summary.
import { SharedArray } from 'k6/data';
import exec from 'k6/execution';
import { Counter, Trend } from 'k6/metrics';
import grpc from 'k6/net/grpc';

const { ADDRESS, BOARDS, MODE, RATE } = __ENV;
const [VUS, SECONDS, IN_FLIGHT] = [__ENV.VUS, __ENV.SECONDS, __ENV.IN_FLIGHT || 1].map(Number);
const SERVICE = 'taquin.v1.SolverService';

const boards = new SharedArray('boards', () => open(BOARDS).trim().split('\n').map((line) => Array.from(line, Number)));
const streamed = new Trend('board_duration', true);
const failed = new Counter('boards_failed');
const client = new grpc.Client();
let sent = 0;

function scenario() {
  const duration = `${SECONDS}s`;
  if (MODE === 'stream') return { executor: 'per-vu-iterations', vus: VUS, iterations: 1, exec: 'stream' };
  if (!RATE) return { executor: 'constant-vus', vus: VUS, duration, exec: 'unary' };
  return { executor: 'constant-arrival-rate', rate: Number(RATE), preAllocatedVUs: VUS, duration, exec: 'unary' };
}

export const options = {
  scenarios: { boards: scenario() },
  summaryTrendStats: ['avg', 'p(50)', 'p(99)'],
  thresholds: { boards_failed: ['count<1'] },
};

function connect() {
  if (sent === 0) client.connect(ADDRESS, { plaintext: true, reflect: true });
}

// Each VU goes through the boards from a place of its own.
function job() {
  const first = Math.floor(((exec.vu.idInTest - 1) * boards.length) / VUS);
  const number = sent++;
  const start = boards[(first + number) % boards.length];
  return { requestId: String(number), sliding: { grid: { rows: 3, columns: 3 }, start } };
}

// Every board can be solved. Its path is not replayed: the answer has one, as long as its distance.
function note(answer) {
  const { moves, distance } = (answer && answer.solution) || {};
  if (moves === undefined || moves.length !== distance) failed.add(1);
}

export function unary() {
  connect();
  const response = client.invoke(`${SERVICE}/Solve`, { job: job() });
  note(response.message && response.message.answer);
}

// Milliseconds since the beginning of the test, to the nanosecond: Date.now() has none smaller.
function now() {
  return exec.instance.currentTestRunDuration;
}

// One stream a VU, with as many boards under way at any time: a new one for each answer.
export function stream() {
  connect();
  const end = now() + SECONDS * 1000;
  const underWay = new Map();
  const calls = new grpc.Stream(client, `${SERVICE}/SolveStream`);
  const send = () => {
    const next = job();
    underWay.set(next.requestId, now());
    calls.write({ job: next });
  };
  calls.on('data', ({ answer }) => {
    const at = now();
    streamed.add(at - underWay.get(answer.requestId));
    underWay.delete(answer.requestId);
    note(answer);
    if (at < end) send();
    else if (underWay.size === 0) calls.end();
  });
  calls.on('error', () => failed.add(underWay.size + 1));
  calls.on('end', () => client.close());
  for (let board = 0; board < IN_FLIGHT; board++) send();
}

// What `compare.py` reads, on standard output.
export function handleSummary({ metrics }) {
  const values = (name) => (metrics[name] ? metrics[name].values : {});
  const inStream = MODE === 'stream';
  const duration = values(inStream ? 'board_duration' : 'grpc_req_duration');
  return {
    stdout: JSON.stringify({
      rate: values(inStream ? 'grpc_streams_msgs_received' : 'iterations').rate,
      mean: duration.avg,
      p50: duration['p(50)'],
      p99: duration['p(99)'],
      failed: values('boards_failed').count || 0,
      dropped: values('dropped_iterations').count || 0,
    }),
  };
}
