//! What theory decides of boards on graphs, against complete search and against walks.

use std::collections::{HashMap, HashSet};

use taquin::domain::sliding::{Board, Cell, Layout, MAX_CELLS, Obstacle, Position, obstacle};

use crate::instances::{Random, permutations, reached};

type Edges = Vec<(Cell, Cell)>;

fn pairs(vertices: usize) -> Edges {
    (0..Cell::try_from(vertices).unwrap()).flat_map(|b| (0..b).map(move |a| (a, b))).collect()
}

fn is_connected(vertices: usize, edges: &Edges) -> bool {
    let mut seen = HashSet::from([0]);
    let mut grown = true;
    while grown {
        let reached =
            edges.iter().filter(|(a, b)| seen.contains(a) || seen.contains(b)).flat_map(|&(a, b)| [a, b]);
        let reached: Vec<Cell> = reached.collect();
        grown = reached.into_iter().any(|vertex| seen.insert(vertex));
    }
    seen.len() == vertices
}

/// One of each kind of connected graph: the one with the least edge bits among its relabellings.
fn connected_graphs(vertices: usize) -> Vec<Edges> {
    let pairs = pairs(vertices);
    let bit: HashMap<(Cell, Cell), usize> = pairs.iter().copied().zip(0..).collect();
    let relabellings: Vec<Vec<usize>> = permutations(vertices)
        .map(|to| {
            let image = |&(a, b): &(Cell, Cell)| {
                let (a, b) = (to[usize::from(a)], to[usize::from(b)]);
                bit[&(a.min(b), a.max(b))]
            };
            pairs.iter().map(image).collect()
        })
        .collect();
    let mut seen = HashSet::new();
    let mut graphs = Vec::new();
    for bits in 0..1_u32 << pairs.len() {
        if seen.contains(&bits) {
            continue;
        }
        for relabelling in &relabellings {
            let image = (0..pairs.len())
                .filter(|bit| bits & 1 << bit != 0)
                .fold(0, |image, bit| image | 1 << relabelling[bit]);
            seen.insert(image);
        }
        let edges: Edges =
            pairs.iter().zip(0..).filter(|(_, bit)| bits & 1 << bit != 0).map(|(pair, _)| *pair).collect();
        if is_connected(vertices, &edges) {
            graphs.push(edges);
        }
    }
    graphs
}

/// Whether what theory says of a board is what complete search has found.
fn check(graph: &Layout, start: Board, goal: Board, reached: &HashSet<Board>) {
    let obstacle = obstacle(graph, start, goal);
    assert_ne!(obstacle, Some(Obstacle::Exhausted));
    assert_eq!(
        obstacle.is_none(),
        reached.contains(&start),
        "{graph:?}: {start:?} to {goal:?}: {obstacle:?}"
    );
}

#[test]
fn theory_agrees_with_complete_search_on_every_connected_graph_of_up_to_six_vertices() {
    let mut graphs = 0;
    for vertices in 1..=6 {
        for edges in connected_graphs(vertices) {
            graphs += 1;
            let graph = Layout::graph(vertices, &edges).unwrap();
            for blank in 0..Cell::try_from(vertices).unwrap() {
                let goal = Board::standard(vertices, blank);
                let reached = reached(&graph, goal);
                for tiles in permutations(vertices) {
                    check(&graph, Board::new(&tiles), goal, &reached);
                }
            }
        }
    }
    assert_eq!(graphs, 143);
}

#[test]
fn theory_agrees_with_complete_search_on_random_graphs_of_seven_to_nine_vertices() {
    let mut random = Random::new(1974);
    let (mut connected, mut disconnected) = (0, 0);
    for vertices in [7; 40].into_iter().chain([8; 12]).chain([9; 3]) {
        let pairs = pairs(vertices);
        let density = vertices + random.below(vertices);
        let edges: Edges = pairs.iter().copied().filter(|_| random.below(pairs.len()) < density).collect();
        *(if is_connected(vertices, &edges) { &mut connected } else { &mut disconnected }) += 1;
        let graph = Layout::graph(vertices, &edges).unwrap();
        let goal = Board::new(&random.permutation(vertices));
        let reached = reached(&graph, goal);
        for tiles in permutations(vertices).step_by(7) {
            check(&graph, Board::new(&tiles), goal, &reached);
        }
    }
    assert!(connected >= 10 && disconnected >= 10, "{connected} connected, {disconnected} not");
}

#[test]
fn blocks_of_every_kind_are_decided_alone_and_together() {
    let ring = |n: Cell| (0..n).map(move |vertex| (vertex, (vertex + 1) % n));
    let theta = || ring(6).chain([(0, 6), (6, 3)]);
    let cases: [(&str, usize, Edges, usize); 10] = [
        ("theta-0", 7, theta().collect(), 7 * 120),
        ("theta-0 with a tail", 8, theta().chain([(1, 7)]).collect(), 8 * 120),
        ("theta-0 and a triangle", 9, theta().chain([(6, 7), (7, 8), (8, 6)]).collect(), 9 * 120 * 2),
        ("a cycle of seven", 7, ring(7).collect(), 7 * 6),
        ("a cycle of seven with a chord", 7, ring(7).chain([(0, 2)]).collect(), 5040),
        ("a bipartite cycle of eight with a chord", 8, ring(8).chain([(0, 3)]).collect(), 20_160),
        ("another of seven vertices and eight edges", 7, ring(6).chain([(0, 6), (6, 2)]).collect(), 2520),
        (
            "two squares at one vertex",
            7,
            ring(4).chain([(0, 4), (4, 5), (5, 6), (6, 0)]).collect(),
            7 * 3 * 3,
        ),
        (
            "two squares with a bridge between",
            8,
            ring(4).chain([(0, 4), (4, 5), (5, 6), (6, 7), (7, 4)]).collect(),
            8 * 3 * 3,
        ),
        ("a star", 8, (1..8).map(|leaf| (0, leaf)).collect(), 8),
    ];
    for (name, vertices, edges, size) in cases {
        // Named backwards too, so that nothing hangs on the order of vertices.
        for edges in
            [edges.clone(), edges.iter().map(|&(a, b)| (last(vertices) - a, last(vertices) - b)).collect()]
        {
            let graph = Layout::graph(vertices, &edges).unwrap();
            let goal = Board::standard(vertices, 2);
            let reached = reached(&graph, goal);
            assert_eq!(reached.len(), size, "{name}");
            for tiles in permutations(vertices) {
                check(&graph, Board::new(&tiles), goal, &reached);
            }
        }
    }
}

/// A block as the tests put graphs together: its edges, vertex 0 where it is hung up, and what comes of
/// two tiles beside that vertex that change places.
struct Part {
    vertices: Cell,
    edges: Edges,
    swapped: Option<Obstacle>,
}

fn parts() -> Vec<Part> {
    let ring = |n: Cell| (0..n).map(move |vertex| (vertex, (vertex + 1) % n));
    let part = |vertices, edges, swapped| Part { vertices, edges, swapped };
    vec![
        part(2, vec![(0, 1)], Some(Obstacle::Order)),
        part(3, ring(3).collect(), None),
        part(4, ring(4).collect(), Some(Obstacle::Order)),
        part(5, ring(5).collect(), Some(Obstacle::Order)),
        part(4, pairs(4), None),
        part(5, ring(5).chain([(0, 2)]).collect(), None),
        part(6, ring(6).chain([(1, 4)]).collect(), Some(Obstacle::Parity)),
        part(7, ring(6).chain([(0, 6), (6, 3)]).collect(), Some(Obstacle::Block)),
    ]
}

/// Random parts, each hung up at a random vertex of those before, and the cells that each has added.
fn cactus(random: &mut Random) -> (usize, Edges, Vec<(Part, Vec<Cell>)>) {
    let (mut vertices, mut edges, mut hung) = (1, Edges::new(), Vec::new());
    loop {
        let part = parts().swap_remove(random.below(parts().len()));
        if vertices + usize::from(part.vertices) - 1 > MAX_CELLS {
            return (vertices, edges, hung);
        }
        let gate = Cell::try_from(random.below(vertices)).unwrap();
        let first = Cell::try_from(vertices).unwrap();
        let name = |vertex: Cell| if vertex == 0 { gate } else { first + vertex - 1 };
        edges.extend(part.edges.iter().map(|&(a, b)| (name(a), name(b))));
        vertices += usize::from(part.vertices) - 1;
        hung.push((part, (first..Cell::try_from(vertices).unwrap()).collect()));
    }
}

/// The position after a random walk of the blank.
fn walked(graph: &Layout, mut at: Position, steps: usize, random: &mut Random) -> Position {
    for _ in 0..steps {
        let next = graph.neighbours(at.blank());
        at = at.slid(next[random.below(next.len())]);
    }
    at
}

fn swapped(board: Board, vertices: usize, a: Cell, b: Cell) -> Board {
    let mut tiles: Vec<u8> = board.tiles(vertices).collect();
    tiles.swap(a.into(), b.into());
    Board::new(&tiles)
}

#[test]
fn up_to_sixteen_vertices_walks_are_solvable_and_swaps_are_as_their_blocks_let_them() {
    let mut random = Random::new(1984);
    let mut largest = 0;
    for _ in 0..300 {
        let (vertices, edges, hung) = cactus(&mut random);
        largest = largest.max(vertices);
        let graph = Layout::graph(vertices, &edges).unwrap();
        // The blank of the goal is where the first part is hung up: there every part's gate is seen from.
        let tiles = random.permutation(vertices);
        let blank = tiles.iter().position(|&tile| tile == 0).unwrap();
        let goal = swapped(Board::new(&tiles), vertices, 0, Cell::try_from(blank).unwrap());
        let mut why = |start: Board| {
            let start = walked(&graph, Position::new(start), 500, &mut random);
            obstacle(&graph, start.board(), goal)
        };
        assert_eq!(why(goal), None, "{edges:?}");
        for (part, cells) in &hung {
            if let [a, .., b] = cells[..] {
                assert_eq!(why(swapped(goal, vertices, a, b)), part.swapped, "{edges:?}: {a} and {b}");
            }
            for (_, others) in hung.iter().filter(|(_, others)| others != cells) {
                let mixed = swapped(goal, vertices, cells[0], others[0]);
                assert!(why(mixed).is_some(), "{edges:?}: {} and {}", cells[0], others[0]);
            }
        }
    }
    assert_eq!(largest, MAX_CELLS);
}

#[test]
fn walks_on_random_graphs_of_ten_to_sixteen_vertices_are_solvable() {
    let mut random = Random::new(16);
    for vertices in (10..=MAX_CELLS).cycle().take(500) {
        let pairs = pairs(vertices);
        let density = vertices + random.below(2 * vertices);
        let edges: Edges =
            pairs.into_iter().filter(|_| random.below(vertices * vertices / 2) < density).collect();
        let graph = Layout::graph(vertices, &edges).unwrap();
        let goal = Position::new(Board::new(&random.permutation(vertices)));
        if graph.neighbours(goal.blank()).is_empty() {
            continue;
        }
        let start = walked(&graph, goal, 1000, &mut random);
        assert_eq!(obstacle(&graph, start.board(), goal.board()), None, "{edges:?}");
    }
}

#[test]
fn on_trees_and_cycles_of_sixteen_vertices_order_decides() {
    let path: Edges = (0..15).map(|vertex| (vertex, vertex + 1)).collect();
    let cycle: Edges = path.iter().copied().chain([(15, 0)]).collect();
    let star: Edges = (1..16).map(|leaf| (0, leaf)).collect();
    let mut random = Random::new(15);
    for (edges, boards, is_cycle) in [(path, 16, false), (star, 16, false), (cycle, 16 * 15, true)] {
        let graph = Layout::graph(16, &edges).unwrap();
        let goal = Board::standard(16, 0);
        let reached = reached(&graph, goal);
        assert_eq!(reached.len(), boards);
        for &start in &reached {
            assert_eq!(obstacle(&graph, start, goal), None);
            let (a, b) = (1 + random.below(15), 1 + random.below(14));
            let cell = |tile: usize| start.cell_of(u8::try_from(tile).unwrap());
            let other = cell(if b < a { b } else { b + 1 });
            assert_eq!(obstacle(&graph, swapped(start, 16, cell(a), other), goal), Some(Obstacle::Order));
        }
        // A turn of all tiles around their places is a way on the cycle alone.
        let turned: Vec<u8> = [0].into_iter().chain(2..16).chain([1]).collect();
        assert_eq!(obstacle(&graph, Board::new(&turned), goal).is_none(), is_cycle);
    }
}

fn last(vertices: usize) -> Cell {
    Cell::try_from(vertices - 1).unwrap()
}

#[test]
fn what_the_blank_can_not_reach_must_agree() {
    // A square, and a pair that the blank can't come to.
    let graph = Layout::graph(6, &[(0, 1), (1, 2), (2, 3), (3, 0), (4, 5)]).unwrap();
    let why = |start: [u8; 6], goal: [u8; 6]| obstacle(&graph, Board::new(&start), Board::new(&goal));
    assert_eq!(why([0, 1, 2, 3, 4, 5], [1, 2, 3, 0, 4, 5]), None);
    assert_eq!(why([0, 1, 2, 3, 4, 5], [0, 2, 1, 3, 4, 5]), Some(Obstacle::Order));
    assert_eq!(why([0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 5, 4]), Some(Obstacle::Component));
    assert_eq!(why([0, 1, 2, 3, 4, 5], [4, 1, 2, 3, 0, 5]), Some(Obstacle::Component));
}

#[test]
fn layouts_of_the_same_graph_share_their_code() {
    let one = Layout::graph(4, &[(0, 1), (1, 2)]).unwrap();
    let same = Layout::graph(4, &[(2, 1), (1, 0), (0, 1)]).unwrap();
    assert_eq!((one.code(), &*one), (same.code(), &*same));
    assert!(!std::ptr::eq(&raw const *one, &raw const *same));

    let all: Edges = pairs(16);
    let whole = Layout::graph(16, &all).unwrap();
    let codes: HashSet<u128> = (0..all.len())
        .map(|without| {
            let edges: Edges = all.iter().copied().filter(|pair| *pair != all[without]).collect();
            Layout::graph(16, &edges).unwrap().code()
        })
        .chain([whole.code(), Layout::graph(15, &pairs(15)).unwrap().code()])
        .collect();
    assert_eq!(codes.len(), all.len() + 2);
}
