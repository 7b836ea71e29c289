//! Boards in bulk: from one message's bytes to the arrays of its answer, by a table.
//! It searches nothing; to check a board, and to answer one by a word, allocates nothing.

use std::sync::Arc;

use super::convert;
use super::pb::{self, PackedOutcome, SolvePackedRequest, SolvePackedResponse};
use super::status::ServiceError;
use crate::domain::sliding::{Board, Goal, Layout, Packed32, Solution};
use crate::space::Cost;
use crate::table::Table;

/// Bytes of a packed board.
const BOARD_BYTES: usize = 4;

/// A message of boards, checked but for the boards themselves.
pub(super) struct Batch {
    goal: Goal,
    layout: Arc<Layout>,
    boards: Vec<u8>,
    wants_paths: bool,
    max_moves: Cost,
}

impl Batch {
    /// What a message asks for.
    ///
    /// # Errors
    /// [`ServiceError::Invalid`] with the field's path.
    pub(super) fn new(request: &mut SolvePackedRequest, max_boards: u32) -> Result<Self, ServiceError> {
        use pb::solve_packed_request::Layout;
        let layout = match &request.layout {
            Some(Layout::Grid(shape)) => convert::grid("grid", *shape)?,
            Some(Layout::Graph(shape)) => convert::graph("graph", shape)?,
            None => {
                return Err(ServiceError::invalid("layout", "is not set, expected a layout, such as grid"));
            }
        };
        convert::metric("metric", request.metric)?;
        let wants_paths = convert::packed_objective(request.objective)?;
        let bytes = request.boards.len();
        if !bytes.is_multiple_of(BOARD_BYTES) {
            let description =
                format!("has {bytes} bytes, expected a multiple of {BOARD_BYTES}, so many for each board");
            return Err(ServiceError::invalid("boards", description));
        }
        if bytes / BOARD_BYTES > max_boards as usize {
            let description = format!(
                "has {} boards, expected at most {max_boards} (max_packed_boards)",
                bytes / BOARD_BYTES
            );
            return Err(ServiceError::invalid("boards", description));
        }
        let solved = convert::goal(&layout, &request.goal)?;
        let goal = Goal::new(&layout, solved);
        let boards = std::mem::take(&mut request.boards);
        let max_moves = request.max_moves.unwrap_or(Cost::MAX);
        Ok(Self { goal, layout, boards, wants_paths, max_moves })
    }

    /// The goal of all its boards.
    pub(super) fn goal(&self) -> &Goal {
        &self.goal
    }

    /// The answer, by the table of its goal.
    pub(super) fn answer(&self, request_id: String, table: &Table) -> SolvePackedResponse {
        let count = self.boards.len() / BOARD_BYTES;
        let words = self.wants_paths && table.has_words();
        let mut answer = SolvePackedResponse {
            request_id,
            error: None,
            outcomes: Vec::with_capacity(count),
            distances: Vec::with_capacity(2 * count),
            words: Vec::with_capacity(if words { 8 * count } else { 0 }),
            moves: Vec::new(),
            move_ends: Vec::with_capacity(if self.wants_paths && !words { count } else { 0 }),
        };
        for bytes in self.boards.chunks_exact(BOARD_BYTES) {
            let bits = u32::from_le_bytes(bytes.try_into().expect("a chunk is as long as a board"));
            self.answer_one(bits, table, &mut answer);
        }
        answer
    }

    fn answer_one(&self, bits: u32, table: &Table, answer: &mut SolvePackedResponse) {
        let found = match Packed32::read(bits, self.layout.cells()) {
            None => Found::Nothing(PackedOutcome::Malformed),
            Some(board) if table.has_words() => self.word(board, table),
            Some(board) => self.moves(board, table, &mut answer.moves),
        };
        let (outcome, distance, word) = match found {
            Found::Nothing(outcome) => (outcome, 0, 0),
            Found::Beyond => (PackedOutcome::LimitReached, self.max_moves + 1, 0),
            Found::Path { distance, word } => (PackedOutcome::Solved, distance, word),
        };
        answer.outcomes.push(outcome as u8);
        let distance =
            u16::try_from(distance).expect("a table's distances are u16, and `max_moves` is below them");
        answer.distances.extend(distance.to_le_bytes());
        if self.wants_paths && table.has_words() {
            answer.words.extend(word.to_le_bytes());
        } else if self.wants_paths {
            answer.move_ends.push(u32::try_from(answer.moves.len()).expect("bounded by boards and moves"));
        }
    }

    /// One board's path as the caller's word.
    fn word(&self, board: Board, table: &Table) -> Found {
        let start = self.goal.canonical(board);
        let Some(word) = table.word(start, start.cell_of(0)) else {
            return Found::Nothing(PackedOutcome::Unsolvable);
        };
        match word.ilog2() / 2 {
            distance if distance > self.max_moves => Found::Beyond,
            distance => Found::Path { distance, word: self.goal.frame().word_from(word) },
        }
    }

    /// One board's path, its moves put behind those of the boards before.
    fn moves(&self, board: Board, table: &Table, moves: &mut Vec<u8>) -> Found {
        let start = self.goal.canonical(board);
        let Some(distance) = table.distance(start) else { return Found::Nothing(PackedOutcome::Unsolvable) };
        if distance > self.max_moves {
            return Found::Beyond;
        }
        if self.wants_paths {
            let solution = Solution::new(&self.goal, start, table.path(start).expect("it has a distance"));
            match solution.directions() {
                Some(directions) => moves.extend(directions.into_iter().map(|direction| direction as u8)),
                None => moves.extend(solution.cells().into_iter().map(|cell| cell + 1)),
            }
        }
        Found::Path { distance, word: 0 }
    }
}

/// What a table says of a board.
enum Found {
    /// No path, and why.
    Nothing(PackedOutcome),
    /// A path longer than is of interest.
    Beyond,
    /// A path; its word where there are words.
    Path { distance: Cost, word: u64 },
}

/// The answer to a message that was not taken.
pub(super) fn refusal(request_id: String, error: &ServiceError) -> SolvePackedResponse {
    let request_id = convert::cut_id(request_id);
    SolvePackedResponse { request_id, error: Some(error.to_outcome()), ..Default::default() }
}
