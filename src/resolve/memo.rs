use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{PoisonError, RwLock};

/// Answers computed once, shared between threads. Two threads may compute the same answer; the
/// functions behind it are pure, so either will do.
pub(super) struct Memo<K, V>(RwLock<HashMap<K, V>>);

impl<K: Eq + Hash, V: Clone> Memo<K, V> {
    pub(super) fn new() -> Self {
        Self(RwLock::new(HashMap::new()))
    }

    pub(super) fn get<Q>(&self, key: &Q, compute: impl FnOnce() -> V) -> V
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = known.get(key) {
            return value.clone();
        }
        drop(known);
        let value = compute();
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(key.to_owned(), value.clone());
        value
    }
}
