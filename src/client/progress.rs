//! A progress bar on standard error, for long inputs.
//!
//! It must never know: what the input is made of.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// An input that is done sooner is not long.
const LONG: Duration = Duration::from_millis(500);

/// A bar that appears when the input turns out to be long, and is wiped away when dropped.
#[derive(Debug)]
pub(crate) struct Progress {
    /// Bytes of the input, if they are known.
    bytes: Option<u64>,
    state: State,
}

#[derive(Debug)]
enum State {
    Off,
    Since(Instant),
    Shown(ProgressBar),
}

impl Progress {
    /// A bar over this many bytes, a counter if they are unknown, or nothing if it is not `wanted`.
    pub(crate) fn new(wanted: bool, bytes: Option<u64>) -> Self {
        let state = if wanted { State::Since(Instant::now()) } else { State::Off };
        Self { bytes: bytes.filter(|&bytes| bytes > 0), state }
    }

    /// So many boards are done, which end at this byte.
    pub(crate) fn advance(&mut self, boards: u64, offset: u64) {
        if matches!(self.state, State::Since(start) if start.elapsed() >= LONG) {
            self.state = State::Shown(self.bar());
        }
        if let State::Shown(bar) = &self.state {
            bar.set_message(format!("{boards} boards"));
            bar.set_position(offset);
        }
    }

    /// Runs what writes to standard error, with the bar out of the way.
    pub(crate) fn suspend(&self, write: impl FnOnce()) {
        match &self.state {
            State::Shown(bar) => bar.suspend(write),
            State::Off | State::Since(_) => write(),
        }
    }

    fn bar(&self) -> ProgressBar {
        let (bar, template) = match self.bytes {
            Some(bytes) => {
                (ProgressBar::new(bytes), "{bar:30} {percent:>3}%  {msg}  {elapsed} gone, {eta} to go")
            }
            None => (ProgressBar::new_spinner(), "{spinner} {msg}  {elapsed} gone"),
        };
        bar.with_style(ProgressStyle::with_template(template).expect("the template is well-formed"))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let State::Shown(bar) = &self.state {
            bar.finish_and_clear();
        }
    }
}
