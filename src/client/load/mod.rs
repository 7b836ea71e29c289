//! The command `load`: boards by the million, timed and checked. Module map, top down.
//!
//! | module | what it is |
//! |---|---|
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

mod csv;
mod html;
mod json;
mod latency;
mod plot;
mod progress;
mod record;
mod report;
mod series;
mod settings;
mod summary;
#[cfg(test)]
mod synthetic;
mod threshold;
mod units;
mod words;
