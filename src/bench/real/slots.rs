use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::checkout::Checkout;
use crate::model::RealEnvironment;

/// Checkouts of environments below one folder, as many of each as are used at a time.
#[derive(Clone)]
pub(super) struct Slots {
    home: PathBuf,
    known: Arc<Mutex<BTreeMap<PathBuf, Shelf>>>,
}

#[derive(Default)]
struct Shelf {
    made: usize,
    free: Vec<usize>,
}

/// A checkout that nobody else uses until this value is dropped.
pub(super) struct Slot {
    checkout: Checkout,
    number: usize,
    shelf: PathBuf,
    slots: Slots,
}

impl Slots {
    /// Those below `home`.
    pub(super) fn new(home: &Path) -> Self {
        Self {
            home: home.to_owned(),
            known: Arc::default(),
        }
    }

    /// A checkout for an environment of a repository, set up or not.
    pub(super) fn take(&self, repository: &str, environment: &RealEnvironment) -> Slot {
        let folder = repository.replace('/', "+");
        let shelf = self.home.join(folder).join(&environment.name);
        let name = repository.rsplit('/').next().unwrap_or(repository);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let row = known.entry(shelf.clone()).or_default();
        let number = row.free.pop().unwrap_or_else(|| {
            row.made += 1;
            row.made
        });
        Slot {
            checkout: Checkout::new(shelf.join(number.to_string()), name),
            number,
            shelf,
            slots: self.clone(),
        }
    }
}

impl Slot {
    /// The checkout.
    pub(super) fn checkout(&self) -> &Checkout {
        &self.checkout
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let known = self.slots.known.lock();
        let mut known = known.unwrap_or_else(PoisonError::into_inner);
        if let Some(row) = known.get_mut(&self.shelf) {
            row.free.push(self.number);
        }
    }
}
