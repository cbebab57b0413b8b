use std::path::{Path, PathBuf};

/// The folders for temporary files that all programs share, none below another.
pub(super) fn temporary() -> Vec<PathBuf> {
    let shared = SHARED.iter().map(PathBuf::from);
    let mut places: Vec<PathBuf> = shared
        .chain([std::env::temp_dir()])
        .filter_map(|it| it.canonicalize().ok())
        .filter(|it| it.is_dir() && it.parent().is_some())
        .collect();
    places.sort();
    places.dedup_by(|later, earlier| later.starts_with(earlier));
    places
}

/// Where a path stands below a shared temporary folder: the topmost folder there that holds it.
/// Whoever works there made it for that, and what it holds is as temporary.
#[must_use]
pub fn own_corner(path: &Path) -> Option<PathBuf> {
    let path = path.canonicalize().ok()?;
    temporary().into_iter().find_map(|place| {
        let below = path.strip_prefix(&place).ok()?.components().next()?;
        Some(place.join(below))
    })
}

const SHARED: &[&str] = &["/tmp", "/var/tmp", "/dev/shm"];
