//! The client: text to boards, boards to a server and back, answers to text. Module map, top down.
//!
//! | module | what it is |
//! |---|---|
//! | [`cli`] | the command line and what it runs |
//! | `solve`, `options` | the command `solve`: from options to exit code |
//! | `output`, `render`, `progress` | answers → standard output and standard error |
//! | `stream` | one bidirectional call: a window of boards, answers in input order |
//! | `answer` | wire answer → checked reply |
//! | `connect`, `embedded` | where the server is, or starts it |
//! | `input` | arguments, file, standard input → boards, one at a time |
//! | [`gather`], [`text`] | lines → boards |
//! | [`replay`] | the client's own proof of a path |
pub mod gather;
pub mod replay;
pub mod text;
