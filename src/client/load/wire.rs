//! Messages as bytes: boards into requests by copying a template, answers read where they lie. It stands in for the
//! generated types where a board must cost no more than its bytes; what is rare goes through them.
//!
//! It must never know: whether an answer is right, how bytes travel.

use bytes::{BufMut, BytesMut};
use prost::Message;
use prost::encoding::decode_varint;

use super::tiles::Tiles;
use super::workload::{Flaw, Nature, Problem, Shot};
use crate::service::pb::{self, job, sliding_puzzle, solve_packed_request, solve_stream_request::Kind};

/// Bytes before each message: whether it is compressed, and its length.
pub(super) const PREFIX: usize = 5;
/// Letters of an id.
const ID: usize = 8;
const HEX: &[u8; 16] = b"0123456789abcdef";
/// What stands for the id, and for each tile, until a template knows where they are.
const ID_MARK: &str = "@@@@@@@@";
const TILE_MARK: u32 = 0x7e;

/// An id in letters.
fn letters(id: u32) -> [u8; ID] {
    let mut letters = [0; ID];
    for (letter, digit) in letters.iter_mut().zip((0..ID).rev()) {
        *letter = HEX[(id >> (4 * digit) & 15) as usize];
    }
    letters
}

/// The id in letters, if it is one of ours.
pub(super) fn id(letters: &[u8]) -> Option<u32> {
    let digits = Some(letters).filter(|letters| letters.len() == ID)?;
    digits.iter().try_fold(0, |id, &letter| {
        let digit = match letter {
            b'0'..=b'9' => letter - b'0',
            b'a'..=b'f' => letter - b'a' + 10,
            _ => return None,
        };
        Some(id << 4 | u32::from(digit))
    })
}

/// Puts the five bytes before a message, and it behind them.
fn frame(message: &impl Message, out: &mut impl BufMut) {
    out.put_u8(0);
    out.put_u32(u32::try_from(message.encoded_len()).expect("a request is far below 4 GiB"));
    message.encode(out).expect("room is made as it is needed");
}

/// Whose message a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Envelope {
    /// `SolveRequest`.
    Unary,
    /// `SolveStreamRequest`.
    Stream,
}

/// The request of every board of a problem.
#[derive(Debug)]
pub(super) struct Template {
    envelope: Envelope,
    job: pb::Job,
    layout: sliding_puzzle::Layout,
    goal: Vec<u32>,
    cells: usize,
    bytes: Vec<u8>,
    id_at: usize,
    tiles_at: usize,
}

impl Template {
    /// Jobs like this one, of boards like these.
    pub(super) fn new(envelope: Envelope, job: &pb::Job, problem: &Problem) -> Self {
        let mut template = Self {
            envelope,
            job: job.clone(),
            layout: problem.cells.layout.clone(),
            goal: problem.goal_sent.clone(),
            cells: problem.cells.count,
            bytes: Vec::new(),
            id_at: 0,
            tiles_at: 0,
        };
        let mut bytes = Vec::new();
        template.write_job(ID_MARK.into(), Some(vec![TILE_MARK; template.cells]), &mut bytes);
        let cells = u8::try_from(template.cells).expect("few");
        template.id_at = place(&bytes, &[0x0a, 8], ID_MARK.as_bytes());
        template.tiles_at = place(&bytes, &[0x1a, cells], &vec![0x7e; template.cells]);
        template.bytes = bytes;
        template
    }

    /// Writes a board, framed.
    pub(super) fn write(&self, shot: Shot, id: u32, out: &mut BytesMut) {
        if let Nature::Malformed(flaw) = shot.nature {
            let mut start: Vec<u32> = shot.tiles.iter(self.cells).map(u32::from).collect();
            match flaw {
                Flaw::TooFew => drop(start.pop()),
                Flaw::TooMany => start.push(u32::try_from(self.cells).expect("few")),
                Flaw::Twice | Flaw::OutOfRange | Flaw::Nothing => {}
            }
            let name = String::from_utf8_lossy(&letters(id)).into_owned();
            return self.write_job(name, (flaw != Flaw::Nothing).then_some(start), out);
        }
        let start = out.len();
        out.extend_from_slice(&self.bytes);
        let written = &mut out[start..];
        written[self.id_at..self.id_at + ID].copy_from_slice(&letters(id));
        for (place, tile) in
            written[self.tiles_at..self.tiles_at + self.cells].iter_mut().zip(shot.tiles.iter(self.cells))
        {
            *place = tile;
        }
    }

    fn write_job(&self, request_id: String, start: Option<Vec<u32>>, out: &mut impl BufMut) {
        let problem = start.map(|start| {
            let (layout, goal) = (Some(self.layout.clone()), self.goal.clone());
            job::Problem::Sliding(pb::SlidingPuzzle { layout, start, goal })
        });
        let job = pb::Job { request_id, problem, ..self.job.clone() };
        match self.envelope {
            Envelope::Unary => frame(&pb::SolveRequest { job: Some(job) }, out),
            Envelope::Stream => frame(&pb::SolveStreamRequest { kind: Some(Kind::Job(job)) }, out),
        }
    }
}

/// Where in a template this stands, after what comes before it.
fn place(bytes: &[u8], before: &[u8], mark: &[u8]) -> usize {
    let whole = [before, mark].concat();
    let at = bytes.windows(whole.len()).position(|window| window == whole);
    at.expect("a template holds its marks") + before.len()
}

/// Writes boards as a packed message without its id.
pub(super) fn packed(job: &pb::Job, problem: &Problem, boards: impl Iterator<Item = Tiles>) -> Vec<u8> {
    let layout = match problem.cells.layout.clone() {
        sliding_puzzle::Layout::Grid(grid) => solve_packed_request::Layout::Grid(grid),
        sliding_puzzle::Layout::Graph(graph) => solve_packed_request::Layout::Graph(graph),
    };
    // The first eight cells are the lower half of the word.
    let bytes = boards.flat_map(|tiles| tiles.0.to_le_bytes().into_iter().take(4)).collect();
    let request = pb::SolvePackedRequest {
        request_id: String::new(),
        layout: Some(layout),
        goal: problem.goal_sent.clone(),
        boards: bytes,
        objective: job.objective,
        metric: job.metric,
        max_moves: job.budget.and_then(|budget| budget.max_moves),
    };
    request.encode_to_vec()
}

/// What goes before a packed message: its frame and its id.
pub(super) fn packed_head(id: u32, rest: usize, out: &mut BytesMut) {
    let length = u32::try_from(2 + ID + rest).expect("a request is far below 4 GiB");
    out.put_u8(0);
    out.put_u32(length);
    out.put_slice(&[0x0a, 8]);
    out.put_slice(&letters(id));
}

/// Bytes that are no message of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the server broke the protocol: {0}")]
pub(super) struct Garbled(pub(super) &'static str);

/// The answer to a board, in the bytes of its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Answer<'a> {
    pub(super) id: &'a [u8],
    pub(super) outcome: Outcome<'a>,
    pub(super) source: pb::Source,
}

/// What came of a board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome<'a> {
    Nothing,
    /// A [`Solution`], yet to be read.
    Solution(&'a [u8]),
    Unsolvable,
    LimitReached {
        lower_bound: u64,
    },
    Cancelled,
    /// A `google.rpc.Status`.
    Error(&'a [u8]),
}

/// A path.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Solution<'a> {
    pub(super) distance: u64,
    /// Letters, on a grid.
    pub(super) moves: &'a [u8],
    /// Vertices, on a graph: a byte each.
    pub(super) vertices: &'a [u8],
}

/// The answer to a packed message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Packed<'a> {
    pub(super) id: &'a [u8],
    /// A `google.rpc.Status`.
    pub(super) error: Option<&'a [u8]>,
    pub(super) outcomes: &'a [u8],
    pub(super) distances: &'a [u8],
    pub(super) words: &'a [u8],
    pub(super) moves: &'a [u8],
    /// Numbers, as varints.
    pub(super) move_ends: &'a [u8],
}

/// Reads a `SolveStreamResponse` or a `SolveResponse`, which are alike.
pub(super) fn answer(message: &[u8]) -> Result<Answer<'_>, Garbled> {
    let mut answer = Answer { id: &[], outcome: Outcome::Nothing, source: pb::Source::Unspecified };
    let mut fields = Fields(message);
    while let Some(field) = fields.next()? {
        if let (1, Value::Bytes(bytes)) = field {
            read_answer(bytes, &mut answer)?;
        }
    }
    Ok(answer)
}

fn read_answer<'a>(bytes: &'a [u8], answer: &mut Answer<'a>) -> Result<(), Garbled> {
    let mut fields = Fields(bytes);
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Bytes(id)) => answer.id = id,
            (2, Value::Bytes(bytes)) => answer.outcome = Outcome::Solution(bytes),
            (3, Value::Bytes(_)) => answer.outcome = Outcome::Unsolvable,
            (4, Value::Bytes(bytes)) => {
                answer.outcome = Outcome::LimitReached { lower_bound: lower_bound(bytes)? }
            }
            (5, Value::Bytes(_)) => answer.outcome = Outcome::Cancelled,
            (6, Value::Bytes(status)) => answer.outcome = Outcome::Error(status),
            (7, Value::Number(source)) => {
                let source = i32::try_from(source).ok().and_then(|source| pb::Source::try_from(source).ok());
                answer.source = source.unwrap_or(pb::Source::Unspecified);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Reads a path.
pub(super) fn solution(bytes: &[u8]) -> Result<Solution<'_>, Garbled> {
    let mut solution = Solution::default();
    let mut fields = Fields(bytes);
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Number(distance)) => solution.distance = distance,
            (2, Value::Bytes(moves)) => solution.moves = moves,
            (3, Value::Bytes(vertices)) => solution.vertices = vertices,
            _ => {}
        }
    }
    Ok(solution)
}

fn lower_bound(bytes: &[u8]) -> Result<u64, Garbled> {
    let (mut bound, mut fields) = (0, Fields(bytes));
    while let Some(field) = fields.next()? {
        if let (2, Value::Number(number)) = field {
            bound = number;
        }
    }
    Ok(bound)
}

/// Reads a `SolvePackedResponse`.
pub(super) fn packed_answer(message: &[u8]) -> Result<Packed<'_>, Garbled> {
    let (mut answer, mut fields) = (Packed::default(), Fields(message));
    while let Some(field) = fields.next()? {
        match field {
            (1, Value::Bytes(bytes)) => answer.id = bytes,
            (2, Value::Bytes(bytes)) => answer.error = Some(bytes),
            (3, Value::Bytes(bytes)) => answer.outcomes = bytes,
            (4, Value::Bytes(bytes)) => answer.distances = bytes,
            (5, Value::Bytes(bytes)) => answer.words = bytes,
            (6, Value::Bytes(bytes)) => answer.moves = bytes,
            (7, Value::Bytes(bytes)) => answer.move_ends = bytes,
            _ => {}
        }
    }
    Ok(answer)
}

/// Numbers written as varints.
pub(super) fn numbers(mut bytes: &[u8]) -> impl Iterator<Item = u64> {
    std::iter::from_fn(move || if bytes.is_empty() { None } else { decode_varint(&mut bytes).ok() })
}

enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The fields of a message, one after another.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    #[inline]
    fn next(&mut self) -> Result<Option<(u64, Value<'a>)>, Garbled> {
        loop {
            if self.0.is_empty() {
                return Ok(None);
            }
            let key = self.number()?;
            let value = match key & 7 {
                0 => Value::Number(self.number()?),
                2 => {
                    let length = self.number()?;
                    Value::Bytes(self.bytes(length)?)
                }
                // No field of ours is a fixed number; one to come is passed over.
                1 => {
                    self.bytes(8)?;
                    continue;
                }
                5 => {
                    self.bytes(4)?;
                    continue;
                }
                _ => return Err(Garbled("a field of no known kind")),
            };
            return Ok(Some((key >> 3, value)));
        }
    }

    #[inline]
    fn number(&mut self) -> Result<u64, Garbled> {
        match self.0 {
            &[byte, ref rest @ ..] if byte < 0x80 => {
                self.0 = rest;
                Ok(byte.into())
            }
            _ => decode_varint(&mut self.0).map_err(|_| Garbled("a number without an end")),
        }
    }

    fn bytes(&mut self, length: u64) -> Result<&'a [u8], Garbled> {
        let split = usize::try_from(length).ok().and_then(|length| self.0.split_at_checked(length));
        let (bytes, rest) = split.ok_or(Garbled("a field longer than its message"))?;
        self.0 = rest;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::super::board::Layout;
    use super::super::super::gather::one;
    use super::super::optimal::Table;
    use super::super::tiles::{Cells, permutation};
    use super::*;

    fn problem(text: &str, layout: Option<&Layout>) -> (Problem, Shot) {
        let goal = one(text, layout).unwrap();
        let (cells, tiles) = (Cells::of(&goal).unwrap(), permutation(&goal).unwrap());
        let table = Table::sweep(&cells, tiles);
        let goal_sent = goal.tiles;
        (
            Problem { cells, goal: tiles, goal_sent, table },
            Shot { tiles, nature: Nature::Solvable(0), problem: 0 },
        )
    }

    fn decoded(template: &Template, shot: Shot, id: u32) -> pb::Job {
        let mut out = BytesMut::from(&b"before"[..]);
        template.write(shot, id, &mut out);
        let message = &out[6 + PREFIX..];
        assert_eq!(
            out[6..6 + PREFIX],
            [&[0], &u32::try_from(message.len()).unwrap().to_be_bytes()[..]].concat()
        );
        match template.envelope {
            Envelope::Unary => pb::SolveRequest::decode(message).unwrap().job.unwrap(),
            Envelope::Stream => match pb::SolveStreamRequest::decode(message).unwrap().kind.unwrap() {
                Kind::Job(job) => job,
                Kind::Cancel(_) => panic!(),
            },
        }
    }

    #[test]
    fn a_template_writes_what_the_generated_types_write() {
        let graph = Layout::Graph(Arc::new("1-2,2-3".parse().unwrap()));
        let lone = Layout::Grid("1x1".parse().unwrap());
        let boards = [("123804765", None), ("0", Some(&lone)), ("1 2/3 0", None), ("1 0 2", Some(&graph))];
        for (text, layout) in boards {
            for envelope in [Envelope::Unary, Envelope::Stream] {
                let (problem, shot) = problem(text, layout);
                let job = pb::Job { algorithm: 2, bypass_table: true, ..pb::Job::default() };
                let template = Template::new(envelope, &job, &problem);
                let read = decoded(&template, shot, 0x00c0_ffee);
                assert_eq!(
                    (read.request_id.as_str(), read.algorithm, read.bypass_table),
                    ("00c0ffee", 2, true)
                );
                let Some(job::Problem::Sliding(sliding)) = read.problem else { panic!() };
                assert_eq!((&sliding.start, &sliding.goal), (&problem.goal_sent, &problem.goal_sent));
                let flawed = |flaw| decoded(&template, Shot { nature: Nature::Malformed(flaw), ..shot }, 1);
                assert_eq!(flawed(Flaw::Nothing).problem, None);
                for (flaw, cells) in
                    [(Flaw::TooFew, problem.cells.count - 1), (Flaw::TooMany, problem.cells.count + 1)]
                {
                    let Some(job::Problem::Sliding(sliding)) = flawed(flaw).problem else { panic!() };
                    assert_eq!(sliding.start.len(), cells);
                }
            }
        }
    }

    #[test]
    fn an_answer_is_read_as_the_generated_types_write_it() {
        let outcomes = [
            None,
            Some(pb::answer::Outcome::Solution(pb::Solution {
                distance: 300,
                moves: "UDLR".into(),
                vertices: vec![1, 9],
            })),
            Some(pb::answer::Outcome::Unsolvable(pb::Unsolvable { reason: 1 })),
            Some(pb::answer::Outcome::LimitReached(pb::LimitReached {
                limit: 1,
                lower_bound: 7,
                best_path: None,
            })),
            Some(pb::answer::Outcome::Cancelled(pb::Cancelled {})),
        ];
        let read = [
            Outcome::Nothing,
            Outcome::Solution(b"\x08\xac\x02\x12\x04UDLR\x1a\x02\x01\x09"),
            Outcome::Unsolvable,
            Outcome::LimitReached { lower_bound: 7 },
            Outcome::Cancelled,
        ];
        for (outcome, expected) in outcomes.into_iter().zip(read) {
            let statistics = Some(pb::Statistics { queue_time_us: 1 << 40, ..pb::Statistics::default() });
            let written = pb::Answer { request_id: "00000010".into(), outcome, source: 3, statistics };
            let message = pb::SolveStreamResponse { answer: Some(written) }.encode_to_vec();
            let answer = answer(&message).unwrap();
            assert_eq!(
                (id(answer.id), answer.outcome, answer.source),
                (Some(16), expected, pb::Source::Cache)
            );
        }
    }

    #[test]
    fn a_path_is_read() {
        let bytes =
            pb::Solution { distance: 300, moves: "UDLR".into(), vertices: vec![1, 9] }.encode_to_vec();
        assert_eq!(solution(&bytes), Ok(Solution { distance: 300, moves: b"UDLR", vertices: &[1, 9] }));
        assert!(solution(&bytes[..5]).is_err());
    }

    #[test]
    fn a_packed_message_has_its_id_before_it() {
        let (problem, shot) = problem("123804765", None);
        let rest = packed(&pb::Job::default(), &problem, std::iter::repeat_n(shot.tiles, 3));
        let mut out = BytesMut::new();
        packed_head(7, rest.len(), &mut out);
        out.extend_from_slice(&rest);
        let read = pb::SolvePackedRequest::decode(&out[PREFIX..]).unwrap();
        assert_eq!((read.request_id.as_str(), read.boards.len()), ("00000007", 12));
        assert_eq!(read.boards[..4], [0x21, 0x83, 0x40, 0x67]);
    }

    #[test]
    fn what_is_no_message_is_said() {
        for bytes in [&[0x0a][..], &[0x0a, 5, 1], &[0x0b], &[0xff; 11], &[0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f]]
        {
            assert!(answer(bytes).is_err(), "{bytes:?}");
        }
        assert!(answer(&[]).is_ok());
        assert_eq!((id(b"0000001g"), id(b"1"), id(b"ffffffff")), (None, None, Some(u32::MAX)));
    }
}
