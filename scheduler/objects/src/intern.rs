//! One copy of each text that many objects share: label keys, node names, owners.
//!
//! Takes text, gives an `Arc<str>` that equal texts of the same thread share. Only memory
//! depends on it, never a result: a text that is not pooled compares the same.

use std::cell::RefCell;
use std::sync::Arc;

use indexmap::IndexSet;

/// Texts kept per thread: the node names, owners and label values of a cluster of 5,000
/// nodes fit; at some 100 bytes each the pool stays near 3 MB.
const POOL_CAPACITY: usize = 32_768;
/// Longest text worth sharing in bytes: longer ones are messages, which differ.
const TEXT_MAX: usize = 128;

thread_local! {
    static POOL: RefCell<IndexSet<Arc<str>>> = RefCell::new(IndexSet::new());
}

/// A shared copy of `text`. A full pool is emptied; who holds a copy keeps it.
pub(crate) fn intern(text: &str) -> Arc<str> {
    if text.len() > TEXT_MAX {
        return Arc::from(text);
    }
    POOL.with_borrow_mut(|pool| {
        if let Some(shared) = pool.get(text) {
            return Arc::clone(shared);
        }
        if pool.len() >= POOL_CAPACITY {
            pool.clear();
        }
        let shared: Arc<str> = Arc::from(text);
        pool.insert(Arc::clone(&shared));
        shared
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{POOL_CAPACITY, TEXT_MAX, intern};

    #[test]
    fn equal_texts_share_one_copy() {
        assert!(Arc::ptr_eq(&intern("zone-a"), &intern("zone-a")));
        assert_eq!(&*intern("zone-b"), "zone-b");
    }

    #[test]
    fn long_texts_are_not_pooled() {
        let long = "x".repeat(TEXT_MAX + 1);
        assert!(!Arc::ptr_eq(&intern(&long), &intern(&long)));
    }

    #[test]
    fn a_full_pool_starts_again_and_stays_right() {
        let kept = intern("kept");
        for n in 0..=POOL_CAPACITY {
            assert_eq!(&*intern(&n.to_string()), n.to_string());
        }
        assert_eq!(kept, intern("kept"));
    }
}
