use std::path::Path;

use super::destination::Destination;
use super::messages::{Fatal, Messages};
use super::section::SectionResult;
use super::section::is_submodule;
use crate::git::{Staged, Staging};

/// Writes an index with the blobs that a patch says it was made for.
pub(super) fn build_ancestor(
    done: &[SectionResult<'_>],
    destination: &Destination<'_>,
    file: &Path,
    messages: &mut Messages,
) -> Result<(), Fatal> {
    let Some(staging) = &destination.staging else {
        return Err(Fatal(
            "'--build-fake-ancestor' outside a repository".to_owned(),
        ));
    };
    let mut entries = Vec::new();
    for one in done.iter().filter(|one| !one.section.creates()) {
        let section = &one.section;
        let name = section.name();
        let hex = std::str::from_utf8(section.old_id).unwrap_or_default();
        let unchanged = section.added == 0 && section.deleted == 0;
        let id = if is_submodule(section.old_mode) {
            super::binary::full_id(section.old_id)
        } else if let Some((id, _)) = staging.find(hex) {
            Some(id)
        } else if unchanged {
            let now = staging.entry(name).map(|entry| entry.id);
            if now.is_none() {
                return Err(Fatal(format!(
                    "mode change for {name}, which is not in current HEAD"
                )));
            }
            now
        } else {
            None
        };
        let Some(id) = id else {
            return Err(Fatal(format!(
                "sha1 information is lacking or useless ({name})."
            )));
        };
        let entry = Staged {
            id,
            mode: section.old_mode,
            stage: 0,
            intent_to_add: false,
            fresh: false,
        };
        entries.push((name.to_owned(), entry));
    }
    Staging::write_apart(file, &entries).map_err(|error| {
        messages.error(&error.to_string());
        Fatal(format!(
            "could not write temporary index to {}",
            file.display()
        ))
    })
}
