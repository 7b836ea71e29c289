//! The command `load`: boards by the million, timed and checked. Module map, top down.
//!
//! | module | what it is |
//! |---|---|
//! | `progress` | a line on standard error while it runs |
//! | `record` | what a driver notes of each board |
//! | `latency`, `series` | times as histograms; times and counts by interval |
//! | `settings` | what was run |

mod latency;
mod progress;
mod record;
mod series;
mod settings;
