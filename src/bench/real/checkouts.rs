use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use super::checkout::Checkout;
use crate::bench::BenchError;
use crate::model::{RealEnvironment, file_name};

/// Checkouts of environments below one folder, as many of each as are used at a time, by this
/// process and by others.
#[derive(Debug, Clone)]
pub(super) struct Checkouts {
    home: PathBuf,
}

/// A checkout that nobody else uses until this value is dropped.
#[derive(Debug)]
pub(super) struct Lease {
    checkout: Checkout,
    // Held for its lock.
    _lock: File,
}

impl Checkouts {
    /// Those below `home`.
    pub(super) fn new(home: &Path) -> Self {
        Self {
            home: home.to_owned(),
        }
    }

    /// The first checkout for an environment of a repository that nobody uses, set up or not.
    ///
    /// # Errors
    /// [`BenchError::Write`] when the disk refuses.
    pub(super) fn take(
        &self,
        repository: &str,
        environment: &RealEnvironment,
    ) -> Result<Lease, BenchError> {
        let folder = repository.replace('/', "+");
        let shelf = self.home.join(folder).join(&environment.name);
        fs::create_dir_all(&shelf).map_err(|error| BenchError::write(&shelf, &error))?;
        let name = file_name(repository);
        let mut number = 1;
        loop {
            let path = shelf.join(format!("{number}.lock"));
            let failed = |error| BenchError::write(&path, &error);
            let lock = File::create(&path).map_err(failed)?;
            match lock.try_lock() {
                Ok(()) => {
                    return Ok(Lease {
                        checkout: Checkout::new(shelf.join(number.to_string()), name),
                        _lock: lock,
                    });
                }
                Err(TryLockError::WouldBlock) => number += 1,
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
    }
}

impl Lease {
    /// The checkout.
    pub(super) fn checkout(&self) -> &Checkout {
        &self.checkout
    }
}

#[cfg(test)]
mod tests {
    use super::Checkouts;
    use crate::model::RealEnvironment;

    #[test]
    fn nobody_shares_a_checkout() {
        let home = tempfile::tempdir().unwrap();
        let environment = RealEnvironment {
            name: "one".to_owned(),
            commit: String::new(),
            setup: Vec::new(),
            test: String::new(),
            variables: Vec::new(),
            needs: Vec::new(),
            timeout_seconds: 1.0,
        };
        // As two processes with the same folder.
        let (mine, other) = (Checkouts::new(home.path()), Checkouts::new(home.path()));
        let first = mine.take("a/b", &environment).unwrap();
        let second = other.take("a/b", &environment).unwrap();
        let root = first.checkout().root();
        assert_ne!(root, second.checkout().root());
        drop(first);
        let third = other.take("a/b", &environment).unwrap();
        assert_eq!(third.checkout().root(), root);
    }
}
