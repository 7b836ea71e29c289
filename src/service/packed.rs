//! Boards in bulk: from one message's bytes to the arrays of its answer, by a table.
//! It searches nothing; to check a board, and to answer one by a word, allocates nothing.

use super::convert;
use super::pb::{self, PackedOutcome, SolvePackedRequest, SolvePackedResponse};
use super::status::ServiceError;
use crate::domain::sliding::{Board, Goal, Layout, Packed32, Shared, Solution};
use crate::space::Cost;
use crate::table::Table;

/// Bytes of a packed board.
const BOARD_BYTES: usize = 4;

/// A message of boards, checked but for the boards themselves.
pub(super) struct Batch {
    goal: Goal,
    layout: Shared<Layout>,
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
        let has_words = self.wants_paths && table.has_words();
        let (mut outcomes, mut distances) = (vec![0; count], vec![0; 2 * count]);
        let mut words = vec![0; if has_words { 8 * count } else { 0 }];
        let (mut moves, mut move_ends) = (Vec::new(), Vec::new());
        if table.has_words() {
            let mut places = words.chunks_exact_mut(8);
            self.answer_each(&mut outcomes, &mut distances, |board| {
                let (found, word) = self.word(board, table);
                if let Some(place) = places.next() {
                    place.copy_from_slice(&word.to_le_bytes());
                }
                found
            });
        } else {
            self.answer_each(&mut outcomes, &mut distances, |board| {
                let found = self.moves(board, table, &mut moves);
                if self.wants_paths {
                    move_ends.push(u32::try_from(moves.len()).expect("bounded by boards and moves"));
                }
                found
            });
        }
        SolvePackedResponse { request_id, error: None, outcomes, distances, words, moves, move_ends }
    }

    /// Fills in what `look_up` finds of each board; it is asked of what is no board too.
    fn answer_each(
        &self,
        outcomes: &mut [u8],
        distances: &mut [u8],
        mut look_up: impl FnMut(Option<Board>) -> Found,
    ) {
        let cells = self.layout.cells();
        let answers = outcomes.iter_mut().zip(distances.chunks_exact_mut(2));
        for (bytes, (outcome, distance)) in self.boards.chunks_exact(BOARD_BYTES).zip(answers) {
            let bits = u32::from_le_bytes(bytes.try_into().expect("a chunk is as long as a board"));
            let (kind, moves) = match look_up(Packed32::read(bits, cells)) {
                Found::Nothing(kind) => (kind, 0),
                Found::Beyond => (PackedOutcome::LimitReached, self.max_moves + 1),
                Found::Path(moves) => (PackedOutcome::Solved, moves),
            };
            let moves =
                u16::try_from(moves).expect("a table's distances are u16, and `max_moves` is below them");
            *outcome = kind as u8;
            distance.copy_from_slice(&moves.to_le_bytes());
        }
    }

    /// One board's path, and it as the caller's word, 0 where there is none.
    fn word(&self, board: Option<Board>, table: &Table) -> (Found, u64) {
        let Some(board) = board else { return (Found::Nothing(PackedOutcome::Malformed), 0) };
        let start = self.goal.canonical(board);
        let Some(word) = table.word(start, start.cell_of(0)) else {
            return (Found::Nothing(PackedOutcome::Unsolvable), 0);
        };
        match word.ilog2() / 2 {
            moves if moves > self.max_moves => (Found::Beyond, 0),
            moves => (Found::Path(moves), self.goal.frame().word_from(word)),
        }
    }

    /// One board's path, its moves put behind those of the boards before.
    fn moves(&self, board: Option<Board>, table: &Table, moves: &mut Vec<u8>) -> Found {
        let Some(board) = board else { return Found::Nothing(PackedOutcome::Malformed) };
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
        Found::Path(distance)
    }
}

/// What a table says of a board.
enum Found {
    /// No path, and why.
    Nothing(PackedOutcome),
    /// A path longer than is of interest.
    Beyond,
    /// A path of so many moves.
    Path(Cost),
}

/// The answer to a message that was not taken.
pub(super) fn refusal(request_id: String, error: &ServiceError) -> SolvePackedResponse {
    let request_id = convert::cut_id(request_id);
    SolvePackedResponse { request_id, error: Some(error.to_outcome()), ..Default::default() }
}
