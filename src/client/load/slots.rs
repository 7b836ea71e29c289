//! What is in flight on a call, by id: a slot each, found without a search, and whether an answer was the first.
//!
//! An id is the number of a slot and how often it was used, so that a second answer is told from the first.
//!
//! It must never know: what is in flight.

use std::collections::VecDeque;

/// What an answer is that nothing in flight waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stray {
    /// The second to one question.
    Double,
    /// To one that is not waited for any more.
    Late,
    /// To none.
    Unasked,
}

#[derive(Debug)]
struct Slot<T> {
    uses: u32,
    item: Option<T>,
    /// Which use of it was the last that was not waited for to its end.
    abandoned: Option<u32>,
}

/// Slots for a number of items that is known before.
#[derive(Debug)]
pub(super) struct Slots<T> {
    all: Vec<Slot<T>>,
    /// The one that was free for the longest time is used first: an id stays known as long as can be.
    free: VecDeque<u32>,
    /// Bits of an id that number the slot.
    bits: u32,
}

impl<T> Slots<T> {
    /// Room for so many items.
    pub(super) fn new(count: u32) -> Self {
        let all = (0..count).map(|_| Slot { uses: 0, item: None, abandoned: None }).collect();
        Self { all, free: (0..count).collect(), bits: count.next_power_of_two().trailing_zeros() }
    }

    /// How many there is room for in all.
    pub(super) fn capacity(&self) -> u32 {
        u32::try_from(self.all.len()).expect("it was made of a u32")
    }

    /// How many more there is room for.
    pub(super) fn room(&self) -> usize {
        self.free.len()
    }

    /// How many are in flight.
    pub(super) fn len(&self) -> usize {
        self.all.len() - self.free.len()
    }

    /// The id that the next item will have, if there is room for one.
    pub(super) fn next_id(&self) -> Option<u32> {
        let number = *self.free.front()?;
        Some(self.all[number as usize].uses.wrapping_shl(self.bits) | number)
    }

    /// Puts an item in the slot of the next id, if there is room.
    pub(super) fn insert(&mut self, item: T) {
        if let Some(number) = self.free.pop_front() {
            self.all[number as usize].item = Some(item);
        }
    }

    /// Takes what is in flight with an id.
    pub(super) fn take(&mut self, id: u32) -> Result<T, Stray> {
        let number = id & ((1 << self.bits) - 1);
        let bits = self.bits;
        let slot = self.all.get_mut(number as usize).ok_or(Stray::Unasked)?;
        let id_of = |uses: u32| uses.wrapping_shl(bits) | number;
        if id_of(slot.uses) == id
            && let Some(item) = slot.item.take()
        {
            slot.uses = slot.uses.wrapping_add(1);
            self.free.push_back(number);
            return Ok(item);
        }
        if slot.abandoned.is_some_and(|uses| id_of(uses) == id) {
            slot.abandoned = None;
            return Err(Stray::Late);
        }
        let is_last = slot.uses.checked_sub(1).is_some_and(|before| id_of(before) == id);
        Err(if is_last { Stray::Double } else { Stray::Unasked })
    }

    /// Takes all that one need not wait for any more.
    pub(super) fn abandon(&mut self, mut is_over: impl FnMut(&T) -> bool) -> Vec<T> {
        let mut over = Vec::new();
        for (number, slot) in (0..).zip(&mut self.all) {
            if slot.item.as_ref().is_some_and(&mut is_over) {
                over.extend(slot.item.take());
                slot.abandoned = Some(slot.uses);
                slot.uses = slot.uses.wrapping_add(1);
                self.free.push_back(number);
            }
        }
        over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_taken_once() {
        let mut slots = Slots::new(3);
        let mut insert = |c| {
            let id = slots.next_id();
            slots.insert(c);
            id
        };
        let ids: Vec<_> = "abc".chars().map(|c| insert(c).unwrap()).collect();
        assert_eq!((slots.next_id(), slots.room(), slots.len()), (None, 0, 3));
        assert_eq!(slots.take(ids[1]), Ok('b'));
        assert_eq!(slots.take(ids[1]), Err(Stray::Double));
        let again = slots.next_id().unwrap();
        slots.insert('d');
        assert_ne!(again, ids[1]);
        assert_eq!((slots.take(ids[1]), slots.take(again)), (Err(Stray::Double), Ok('d')));
        assert_eq!((slots.take(3), slots.take(u32::MAX)), (Err(Stray::Unasked), Err(Stray::Unasked)));
        assert_eq!(slots.abandon(|&c| c == 'a'), ['a']);
        assert_eq!((slots.take(ids[0]), slots.take(ids[2])), (Err(Stray::Late), Ok('c')));
        assert_eq!(slots.len(), 0);
    }

    #[test]
    fn an_answer_is_late_though_its_slot_was_used_again() {
        let mut slots = Slots::new(1);
        let late = slots.next_id().unwrap();
        slots.insert('a');
        assert_eq!(slots.abandon(|_| true), ['a']);
        let next = slots.next_id().unwrap();
        slots.insert('b');
        assert_eq!(slots.take(next), Ok('b'));
        assert_eq!((slots.take(late), slots.take(late)), (Err(Stray::Late), Err(Stray::Unasked)));
        assert_eq!(slots.take(next), Err(Stray::Double));
    }
}
