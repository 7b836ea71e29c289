//! Switches that make a job go wrong on purpose, in test builds alone (the cargo
//! feature `faults`). They know neither wire nor search.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::search::Limits;

/// What goes wrong in the worker before it searches, or in the maker of pattern databases
/// before it makes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fault {
    /// Whose fault it is.
    pub of: FaultOf,
    /// He is busy for so long, unless he is cancelled.
    pub delay: Duration,
    /// Then he panics.
    pub panic: bool,
}

/// Where something goes wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FaultOf {
    /// In the worker.
    #[default]
    Worker,
    /// In the maker.
    Maker,
}

impl Fault {
    /// The fault that a job's name asks for: `#delay-ms=N` and `#panic` anywhere in it, and
    /// `#maker` for one of the maker.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let words = name.split('#').skip(1).map(str::trim);
        let fault = words.fold(Self::default(), |fault, word| match word.strip_prefix("delay-ms=") {
            Some(ms) => Self { delay: Duration::from_millis(ms.parse().unwrap_or(0)), ..fault },
            None if word == "maker" => Self { of: FaultOf::Maker, ..fault },
            None => Self { panic: fault.panic || word == "panic", ..fault },
        });
        (fault != Self::default()).then_some(fault)
    }

    /// Goes wrong, if it is a fault of this one.
    pub(super) fn strike(self, of: FaultOf, limits: &Limits) {
        if self.of != of {
            return;
        }
        let end = Instant::now() + self.delay;
        while Instant::now() < end && !limits.is_cancelled() {
            sleep(Duration::from_millis(1));
        }
        assert!(!self.panic, "a fault switch made this thread panic");
    }
}
