//! The fifteen puzzle: Korf's hundred boards and a thousand random ones, on one core and by
//! the engine's workers, with the small set of pattern databases, and with the large one when
//! `TAQUIN_TABLES` names its folder. The search is our own from the first look to the last move; no cache.
#![expect(clippy::cast_precision_loss, reason = "figures for people")]

mod boards;
mod query;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use taquin::config::{LimitsConfig, Sweep};
use taquin::domain::sliding::{Board, Canonical, Instance, Layout, Position, Setup, WideSpace};
use taquin::engine::{Answer, Asked, Reply, Verdict};
use taquin::heuristic::{PatternSet, PatternSum, load_large};
use taquin::search::{Budget, Limits, ida_star};
use taquin::service::start_engine;
use tokio::sync::mpsc;

use query::path_of;

const KORF: &str = include_str!("../tests/data/korf100.txt");
const FARTHEST: &str = include_str!("../tests/data/antipodes15.txt");
const RANDOM_BOARDS: usize = 1000;
/// Boards that the engine is asked at a time.
const IN_FLIGHT: usize = 64;

/// A board, and its length if it is known.
type Known = (Instance, Option<usize>);

fn main() {
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let (layout, goal) = (Layout::grid(4, 4).expect("sixteen cells"), Board::standard(16, 0));
    let limits = Arc::new(Limits::unlimited());
    let random = boards::random(RANDOM_BOARDS, 4, &(0..16).collect::<Vec<u32>>());
    let random: Vec<_> = random.into_iter().map(|board| (board, None)).collect();
    measure("small", &random, || {
        PatternSum::new(PatternSet::Small, layout, goal, &limits).expect("no limit")
    });
    if let Some(folder) = std::env::var_os("TAQUIN_TABLES") {
        measure("large", &random, || load_large(Path::new(&folder)).expect("what `tables build` wrote"));
    }
}

/// All that is measured with one set.
fn measure(set: &str, random: &[Known], guide: impl Fn() -> PatternSum) {
    let begun = Instant::now();
    let made = guide();
    let (bytes, seconds) = (made.bytes() as f64 / 1e6, begun.elapsed().as_secs_f64());
    println!("\n{set} set: {bytes:.1} MB, there in {seconds:.2} s, {} MB resident\n", resident_mb());
    println!("| boards | total, s | mean, ms | median, ms | p99, ms | slowest, ms | generated a board |");
    println!("|---|--:|--:|--:|--:|--:|--:|");
    on_one_core("Korf's 100", &made, &korf());
    let alone = on_one_core("1,000 random", &made, random);
    if set == "large" {
        on_one_core("17 at 80 moves", &made, &farthest());
    }
    drop(made);
    // One worker is two threads, a light and a heavy one, so what two gain is told from one core.
    let one_core = random.len() as f64 / alone.as_secs_f64();
    println!("\n| workers | random boards a second | against one core |\n|--:|--:|--:|");
    println!("| none, one core | {one_core:.0} | 1 |");
    for workers in [1, 2] {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let large = (set == "large").then(&guide);
        let rate = runtime.expect("no thread is needed").block_on(by_workers(workers, large, random));
        println!("| {workers} | {rate:.0} | {:.2} |", rate / one_core);
    }
}

/// Megabytes that the process has in memory.
fn resident_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|kb| kb.parse::<u64>().ok()).map_or(0, |kb| kb / 1000)
}

fn instance(start: &[u32]) -> Instance {
    let layout = Layout::grid(4, 4).expect("sixteen cells");
    let goal: Vec<u32> = (0..16).collect();
    Instance::try_from(Setup { layout, start, goal: &goal }).expect("a permutation")
}

/// Korf's boards and their lengths.
fn korf() -> Vec<Known> {
    lines_of(KORF).map(|line| (instance(&line[2..]), Some(line[1] as usize))).collect()
}

/// The boards at 80 moves from the goal whose blank is last, seen from the other end: there it is first.
fn farthest() -> Vec<Known> {
    let turned = |line: Vec<u32>| -> Vec<u32> {
        line[2..].iter().rev().map(|&tile| if tile == 0 { 0 } else { 16 - tile }).collect()
    };
    lines_of(FARTHEST).map(|line| (instance(&turned(line)), Some(80))).collect()
}

fn lines_of(file: &str) -> impl Iterator<Item = Vec<u32>> {
    let lines = file.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split_whitespace().map(|word| word.parse().expect("a number")).collect())
}

/// Searches boards one after another, and says how long that took.
fn on_one_core(name: &str, guide: &PatternSum, boards: &[Known]) -> Duration {
    let space = WideSpace::new(boards[0].0.layout().clone());
    let goal = Position::new(boards[0].0.goal());
    let (mut times, mut generated) = (Vec::new(), 0);
    for (board, length) in boards {
        let (start, mut budget) = (Position::new(board.start()), Budget::unlimited());
        let since = Instant::now();
        let path = ida_star::search(&space, guide, &start, &goal, &mut budget);
        times.push(since.elapsed());
        generated += budget.generated();
        let path = path.expect("no limit").expect("a board that can be solved");
        assert_eq!(path.iter().fold(start, |at, &to| at.slid(to)), goal, "the path leads elsewhere");
        assert!(length.is_none_or(|length| length == path.len()), "not the known length");
    }
    let total: Duration = times.iter().sum();
    times.sort_unstable();
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let (count, at) = (times.len(), |share: usize| ms(times[times.len() * share / 100]));
    println!(
        "| {name} | {:.2} | {:.2} | {:.2} | {:.1} | {:.1} | {} |",
        total.as_secs_f64(),
        ms(total) / count as f64,
        at(50),
        at(99),
        ms(times[count - 1]),
        generated / count as u64,
    );
    total
}

/// Boards a second of an engine that is asked for so many at a time.
async fn by_workers(workers: usize, large: Option<PatternSum>, boards: &[Known]) -> f64 {
    let engine = start_engine(&LimitsConfig::default(), workers, Sweep::Off).expect("threads");
    if let Some(large) = large {
        engine.prefer_patterns(large);
    }
    let (answers, mut landed) = mpsc::unbounded_channel::<Answer>();
    let ask = |instance: &Instance| {
        let query = path_of(Canonical::of(instance), true);
        let answers = answers.clone();
        match engine
            .ask(&query, || Reply::new(tracing::Span::none(), move |answer| drop(answers.send(answer))))
        {
            Ok(Asked::Later(ticket)) => ticket,
            Ok(Asked::Now(_) | Asked::Found(_)) | Err(_) => {
                unreachable!("there is room, and nothing is known")
            }
        }
    };
    let mut tickets = vec![ask(&boards[0].0)];
    let first = landed.recv().await.expect("each is answered");
    assert!(matches!(first.verdict, Verdict::Solved(_)), "the pattern databases are made by now");
    let since = Instant::now();
    let mut left = boards.iter();
    tickets.extend(left.by_ref().take(IN_FLIGHT).map(|(board, _)| ask(board)));
    for _ in boards {
        let answer = landed.recv().await.expect("each is answered");
        assert!(matches!(answer.verdict, Verdict::Solved(_)), "a board that can be solved");
        tickets.extend(left.next().map(|(board, _)| ask(board)));
    }
    boards.len() as f64 / since.elapsed().as_secs_f64()
}
