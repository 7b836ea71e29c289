//! A board that is in a table, from the checked instance to the letters of its path,
//! without wire or threads.

use std::hint::black_box;
use std::time::{Duration, Instant};

use taquin::config::{LimitsConfig, Sweep};
use taquin::domain::sliding::{Instance, LastGoal};
use taquin::engine::{Asked, Engine, Verdict};
use taquin::service::start_engine;

use crate::boards;
use crate::query::path_of;

const BOARDS: usize = 8192;
const ROUNDS: usize = 101;

/// Prints the nanoseconds of an answer, in the middle of several rounds.
pub(crate) async fn measure() {
    let engine = start_engine(&LimitsConfig::default(), 1, Sweep::On).expect("a thread");
    while !engine.table_statistics().standard_ready {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let instances = boards::random(BOARDS, 3, &[]);
    let mut times: Vec<Duration> = (0..ROUNDS).map(|_| ask_all(&engine, &instances)).collect();
    times.sort_unstable();
    let board = times[ROUNDS / 2].as_secs_f64() * 1e9 / BOARDS as f64;
    println!("a hit, from the checked instance to the letters: {board:.0} ns");
}

fn ask_all(engine: &Engine, instances: &[Instance]) -> Duration {
    let mut last = LastGoal::default();
    let since = Instant::now();
    for instance in instances {
        let query = path_of(last.canonical(instance, false), false);
        let asked = engine.ask(&query, || unreachable!("a table answers at once"));
        let Ok(Asked::Found(found)) = asked else { unreachable!("a table answers at once") };
        let Verdict::Solved(solution) = found.read().verdict else { unreachable!("all can be solved") };
        black_box((solution.distance(), solution.letters()));
    }
    since.elapsed()
}
