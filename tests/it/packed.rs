//! Boards in bulk: `SolvePacked`, and the worker's tables seen from outside.

use std::time::Duration;

use taquin::config::{LimitsConfig, Sweep};
use taquin::domain::sliding::{Board, Packed32};
use taquin::service::embedded;
use taquin::service::pb::{self, PackedOutcome, SolvePackedRequest, SolvePackedResponse};
use tokio::sync::mpsc;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::{Code, Streaming};

use crate::boards;
use crate::instances::{Random, permutations};
use crate::support::{
    AT_ONCE, Client, Talk, blocker, connect, job, run, serve, serve_and_connect, soon, wait_until,
};

/// One open packed stream.
struct Bulk {
    requests: mpsc::UnboundedSender<SolvePackedRequest>,
    answers: Streaming<SolvePackedResponse>,
}

impl Bulk {
    async fn open(client: &Client) -> Self {
        let (requests, receiver) = mpsc::unbounded_channel();
        let answers =
            soon(client.clone().solve_packed(UnboundedReceiverStream::new(receiver))).await.unwrap();
        Self { requests, answers: answers.into_inner() }
    }

    async fn ask(&mut self, request: SolvePackedRequest) -> SolvePackedResponse {
        self.requests.send(request).unwrap();
        soon(self.answers.message()).await.unwrap().unwrap()
    }
}

pub(crate) fn packed(boards: impl IntoIterator<Item = Vec<u8>>) -> Vec<u8> {
    boards.into_iter().flat_map(|tiles| Packed32::new(Board::new(&tiles)).bits().to_le_bytes()).collect()
}

pub(crate) fn grid(rows: u32, columns: u32, boards: Vec<u8>) -> SolvePackedRequest {
    let layout = Some(pb::solve_packed_request::Layout::Grid(pb::Grid { rows, columns }));
    SolvePackedRequest { request_id: "bulk".into(), layout, boards, ..SolvePackedRequest::default() }
}

fn distance(answer: &SolvePackedResponse, board: usize) -> u16 {
    u16::from_le_bytes(answer.distances[2 * board..2 * board + 2].try_into().unwrap())
}

/// The moves of one board, 0 to 3, whichever way the answer has them.
fn moves(answer: &SolvePackedResponse, board: usize) -> Vec<u8> {
    if answer.words.is_empty() {
        let begin = if board == 0 { 0 } else { answer.move_ends[board - 1] as usize };
        return answer.moves[begin..answer.move_ends[board] as usize].to_vec();
    }
    let word = u64::from_le_bytes(answer.words[8 * board..8 * board + 8].try_into().unwrap());
    (0..word.ilog2() / 2).map(|i| (word >> (2 * i) & 3) as u8).collect()
}

fn replayed(mut tiles: Vec<u8>, columns: usize, moves: &[u8]) -> Vec<u8> {
    for direction in moves {
        let blank = tiles.iter().position(|&tile| tile == 0).unwrap();
        let to = match direction {
            0 => blank - columns,
            1 => blank + columns,
            2 => blank - 1,
            3 => blank + 1,
            other => panic!("no direction: {other}"),
        };
        tiles.swap(blank, to);
    }
    tiles
}

#[test]
fn every_3x3_board_is_answered_for_any_goal() {
    run(async {
        let (_server, client) = serve_and_connect(2).await;
        let mut bulk = Bulk::open(&client).await;
        let goals: [Vec<u8>; 3] = [vec![], vec![1, 2, 3, 8, 0, 4, 7, 6, 5], vec![4, 8, 1, 2, 7, 0, 3, 5, 6]];
        for goal in goals {
            let end = if goal.is_empty() { vec![1, 2, 3, 4, 5, 6, 7, 8, 0] } else { goal.clone() };
            let mut solved = 0;
            let boards: Vec<Vec<u8>> = permutations(9).step_by(3).collect();
            for chunk in boards.chunks(16_384) {
                let request = grid(3, 3, packed(chunk.iter().cloned()));
                let request =
                    SolvePackedRequest { goal: goal.iter().copied().map(u32::from).collect(), ..request };
                let answer = bulk.ask(request).await;
                assert_eq!((answer.outcomes.len(), answer.error.as_ref()), (chunk.len(), None));
                for (i, tiles) in chunk.iter().enumerate() {
                    if answer.outcomes[i] == PackedOutcome::Unsolvable as u8 {
                        continue;
                    }
                    assert_eq!(answer.outcomes[i], PackedOutcome::Solved as u8);
                    let moves = moves(&answer, i);
                    assert_eq!(moves.len(), usize::from(distance(&answer, i)));
                    assert_eq!(replayed(tiles.clone(), 3, &moves), end);
                    if goal.is_empty() {
                        let board: boards::Board = tiles.clone().try_into().unwrap();
                        assert_eq!(u32::from(distance(&answer, i)), boards::distance_of(&board));
                    }
                    solved += 1;
                }
            }
            assert_eq!(solved, 181_440 / 3, "half of every third board");
        }
    });
}

#[test]
fn layouts_without_words_give_their_moves_one_by_one() {
    run(async {
        let (_server, client) = serve_and_connect(1).await;
        let mut bulk = Bulk::open(&client).await;
        let boards: Vec<Vec<u8>> = permutations(8).step_by(11).collect();
        for (rows, columns) in [(2_u32, 4_u32), (4, 2), (1, 8)] {
            let answer = bulk.ask(grid(rows, columns, packed(boards.iter().cloned()))).await;
            assert_eq!(answer.words.is_empty(), rows * columns == 8 && rows != 1, "{rows}x{columns}");
            let mut farthest = 0;
            for (i, tiles) in boards.iter().enumerate() {
                if answer.outcomes[i] == PackedOutcome::Solved as u8 {
                    let moves = moves(&answer, i);
                    farthest = farthest.max(moves.len());
                    assert_eq!(replayed(tiles.clone(), columns as usize, &moves), [1, 2, 3, 4, 5, 6, 7, 0]);
                }
            }
            assert!(rows == 1 || farthest > 31, "{rows}x{columns}: {farthest}");
        }
        let edges = [(1, 2), (2, 3), (3, 1), (3, 4)].map(|(a, b)| pb::Edge { a, b }).to_vec();
        let layout = Some(pb::solve_packed_request::Layout::Graph(pb::Graph { vertices: 4, edges }));
        let request = grid(1, 4, packed([vec![0, 1, 2, 3], vec![1, 2, 3, 0], vec![1, 1, 2, 3]]));
        let answer = bulk.ask(SolvePackedRequest { layout, ..request }).await;
        assert_eq!(answer.outcomes[1..], [PackedOutcome::Solved as u8, PackedOutcome::Malformed as u8]);
        assert_eq!((distance(&answer, 1), answer.move_ends.len()), (0, 3));
    });
}

#[test]
fn every_board_of_every_small_grid_is_answered() {
    run(async {
        let (_server, client) = serve_and_connect(1).await;
        let mut bulk = Bulk::open(&client).await;
        for (rows, columns) in (1..=6_u32).flat_map(|rows| (1..=6 / rows).map(move |columns| (rows, columns)))
        {
            let cells = (rows * columns) as usize;
            let boards: Vec<Vec<u8>> = permutations(cells).collect();
            let answer = bulk.ask(grid(rows, columns, packed(boards.iter().cloned()))).await;
            let solved: Vec<u8> = (1..u8::try_from(cells).unwrap()).chain([0]).collect();
            let mut reached = 0;
            for (i, tiles) in boards.iter().enumerate() {
                if answer.outcomes[i] == PackedOutcome::Solved as u8 {
                    reached += 1;
                    let moves = moves(&answer, i);
                    assert_eq!(replayed(tiles.clone(), columns as usize, &moves), solved, "{rows}x{columns}");
                }
            }
            let all: usize = (1..=cells).product();
            assert_eq!(reached, if rows == 1 || columns == 1 { cells } else { all / 2 }, "{rows}x{columns}");
        }
    });
}

#[test]
fn so_many_messages_wait_and_a_client_that_goes_takes_them_along() {
    run(async {
        let (server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        talk.send(blocker("busy"));
        wait_until("the worker is busy", AT_ONCE, || server.engine().in_flight() == 1).await;
        let bulk = Bulk::open(&client).await;
        for (number, goal) in permutations(8).step_by(1001).take(18).enumerate() {
            let request = grid(2, 4, packed([vec![1, 2, 3, 4, 5, 6, 7, 0]]));
            let goal = goal.into_iter().map(u32::from).collect();
            bulk.requests
                .send(SolvePackedRequest { request_id: number.to_string(), goal, ..request })
                .unwrap();
        }
        // Goals whose blank lies alike are one goal, so there are fewer sweeps than messages.
        wait_until("sixteen wait", AT_ONCE, || server.engine().in_flight() == 17).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(server.engine().in_flight(), 17, "the seventeenth must not be taken");
        assert!((1..=8).contains(&server.engine().queued()));
        drop(bulk);
        wait_until("nobody waits any more", AT_ONCE, || server.engine().queued() == 0).await;
        assert_eq!(server.engine().in_flight(), 1);
        talk.cancel("busy#delay-ms=20000");
        talk.answer().await;
    });
}

#[test]
fn a_bad_board_has_its_outcome_and_a_bad_message_its_error() {
    run(async {
        let limits = LimitsConfig { max_packed_boards: 3, ..LimitsConfig::default() };
        let server = serve(limits, 1).await;
        let mut bulk = Bulk::open(&connect(&server).await).await;
        let good = || packed([vec![1, 2, 3, 4, 5, 6, 7, 0, 8], vec![1, 2, 3, 4, 5, 6, 8, 7, 0]]);
        let with_bad = [good(), vec![0xff; 4]].concat();
        let answer = bulk.ask(grid(3, 3, with_bad)).await;
        let (solved, unsolvable, malformed) =
            (PackedOutcome::Solved, PackedOutcome::Unsolvable, PackedOutcome::Malformed);
        assert_eq!(answer.outcomes, [solved as u8, unsolvable as u8, malformed as u8]);
        assert_eq!((answer.distances, answer.words.len()), (vec![1, 0, 0, 0, 0, 0], 24));
        let edges = vec![pb::Edge { a: 1, b: 10 }];
        let ten = Some(pb::solve_packed_request::Layout::Graph(pb::Graph { vertices: 10, edges }));
        let four = packed(std::iter::repeat_n(vec![1, 2, 3, 4, 5, 6, 7, 8, 0], 4));
        let cases = [
            (grid(3, 3, four), "boards: has 4 boards, expected at most 3 (max_packed_boards)"),
            (grid(3, 3, vec![0; 7]), "boards: has 7 bytes, expected a multiple of 4, so many for each board"),
            (grid(3, 4, vec![]), "grid: has 12 cells, expected at most 9 (max_packed_cells)"),
            (
                SolvePackedRequest { layout: ten, ..grid(3, 3, vec![]) },
                "graph: has 10 cells, expected at most 9 (max_packed_cells)",
            ),
            (
                SolvePackedRequest { layout: None, ..grid(3, 3, good()) },
                "layout: is not set, expected a layout, such as grid",
            ),
            (
                SolvePackedRequest { goal: vec![1, 2], ..grid(3, 3, good()) },
                "goal: goal has 2 tiles, expected 9: one for each cell",
            ),
            (
                SolvePackedRequest { metric: 7, ..grid(3, 3, good()) },
                "metric: is 7, expected a Metric of this version",
            ),
            (
                SolvePackedRequest { objective: pb::Objective::SmallestPath.into(), ..grid(3, 3, good()) },
                "objective: is SMALLEST_PATH, expected DISTANCE or SHORTEST_PATH; SolveStream offers all three",
            ),
            (
                SolvePackedRequest { request_id: "x".repeat(129), ..grid(3, 3, good()) },
                "request_id: has 129 bytes, expected at most 128 (max_request_id_bytes)",
            ),
        ];
        for (request, message) in cases {
            let answer = bulk.ask(request).await;
            let error = answer.error.unwrap();
            assert_eq!((Code::from(error.code), error.message.as_str()), (Code::InvalidArgument, message));
            assert!(answer.outcomes.is_empty());
        }
        assert_eq!(
            bulk.ask(grid(3, 3, vec![])).await,
            SolvePackedResponse { request_id: "bulk".into(), ..Default::default() }
        );
    });
}

#[test]
fn moves_of_interest_and_distances_alone() {
    run(async {
        let (_server, client) = serve_and_connect(1).await;
        let mut bulk = Bulk::open(&client).await;
        let boards = packed([boards::at(31, 0).to_vec(), boards::at(3, 0).to_vec()]);
        let request = SolvePackedRequest { max_moves: Some(30), ..grid(3, 3, boards.clone()) };
        let answer = bulk.ask(request).await;
        assert_eq!(answer.outcomes, [PackedOutcome::LimitReached as u8, PackedOutcome::Solved as u8]);
        assert_eq!((distance(&answer, 0), distance(&answer, 1)), (31, 3));
        let request = SolvePackedRequest { objective: pb::Objective::Distance.into(), ..grid(3, 3, boards) };
        let answer = bulk.ask(request).await;
        assert_eq!((distance(&answer, 0), answer.words.len(), answer.moves.len()), (31, 0, 0));
    });
}

#[test]
fn the_standard_tables_are_swept_at_the_start_and_can_be_left_out() {
    run(async {
        let server = embedded(LimitsConfig::default(), 1, Sweep::On).await.unwrap();
        let mut client = connect(&server).await;
        let mut info =
            async || soon(client.get_server_info(pb::GetServerInfoRequest {})).await.unwrap().into_inner();
        while !info().await.tables.unwrap().standard_ready {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let tables = info().await.tables.unwrap();
        assert_eq!((tables.standard_bytes, tables.swept), (3 * 181_440 * 8, 0));
        let mut talk = Talk::open(&connect(&server).await).await;
        let mut random = Random::new(3);
        for _ in 0..200 {
            let goal = random.permutation(9);
            let start: Vec<u8> = random.permutation(9);
            let mut asked = job("", start.clone().try_into().unwrap());
            let Some(pb::job::Problem::Sliding(sliding)) = &mut asked.problem else { panic!() };
            sliding.goal = goal.iter().copied().map(u32::from).collect();
            let mut answers = Vec::new();
            for bypass_table in [false, true] {
                answers.push(talk.ask(pb::Job { bypass_table, ..asked.clone() }).await);
            }
            assert_eq!(
                answers[0].outcome, answers[1].outcome,
                "a table and a search give the same path to the letter"
            );
            let by_rule = answers[0].source() == pb::Source::Rule;
            assert!(
                by_rule
                    || answers[0].source() == pb::Source::Table && answers[1].source() != pb::Source::Table
            );
        }
        let none = serve(LimitsConfig::default(), 1).await;
        let info =
            connect(&none).await.get_server_info(pb::GetServerInfoRequest {}).await.unwrap().into_inner();
        assert_eq!(info.tables, Some(pb::TableStatistics::default()));
    });
}

#[test]
fn a_layout_that_is_asked_often_gets_a_table_of_its_own() {
    run(async {
        let (server, client) = serve_and_connect(1).await;
        let mut talk = Talk::open(&client).await;
        let mut sources = Vec::new();
        for tiles in permutations(8).step_by(97).take(300) {
            let start = tiles.iter().copied().map(u32::from).collect();
            let layout = Some(pb::sliding_puzzle::Layout::Grid(pb::Grid { rows: 2, columns: 4 }));
            let problem = Some(pb::job::Problem::Sliding(pb::SlidingPuzzle { layout, start, goal: vec![] }));
            sources.push(talk.ask(pb::Job { problem, ..pb::Job::default() }).await.source());
        }
        assert!(sources.contains(&pb::Source::Search) && sources.contains(&pb::Source::Table), "{sources:?}");
        assert_eq!(server.engine().table_statistics().swept, 1);
    });
}

#[test]
fn tables_stay_within_their_bytes() {
    run(async {
        // Room for the table of one grid of 2x4, of 80,640 bytes, but not for two.
        let limits = LimitsConfig { max_table_bytes: 160_000, ..LimitsConfig::default() };
        let server = serve(limits, 1).await;
        let mut bulk = Bulk::open(&connect(&server).await).await;
        for goal in [[0, 1, 2, 3, 4, 5, 6, 7], [1, 0, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3, 4, 5, 6, 7]] {
            let boards = packed([vec![1, 0, 2, 3, 4, 5, 6, 7]]);
            let request = SolvePackedRequest { goal: goal.to_vec(), ..grid(2, 4, boards) };
            assert_eq!(bulk.ask(request).await.outcomes, [PackedOutcome::Solved as u8]);
            let tables = server.engine().table_statistics();
            assert!(tables.swept == 1 && tables.swept_bytes <= 160_000, "{tables:?}");
        }
        // Larger than may be kept: made, used, and let go.
        let answer = bulk.ask(grid(3, 3, packed([boards::at(31, 0).to_vec()]))).await;
        assert_eq!((distance(&answer, 0), server.engine().table_statistics().swept), (31, 1));
    });
}
