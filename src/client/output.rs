//! Replies → standard output and standard error, on a thread of its own, since a pipe may block for ever.
//!
//! It must never know: the wire, or how replies come to be in order.

use std::io::{self, BufWriter, ErrorKind, Write};
use std::thread;

use tokio::sync::{mpsc, oneshot};

use tonic::Code;

use super::answer::{Failure, FailureKind, Outcome, Reply, Violation};
use super::board::{Layout, THREE_BY_THREE};
use super::input::Place;
use super::progress::Progress;
use super::render::{Style, verdict};

/// Replies that may wait for the printer.
const BACKLOG: usize = 64;

/// What has been printed.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Boards without a path, unless that is a judge's answer.
    pub(crate) unsolvable: u64,
    /// Boards whose text is malformed, whose answer is an error or a limit, or that were cancelled.
    pub(crate) failed: u64,
    /// Boards that never had an answer.
    pub(crate) lost: u64,
    /// Wrong answers.
    pub(crate) wrong: u64,
    /// All boards.
    pub(crate) boards: u64,
    /// Why no more could be written, unless the reader had simply enough.
    pub(crate) write_error: Option<String>,
}

impl Tally {
    /// Counts an outcome, which may be all that a judge wanted.
    fn count(&mut self, outcome: &Outcome, judged: bool) {
        self.boards += 1;
        match outcome {
            _ if judged => {}
            Outcome::Solved(_) | Outcome::Suboptimal { .. } => {}
            Outcome::Unsolvable(_) => self.unsolvable += 1,
            Outcome::Failed(Failure { kind: FailureKind::Wrong, .. }) => self.wrong += 1,
            Outcome::Failed(Failure { kind: FailureKind::Lost, .. }) => self.lost += 1,
            Outcome::Failed(_) | Outcome::Limit { .. } | Outcome::Cancelled => self.failed += 1,
        }
    }
}

/// Starts the printer. It ends when the sender is dropped or no more can be written, and then tells what it did.
pub(crate) fn spawn(
    style: Style,
    progress: Progress,
) -> io::Result<(mpsc::Sender<Reply>, oneshot::Receiver<Tally>)> {
    let (replies, receiver) = mpsc::channel(BACKLOG);
    let (done, tally) = oneshot::channel();
    thread::Builder::new().name("taquin-output".into()).spawn(move || {
        let out = BufWriter::new(io::stdout().lock());
        // No one waits for the tally after an interrupt.
        let _ = done.send(Printer { style, progress, tally: Tally::default() }.run(receiver, out));
    })?;
    Ok((replies, tally))
}

struct Printer {
    style: Style,
    progress: Progress,
    tally: Tally,
}

impl Printer {
    fn run(mut self, receiver: mpsc::Receiver<Reply>, out: impl Write) -> Tally {
        match self.print_all(receiver, out) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                self.tally.write_error = Some(error.to_string());
            }
            _ => {}
        }
        self.tally
    }

    /// Prints as replies come, flushing whenever there is none to print. A judge's output ends at the first board
    /// for which there is no answer, since what followed would stand in its place.
    fn print_all(&mut self, mut receiver: mpsc::Receiver<Reply>, mut out: impl Write) -> io::Result<()> {
        loop {
            let waiting = receiver.try_recv().ok();
            if waiting.is_none() {
                out.flush()?;
            }
            let Some(reply) = waiting.or_else(|| receiver.blocking_recv()) else { return Ok(()) };
            let text = self.style.text(&reply);
            self.tally.count(&reply.outcome, self.style.is_judged() && text.is_some());
            self.complain(&reply, text.is_none());
            let Some(text) = text else { return out.flush() };
            out.write_all(text.as_bytes())?;
            self.progress.advance(self.tally.boards, reply.item.offset);
        }
    }

    /// Says what failed, and what is missing from the output. Boards without an answer are told of together, when
    /// the call has ended.
    fn complain(&self, reply: &Reply, is_missing: bool) {
        let said = match &reply.outcome {
            Outcome::Failed(failure) if failure.kind == FailureKind::Lost => return,
            Outcome::Failed(failure) => complaint(reply, failure),
            outcome if is_missing => {
                format!("{}: {}, for which the judge has no answer", reply.item.place, verdict(outcome))
            }
            _ => return,
        };
        self.progress.suspend(|| say(&said));
    }
}

/// Writes a message to standard error; that no one can read it is no reason to fail.
pub(crate) fn say(message: &str) {
    let _ = writeln!(io::stderr(), "taquin-client: {message}");
}

/// Where a board stands, what is wrong, and with which fields, a line each, unless the message has them already.
fn complaint(reply: &Reply, failure: &Failure) -> String {
    let head = match failure.kind {
        FailureKind::Text => format!("{}: {}", reply.item.place, failure.message),
        _ => format!("{}: {}: {}", reply.item.place, failure.code(), failure.message),
    };
    let told =
        |v: &&Violation| failure.message.contains(&v.field) && failure.message.contains(&v.description);
    let fields =
        failure.violations.iter().filter(|v| !told(v)).map(|v| format!("  {}: {}", v.field, v.description));
    let hint = (failure.kind == FailureKind::Server(Code::InvalidArgument) && looks_like_several(reply))
        .then(|| "  boards of rows are separated by an empty line; or give --size RxC".to_owned());
    let retry = failure.retry_after.map(|delay| format!("  try again after {} ms", delay.as_millis()));
    [head].into_iter().chain(fields).chain(hint).chain(retry).collect::<Vec<_>>().join("\n")
}

/// Whether a board of a text is large and high, as are small ones without an empty line between them.
fn looks_like_several(reply: &Reply) -> bool {
    match (reply.item.place, reply.item.board.as_ref().map(|board| &board.layout)) {
        (Place::Line(_), Ok(Layout::Grid(shape))) => {
            shape.cells() > THREE_BY_THREE.cells() && shape.rows > shape.columns
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::gather::one;
    use super::super::input::Item;
    use super::super::judge::Judge;
    use super::super::render::{Format, Notation, Renderer};
    use super::*;

    fn reply(outcome: Outcome) -> Reply {
        let item =
            Item { index: 1, place: Place::Line(4), offset: 0, board: one("123456780", None), goal: None };
        Reply { item, outcome, source: None, statistics: None }
    }

    fn print(replies: Vec<Reply>, out: impl Write) -> Tally {
        print_as(Style::Own(Renderer { format: Format::Distance, notation: Notation::Blank }), replies, out)
    }

    fn print_as(style: Style, replies: Vec<Reply>, out: impl Write) -> Tally {
        let (sender, receiver) = mpsc::channel(100);
        for reply in replies {
            sender.try_send(reply).unwrap();
        }
        drop(sender);
        Printer { style, progress: Progress::new(false, None), tally: Tally::default() }.run(receiver, out)
    }

    #[test]
    fn a_complaint_names_place_code_and_fields() {
        let violation = Violation { field: "job.sliding.start[1]".into(), description: "twice".into() };
        let failure = Failure {
            kind: FailureKind::Server(Code::ResourceExhausted),
            message: "no room".into(),
            violations: vec![violation],
            retry_after: Some(Duration::from_millis(20)),
        };
        let said = complaint(&reply(Outcome::Cancelled), &failure);
        let expected =
            "line 4: RESOURCE_EXHAUSTED: no room\n  job.sliding.start[1]: twice\n  try again after 20 ms";
        assert_eq!(said, expected);
    }

    #[test]
    fn rows_without_an_empty_line_have_a_hint() {
        let said = |board: &str| {
            let mut reply = reply(Outcome::Cancelled);
            reply.item.board = one(board, None);
            let kind = FailureKind::Server(Code::InvalidArgument);
            complaint(&reply, &Failure { kind, message: "no".into(), violations: vec![], retry_after: None })
        };
        assert!(said("1 2 3/4 5 6/7 8 0/1 2 3/4 5 6/7 8 0").ends_with("; or give --size RxC"));
        assert_eq!(said("1 1/2 0"), "line 4: INVALID_ARGUMENT: no");
    }

    #[test]
    fn all_is_counted() {
        let mut out = Vec::new();
        let limit = Outcome::Limit { limit: "time".into(), lower_bound: 3, best: None };
        let outcomes =
            [Outcome::Solved(vec![]), Outcome::Unsolvable("parity".into()), Outcome::Cancelled, limit];
        let mut replies: Vec<_> = outcomes.map(reply).into();
        replies.push(Reply::lost(replies[0].item.clone()));
        let tally = print(replies, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "0\nunsolvable\ncancelled\nlimit>=3\nerror\n");
        assert_eq!(
            tally,
            Tally { unsolvable: 1, failed: 2, lost: 1, wrong: 0, boards: 5, write_error: None }
        );
    }

    #[test]
    fn a_judges_output_ends_where_an_answer_is_missing() {
        let printed = |name, outcomes: Vec<Outcome>| {
            let mut out = Vec::new();
            let replies = (1..).zip(outcomes).map(|(index, outcome)| {
                let mut reply = reply(outcome);
                reply.item.index = index;
                reply
            });
            let tally = print_as(Style::Judged(Judge::named(name).unwrap()), replies.collect(), &mut out);
            (String::from_utf8(out).unwrap(), (tally.boards, tally.unsolvable, tally.failed))
        };
        let unsolvable = || Outcome::Unsolvable("parity".into());
        let solved = || Outcome::Solved(vec![]);
        assert_eq!(
            printed("uva-652", vec![solved(), unsolvable(), Outcome::Cancelled, solved()]),
            ("\n\nunsolvable\n".into(), (3, 0, 1))
        );
        assert_eq!(printed("boj-1525", vec![unsolvable()]), ("-1\n".into(), (1, 0, 0)));
        assert_eq!(printed("luogu-p1379", vec![unsolvable()]), (String::new(), (1, 1, 0)));
    }

    #[test]
    fn a_reader_that_has_enough_is_no_error() {
        struct Closed(ErrorKind);
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(self.0.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Err(self.0.into())
            }
        }
        let replies = || vec![reply(Outcome::Cancelled)];
        assert_eq!(print(replies(), Closed(ErrorKind::BrokenPipe)).write_error, None);
        assert!(print(replies(), Closed(ErrorKind::StorageFull)).write_error.is_some());
    }
}
