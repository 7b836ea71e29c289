//! The command `load`: boards by the million, timed and checked. Module map, top down.
//!
//! | module | what it is |
//! |---|---|
//! | `command`, `options`, `plan` | from options to a report and an exit code; all that is decided before |
//! | `generate` | connections, threads, the ends of a run |
//! | `drive`, `unary` | boards over one stream, and one a call |
//! | `modes`, `wire`, `call` | what a message holds, its bytes, how they go and come |
//! | `run`, `quota`, `slots`, `notes` | what drivers share: numbers to send, what is in flight, what is noted |
//! | `schedule`, `pace` | when boards are due, and the clock that says so |
//! | `link` | workers and the connections to them |
//! | `check` | is an answer true? |
//! | `workload`, `optimal`, `tiles` | which boards; all boards of a goal; boards in a word |
//! | `outputs` | report → standard output and files |
//! | `summary`, `json`, `csv`, `html` | report → text, a format each |
//! | `plot`, `words` | what a page draws; what page and summary say alike |
//! | `threshold` | conditions under which a run counts as failed |
//! | `report` | every figure of a run |
//! | `progress` | counters that all drivers share; a line on standard error while they run |
//! | `record` | what a driver notes of each board |
//! | `latency`, `series` | times as histograms; times and counts by interval |
//! | `settings` | what was run |
//! | `units` | numbers in writing |

mod call;
mod check;
mod command;
mod csv;
mod drive;
mod generate;
mod html;
mod json;
mod latency;
mod link;
mod modes;
mod notes;
mod optimal;
mod options;
mod outputs;
mod pace;
mod plan;
mod plot;
mod progress;
mod quota;
mod record;
mod report;
mod run;
mod schedule;
mod series;
mod settings;
mod slots;
mod summary;
#[cfg(test)]
mod synthetic;
mod threshold;
mod tiles;
mod unary;
mod units;
mod wire;
mod words;
mod workload;

pub(super) use command::run;
pub(super) use options::{AFTER_HELP, LoadOptions};
