// The load of `taquin-client load`, driven by k6: boards over unary calls or streams, in a closed or an open loop.
//
// Environment: ADDRESS; BOARDS, a file of nine digits a line; MODE, unary or stream; VUS; SECONDS; IN_FLIGHT, boards under
// way on each stream at most; RATE, boards due a second, in an open loop. `compare.py` sets them, and reads the summary.
import { SharedArray } from 'k6/data';
import exec from 'k6/execution';
import { Counter, Trend } from 'k6/metrics';
import grpc from 'k6/net/grpc';
import { clearInterval, setInterval } from 'k6/timers';

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

// One stream a VU: in a closed loop a new board for each answer, in an open loop one whenever it is due.
export function stream() {
  connect();
  const begin = now();
  const underWay = new Map();
  const calls = new grpc.Stream(client, `${SERVICE}/SolveStream`);
  const send = () => {
    const next = job();
    underWay.set(next.requestId, now());
    calls.write({ job: next });
  };
  const due = () => (RATE ? ((now() - begin) * RATE) / (1000 * VUS) : Infinity);
  const proceed = () => {
    if (now() < begin + SECONDS * 1000) {
      while (underWay.size < IN_FLIGHT && sent < due()) send();
    } else if (underWay.size === 0) {
      calls.end();
      clearInterval(clock);
    }
  };
  // Answers alone would not wake an open loop.
  const clock = RATE ? setInterval(proceed, (1000 * VUS) / RATE) : 0;
  calls.on('data', ({ answer }) => {
    streamed.add(now() - underWay.get(answer.requestId));
    underWay.delete(answer.requestId);
    note(answer);
    if (!RATE) proceed();
  });
  calls.on('error', () => failed.add(underWay.size + 1));
  calls.on('end', () => client.close());
  proceed();
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
