//! Boards: packing, ranks, checking, parity, canonical form, solutions.

use std::collections::HashSet;

use proptest::prelude::*;
use taquin::domain::sliding::{
    Board, Canonical, Cell, Direction, Instance, Invalid, Layout, Obstacle, Packed32, Path, Position, Setup,
    Shared, Solution, obstacle, rank, unrank,
};

use crate::instances::{FACTORIALS, instance, layout, permutations, reached, small_grids};

#[test]
fn every_board_of_up_to_nine_cells_packs_and_unpacks() {
    for (cells, boards) in FACTORIALS.into_iter().enumerate().skip(1) {
        let mut seen = HashSet::new();
        for tiles in permutations(cells) {
            let board = Board::new(&tiles);
            let packed = Packed32::new(board);
            assert_eq!(packed.unpack(cells), board, "{tiles:?}");
            assert!(seen.insert(packed.bits()), "{tiles:?} packs like another");
        }
        assert_eq!(seen.len(), boards);
    }
}

#[test]
fn packed_bits_are_as_described() {
    let packed = Packed32::new(Board::new(&[1, 2, 3, 4, 5, 6, 7, 8, 0]));
    assert_eq!(packed.bits(), 0x8765_4321);
    assert_eq!(Packed32::new(Board::new(&[0, 8, 7, 6, 5, 4, 3, 2, 1])).bits(), 0x2345_6780);
    assert_eq!(Packed32::new(Board::new(&[2, 0, 1])).bits(), 0x102);
}

#[test]
fn ranks_number_all_boards_in_order() {
    for cells in 1..=9 {
        for (expected, tiles) in (0..).zip(permutations(cells)) {
            let board = Board::new(&tiles);
            assert_eq!(rank(board, cells), expected, "{tiles:?}");
            assert_eq!(unrank(expected, cells), board, "{tiles:?}");
        }
    }
}

#[test]
fn standard_boards_hold_their_tiles_in_order_around_the_blank() {
    assert_eq!(Board::standard(9, 8), Board::new(&[1, 2, 3, 4, 5, 6, 7, 8, 0]));
    assert_eq!(Board::standard(9, 4), Board::new(&[1, 2, 3, 4, 0, 5, 6, 7, 8]));
    assert_eq!(Board::standard(1, 0), Board::new(&[0]));
}

fn refusal(rows: usize, columns: usize, start: &[u32], goal: &[u32]) -> Invalid {
    Instance::try_from(Setup { layout: layout(rows, columns), start, goal }).unwrap_err()
}

#[test]
fn malformed_boards_are_named() {
    let cases: [(&[u32], &[u32], &str); 9] = [
        (&[1, 2, 3], &[], "start has 3 tiles, expected 4: one for each cell"),
        (&[], &[], "start has 0 tiles, expected 4: one for each cell"),
        (&[1, 2, 3, 0, 4], &[], "start has 5 tiles, expected 4: one for each cell"),
        (&[1, 2, 4, 0], &[], "start[2] is 4, expected a tile from 0 (the blank) to 3"),
        (&[1, 2, 300, 0], &[], "start[2] is 300, expected a tile from 0 (the blank) to 3"),
        (
            &[1, 2, 1, 0],
            &[],
            "start[2] is 1, which stands at start[0] already; expected each of 0 (the blank) to 3 once, and 3 is missing",
        ),
        (
            &[0, 2, 1, 0],
            &[],
            "start[3] is 0, which stands at start[0] already; expected each of 0 (the blank) to 3 once, and 3 is missing",
        ),
        (
            &[1, 2, 3, 3],
            &[],
            "start[3] is 3, which stands at start[2] already; expected each of 0 (the blank) to 3 once, and 0 is missing",
        ),
        (&[1, 2, 3, 0], &[1, 2, 5, 0], "goal[2] is 5, expected a tile from 0 (the blank) to 3"),
    ];
    for (start, goal, message) in cases {
        assert_eq!(refusal(2, 2, start, goal).to_string(), message);
    }
    // G10: a board that lost its leading zero.
    let lost = refusal(3, 3, &[1, 3, 8, 2, 4, 7, 6, 5], &[]);
    assert_eq!(lost.to_string(), "start has 8 tiles, expected 9: one for each cell");
}

#[test]
fn grids_are_bounded_by_sixteen_cells() {
    assert!(Layout::grid(1, 16).is_some() && Layout::grid(16, 1).is_some() && Layout::grid(4, 4).is_some());
    for (rows, columns) in
        [(0, 1), (1, 0), (0, 0), (1, 17), (17, 1), (2, 9), (4, 5), (usize::MAX, usize::MAX)]
    {
        assert!(Layout::grid(rows, columns).is_none(), "{rows}x{columns}");
    }
    let codes: HashSet<u128> = Layout::grids().map(|grid| grid.code()).collect();
    assert_eq!((Layout::grids().count(), codes.len()), (50, 50));
}

#[test]
fn graphs_are_layouts_too() {
    let square = Layout::graph(4, &[(0, 1), (1, 3), (3, 2), (2, 0), (0, 2)]).unwrap();
    assert_eq!(square.neighbours(0), [1, 2]);
    assert_eq!((square.distance(0, 3), square.direction(0, 1)), (Some(2), None));
    let apart = Layout::graph(3, &[(0, 1)]).unwrap();
    assert_eq!((apart.distance(0, 2), apart.neighbours(2)), (None, [].as_slice()));
    assert_ne!(square.code(), Layout::graph(4, &[(0, 1), (1, 3), (3, 2)]).unwrap().code());
    for (cells, edges) in [(0, vec![]), (17, vec![]), (3, vec![(0, 3)]), (3, vec![(1, 1)])] {
        assert!(Layout::graph(cells, &edges).is_none(), "{cells} {edges:?}");
    }
}

/// How many boards moves lead to, and how many theory says they do; each is asked about.
fn component_sizes(rows: usize, columns: usize) -> (usize, usize) {
    let grid = layout(rows, columns);
    let goal = Board::standard(grid.cells(), Cell::try_from(grid.cells() - 1).unwrap());
    let seen = reached(grid, goal);
    let decided = permutations(grid.cells())
        .filter(|tiles| {
            let board = Board::new(tiles);
            let solvable = obstacle(grid, board, goal).is_none();
            assert_eq!(solvable, seen.contains(&board), "{rows}x{columns} {tiles:?}");
            solvable
        })
        .count();
    (seen.len(), decided)
}

#[test]
fn theory_agrees_with_complete_search_on_every_grid() {
    for grid in small_grids() {
        let taquin::domain::sliding::Shape::Grid { rows, columns, .. } = grid.shape() else { panic!() };
        let (reached, decided) = component_sizes(rows.into(), columns.into());
        assert_eq!(reached, decided, "{rows}x{columns}");
    }
    assert_eq!(component_sizes(3, 3).0, 181_440);
    assert_eq!(component_sizes(1, 5).0, 5);
}

#[test]
fn obstacles_have_names() {
    let why = |rows, columns, start: &[u8], goal: &[u8]| {
        obstacle(layout(rows, columns), Board::new(start), Board::new(goal))
    };
    assert_eq!(why(2, 2, &[2, 1, 3, 0], &[1, 2, 3, 0]), Some(Obstacle::Parity));
    assert_eq!(why(1, 3, &[2, 1, 0], &[1, 2, 0]), Some(Obstacle::Order));
    assert_eq!(why(3, 1, &[0, 1, 2], &[1, 2, 0]), None);
    assert_eq!(why(1, 1, &[0], &[0]), None);
}

#[test]
fn three_canonical_goals_are_left_of_3x3() {
    let goals: HashSet<Board> = permutations(9)
        .step_by(101)
        .map(|goal| Canonical::of(&instance(3, 3, &goal, &goal)).goal().board())
        .collect();
    let expected = [0, 1, 4].map(|blank| Board::standard(9, blank));
    assert_eq!(goals, HashSet::from(expected));
}

#[test]
fn a_grid_and_its_transpose_are_one() {
    let wide = Canonical::of(&instance(2, 4, &[3, 6, 1, 7, 5, 4, 2, 0], &[1, 2, 3, 4, 5, 6, 7, 0]));
    let tall = Canonical::of(&instance(4, 2, &[3, 5, 6, 4, 1, 2, 7, 0], &[1, 5, 2, 6, 3, 7, 4, 0]));
    assert_eq!(wide.key(), tall.key());
}

#[test]
fn keys_differ_where_boards_do() {
    // G07: the same start with two goals of opposite parity must never share an answer.
    let start = [2, 3, 4, 1, 5, 0, 7, 6, 8];
    let standard = Canonical::of(&instance(3, 3, &start, &[1, 2, 3, 4, 5, 6, 7, 8, 0]));
    let centre = Canonical::of(&instance(3, 3, &start, &[1, 2, 3, 8, 0, 4, 7, 6, 5]));
    assert_ne!(standard.key(), centre.key());
    let keys: HashSet<_> = permutations(6)
        .flat_map(|tiles| {
            [(2, 3), (1, 6)].map(|(r, c)| Canonical::of(&instance(r, c, &tiles, &[1, 2, 3, 4, 5, 0])).key())
        })
        .collect();
    assert_eq!(keys.len(), 2 * 720);
}

fn shuffled(cells: usize) -> impl Strategy<Value = Vec<u8>> {
    Just((0..u8::try_from(cells).unwrap()).collect::<Vec<u8>>()).prop_shuffle()
}

fn any_grid() -> impl Strategy<Value = Shared<Layout>> {
    (0..Layout::grids().count()).prop_map(|index| Layout::grids().nth(index).unwrap().clone())
}

proptest! {
    /// A walk of the blank, made canonically and read back, is the caller's own walk.
    #[test]
    fn a_canonical_walk_reads_back_as_the_callers(
        (grid, start, steps) in any_grid().prop_flat_map(|grid| {
            let cells = grid.cells();
            (Just(grid), shuffled(cells), proptest::collection::vec(0..4_usize, 0..60))
        })
    ) {
        let start = Board::new(&start);
        let (mut position, mut directions) = (Position::new(start), Vec::new());
        for step in steps {
            if let Some(to) = grid.step(position.blank(), Direction::ALL[step]) {
                directions.push(Direction::ALL[step]);
                position = position.slid(to);
            }
        }
        let tiles = |board: Board| board.tiles(grid.cells()).map(u32::from).collect::<Vec<_>>();
        let (from, to) = (tiles(start), tiles(position.board()));
        let instance = Instance::try_from(Setup { layout: &grid, start: &from, goal: &to }).unwrap();
        let canonical = Canonical::of(&instance);

        // The same walk in the canonical frame: every cell goes where the frame lays it.
        let (mut held, mut cells, mut blank) = (Position::new(canonical.start()), Vec::new(), start.cell_of(0));
        for &direction in &directions {
            blank = grid.step(blank, direction).unwrap();
            cells.push(canonical.goal().frame().to(blank));
            held = held.slid(canonical.goal().frame().to(blank));
        }
        prop_assert_eq!(held.board(), canonical.goal().board());
        let paths: Vec<Path> = Path::along(canonical.goal().frame().layout(), canonical.start().cell_of(0), &cells).collect();
        prop_assert_eq!(paths.len(), cells.len() + 1);
        for (passed, path) in paths.iter().enumerate() {
            prop_assert_eq!(path.len(), cells.len() - passed);
        }
        let solution = Solution::new(canonical.goal(), canonical.start(), paths[0].clone());
        prop_assert_eq!(solution.directions().unwrap(), directions);
    }
}
