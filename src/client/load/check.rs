//! Is an answer true? Paths are replayed, distances held against the client's own table.
//!
//! It must never know: how answers travel, what is counted.

use clap::ValueEnum;
use prost::Message;
use tonic::Code;
use tonic_types::pb::Status as RpcStatus;

use super::record::{Fate, Wrong};
use super::tiles::{Cells, Tiles};
use super::wire::{Answer, Outcome, Packed, Solution, numbers, solution};
use super::workload::{Nature, Problem, Shot};
use crate::service::pb::PackedOutcome;

/// How answers are checked. That each board has one answer and no more is checked always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Check {
    /// Not at all
    None,
    /// Each path is replayed to its goal, its length is the answer's distance
    Replay,
    /// Besides, the distance is the shortest, by a table of the client's own
    Optimal,
}

/// What an answer is worth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is what it should be, as far as was asked.
    Fair(Fate),
    /// It is an error, and what it says.
    Failed(Code, String),
    /// It is wrong, and how.
    Wrong(Wrong, String),
}

/// What a letter means: 0 to 3 for U, D, L, R, else 4, which is no way. A table, since which letter comes next no
/// processor can guess.
const WAYS: [u8; 256] = {
    let mut ways = [4; 256];
    ways[b'U' as usize] = 0;
    ways[b'D' as usize] = 1;
    ways[b'L' as usize] = 2;
    ways[b'R' as usize] = 3;
    ways
};

fn wrong(kind: Wrong, problem: &Problem, shot: Shot, what: &str) -> Verdict {
    let tiles = |tiles: Tiles| {
        tiles.iter(problem.cells.count).map(|tile| tile.to_string()).collect::<Vec<_>>().join(" ")
    };
    Verdict::Wrong(kind, format!("{} to {}: {what}", tiles(shot.tiles), tiles(problem.goal)))
}

/// Judges the answer to one board.
pub(super) fn judge(check: Check, problem: &Problem, shot: Shot, answer: &Answer) -> Verdict {
    match answer.outcome {
        Outcome::Error(status) => refused(shot, error(status)),
        _ if check == Check::None => Verdict::Fair(fate(&answer.outcome)),
        Outcome::Nothing => wrong(Wrong::Outcome, problem, shot, "an answer without an outcome"),
        Outcome::Solution(bytes) => match solution(bytes) {
            Err(error) => wrong(Wrong::Outcome, problem, shot, &error.to_string()),
            Ok(solution) => {
                let end = replayed(&problem.cells, shot.tiles, &solution);
                let moves = solution.moves.len().max(solution.vertices.len()) as u64;
                judge_path(check, problem, shot, (solution.distance, moves, end), || told(&solution))
            }
        },
        Outcome::Unsolvable => judge_unsolvable(problem, shot),
        Outcome::LimitReached { lower_bound } => judge_bound(check, problem, shot, lower_bound),
        Outcome::Cancelled => Verdict::Fair(Fate::Cancelled),
    }
}

fn fate(outcome: &Outcome) -> Fate {
    match outcome {
        Outcome::Unsolvable => Fate::Unsolvable,
        Outcome::LimitReached { .. } => Fate::LimitReached,
        Outcome::Cancelled => Fate::Cancelled,
        _ => Fate::Solved,
    }
}

/// An error, as a `google.rpc.Status` says it.
pub(super) fn error(status: &[u8]) -> Verdict {
    match RpcStatus::decode(status) {
        Ok(status) => Verdict::Failed(Code::from_i32(status.code), status.message),
        Err(_) => Verdict::Failed(Code::Unknown, "an error that can't be read".into()),
    }
}

/// Judges the error of a board.
pub(super) fn refused(shot: Shot, error: Verdict) -> Verdict {
    match (shot.nature, error) {
        (Nature::Malformed(_), Verdict::Failed(Code::InvalidArgument, _)) => Verdict::Fair(Fate::Malformed),
        (_, error) => error,
    }
}

/// Moves of a wrong path that are told.
const TOLD_MOVES: usize = 150;

fn told(solution: &Solution) -> String {
    // No more than can be read: a server may send what it likes.
    let moves = String::from_utf8_lossy(&solution.moves[..solution.moves.len().min(TOLD_MOVES)]);
    let vertices: Vec<_> = solution.vertices.iter().take(TOLD_MOVES).map(ToString::to_string).collect();
    format!("{} moves {moves}{}", solution.distance, vertices.join(" "))
}

fn replayed(cells: &Cells, start: Tiles, solution: &Solution) -> Option<Tiles> {
    if cells.is_grid() {
        cells.walk(start, solution.moves.iter().map(|&letter| WAYS[usize::from(letter)]))
    } else {
        cells.enter(start, solution.vertices.iter().copied())
    }
}

/// Judges a path of so many moves, said to be as long as a distance, that ends at a board.
fn judge_path(
    check: Check,
    problem: &Problem,
    shot: Shot,
    (distance, moves, end): (u64, u64, Option<Tiles>),
    told: impl FnOnce() -> String,
) -> Verdict {
    let Nature::Solvable(shortest) = shot.nature else {
        let what = format!("solved, but {}: {}", nature(shot.nature), told());
        return wrong(Wrong::Outcome, problem, shot, &what);
    };
    if end != Some(problem.goal) || distance != moves {
        let what = format!("the path does not lead to the goal, or is not as long as it says: {}", told());
        return wrong(Wrong::Path, problem, shot, &what);
    }
    if check == Check::Optimal && distance != u64::from(shortest) {
        return wrong(
            Wrong::Distance,
            problem,
            shot,
            &format!("the shortest has {shortest} moves: {}", told()),
        );
    }
    Verdict::Fair(Fate::Solved)
}

fn judge_unsolvable(problem: &Problem, shot: Shot) -> Verdict {
    match shot.nature {
        Nature::Unsolvable => Verdict::Fair(Fate::Unsolvable),
        other => wrong(Wrong::Outcome, problem, shot, &format!("called unsolvable, but {}", nature(other))),
    }
}

fn judge_bound(check: Check, problem: &Problem, shot: Shot, lower_bound: u64) -> Verdict {
    match shot.nature {
        Nature::Malformed(_) => {
            wrong(Wrong::Outcome, problem, shot, "a limit was reached, but the board is malformed")
        }
        Nature::Solvable(shortest) if check == Check::Optimal && lower_bound > shortest.into() => {
            let what =
                format!("no path is said to be shorter than {lower_bound} moves, but one has {shortest}");
            wrong(Wrong::Distance, problem, shot, &what)
        }
        _ => Verdict::Fair(Fate::LimitReached),
    }
}

fn nature(nature: Nature) -> &'static str {
    match nature {
        Nature::Solvable(_) => "the goal can be reached",
        Nature::Unsolvable => "the goal can't be reached",
        Nature::Malformed(_) => "the board is malformed",
    }
}

/// Judges the answer to a packed message board by board; without a check only the outcomes are counted.
pub(super) fn judge_packed(
    check: Check,
    problem: &Problem,
    shots: &[Shot],
    answer: &Packed,
    mut tell: impl FnMut(Verdict, u64),
) {
    let boards = shots.len();
    if answer.outcomes.len() != boards || answer.distances.len() != 2 * boards {
        let what = format!(
            "{boards} boards, {} outcomes, {} bytes of distances",
            answer.outcomes.len(),
            answer.distances.len()
        );
        return tell(Verdict::Wrong(Wrong::Missing, what), boards as u64);
    }
    if check == Check::None {
        return count_outcomes(answer.outcomes, tell);
    }
    let (mut paths, mut solved) = (Paths::new(answer), 0);
    for ((&shot, &outcome), distance) in
        shots.iter().zip(answer.outcomes).zip(answer.distances.chunks_exact(2))
    {
        let distance = u64::from(u16::from_le_bytes([distance[0], distance[1]]));
        let path = paths.next(&problem.cells, shot.tiles);
        let verdict = match (PackedOutcome::try_from(i32::from(outcome)), shot.nature) {
            (Ok(PackedOutcome::Solved), _) => {
                judge_path(check, problem, shot, (distance, path.0, path.1), || format!("{distance} moves"))
            }
            (Ok(PackedOutcome::Unsolvable), _) => judge_unsolvable(problem, shot),
            (Ok(PackedOutcome::Malformed), Nature::Malformed(_)) => Verdict::Fair(Fate::Malformed),
            (Ok(PackedOutcome::Malformed), _) => {
                wrong(Wrong::Outcome, problem, shot, "called malformed, but it is a board")
            }
            (Ok(PackedOutcome::LimitReached), _) => judge_bound(check, problem, shot, distance),
            _ => wrong(Wrong::Outcome, problem, shot, &format!("outcome {outcome}, which there is not")),
        };
        // Most are, and are told of together.
        match verdict {
            Verdict::Fair(Fate::Solved) => solved += 1,
            other => tell(other, 1),
        }
    }
    if solved > 0 {
        tell(Verdict::Fair(Fate::Solved), solved);
    }
}

fn count_outcomes(outcomes: &[u8], mut tell: impl FnMut(Verdict, u64)) {
    let mut rest = outcomes.len();
    let kinds = [
        (PackedOutcome::Solved, Fate::Solved),
        (PackedOutcome::Unsolvable, Fate::Unsolvable),
        (PackedOutcome::Malformed, Fate::Malformed),
        (PackedOutcome::LimitReached, Fate::LimitReached),
    ];
    for (kind, fate) in kinds {
        let count = count(outcomes, kind as u8);
        rest -= count;
        if count > 0 {
            tell(Verdict::Fair(fate), count as u64);
        }
    }
    if rest > 0 {
        tell(Verdict::Wrong(Wrong::Outcome, "an outcome which there is not".into()), rest as u64);
    }
}

/// How many bytes are this one. In pieces that a byte can count, which is what the compiler makes fast.
fn count(bytes: &[u8], wanted: u8) -> usize {
    let piece = |piece: &[u8]| piece.iter().fold(0, |count: u8, &byte| count + u8::from(byte == wanted));
    bytes.chunks(255).map(|bytes| usize::from(piece(bytes))).sum()
}

/// The paths of a packed answer, one after another.
struct Paths<'a> {
    words: std::slice::ChunksExact<'a, u8>,
    moves: &'a [u8],
    ends: Box<dyn Iterator<Item = u64> + 'a>,
    start: u64,
}

impl<'a> Paths<'a> {
    fn new(answer: &Packed<'a>) -> Self {
        Self {
            words: answer.words.chunks_exact(8),
            moves: answer.moves,
            ends: Box::new(numbers(answer.move_ends)),
            start: 0,
        }
    }

    /// How many moves the next path has, and where it leads from a board.
    fn next(&mut self, cells: &Cells, start: Tiles) -> (u64, Option<Tiles>) {
        if let Some(word) = self.words.next() {
            let word = u64::from_le_bytes(word.try_into().expect("eight bytes"));
            let moves = word.checked_ilog2().unwrap_or_default() / 2;
            let ways = (0..moves).map(|step| u8::try_from(word >> (2 * step) & 3).expect("two bits"));
            return (moves.into(), cells.walk(start, ways));
        }
        let end = self.ends.next().unwrap_or_default();
        let place = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
        let moves = self.moves.get(place(self.start)..place(end)).unwrap_or_default();
        self.start = end;
        let walked = if cells.is_grid() {
            cells.walk(start, moves.iter().copied())
        } else {
            cells.enter(start, moves.iter().copied())
        };
        (moves.len() as u64, walked)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::gather::one;
    use super::super::optimal::Table;
    use super::super::tiles::permutation;
    use super::*;
    use crate::service::pb;

    fn problem() -> Problem {
        let goal = one("123456780", None).unwrap();
        let (cells, tiles) = (Cells::of(&goal).unwrap(), permutation(&goal).unwrap());
        Problem { table: Table::sweep(&cells, tiles), cells, goal: tiles, goal_sent: vec![] }
    }

    fn shot(problem: &Problem, text: &str) -> Shot {
        let tiles = permutation(&one(text, None).unwrap()).unwrap();
        let nature = problem.table.distance(tiles).map_or(Nature::Unsolvable, Nature::Solvable);
        Shot { tiles, nature, problem: 0 }
    }

    fn path(distance: u32, moves: &str) -> Vec<u8> {
        pb::Solution { distance, moves: moves.into(), vertices: vec![] }.encode_to_vec()
    }

    #[test]
    fn lies_about_a_board_are_caught() {
        let problem = problem();
        let (near, odd) = (shot(&problem, "123456708"), shot(&problem, "213456780"));
        let verdict = |check, shot, outcome: Outcome<'_>| {
            judge(check, &problem, shot, &Answer { id: &[], outcome, source: pb::Source::Table })
        };
        let kind = |verdict| match verdict {
            Verdict::Wrong(kind, _) => Some(kind),
            _ => None,
        };
        let fair = |fate| Verdict::Fair(fate);
        assert_eq!(verdict(Check::Replay, near, Outcome::Solution(&path(1, "R"))), fair(Fate::Solved));
        assert_eq!(verdict(Check::Replay, near, Outcome::Solution(&path(3, "RLR"))), fair(Fate::Solved));
        assert_eq!(
            kind(verdict(Check::Optimal, near, Outcome::Solution(&path(3, "RLR")))),
            Some(Wrong::Distance)
        );
        for (distance, moves) in [(1, "L"), (2, "R"), (0, ""), (2, "DR"), (1, "r"), (1, "RR")] {
            assert_eq!(
                kind(verdict(Check::Replay, near, Outcome::Solution(&path(distance, moves)))),
                Some(Wrong::Path),
                "{moves}"
            );
        }
        assert_eq!(kind(verdict(Check::Replay, near, Outcome::Unsolvable)), Some(Wrong::Outcome));
        assert_eq!(kind(verdict(Check::Replay, near, Outcome::Nothing)), Some(Wrong::Outcome));
        assert_eq!(kind(verdict(Check::Replay, odd, Outcome::Solution(&path(1, "R")))), Some(Wrong::Outcome));
        assert_eq!(verdict(Check::Replay, odd, Outcome::Unsolvable), fair(Fate::Unsolvable));
        let bound = |lower_bound| Outcome::LimitReached { lower_bound };
        assert_eq!(verdict(Check::Optimal, near, bound(1)), fair(Fate::LimitReached));
        assert_eq!(kind(verdict(Check::Optimal, near, bound(2))), Some(Wrong::Distance));
        assert_eq!(verdict(Check::None, near, Outcome::Solution(&path(9, ""))), fair(Fate::Solved));
        let status = RpcStatus { code: 3, message: "no".into(), details: vec![] }.encode_to_vec();
        assert_eq!(
            verdict(Check::Replay, near, Outcome::Error(&status)),
            Verdict::Failed(Code::InvalidArgument, "no".into())
        );
        let malformed = Shot { nature: Nature::Malformed(super::super::workload::Flaw::Twice), ..near };
        assert_eq!(verdict(Check::Replay, malformed, Outcome::Error(&status)), fair(Fate::Malformed));
        assert_eq!(
            kind(verdict(Check::Replay, malformed, Outcome::Solution(&path(1, "R")))),
            Some(Wrong::Outcome)
        );
    }

    #[test]
    fn lies_about_packed_boards_are_caught() {
        let problem = problem();
        let shots = [shot(&problem, "123456708"), shot(&problem, "213456780")];
        let verdicts = |check, answer: &Packed| {
            let mut told = Vec::new();
            judge_packed(check, &problem, &shots, answer, |verdict, boards| told.push((verdict, boards)));
            told
        };
        let words = [(1_u64 << 2 | 3).to_le_bytes(), [0; 8]].concat();
        let answer =
            Packed { outcomes: &[1, 2], distances: &[1, 0, 0, 0], words: &words, ..Packed::default() };
        let fair = [(Verdict::Fair(Fate::Unsolvable), 1), (Verdict::Fair(Fate::Solved), 1)];
        assert_eq!(verdicts(Check::Optimal, &answer), fair);
        assert_eq!(verdicts(Check::None, &answer), [fair[1].clone(), fair[0].clone()]);
        let moves = Packed { words: &[], moves: &[3], move_ends: &[1, 1], ..answer };
        assert_eq!(verdicts(Check::Optimal, &moves), fair);
        let kinds = |answer: &Packed| {
            let kind = |(verdict, _)| if let Verdict::Wrong(kind, _) = verdict { Some(kind) } else { None };
            verdicts(Check::Replay, answer).into_iter().map(kind).collect::<Vec<_>>()
        };
        assert_eq!(kinds(&Packed { distances: &[2, 0, 0, 0], ..answer }), [Some(Wrong::Path), None]);
        assert_eq!(kinds(&Packed { outcomes: &[2, 1], ..answer }), [Some(Wrong::Outcome); 2]);
        assert_eq!(kinds(&Packed { outcomes: &[3, 9], ..answer }), [Some(Wrong::Outcome); 2]);
        assert_eq!(kinds(&Packed { outcomes: &[1], ..answer }), [Some(Wrong::Missing)]);
        assert_eq!(kinds(&Packed { words: &[], ..answer }), [Some(Wrong::Path), None]);
        assert_eq!(
            kinds(&Packed { words: &[], moves: &[3], move_ends: &[9, 1], ..answer }),
            [Some(Wrong::Path), None]
        );
    }
}
