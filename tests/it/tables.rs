//! Tables of whole goals against search: dense places, words, steps, halves.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use taquin::domain::sliding::{
    Board, Canonical, Cell, DenseIndex, Goal, Layout, Packed32, Path, Position, Shared, SlidingSpace,
    Solution,
};
use taquin::search::bidirectional::{self, GoalHalf};
use taquin::search::{Budget, Limits, breadth_first};
use taquin::space::StateSpace;
use taquin::table::Table;

use crate::instances::{Random, instance, layout, permutations, small_grids};

/// Layouts of every kind with a goal: all grids, and some graphs.
fn problems() -> Vec<(Shared<Layout>, Board)> {
    let mut random = Random::new(9);
    let graphs = [
        Layout::graph(4, &[(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]),
        Layout::graph(7, &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 6), (6, 3)]),
        Layout::graph(5, &[(0, 1), (2, 3)]),
        Layout::graph(1, &[]),
    ];
    let layouts = small_grids().cloned().chain(graphs.into_iter().flatten());
    layouts
        .map(|layout| {
            let goal = Board::new(&random.permutation(layout.cells()));
            (layout, goal)
        })
        .collect()
}

#[test]
fn every_board_that_reaches_its_goal_has_a_place_of_its_own() {
    for (layout, goal) in problems() {
        let index = DenseIndex::new(&layout, goal);
        let space = SlidingSpace::<Packed32>::new(layout.clone());
        let mut places = HashSet::new();
        breadth_first::sweep(&space, &Position::new(goal), &mut Budget::unlimited(), |packed, _| {
            let position = space.unpack(packed);
            let place = index.place(position.board(), position.blank()).unwrap();
            assert!(place < index.len() && places.insert(place), "{layout:?} {position:?}");
        })
        .unwrap();
    }
    let standard = DenseIndex::new(layout(3, 3), Board::standard(9, 4));
    assert_eq!(standard.len(), 181_440, "no gaps on 3x3");
}

#[test]
fn tables_know_what_search_finds_and_nothing_else() {
    for (layout, goal) in problems() {
        let table = Table::sweep(&layout, goal, &mut Budget::unlimited()).unwrap();
        let space = SlidingSpace::<Packed32>::new(layout.clone());
        let root = Position::new(goal);
        let half = GoalHalf::new(&space, &root, 500, &mut Budget::unlimited()).unwrap();
        let whole = GoalHalf::new(&space, &root, usize::MAX, &mut Budget::unlimited()).unwrap();
        for tiles in
            permutations(layout.cells()).step_by((layout.cells() * layout.cells() / 8).pow(2) * 3 + 1)
        {
            let start = Position::new(Board::new(&tiles));
            let search = bidirectional::search(&space, &start, &root, &mut Budget::unlimited()).unwrap();
            let path =
                search.as_ref().map(|cells| Path::along(&layout, start.blank(), cells).next().unwrap());
            assert_eq!(table.path(start.board()), path, "{layout:?} {tiles:?} to {goal:?}");
            for half in [&half, &whole] {
                assert_eq!(
                    half.search(&space, &start, &mut Budget::unlimited()),
                    Ok(search.clone()),
                    "{tiles:?}"
                );
            }
        }
    }
}

#[test]
fn a_cycle_with_a_chord_needs_more_moves_than_a_word_holds() {
    let ring = (0..9).map(|vertex| (vertex, (vertex + 1) % 9));
    let edges: Vec<(Cell, Cell)> = ring.chain([(0, 2)]).collect();
    let graph = Layout::graph(9, &edges).unwrap();
    let goal = Board::standard(9, 8);
    let table = Table::sweep(&graph, goal, &mut Budget::unlimited()).unwrap();
    assert!(!table.has_words());
    let counts = breadth_first::levels(
        &SlidingSpace::<Packed32>::new(graph.clone()),
        &Position::new(goal),
        &mut Budget::unlimited(),
    )
    .unwrap();
    assert!(counts.len() - 1 > 31, "{}", counts.len() - 1);
    let farthest =
        permutations(9).filter_map(|tiles| table.path(Board::new(&tiles))).map(|path| path.len()).max();
    assert_eq!(farthest, Some(counts.len() - 1));
}

#[test]
fn the_half_of_a_goal_proves_the_same_bounds() {
    let space = SlidingSpace::<Packed32>::new(layout(3, 3).clone());
    let goal = Position::new(Board::standard(9, 8));
    let far = Position::new(Board::new(&[8, 6, 7, 2, 5, 4, 3, 0, 1]));
    let half = GoalHalf::new(&space, &goal, 16_384, &mut Budget::unlimited()).unwrap();
    for moves in [0, 5, 20, 30] {
        let limits = Arc::new(Limits::new(Instant::now() + Duration::from_mins(1), u64::MAX, moves));
        assert!(half.search(&space, &far, &mut Budget::new(Arc::clone(&limits))).is_err());
        assert!(limits.proven() > moves && limits.proven() <= 31, "{moves}: {}", limits.proven());
    }
}

#[test]
fn the_smallest_path_is_the_callers_own() {
    // HDU 3567's second sample has one in d < l < r < u; AcWing 179's in u < d < l < r.
    let start = [2, 3, 4, 1, 5, 0, 7, 6, 8];
    let canonical = Canonical::as_held(&instance(3, 3, &start, &[1, 2, 3, 4, 5, 6, 7, 8, 0]));
    let space = SlidingSpace::<Packed32>::new(layout(3, 3).clone());
    let (from, to) = (Position::new(canonical.start()), Position::new(canonical.goal().board()));
    let cells = bidirectional::search(&space, &from, &to, &mut Budget::unlimited()).unwrap().unwrap();
    let path = Path::along(layout(3, 3), from.blank(), &cells).next().unwrap();
    let letters = Solution::new(canonical.goal(), canonical.start(), path).letters().unwrap();
    assert_eq!(letters, "ULLDDRURDLLURDRULDR");
}

proptest! {
    #[test]
    fn words_read_in_a_frame_as_letters_do(grid in 0..Layout::grids().count(), blank: u8, steps in proptest::collection::vec(0..4_u64, 0..=31)) {
        let grid = Layout::grids().nth(grid).unwrap();
        let goal = Goal::new(grid, Board::standard(grid.cells(), blank % u8::try_from(grid.cells()).unwrap()));
        // A line has moves along itself alone, and its canonical form lies.
        let line = goal.frame().layout().neighbours(0).len() < 2;
        let moves = steps.iter().map(|step| if line { step | 2 } else { *step });
        let word = moves.rev().fold(1, |word, direction| word << 2 | direction);
        let own = goal.frame().word_from(word);
        let expected: Vec<_> = Path::directions_of(word).map(|d| goal.frame().direction_from(d)).collect();
        prop_assert_eq!(Path::directions_of(own).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn packed_bits_are_read_exactly_when_they_are_a_board(cells in 1..=9_usize, bits: u32, seed: u64) {
        let board = Board::new(&Random::new(seed).permutation(cells));
        prop_assert_eq!(Packed32::read(Packed32::new(board).bits(), cells), Some(board));
        if let Some(read) = Packed32::read(bits, cells) {
            let mut tiles: Vec<u8> = read.tiles(cells).collect();
            prop_assert_eq!(Packed32::new(read).bits(), bits);
            tiles.sort_unstable();
            prop_assert_eq!(tiles, (0..u8::try_from(cells).unwrap()).collect::<Vec<_>>());
        }
    }
}

#[test]
fn bits_that_are_no_board_are_refused() {
    let board = Packed32::new(Board::new(&[1, 2, 3, 4, 5, 6, 7, 8, 0])).bits();
    assert!(Packed32::read(board, 9).is_some());
    // The ninth tile is implied, so any eight different ones are a board.
    assert!(Packed32::read(board ^ 1, 9).is_some());
    for wrong in [board ^ 3, board | 0xf, 0, u32::MAX, 0x9876_5432] {
        assert!(Packed32::read(wrong, 9).is_none(), "{wrong:#x}");
    }
    assert!(Packed32::read(0x210, 3).is_some());
    for wrong in [0x1210, 0x110, 0x310, 0x8000_0210] {
        assert!(Packed32::read(wrong, 3).is_none(), "{wrong:#x}");
    }
}
