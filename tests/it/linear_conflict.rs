//! Linear conflict: never above the distance, and at most one off after a move.

use proptest::prelude::*;
use taquin::domain::sliding::{Board, Packed32, Packing, Position, SlidingSpace};
use taquin::heuristic::{DistanceSum, LinearConflict};
use taquin::search::{Budget, breadth_first};
use taquin::space::{Cost, Guide, Heuristic, Lead};

use crate::instances::layout;

type Wide = SlidingSpace<Board>;

fn estimates(space: &Wide, goal: Board, board: &[u8]) -> (Cost, Cost) {
    let (distances, conflict) = (DistanceSum::new(space, goal), LinearConflict::new(space, goal));
    let position = Position::new(Board::new(board));
    (Heuristic::<Wide>::estimate(&distances, &position), Heuristic::<Wide>::estimate(&conflict, &position))
}

#[test]
fn g17_three_in_reverse_make_four_moves() {
    let goal = Board::standard(9, 8);
    let space = Wide::new(layout(3, 3).clone());
    // The middle row is in reverse, in place.
    assert_eq!(estimates(&space, goal, &[1, 2, 3, 6, 5, 4, 7, 8, 0]), (4, 8));
    // 26 moves away; pairs counted apart would add six for its middle row, and be too high with the rest.
    let (distances, conflict) = estimates(&space, goal, &[7, 8, 0, 6, 5, 4, 1, 2, 3]);
    assert!(distances < conflict && conflict <= 26, "{distances} {conflict}");
    // Of four in the order 3 1 4 2 two stand in order.
    let row = Wide::new(layout(2, 4).clone());
    assert_eq!(estimates(&row, Board::standard(8, 7), &[3, 1, 4, 2, 5, 6, 7, 0]), (6, 10));
}

/// Against every board and its distance; that its tiles' sum is never more, and sometimes less.
fn is_admissible<P: Packing>(rows: usize, columns: usize, blank: u8) {
    let space = SlidingSpace::<P>::new(layout(rows, columns).clone());
    let cells = rows * columns;
    let goal = Board::standard(cells, blank);
    let (distances, conflict) = (DistanceSum::new(&space, goal), LinearConflict::new(&space, goal));
    let mut above = 0_u32;
    let visit = |packed: P, distance| {
        let position = Position::new(packed.unpack(cells));
        let estimate = Heuristic::<SlidingSpace<P>>::estimate(&conflict, &position);
        let sum = Heuristic::<SlidingSpace<P>>::estimate(&distances, &position);
        assert!(sum <= estimate && estimate <= distance, "{position:?}: {sum}, {estimate}, {distance}");
        above += u32::from(sum < estimate);
    };
    breadth_first::sweep(&space, &Position::new(goal), &mut Budget::unlimited(), visit).unwrap();
    assert!(above > 10_000, "{above}");
}

#[test]
fn it_is_admissible_on_every_board_of_3x3_and_2x5() {
    for blank in [0, 1, 4] {
        is_admissible::<Packed32>(3, 3, blank);
    }
    is_admissible::<Board>(2, 5, 9);
    is_admissible::<Board>(5, 2, 3);
}

proptest! {
    #[test]
    fn a_move_changes_it_by_at_most_one_and_marks_keep_up(
        (rows, columns) in prop_oneof![Just((3, 3)), Just((4, 4)), Just((2, 8)), Just((5, 3)), Just((1, 7))],
        blank in 0_usize..1000,
        start in proptest::collection::vec(any::<u64>(), 16),
        steps in proptest::collection::vec(0_usize..12, 1..80),
    ) {
        let cells = rows * columns;
        let goal = Board::standard(cells, u8::try_from(blank % cells).unwrap());
        let mut tiles: Vec<u8> = (0..u8::try_from(cells).unwrap()).collect();
        tiles.sort_by_key(|&tile| start[usize::from(tile)]);
        let space = Wide::new(layout(rows, columns).clone());
        let conflict = LinearConflict::new(&space, goal);
        let mut at = Position::new(Board::new(&tiles));
        let (mut mark, mut bound) = Guide::<Wide>::mark(&conflict, &at);
        for step in steps {
            let next = space.layout().neighbours(at.blank());
            let to = next[step % next.len()];
            let mut leads =
                vec![Lead::<Wide, _> { state: at, action: to, mark, left: Cost::MAX, way: 0 }];
            prop_assert_eq!(conflict.sift(&mut leads), None);
            mark = leads[0].mark;
            at = at.slid(to);
            let fresh = Guide::<Wide>::mark(&conflict, &at);
            prop_assert_eq!(mark, fresh.0);
            prop_assert!(fresh.1.abs_diff(bound) <= 1, "{} to {}", bound, fresh.1);
            bound = fresh.1;
        }
    }
}
