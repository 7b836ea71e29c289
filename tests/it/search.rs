//! Searches on spaces that are no sliding tiles: odd cycles, words, dead ends; and
//! their budgets.

use std::sync::Arc;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use taquin::search::{Budget, Limits, Outcome, Stop, a_star, bidirectional, breadth_first};
use taquin::space::{Cost, Heuristic, StateSpace};

/// Any undirected graph; an action is the vertex it leads to.
#[derive(Debug)]
struct Graph(Vec<Vec<u32>>);

impl Graph {
    fn new(vertices: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut next = vec![Vec::new(); vertices];
        for (a, b) in edges {
            next[a].push(u32::try_from(b).unwrap());
            next[b].push(u32::try_from(a).unwrap());
        }
        for list in &mut next {
            list.sort_unstable();
            list.dedup();
        }
        Self(next)
    }
}

impl StateSpace for Graph {
    type State = u32;
    type Packed = u32;
    type Action = u32;
    type Actions<'a> = std::iter::Copied<std::slice::Iter<'a, u32>>;

    fn actions<'a>(&'a self, state: &u32) -> Self::Actions<'a> {
        self.0[*state as usize].iter().copied()
    }

    fn apply(&self, state: &mut u32, action: u32) -> u32 {
        std::mem::replace(state, action)
    }

    fn pack(&self, state: &u32) -> u32 {
        *state
    }

    fn unpack(&self, packed: u32) -> u32 {
        packed
    }
}

/// Knows nothing.
struct Zero;

impl<S: StateSpace> Heuristic<S> for Zero {
    fn estimate(&self, _: &S::State) -> Cost {
        0
    }
}

/// Any estimates; admissible but not consistent where a test says so.
struct Estimates(Vec<Cost>);

impl Heuristic<Graph> for Estimates {
    fn estimate(&self, state: &u32) -> Cost {
        self.0[*state as usize]
    }
}

type Search = fn(&Graph, u32, u32, &mut Budget) -> Outcome<u32>;

const SEARCHES: [(&str, Search); 3] = [
    ("breadth-first", |space, start, goal, budget| breadth_first::search(space, &start, &goal, budget)),
    ("bidirectional", |space, start, goal, budget| bidirectional::search(space, &start, &goal, budget)),
    ("A*", |space, start, goal, budget| a_star::search(space, &Zero, &start, &goal, budget)),
];

/// The smallest shortest path by trying everything, shortest first, in order.
fn brute_force(graph: &Graph, start: u32, goal: u32) -> Option<Vec<u32>> {
    let mut level = vec![vec![]];
    for _ in 0..=graph.0.len() {
        let at = |path: &Vec<u32>| path.last().copied().unwrap_or(start);
        if let Some(found) = level.iter().find(|path| at(path) == goal) {
            return Some(found.clone());
        }
        let longer = level
            .iter()
            .flat_map(|path| graph.0[at(path) as usize].iter().map(move |&to| [&path[..], &[to]].concat()));
        let mut reached = std::collections::HashSet::new();
        // Of all paths to one vertex only the first can be the beginning of the smallest.
        level = longer.filter(|path| reached.insert(*path.last().unwrap())).collect();
    }
    None
}

/// Words joined where they differ in one letter.
fn ladder(words: &[&str]) -> Graph {
    let differ = |a: &str, b: &str| a.bytes().zip(b.bytes()).filter(|(a, b)| a != b).count() == 1;
    let pairs = (0..words.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    Graph::new(words.len(), pairs.filter(|&(a, b)| differ(words[a], words[b])))
}

#[test]
fn two_ended_search_is_not_misled_by_odd_cycles() {
    // G19: first contact gives 4 changes, the least sum 3.
    let words =
        ["hbo", "qbx", "abo", "hco", "hbw", "ado", "abq", "hcd", "hcj", "hww", "qbq", "qby", "qbz", "qbw"];
    let graph = ladder(&words);
    for (name, search) in SEARCHES {
        let path = search(&graph, 0, 1, &mut Budget::unlimited()).unwrap().unwrap();
        assert_eq!(path.len(), 3, "{name}: {path:?}");
        assert_eq!(path, brute_force(&graph, 0, 1).unwrap(), "{name}");
    }
}

#[test]
fn the_goal_itself_takes_nothing() {
    let graph = Graph::new(2, [(0, 1)]);
    for (name, search) in SEARCHES {
        let mut budget = Budget::unlimited();
        assert_eq!(search(&graph, 1, 1, &mut budget), Ok(Some(vec![])), "{name}");
        assert_eq!(budget.expanded(), 0, "{name}");
    }
}

#[test]
fn what_can_not_be_reached_is_searched_to_its_end() {
    let graph = Graph::new(7, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 6)]);
    for (name, search) in SEARCHES {
        assert_eq!(search(&graph, 0, 4, &mut Budget::unlimited()), Ok(None), "{name}");
        assert_eq!(search(&graph, 4, 0, &mut Budget::unlimited()), Ok(None), "{name}");
    }
}

#[test]
fn an_inconsistent_heuristic_opens_states_again() {
    // To 4: 0-1-2-4 costs 3, but 1 looks so bad that 2 is closed first by 0-3-3'-2.
    let graph = Graph::new(6, [(0, 1), (1, 2), (0, 3), (3, 5), (5, 2), (2, 4)]);
    let estimates = Estimates(vec![0, 2, 1, 0, 0, 0]);
    let path = a_star::search(&graph, &estimates, &0, &4, &mut Budget::unlimited());
    assert_eq!(path, Ok(Some(vec![1, 2, 4])));
}

/// A row of so many vertices.
fn row(vertices: usize) -> Graph {
    Graph::new(vertices, (1..vertices).map(|vertex| (vertex - 1, vertex)))
}

fn limited(nodes: u64, moves: Cost) -> (Arc<Limits>, Budget) {
    let limits = Arc::new(Limits::new(Instant::now() + Duration::from_mins(1), nodes, moves));
    (Arc::clone(&limits), Budget::new(limits))
}

#[test]
fn a_search_expands_what_it_may_and_not_one_more() {
    let graph = row(1000);
    for (name, search) in SEARCHES {
        let mut budget = Budget::unlimited();
        search(&graph, 0, 900, &mut budget).unwrap().unwrap();
        let needed = budget.expanded();
        let (_, mut enough) = limited(needed, Cost::MAX);
        assert_eq!(search(&graph, 0, 900, &mut enough).unwrap().unwrap().len(), 900, "{name}");
        let (limits, mut short) = limited(needed - 1, Cost::MAX);
        assert_eq!(search(&graph, 0, 900, &mut short), Err(Stop::Nodes), "{name}");
        assert_eq!(short.expanded(), needed - 1, "{name}");
        assert!(limits.proven() <= 900 && limits.proven() > 0, "{name}: {}", limits.proven());
    }
}

#[test]
fn a_search_ends_at_the_moves_of_interest() {
    let graph = row(1000);
    for (name, search) in SEARCHES {
        assert_eq!(search(&graph, 0, 50, &mut limited(u64::MAX, 50).1).unwrap().unwrap().len(), 50, "{name}");
        let (limits, mut budget) = limited(u64::MAX, 49);
        assert_eq!(search(&graph, 0, 50, &mut budget), Err(Stop::Moves), "{name}");
        assert_eq!(limits.proven(), 50, "{name}");
    }
}

#[test]
fn a_search_ends_at_its_deadline_and_when_it_is_cancelled() {
    let graph = row(10_000);
    for (name, search) in SEARCHES {
        let late = Arc::new(Limits::new(Instant::now(), u64::MAX, Cost::MAX));
        assert_eq!(search(&graph, 0, 9000, &mut Budget::new(Arc::clone(&late))), Err(Stop::Time), "{name}");
        let (limits, mut budget) = limited(u64::MAX, Cost::MAX);
        limits.cancel();
        assert_eq!(search(&graph, 0, 9000, &mut budget), Err(Stop::Cancelled), "{name}");
        // Widened before it begins, the late one is in time.
        late.widen(Instant::now() + Duration::from_mins(1), 0, 0);
        assert!(search(&graph, 0, 9000, &mut Budget::new(late)).unwrap().is_some(), "{name}");
    }
}

#[test]
fn levels_count_states_by_depth() {
    let graph = Graph::new(6, [(0, 1), (0, 2), (1, 2), (2, 3), (4, 5)]);
    assert_eq!(breadth_first::levels(&graph, &0, &mut Budget::unlimited()), Ok(vec![1, 2, 1]));
    let mut swept = Vec::new();
    breadth_first::sweep(&graph, &3, &mut Budget::unlimited(), |state, depth| swept.push((state, depth)))
        .unwrap();
    assert_eq!(swept, [(3, 0), (2, 1), (0, 2), (1, 2)]);
}

fn any_graph() -> impl Strategy<Value = (Graph, u32, u32)> {
    (2..24_usize).prop_flat_map(|vertices| {
        let vertex = 0..u32::try_from(vertices).unwrap();
        let edges = proptest::collection::vec((0..vertices, 0..vertices), 0..3 * vertices);
        (edges, vertex.clone(), vertex).prop_map(move |(edges, start, goal)| {
            (Graph::new(vertices, edges.into_iter().filter(|(a, b)| a != b)), start, goal)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_search_finds_the_smallest_shortest_path((graph, start, goal) in any_graph(), weight in 0..=4_u32) {
        let expected = brute_force(&graph, start, goal);
        for (name, search) in SEARCHES {
            prop_assert_eq!(search(&graph, start, goal, &mut Budget::unlimited()), Ok(expected.clone()), "{}", name);
        }
        // Admissible estimates that are far from consistent.
        let mut estimates = vec![0; graph.0.len()];
        breadth_first::sweep(&graph, &goal, &mut Budget::unlimited(), |state, depth| {
            estimates[state as usize] = if state % 3 == 0 { depth } else { depth * weight / 4 };
        }).unwrap();
        let found = a_star::search(&graph, &Estimates(estimates), &start, &goal, &mut Budget::unlimited());
        prop_assert_eq!(found, Ok(expected));
    }
}
