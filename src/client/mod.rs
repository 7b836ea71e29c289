//! The client: text to boards, boards to a server and back, answers to text. Module map, top down.
//!
//! | module | what it is |
//! |---|---|
//! | [`cli`] | the command line and what it runs |
//! | `solve`, `options` | the command `solve`: from options to exit code |
//! | `output`, `render`, `progress` | replies → standard output and standard error |
//! | `stream` | one bidirectional call: a window of boards, replies in input order |
//! | `answer` | wire answer → checked reply |
//! | `connect`, `embedded` | where the server is, or starts it |
//! | `input` | arguments, file, standard input → boards, one at a time |
//! | [`gather`], [`text`] | lines → boards |
//! | [`replay`] | the client's own proof of a path |

mod answer;
pub mod cli;
mod connect;
mod embedded;
pub mod gather;
mod input;
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
