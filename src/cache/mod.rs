//! A concurrent cache bounded by weight. Only values leave it: no guard of the map
//! inside is ever held by a caller, so none can live across an `.await`. It knows
//! neither puzzles nor searches.
//!
//! Who goes when it is full: entries leave in the order in which they came, except
//! that one which was asked for since then is passed over once (second chance).

use std::collections::VecDeque;
use std::hash::Hash;
use std::mem::size_of;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use dashmap::DashMap;
use dashmap::mapref::entry::Entry;
use hashbrown::DefaultHashBuilder;

/// What a value weighs.
pub trait Weigh {
    /// Bytes kept beyond the value's own size.
    fn heap_bytes(&self) -> usize;
}

struct Held<V> {
    value: V,
    /// Asked for since it was last considered for leaving.
    used: AtomicBool,
}

/// See the module.
pub struct Cache<K, V> {
    map: DashMap<K, Held<V>, DefaultHashBuilder>,
    /// Every key of the map, in the order of leaving.
    order: Mutex<VecDeque<K>>,
    max_weight: u64,
    weight: AtomicU64,
    hits: AtomicU64,
    misses: AtomicU64,
    evictions: AtomicU64,
}

/// What a cache holds and has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStatistics {
    /// Values held.
    pub entries: u64,
    /// Bytes they weigh.
    pub weight: u64,
    /// Look-ups that found their value.
    pub hits: u64,
    /// Look-ups that did not.
    pub misses: u64,
    /// Values put out to make room.
    pub evictions: u64,
}

impl<K: Copy + Eq + Hash, V: Clone + Weigh> Cache<K, V> {
    /// What one entry weighs besides its value's heap: the key in map and order,
    /// the value, and the byte of control and the share of free places in an open hash
    /// table, which has just doubled when it is fullest with them: seven sixteenths used.
    const ENTRY_BYTES: u64 = ((size_of::<K>() + size_of::<Held<V>>() + 1) * 16 / 7 + size_of::<K>()) as u64;

    /// An empty cache that may weigh so many bytes.
    #[must_use]
    pub fn new(max_weight: u64) -> Self {
        Self {
            map: DashMap::with_hasher(DefaultHashBuilder::default()),
            order: Mutex::default(),
            max_weight,
            weight: AtomicU64::new(0),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            evictions: AtomicU64::new(0),
        }
    }

    /// The value of a key, counted as a hit or a miss.
    pub fn get(&self, key: &K) -> Option<V> {
        let value = self.peek(key);
        if value.is_some() { &self.hits } else { &self.misses }.fetch_add(1, Relaxed);
        value
    }

    /// The value of a key, not counted: for a second look after a counted miss.
    pub fn peek(&self, key: &K) -> Option<V> {
        let held = self.map.get(key)?;
        held.used.store(true, Relaxed);
        Some(held.value.clone())
    }

    /// Keeps a value, unless its key has one. Others leave when it is too much.
    pub fn insert(&self, key: K, value: V) {
        let weight = Self::weight_of(&value);
        if weight > self.max_weight {
            return;
        }
        match self.map.entry(key) {
            Entry::Occupied(_) => return,
            Entry::Vacant(vacant) => {
                vacant.insert(Held { value, used: AtomicBool::new(false) });
            }
        }
        self.weight.fetch_add(weight, Relaxed);
        let mut order = self.order();
        while self.weight.load(Relaxed) > self.max_weight {
            let Some(key) = order.pop_front() else { break };
            match self.map.remove_if(&key, |_, held| !held.used.swap(false, Relaxed)) {
                Some((_, held)) => {
                    self.weight.fetch_sub(Self::weight_of(&held.value), Relaxed);
                    self.evictions.fetch_add(1, Relaxed);
                }
                None => order.push_back(key),
            }
        }
        // Behind the others: when all were asked for since, the new one must not be the first to leave.
        order.push_back(key);
    }

    /// What it holds and has done.
    #[must_use]
    pub fn statistics(&self) -> CacheStatistics {
        CacheStatistics {
            entries: self.order().len() as u64,
            weight: self.weight.load(Relaxed),
            hits: self.hits.load(Relaxed),
            misses: self.misses.load(Relaxed),
            evictions: self.evictions.load(Relaxed),
        }
    }

    fn weight_of(value: &V) -> u64 {
        Self::ENTRY_BYTES + value.heap_bytes() as u64
    }

    fn order(&self) -> MutexGuard<'_, VecDeque<K>> {
        // Every change under this lock is one push or pop: a panic can't leave it half done.
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Weigh for u32 {
        fn heap_bytes(&self) -> usize {
            0
        }
    }

    fn cache_of(entries: u64) -> Cache<u32, u32> {
        Cache::new(entries * Cache::<u32, u32>::ENTRY_BYTES)
    }

    #[test]
    fn holds_its_weight_and_not_one_more() {
        let cache = cache_of(100);
        (0..100).for_each(|key| cache.insert(key, key));
        assert_eq!((cache.statistics().entries, cache.statistics().evictions), (100, 0));
        cache.insert(100, 100);
        let statistics = cache.statistics();
        assert_eq!((statistics.entries, statistics.evictions), (100, 1));
        assert_eq!(statistics.weight, 100 * Cache::<u32, u32>::ENTRY_BYTES);
        assert_eq!((cache.get(&0), cache.get(&100)), (None, Some(100)));
        assert_eq!((cache.statistics().hits, cache.statistics().misses), (1, 1));
    }

    #[test]
    fn gives_what_was_asked_for_a_second_chance() {
        let cache = cache_of(3);
        (0..3).for_each(|key| cache.insert(key, key));
        assert_eq!(cache.get(&0), Some(0));
        cache.insert(3, 3);
        assert_eq!((cache.peek(&0), cache.peek(&1)), (Some(0), None));
    }

    #[test]
    fn a_new_value_is_not_the_first_to_leave_when_all_others_were_asked_for() {
        let cache = cache_of(3);
        (0..3).for_each(|key| cache.insert(key, key));
        (0..3).for_each(|key| assert_eq!(cache.get(&key), Some(key)));
        cache.insert(3, 3);
        assert_eq!((cache.peek(&0), cache.peek(&3)), (None, Some(3)));
    }

    #[test]
    fn keeps_the_first_value_of_a_key_and_weighs_it_once() {
        let cache = cache_of(3);
        cache.insert(7, 1);
        cache.insert(7, 2);
        assert_eq!((cache.get(&7), cache.statistics().entries), (Some(1), 1));
        assert_eq!(cache.statistics().weight, Cache::<u32, u32>::ENTRY_BYTES);
    }

    #[test]
    fn keeps_nothing_without_room() {
        let cache = cache_of(0);
        cache.insert(1, 1);
        assert_eq!((cache.get(&1), cache.statistics().entries), (None, 0));
    }

    #[test]
    fn stays_within_its_weight_under_many_threads() {
        let cache = cache_of(50);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let cache = &cache;
                scope.spawn(move || (0..10_000).for_each(|i| cache.insert(i * 4 + thread, i)));
            }
        });
        let statistics = cache.statistics();
        assert_eq!((statistics.entries, statistics.evictions), (50, 40_000 - 50));
        assert_eq!(cache.map.len(), 50);
    }
}
