//! Every board of one goal, swept once: dense and immutable. It knows neither
//! callers nor how often it is asked.

use crate::domain::sliding::{
    Board, Cell, DenseIndex, Direction, Layout, Path, Position, Shape, Shared, SlidingSpace,
};
use crate::search::{Budget, Stop, breadth_first};
use crate::space::{Cost, StateSpace};

/// See the module.
#[derive(Debug)]
pub struct Table {
    layout: Shared<Layout>,
    index: DenseIndex,
    entries: Entries,
}

/// One entry for each dense place.
#[derive(Debug)]
enum Entries {
    /// On a grid whose paths all fit one: the word of the path, 0 where there is none.
    Words(Vec<u64>),
    /// Elsewhere the first step.
    Steps(Vec<Step>),
}

/// Where an entry of a table stands.
#[derive(Clone, Copy, Debug)]
pub struct Place(usize);

/// The first step of a path.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// The moves to the goal; [`UNREACHED`] where there is no path.
    distance: u16,
    /// The cell the blank enters; its own at the goal.
    to: Cell,
}

const UNREACHED: Step = Step { distance: u16::MAX, to: 0 };

impl Table {
    /// Sweeps all boards from which the goal of a layout can be reached.
    ///
    /// # Errors
    /// The budget's [`Stop`].
    pub fn sweep(layout: &Shared<Layout>, goal: Board, budget: &mut Budget) -> Result<Self, Stop> {
        let index = DenseIndex::new(layout, goal);
        let space = SlidingSpace::new(layout.clone());
        let entries = match words(&space, &index, goal, budget)? {
            Some(words) => Entries::Words(words),
            None => Entries::Steps(steps(&space, &index, goal, budget)?),
        };
        Ok(Self { layout: layout.clone(), index, entries })
    }

    /// The smallest shortest path of a board of its layout to its goal, if there is one.
    #[must_use]
    pub fn path(&self, start: Board) -> Option<Path> {
        let blank = start.cell_of(0);
        match &self.entries {
            Entries::Words(_) => self.word(start, blank).map(Path::Word),
            Entries::Steps(steps) => {
                let cells = self.walk(steps, Position::new(start))?;
                Path::along(&self.layout, blank, &cells).next()
            }
        }
    }

    /// Where the word of a board stands, its blank at a cell, and has the memory bring it;
    /// `None` where there is no board, and on layouts whose paths are not all words.
    #[must_use]
    pub fn seek(&self, start: Board, blank: Cell) -> Option<Place> {
        let Entries::Words(words) = &self.entries else { return None };
        let place = self.index.place(start, blank)?;
        fetch(&words[place]);
        Some(Place(place))
    }

    /// The word at a place of this table, as of [`Path::Word`]; 0 where there is no path, and on
    /// layouts whose paths are not all words.
    #[must_use]
    pub fn word_at(&self, Place(place): Place) -> u64 {
        let Entries::Words(words) = &self.entries else { return 0 };
        words[place]
    }

    /// The number of moves of a board's shortest path, if there is one.
    #[must_use]
    pub fn distance(&self, start: Board) -> Option<Cost> {
        let blank = start.cell_of(0);
        match &self.entries {
            Entries::Words(_) => self.word(start, blank).map(|word| word.ilog2() / 2),
            Entries::Steps(steps) => {
                let step = steps[self.index.place(start, blank)?];
                (step.distance != UNREACHED.distance).then_some(step.distance.into())
            }
        }
    }

    /// The word of a board's path, as of [`Path::Word`]; `None` where there is no path,
    /// and on layouts whose paths are not all words.
    fn word(&self, start: Board, blank: Cell) -> Option<u64> {
        let place = Place(self.index.place(start, blank)?);
        Some(self.word_at(place)).filter(|&word| word != 0)
    }

    /// Writes the words of many boards, 0 where there is no board or no path, and on
    /// layouts whose paths are not all words. All places first, so that the memory looks
    /// them up side by side: one after another, each board waits for its own.
    pub fn words(&self, starts: &[Option<Board>], words: &mut [u64]) {
        let Entries::Words(entries) = &self.entries else { return words.fill(0) };
        for (start, word) in starts.iter().zip(&mut *words) {
            let place = start.and_then(|start| self.index.place(start, start.cell_of(0)));
            *word = place.map_or(u64::MAX, |place| place as u64);
        }
        for word in words {
            *word = usize::try_from(*word).ok().and_then(|place| entries.get(place)).copied().unwrap_or(0);
        }
    }

    /// Whether all its paths are words.
    #[must_use]
    pub fn has_words(&self) -> bool {
        matches!(self.entries, Entries::Words(_))
    }

    /// The most bytes that the table of a goal could take.
    #[must_use]
    pub fn max_bytes(layout: &Layout, goal: Board) -> usize {
        DenseIndex::new(layout, goal).len() * size_of::<u64>().max(size_of::<Step>())
    }

    /// Bytes it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match &self.entries {
            Entries::Words(words) => size_of_val(&words[..]),
            Entries::Steps(steps) => size_of_val(&steps[..]),
        }
    }

    fn walk(&self, steps: &[Step], mut position: Position) -> Option<Vec<Cell>> {
        let first = steps[self.index.place(position.board(), position.blank())?];
        if first.distance == UNREACHED.distance {
            return None;
        }
        let mut cells = Vec::with_capacity(first.distance.into());
        while cells.len() < first.distance.into() {
            let place = self.index.place(position.board(), position.blank());
            let to = steps[place.expect("a move keeps the goal in reach")].to;
            cells.push(to);
            position = position.slid(to);
        }
        Some(cells)
    }
}

/// Has the memory bring the line of an entry.
fn fetch<T>(entry: &T) {
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "a streamed board costs a tenth less, see benches/README.md")]
    // SAFETY: a prefetch changes nothing that a program can see and faults at no address;
    // this one is that of an entry besides.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(entry).cast());
    }
    // Elsewhere it comes when it is read.
    #[cfg(not(target_arch = "x86_64"))]
    let _ = entry;
}

/// The word of each board's path; `None` when not all paths are words.
fn words(
    space: &SlidingSpace,
    index: &DenseIndex,
    goal: Board,
    budget: &mut Budget,
) -> Result<Option<Vec<u64>>, Stop> {
    let layout = space.layout();
    if matches!(layout.shape(), Shape::Graph) {
        return Ok(None);
    }
    let mut words = vec![0_u64; index.len()];
    let mut fit = true;
    breadth_first::sweep(space, &Position::new(goal), budget, |packed, depth| {
        let position = space.unpack(packed);
        let place = |position: &Position| index.place(position.board(), position.blank());
        // The smallest path begins with the first move that leads one nearer.
        let nearer = |to: Cell| {
            let rest = words[place(&position.slid(to))?];
            let direction: Direction = layout.direction(position.blank(), to)?;
            (rest != 0 && rest.ilog2() / 2 + 1 == depth).then_some(rest << 2 | direction as u64)
        };
        let word = if depth == 0 { Some(1) } else { space.actions(&position).find_map(nearer) };
        let place = place(&position).expect("reached from the goal");
        match word {
            Some(word) if depth <= Path::WORD_MOVES => words[place] = word,
            _ => fit = false,
        }
    })?;
    Ok(fit.then_some(words))
}

fn steps(
    space: &SlidingSpace,
    index: &DenseIndex,
    goal: Board,
    budget: &mut Budget,
) -> Result<Vec<Step>, Stop> {
    let mut steps = vec![UNREACHED; index.len()];
    breadth_first::sweep(space, &Position::new(goal), budget, |packed, depth| {
        let position = space.unpack(packed);
        let place = |position: &Position| index.place(position.board(), position.blank());
        let distance = u16::try_from(depth).expect("a board of nine cells is nearer than 65,535 moves");
        let nearer = |to: &Cell| {
            let rest = place(&position.slid(*to)).map(|place| steps[place].distance);
            rest.is_some_and(|rest| rest.checked_add(1) == Some(distance))
        };
        let to = if depth == 0 {
            position.blank()
        } else {
            space.actions(&position).find(nearer).expect("reached from a board one nearer")
        };
        steps[place(&position).expect("reached from the goal")] = Step { distance, to };
    })?;
    Ok(steps)
}
