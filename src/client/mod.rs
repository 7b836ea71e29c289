//! The client: text to boards, boards to a server and back, answers to text. Module map, top down.
//!
//! | module | what it is |
//! |---|---|
//! | [`cli`] | the command line and what it runs |
//! | `solve`, `options` | the command `solve`: from options to exit code |
//! | `load` | the command `load`: boards by the million, timed and checked |
//! | `output`, `render`, `progress` | replies → standard output and standard error |
//! | `stream` | one bidirectional call: a window of boards, replies in input order |
//! | `answer` | wire answer → checked reply |
//! | `connect` | where the server is |
//! | `input` | arguments, file, standard input → boards, one at a time |
//! | `judge` | the judges, a row each: how they write boards and want answers; their input → boards |
//! | [`gather`], [`text`] | lines → boards, in the client's own forms |
//! | `lines` | bytes → lines |
//! | [`replay`] | the client's own proof of a path |
//! | [`board`] | layouts and boards |

mod answer;
pub mod board;
pub mod cli;
mod connect;
#[cfg(feature = "faults")]
pub mod fuzz;
pub mod gather;
mod input;
mod judge;
mod lines;
#[allow(dead_code, reason = "its generator is yet to come")]
mod load;
mod options;
mod output;
mod progress;
pub mod render;
pub mod replay;
mod solve;
mod stream;
#[cfg(test)]
mod test_server;
pub mod text;
