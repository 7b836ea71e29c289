//! What fuzzers call: the bytes of a message, taken as the service takes them, and what must
//! hold whatever they are. Of test builds alone; it knows no stream.

use prost::Message;

use super::convert;
use super::packed::Batch;
use super::pb::{self, PackedOutcome, solve_packed_request::Layout};
use super::status::ServiceError;
use crate::config::LimitsConfig;
use crate::domain::sliding::{Board, LastGoal, MAX_CELLS, Position, WideSpace, obstacle};
use crate::search::{Budget, Stop, bidirectional};
use crate::table::Table;

/// Bytes an error may be answered with: a hostile field is told of, not sent back whole.
const MAX_ERROR_BYTES: usize = 2048;
/// States of a search that settles whether a board has a path: all there are of six cells.
const ALL_STATES: u64 = 720;
/// Cells of a board of which every state is searched.
const SMALL_CELLS: usize = 6;
/// Boards of a packed message.
const MAX_BOARDS: u32 = 256;

/// A job, from its bytes on the wire to an instance or an error that names the field.
pub fn job(bytes: &[u8]) {
    let Ok(job) = pb::Job::decode(bytes) else { return };
    let (limits, mut last) = (LimitsConfig::default(), LastGoal::default());
    let query = match convert::query(&job, &limits, &mut last) {
        Ok((query, _)) => query,
        Err(error) => return assert_named(&error, "job."),
    };
    let (again, _) = convert::query(&job, &limits, &mut last).expect("the same job is as good again");
    assert_eq!(query.canonical.key(), again.canonical.key(), "the last goal makes another board");
    let goal = query.canonical.goal();
    let (layout, start) = (goal.frame().layout(), query.canonical.start());
    assert!(is_permutation(start, layout.cells()) && is_permutation(goal.board(), layout.cells()));
    let ruled_out = obstacle(layout, start, goal.board());
    if layout.cells() <= SMALL_CELLS {
        let space = WideSpace::new(layout.clone());
        let (start, goal) = (Position::new(start), Position::new(goal.board()));
        let path = bidirectional::search(&space, &start, &goal, &mut Budget::unlimited().part(ALL_STATES));
        assert_ne!(path, Err(Stop::Nodes), "more states than there are");
        let has_path = path.is_ok_and(|path| path.is_some());
        assert_eq!(has_path, ruled_out.is_none(), "theory and search disagree");
    }
}

/// A message of packed boards, from its bytes on the wire to the arrays of its answer.
pub fn packed(bytes: &[u8]) {
    let Ok(mut request) = pb::SolvePackedRequest::decode(bytes) else { return };
    let count = request.boards.len() / 4;
    let is_grid = matches!(request.layout, Some(Layout::Grid(_)));
    let batch = match Batch::new(&mut request, MAX_BOARDS) {
        Ok(batch) => batch,
        Err(error) => return assert_named(&error, ""),
    };
    let (layout, goal) = (batch.goal().frame().layout(), batch.goal().board());
    if layout.cells() > SMALL_CELLS {
        return;
    }
    let table = Table::sweep(layout, goal, &mut Budget::unlimited()).expect("nothing ends it");
    let answer = batch.answer(request.request_id, &table);
    assert_eq!((answer.outcomes.len(), answer.distances.len()), (count, 2 * count));
    let distances = answer.distances.as_chunks().0.iter().map(|&bytes| u16::from_le_bytes(bytes));
    for (index, (&outcome, distance)) in answer.outcomes.iter().zip(distances).enumerate() {
        let outcome = PackedOutcome::try_from(i32::from(outcome)).expect("a known outcome");
        let word = answer.words.as_chunks().0.get(index).map(|&word| u64::from_le_bytes(word));
        match outcome {
            PackedOutcome::Unspecified => panic!("an outcome that is not used"),
            PackedOutcome::Solved => {
                let moves = word.map(|word| word.ilog2() / 2);
                assert!(moves.is_none_or(|moves| moves == u32::from(distance)), "a word of another length");
            }
            _ => assert!(word.is_none_or(|word| word == 0), "a path of a board that is not solved"),
        }
    }
    assert!(answer.move_ends.is_sorted() && (is_grid || answer.words.is_empty()));
}

fn is_permutation(board: Board, cells: usize) -> bool {
    cells <= MAX_CELLS && board.tiles(cells).fold(0_u32, |seen, tile| seen | 1 << tile) == (1 << cells) - 1
}

fn assert_named(error: &ServiceError, message: &str) {
    let ServiceError::Invalid { field, .. } = error else { panic!("{error}: names no field") };
    assert!(field.starts_with(message) && field.len() > message.len(), "{field} is no field of the message");
    assert!(error.to_outcome().encoded_len() <= MAX_ERROR_BYTES, "{error}: an answer that large");
}
