//! Fills a pattern database, level by level from the goal: all places that are one move
//! of the pattern further. It knows no file and no board.
//!
//! A level is a bit for each place. The placements that have the same tiles' cells and
//! the same region stand in a *row*, and a step of a tile goes from one row to another
//! with every order at once: each row draws what its neighbours have of the last level,
//! so that rows are filled side by side, what they draw on is read in order, and all that
//! is written at random, a row, stays near.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::placement::{Placements, Step};
use crate::domain::sliding::Cell;
use crate::search::{Limits, Stop};

/// Rows that a thread takes at a time: many, since it takes them under a lock.
const ROWS_AT_A_TIME: usize = 64;

/// A row from which a tile's step leads to another, and what becomes of the orders on the way.
struct Source {
    row: usize,
    /// The turn's number; `None` when the tile passes no other, and the orders stay.
    turn: Option<usize>,
}

/// The sources of every row, and the turns that occur.
struct Sources {
    into: Vec<Vec<Source>>,
    /// By a turn's number: the rank of every order's turned one.
    turns: Vec<Vec<u16>>,
}

impl Sources {
    fn new(placements: &Placements) -> Self {
        let (mut numbers, mut turns) = (HashMap::new(), Vec::new());
        let orders: Vec<u32> = placements.orders().collect();
        let into = placements.rows().map(|(cells, region)| {
            let each = |(from, to): (Cell, Cell)| {
                let before = cells ^ (1 << from | 1 << to);
                let turn = Some(Step::new(to, from).turn(before)).filter(|turn| !turn.is_none());
                let number = turn.map(|turn| {
                    *numbers.entry(turn).or_insert_with(|| {
                        turns.push(orders.iter().map(|&order| placements.rank(turn.turned(order))).collect());
                        turns.len() - 1
                    })
                });
                Source { row: placements.row(before, from), turn: number }
            };
            placements.steps(cells, region).map(each).collect()
        });
        Self { into: into.collect(), turns }
    }
}

/// What is known of some rows that follow each other, a bit for each place.
struct Rows<'a> {
    /// Places of this level and those before it.
    seen: &'a mut [u64],
    /// Places of this level.
    level: &'a mut [u64],
    /// Places whose value has the second bit.
    second: &'a mut [u64],
    /// Whether this level has a place in a row.
    live: &'a mut [bool],
}

/// The second bit of each place's distance from the goal's, in moves of the pattern; `filled` is told
/// how many places each level has.
///
/// # Errors
/// [`Stop::Cancelled`] when the limits are cancelled.
pub(super) fn fill(
    placements: &Placements,
    goal: usize,
    limits: &Limits,
    filled: &(dyn Fn(u64) + Sync),
) -> Result<Vec<u64>, Stop> {
    let sources = Sources::new(placements);
    let (words, rows) = (placements.width() / 64, sources.into.len());
    let map = || vec![0_u64; words * rows];
    let (mut seen, mut second, mut level, mut last) = (map(), map(), map(), map());
    let (mut live, mut last_live) = (vec![false; rows], vec![false; rows]);
    set(&mut seen, goal);
    set(&mut level, goal);
    live[goal / placements.width()] = true;
    for value in 1_u32.. {
        std::mem::swap(&mut last, &mut level);
        std::mem::swap(&mut last_live, &mut live);
        let parts = (seen.chunks_mut(words * ROWS_AT_A_TIME).zip(level.chunks_mut(words * ROWS_AT_A_TIME)))
            .zip(second.chunks_mut(words * ROWS_AT_A_TIME).zip(live.chunks_mut(ROWS_AT_A_TIME)))
            .map(|((seen, level), (second, live))| Rows { seen, level, second, live })
            .zip(sources.into.chunks(ROWS_AT_A_TIME));
        let draw =
            Draw { words, turns: &sources.turns, last: &last, last_live: &last_live, second: value & 2 != 0 };
        let places = on_all_cores(parts, |(rows, into)| draw.rows(rows, into), limits)?;
        filled(places);
        if places == 0 {
            break;
        }
    }
    Ok(second)
}

/// One level, drawn from the last one.
struct Draw<'a> {
    words: usize,
    turns: &'a [Vec<u16>],
    last: &'a [u64],
    last_live: &'a [bool],
    /// Whether its value has the second bit.
    second: bool,
}

impl Draw<'_> {
    /// Draws some rows, and counts their places of this level.
    fn rows(&self, Rows { seen, level, second, live }: Rows, into: &[Vec<Source>]) -> u64 {
        let maps = seen.chunks_mut(self.words).zip(level.chunks_mut(self.words));
        let mut places = 0;
        for (row, (seen, level)) in maps.enumerate() {
            level.fill(0);
            for source in into[row].iter().filter(|source| self.last_live[source.row]) {
                self.draw(source, level);
            }
            let mut count = 0;
            for (seen, level) in seen.iter_mut().zip(&mut *level) {
                *level &= !*seen;
                *seen |= *level;
                count += u64::from(level.count_ones());
            }
            if self.second && count > 0 {
                let second = &mut second[row * self.words..][..self.words];
                second.iter_mut().zip(&*level).for_each(|(second, level)| *second |= level);
            }
            live[row] = count > 0;
            places += count;
        }
        places
    }

    /// Adds what one source brings to a row.
    fn draw(&self, source: &Source, level: &mut [u64]) {
        let from = self.last[source.row * self.words..][..self.words].iter();
        let Some(turn) = source.turn else {
            return level.iter_mut().zip(from).for_each(|(level, from)| *level |= from);
        };
        for (&from, turned) in from.zip(self.turns[turn].chunks(64)) {
            let mut left = from;
            while left != 0 {
                set(level, turned[left.trailing_zeros() as usize].into());
                left &= left - 1;
            }
        }
    }
}

/// The sum of what comes of all parts, worked on by as many threads as there are cores, or as the
/// system gives.
fn on_all_cores<P>(
    parts: impl Iterator<Item = P> + Send,
    work: impl Fn(P) -> u64 + Sync,
    limits: &Limits,
) -> Result<u64, Stop> {
    let parts = Mutex::new(parts);
    let next = || parts.lock().unwrap_or_else(PoisonError::into_inner).next();
    let run = || {
        let mut sum = 0;
        while let Some(part) = next() {
            if limits.is_cancelled() {
                return Err(Stop::Cancelled);
            }
            sum += work(part);
        }
        Ok(sum)
    };
    thread::scope(|scope| {
        let others = (1..thread::available_parallelism().map_or(1, usize::from))
            .filter_map(|_| thread::Builder::new().spawn_scoped(scope, run).ok())
            .collect::<Vec<_>>();
        let own: Result<u64, Stop> = run();
        let others = others.into_iter().map(|other| other.join().expect("a fill does not panic"));
        others.fold(own, |sum, other| Ok(sum? + other?))
    })
}

fn set(bits: &mut [u64], place: usize) {
    bits[place / 64] |= 1 << (place % 64);
}
