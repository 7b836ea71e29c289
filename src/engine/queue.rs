//! Work that waits, in lanes of which each has its own takers: highest priority first, then
//! what is soon done, then callers in turn, then first come first served. What waits rises with
//! time, so nothing waits for ever. Work that was taken may come back, to wait at its old
//! place in another lane. It knows nothing of what waits, nor what for.
//!
//! Fair queueing by round robin: the work of one caller, priority and length is a *flow*; the
//! flow that was served longest ago is next, and one that is new comes last. So whoever asks
//! for one thing waits for one of every other caller's, however many those have sent.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hashbrown::HashMap;
use tokio::sync::Notify;

use super::{Caller, Priority};

/// How long the first work of a flow waits until it counts as one priority higher, and for each one more. A
/// few times that is well within the time that jobs have by default.
const RISE_TIME: Duration = Duration::from_secs(1);

/// The number of a piece of work, never used twice: the lower, the earlier it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Number(u64);

/// Whose work, and of what kind: within a flow it is first come first served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Flow {
    pub(super) caller: Caller,
    pub(super) priority: Priority,
    pub(super) length: Length,
}

/// How long work may take, as far as one knows before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Length {
    /// It may have all its time in the light lane, and more elsewhere.
    Open,
    /// It is soon done.
    Short,
}

const LENGTHS: usize = 2;

impl Flow {
    /// Whether work that stands in some flows is served no sooner for standing in this one too.
    pub(super) fn is_covered_by(self, flows: &[Flow]) -> bool {
        flows.iter().any(|known| known.caller == self.caller && known.priority >= self.priority)
    }

    /// What a flow is worth whose first work has waited for so long; the higher, the sooner.
    fn rank(self, waited: Duration) -> u64 {
        let rises = waited.as_secs() / RISE_TIME.as_secs();
        (self.priority as u64 + rises) * LENGTHS as u64 + self.length as u64
    }
}

/// What work waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// One of the workers that are soon free again. All work begins here.
    Light,
    /// A worker that has time for it.
    Heavy,
    /// To be recalled: nobody takes it.
    Aside,
}

const LANES: usize = 3;

/// Work that waits, by what it waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueStatistics {
    /// One of the workers that are soon free again.
    pub light: usize,
    /// A worker that has time for a long search.
    pub heavy: usize,
    /// Pattern databases.
    pub aside: usize,
}

/// The work of a flow that waits in a lane.
struct Row {
    /// Its place in the round.
    turn: u64,
    /// When its first work became the first.
    since: Instant,
    works: BTreeSet<Number>,
}

/// Work, and where it stands: in several flows when several callers wait for it.
struct Held<W> {
    work: W,
    lane: Lane,
    flows: Vec<Flow>,
}

struct Waiting<W> {
    held: HashMap<Number, Held<W>>,
    lanes: [HashMap<Flow, Row>; LANES],
    /// How much of each length waits, in all lanes.
    lens: [usize; LENGTHS],
    turns: u64,
}

/// See the module.
pub(super) struct Queue<W> {
    waiting: Mutex<Waiting<W>>,
    max_len: usize,
    arrivals: AtomicU64,
    arrived: [Notify; LANES],
}

impl<W: Clone> Queue<W> {
    /// Room for so much work of each length, since what takes long must not shed what does not.
    pub(super) fn new(max_len: usize) -> Self {
        let lanes = Default::default();
        let waiting = Waiting { held: HashMap::new(), lanes, lens: [0; LENGTHS], turns: 0 };
        let (waiting, arrivals) = (Mutex::new(waiting), AtomicU64::new(0));
        Self { waiting, max_len, arrivals, arrived: Default::default() }
    }

    pub(super) fn max_len(&self) -> usize {
        self.max_len
    }

    pub(super) fn len(&self) -> usize {
        self.waiting().held.len()
    }

    pub(super) fn statistics(&self) -> QueueStatistics {
        let mut lens = [0; LANES];
        self.waiting().held.values().for_each(|held| lens[held.lane as usize] += 1);
        let [light, heavy, aside] = lens;
        QueueStatistics { light, heavy, aside }
    }

    /// A number for the next work.
    pub(super) fn next_number(&self) -> Number {
        Number(self.arrivals.fetch_add(1, Relaxed))
    }

    /// Has work wait in a flow; `false` when there is no room.
    pub(super) fn push(&self, number: Number, flow: Flow, work: W) -> bool {
        {
            let mut waiting = self.waiting();
            if waiting.lens[flow.length as usize] >= self.max_len {
                return false;
            }
            waiting.insert(Lane::Light, number, vec![flow], work);
        }
        self.arrived[Lane::Light as usize].notify_one();
        true
    }

    /// Puts work back at its place in its flows. There is room, since it was let in once:
    /// workers hold no more of it than they are.
    pub(super) fn put_back(&self, lane: Lane, number: Number, flows: &[Flow], work: W) {
        self.waiting().insert(lane, number, flows.to_vec(), work);
        self.arrived[lane as usize].notify_one();
    }

    /// Has work that still waits stand in one more flow, before those of it that came later.
    pub(super) fn join(&self, number: Number, flow: Flow) {
        let mut waiting = self.waiting();
        let Some(held) = waiting.held.get_mut(&number) else { return };
        if !flow.is_covered_by(&held.flows) {
            held.flows.push(flow);
            let lane = held.lane;
            waiting.stand(lane, flow, number);
        }
    }

    /// Whether some work of a kind is set aside.
    pub(super) fn is_aside(&self, which: impl Fn(&W) -> bool) -> bool {
        self.waiting().held.values().any(|held| held.lane == Lane::Aside && which(&held.work))
    }

    /// Has work that was set aside go on among the heavy, each at its place. Whose it was has
    /// had his turn.
    pub(super) fn recall(&self, which: impl Fn(&W) -> bool) {
        {
            let mut waiting = self.waiting();
            let is_recalled = |held: &Held<W>| held.lane == Lane::Aside && which(&held.work);
            let recalled: Vec<Number> = waiting
                .held
                .iter()
                .filter_map(|(&number, held)| is_recalled(held).then_some(number))
                .collect();
            for number in recalled {
                if let Some(Held { work, flows, .. }) = waiting.take(number) {
                    waiting.insert(Lane::Heavy, number, flows, work);
                }
            }
        }
        self.arrived[Lane::Heavy as usize].notify_waiters();
    }

    /// Takes work out that nobody waits for any more, if it is there.
    pub(super) fn remove(&self, number: Number) {
        self.waiting().remove(number);
    }

    /// Takes the next work of a lane, when there is some.
    pub(super) async fn pop(&self, lane: Lane) -> W {
        self.when_there(lane, |waiting| waiting.pop(lane)).await
    }

    /// The next work of a lane, left where it is.
    pub(super) fn peek(&self, lane: Lane) -> Option<W> {
        self.waiting().first(lane)
    }

    /// The next work of a lane, when there is some, left where it is.
    pub(super) async fn first(&self, lane: Lane) -> W {
        self.when_there(lane, |waiting| waiting.first(lane)).await
    }

    async fn when_there(&self, lane: Lane, look: impl Fn(&mut Waiting<W>) -> Option<W>) -> W {
        loop {
            let mut arrived = pin!(self.arrived[lane as usize].notified());
            // Before the look, so that no arrival between look and wait is missed by all.
            arrived.as_mut().enable();
            if let Some(work) = look(&mut self.waiting()) {
                return work;
            }
            arrived.await;
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting<W>> {
        // No change under this lock may panic half done: each is a few operations of maps.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: Clone> Waiting<W> {
    fn insert(&mut self, lane: Lane, number: Number, flows: Vec<Flow>, work: W) {
        self.lens[flows[0].length as usize] += 1;
        for &flow in &flows {
            self.stand(lane, flow, number);
        }
        self.held.insert(number, Held { work, lane, flows });
    }

    /// Puts a number in the row of a flow; a row that is new is the last of the round.
    fn stand(&mut self, lane: Lane, flow: Flow, number: Number) {
        let row = self.lanes[lane as usize].entry(flow).or_insert_with(|| {
            self.turns += 1;
            Row { turn: self.turns, since: Instant::now(), works: BTreeSet::new() }
        });
        row.works.insert(number);
    }

    fn remove(&mut self, number: Number) -> Option<Held<W>> {
        let held = self.held.remove(&number)?;
        self.lens[held.flows[0].length as usize] -= 1;
        let rows = &mut self.lanes[held.lane as usize];
        for flow in &held.flows {
            if let Some(row) = rows.get_mut(flow) {
                row.works.remove(&number);
                if row.works.is_empty() {
                    rows.remove(flow);
                }
            }
        }
        Some(held)
    }

    /// Removes work whose turn it is: all whose it is have had theirs.
    fn take(&mut self, number: Number) -> Option<Held<W>> {
        let held = self.remove(number)?;
        let now = Instant::now();
        for flow in &held.flows {
            if let Some(row) = self.lanes[held.lane as usize].get_mut(flow) {
                self.turns += 1;
                (row.turn, row.since) = (self.turns, now);
            }
        }
        Some(held)
    }

    fn pop(&mut self, lane: Lane) -> Option<W> {
        let number = self.next(lane, Instant::now())?;
        self.take(number).map(|held| held.work)
    }

    fn first(&self, lane: Lane) -> Option<W> {
        let number = self.next(lane, Instant::now())?;
        self.held.get(&number).map(|held| held.work.clone())
    }

    /// What is next in a lane. It looks at every flow: a few for each connection.
    fn next(&self, lane: Lane, now: Instant) -> Option<Number> {
        let rows = self.lanes[lane as usize].iter();
        let (_, row) = rows.max_by_key(|(flow, row)| {
            (flow.rank(now.saturating_duration_since(row.since)), Reverse(row.turn))
        })?;
        row.works.first().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: usize = 8;

    fn flow(caller: u64, priority: Priority, length: Length) -> Flow {
        Flow { caller: Caller(caller), priority, length }
    }

    fn normal(caller: u64) -> Flow {
        flow(caller, Priority::Normal, Length::Short)
    }

    fn push(queue: &Queue<&'static str>, flow: Flow, work: &'static str) -> Option<Number> {
        let number = queue.next_number();
        queue.push(number, flow, work).then_some(number)
    }

    fn rest(queue: &Queue<&'static str>, lane: Lane) -> Vec<&'static str> {
        std::iter::from_fn(|| queue.waiting().pop(lane)).collect()
    }

    /// Makes it as if all had waited for so long already.
    fn wait(queue: &Queue<&'static str>, time: Duration) {
        for row in queue.waiting().lanes.iter_mut().flat_map(HashMap::values_mut) {
            row.since -= time;
        }
    }

    #[test]
    fn callers_are_served_in_turn_however_much_one_has_sent() {
        let queue = Queue::new(ROOM);
        for work in ["a1", "a2", "a3", "a4"] {
            push(&queue, normal(1), work);
        }
        push(&queue, normal(2), "b1");
        push(&queue, normal(2), "b2");
        push(&queue, normal(3), "c1");
        assert_eq!(rest(&queue, Lane::Light), ["a1", "b1", "c1", "a2", "b2", "a3", "a4"]);
        // Who asks one at a time, again as soon as it is served, is no more than every other one either.
        for work in ["a1", "a2", "a3"] {
            push(&queue, normal(1), work);
        }
        let mut order = Vec::new();
        for _ in 0..3 {
            push(&queue, normal(2), "b");
            order.extend([(); 2].map(|()| queue.waiting().pop(Lane::Light).unwrap()));
        }
        assert_eq!(order, ["a1", "b", "a2", "b", "a3", "b"]);
    }

    #[test]
    fn priority_goes_before_length_and_length_before_turns() {
        let queue = Queue::new(ROOM);
        push(&queue, flow(1, Priority::Low, Length::Short), "low");
        push(&queue, flow(1, Priority::Normal, Length::Open), "long");
        push(&queue, normal(1), "short");
        push(&queue, flow(2, Priority::High, Length::Open), "high and long");
        push(&queue, normal(2), "short too");
        let order = ["high and long", "short", "short too", "long", "low"];
        assert_eq!(rest(&queue, Lane::Light), order);
    }

    #[test]
    fn what_waits_rises_one_priority_each_time_and_at_last_its_turn_comes() {
        let low = flow(1, Priority::Low, Length::Open);
        let high = flow(2, Priority::High, Length::Short);
        for (rises, first) in [(0, "normal"), (1, "normal"), (2, "low")] {
            let queue = Queue::new(ROOM);
            push(&queue, low, "low");
            wait(&queue, rises * RISE_TIME);
            push(&queue, normal(2), "normal");
            assert_eq!(queue.peek(Lane::Light), Some(first), "{rises}");
        }
        // Before the high that come after it has risen, and no second one with it.
        let queue = Queue::new(ROOM);
        push(&queue, low, "low");
        push(&queue, low, "lower");
        wait(&queue, 3 * RISE_TIME);
        push(&queue, high, "high");
        push(&queue, high, "higher");
        assert_eq!(rest(&queue, Lane::Light), ["low", "high", "higher", "lower"]);
    }

    #[test]
    fn what_several_wait_for_stands_at_the_best_of_their_places() {
        let queue = Queue::new(ROOM);
        let works = ["a1", "a2", "a3", "shared"];
        let numbers = works.map(|work| push(&queue, normal(1), work).unwrap());
        push(&queue, normal(2), "b1");
        queue.join(numbers[3], normal(3));
        assert_eq!(queue.len(), 5);
        assert_eq!(rest(&queue, Lane::Light), ["a1", "b1", "shared", "a2", "a3"]);
        // Taken once, it is nowhere any more.
        assert_eq!((queue.len(), queue.waiting().lens), (0, [0, 0]));
        queue.join(numbers[3], normal(4));
        queue.remove(numbers[3]);
        assert_eq!(queue.peek(Lane::Light), None);
    }

    #[test]
    fn what_takes_long_sheds_nothing_that_does_not_and_is_not_lost_when_it_moves() {
        let queue = Queue::new(2);
        let long = flow(1, Priority::Normal, Length::Open);
        let first = push(&queue, long, "long 1").unwrap();
        push(&queue, long, "long 2").unwrap();
        assert_eq!(push(&queue, long, "long 3"), None);
        assert!(push(&queue, normal(1), "short 1").is_some() && push(&queue, normal(1), "short 2").is_some());
        assert_eq!(push(&queue, normal(1), "short 3"), None);
        queue.waiting().take(first);
        push(&queue, long, "long 3").unwrap();
        // It was let in once, so there is room.
        queue.put_back(Lane::Aside, first, &[long], "long 1");
        assert_eq!((queue.len(), push(&queue, long, "long 4")), (5, None));
        queue.recall(|&work| work == "long 1");
        assert_eq!((queue.peek(Lane::Aside), queue.peek(Lane::Heavy)), (None, Some("long 1")));
        assert_eq!(rest(&queue, Lane::Light), ["short 1", "short 2", "long 2", "long 3"]);
        assert_eq!(rest(&queue, Lane::Heavy), ["long 1"]);
    }

    #[test]
    fn who_has_had_what_he_was_set_aside_for_lets_others_go_first() {
        let queue = Queue::new(ROOM);
        let long = |caller| flow(caller, Priority::Normal, Length::Open);
        for (work, caller) in [("a1", 1), ("a2", 1), ("b1", 2)] {
            queue.put_back(Lane::Aside, queue.next_number(), &[long(caller)], work);
        }
        for expected in ["a1", "b1", "a2"] {
            let first = queue.peek(Lane::Aside).unwrap();
            assert_eq!(first, expected);
            queue.recall(|&work| work == first);
        }
    }
}
