//! A binary heap of numbers with an outside order and removal from the middle.
//!
//! Takes small dense numbers and, with each call, the order; gives the least one first.
//! Every operation costs `O(log n)`: a position is kept per number.

/// Number of an entity in the queue's store.
pub(super) type Slot = u32;

const ABSENT: u32 = u32::MAX;

#[derive(Debug, Default)]
pub(super) struct Heap {
    order: Vec<Slot>,
    /// Where each number stands in `order`; `ABSENT` where it does not.
    position: Vec<u32>,
}

impl Heap {
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    pub(super) fn first(&self) -> Option<Slot> {
        self.order.first().copied()
    }

    pub(super) fn push(&mut self, slot: Slot, less: impl Fn(Slot, Slot) -> bool) {
        let index = slot as usize;
        if self.position.len() <= index {
            self.position.resize(index + 1, ABSENT);
        }
        debug_assert_eq!(self.position[index], ABSENT, "a number is in a heap once");
        self.order.push(slot);
        self.place(self.order.len() - 1);
        self.rise(self.order.len() - 1, &less);
    }

    /// Takes `slot` out; `false` if it is not in.
    pub(super) fn remove(&mut self, slot: Slot, less: impl Fn(Slot, Slot) -> bool) -> bool {
        let at = self.position.get(slot as usize).copied().unwrap_or(ABSENT);
        if at == ABSENT {
            return false;
        }
        let at = at as usize;
        let last = self.order.len() - 1;
        self.order.swap(at, last);
        self.order.pop();
        self.position[slot as usize] = ABSENT;
        if at < last {
            self.place(at);
            self.rise(at, &less);
            self.sink(at, &less);
        }
        true
    }

    fn place(&mut self, at: usize) {
        self.position[self.order[at] as usize] = at as u32;
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.order.swap(a, b);
        self.place(a);
        self.place(b);
    }

    fn rise(&mut self, mut at: usize, less: &impl Fn(Slot, Slot) -> bool) {
        while at > 0 {
            let parent = (at - 1) / 2;
            if !less(self.order[at], self.order[parent]) {
                return;
            }
            self.swap(at, parent);
            at = parent;
        }
    }

    fn sink(&mut self, mut at: usize, less: &impl Fn(Slot, Slot) -> bool) {
        loop {
            let children = (2 * at + 1..=2 * at + 2).filter(|child| *child < self.order.len());
            let least = children.reduce(|a, b| {
                if less(self.order[b], self.order[a]) {
                    b
                } else {
                    a
                }
            });
            let Some(child) = least.filter(|child| less(self.order[*child], self.order[at])) else {
                return;
            };
            self.swap(at, child);
            at = child;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Heap, Slot};

    #[derive(Debug, Clone)]
    enum Op {
        Push(u8),
        Pop,
        Remove(u8),
    }

    fn ops() -> impl Strategy<Value = Vec<Op>> {
        let op = prop_oneof![
            3 => any::<u8>().prop_map(Op::Push),
            2 => Just(Op::Pop),
            1 => any::<u8>().prop_map(Op::Remove),
        ];
        proptest::collection::vec(op, 0..200)
    }

    proptest! {
        #[test]
        fn the_least_comes_out_first_whatever_was_removed_between(ops in ops()) {
            // Number n weighs n * 37 % 256, so that weights and numbers are in other orders.
            let weight = |slot: Slot| slot.wrapping_mul(37) % 256;
            let less = |a: Slot, b: Slot| weight(a) < weight(b);
            let mut heap = Heap::default();
            let mut model: Vec<Slot> = Vec::new();
            for op in ops {
                match op {
                    Op::Push(slot) if !model.contains(&Slot::from(slot)) => {
                        heap.push(Slot::from(slot), less);
                        model.push(Slot::from(slot));
                    }
                    Op::Push(_) => {}
                    Op::Pop => {
                        let least = model.iter().copied().min_by_key(|slot| weight(*slot));
                        prop_assert_eq!(heap.first(), least);
                        if let Some(slot) = least {
                            prop_assert!(heap.remove(slot, less));
                            model.retain(|kept| *kept != slot);
                        }
                    }
                    Op::Remove(slot) => {
                        let slot = Slot::from(slot);
                        prop_assert_eq!(heap.remove(slot, less), model.contains(&slot));
                        model.retain(|kept| *kept != slot);
                    }
                }
                prop_assert_eq!(heap.len(), model.len());
            }
        }
    }
}
