//! Boards in bulk: from one message's bytes to the arrays of its answer, by a table.
//! It searches nothing; to check a board, and to answer one by a word, allocates nothing.

use super::convert;
use super::pb::{self, PackedOutcome, SolvePackedRequest, SolvePackedResponse};
use super::status::ServiceError;
use crate::domain::sliding::{Board, Goal, Layout, MAX_DENSE_CELLS, Packed32, Shape, Shared, Solution};
use crate::space::Cost;
use crate::table::Table;

/// Bytes of a packed board.
const BOARD_BYTES: usize = 4;
/// Boards that are looked up at once: as many as make the memory busy, few enough for the stack.
const AT_ONCE: usize = 64;

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
        if layout.cells() > MAX_DENSE_CELLS {
            let field = if matches!(layout.shape(), Shape::Graph) { "graph" } else { "grid" };
            let description = format!(
                "has {} cells, expected at most {MAX_DENSE_CELLS} (max_packed_cells)",
                layout.cells()
            );
            return Err(ServiceError::invalid(field, description));
        }
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

    /// How many boards it has.
    pub(super) fn boards(&self) -> u32 {
        u32::try_from(self.boards.len() / BOARD_BYTES).expect("bounded by a limit that is one")
    }

    /// The goal of all its boards.
    pub(super) fn goal(&self) -> &Goal {
        &self.goal
    }

    /// The answer, by the table of its goal.
    pub(super) fn answer(&self, request_id: String, table: &Table) -> SolvePackedResponse {
        let count = self.boards.len() / BOARD_BYTES;
        let has_words = self.wants_paths && table.has_words();
        let mut answer = SolvePackedResponse {
            request_id,
            outcomes: vec![0; count],
            distances: vec![0; 2 * count],
            words: vec![0; if has_words { 8 * count } else { 0 }],
            ..SolvePackedResponse::default()
        };
        if table.has_words() {
            let SolvePackedResponse { outcomes, distances, words, .. } = &mut answer;
            self.answer_by_words(table, outcomes, distances, words);
        } else {
            self.answer_by_steps(table, &mut answer);
        }
        answer
    }

    /// Fills in the answers by the words of a table, some boards at once; `words` is empty when none are wanted.
    fn answer_by_words(&self, table: &Table, outcomes: &mut [u8], distances: &mut [u8], words: &mut [u8]) {
        let mut words = words.chunks_mut(8 * AT_ONCE);
        let answers = outcomes.chunks_mut(AT_ONCE).zip(distances.chunks_mut(2 * AT_ONCE));
        for (boards, (outcomes, distances)) in self.boards.chunks(BOARD_BYTES * AT_ONCE).zip(answers) {
            let (mut starts, mut found) = ([None; AT_ONCE], [0; AT_ONCE]);
            for (board, start) in self.read(boards).zip(&mut starts) {
                *start = board.map(|board| self.goal.canonical(board));
            }
            table.words(&starts, &mut found);
            let mut places = words.next().unwrap_or_default().chunks_exact_mut(8);
            let answers = outcomes.iter_mut().zip(distances.chunks_exact_mut(2));
            for ((start, word), (outcome, distance)) in starts.iter().zip(found).zip(answers) {
                let (found, word) = self.word(start.is_some(), word);
                found.write(self.max_moves, outcome, distance);
                if let Some(place) = places.next() {
                    place.copy_from_slice(&word.to_le_bytes());
                }
            }
        }
    }

    /// Fills in the answers by a table of steps, board by board; `moves` get those of the boards in turn.
    fn answer_by_steps(&self, table: &Table, answer: &mut SolvePackedResponse) {
        let answers = answer.outcomes.iter_mut().zip(answer.distances.chunks_exact_mut(2));
        for (board, (outcome, distance)) in self.read(&self.boards).zip(answers) {
            self.moves(board, table, &mut answer.moves).write(self.max_moves, outcome, distance);
            if self.wants_paths {
                let end = u32::try_from(answer.moves.len()).expect("bounded by boards and moves");
                answer.move_ends.push(end);
            }
        }
    }

    /// The boards of some bytes; `None` for what is no board.
    fn read(&self, boards: &[u8]) -> impl Iterator<Item = Option<Board>> {
        let cells = self.layout.cells();
        boards.chunks_exact(BOARD_BYTES).map(move |bytes| {
            Packed32::read(
                u32::from_le_bytes(bytes.try_into().expect("a chunk is as long as a board")),
                cells,
            )
        })
    }

    /// What a table's word says of what may be no board, and it as the caller's word, 0 where there is none.
    fn word(&self, is_board: bool, word: u64) -> (Found, u64) {
        match word.checked_ilog2().map(|bits| bits / 2) {
            None if !is_board => (Found::Nothing(PackedOutcome::Malformed), 0),
            None => (Found::Nothing(PackedOutcome::Unsolvable), 0),
            Some(moves) if moves > self.max_moves => (Found::Beyond, 0),
            Some(moves) => (Found::Path(moves), self.goal.frame().word_from(word)),
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
#[derive(Clone, Copy)]
enum Found {
    /// No path, and why.
    Nothing(PackedOutcome),
    /// A path longer than is of interest.
    Beyond,
    /// A path of so many moves.
    Path(Cost),
}

impl Found {
    /// Writes it where the answer has its outcome and its distance.
    fn write(self, max_moves: Cost, outcome: &mut u8, distance: &mut [u8]) {
        let (kind, moves) = match self {
            Self::Nothing(kind) => (kind, 0),
            Self::Beyond => (PackedOutcome::LimitReached, max_moves + 1),
            Self::Path(moves) => (PackedOutcome::Solved, moves),
        };
        let moves = u16::try_from(moves).expect("a table's distances are u16, and `max_moves` is below them");
        *outcome = kind as u8;
        distance.copy_from_slice(&moves.to_le_bytes());
    }
}

/// The answer to a message that was not taken.
pub(super) fn refusal(request_id: String, error: &ServiceError) -> SolvePackedResponse {
    let request_id = convert::cut_id(request_id);
    SolvePackedResponse { request_id, error: Some(error.to_outcome()), ..Default::default() }
}
