use super::super::bodies::apply_delta;
use super::super::set::Binary;
use crate::git::Staging;
use crate::model::BlobId;
use crate::patch::strict::Section;

/// What a binary section makes of a file; both full ids have to prove it. `Err` says why not.
pub(super) fn apply(
    section: &Section<'_>,
    before: &[u8],
    reverse: bool,
    staging: Option<&Staging>,
) -> Result<Vec<u8>, String> {
    let name = section.name();
    let (Some(old), Some(new)) = (full_id(section.old_id), full_id(section.new_id)) else {
        return Err(format!(
            "cannot apply binary patch to '{name}' without full index line"
        ));
    };
    if section.old_name.is_some() {
        let now = BlobId::from_content(before);
        if now != old {
            return Err(format!(
                "the patch applies to '{name}' ({now}), which does not match the current contents."
            ));
        }
    } else if !before.is_empty() {
        return Err(format!(
            "the patch applies to an empty '{name}' but it is not empty"
        ));
    }
    if new.as_bytes().iter().all(|byte| *byte == 0) {
        return Ok(Vec::new());
    }
    if let Some(staging) = staging.filter(|staging| staging.has(new)) {
        return staging
            .blob(new)
            .map_err(|_| format!("the necessary postimage {new} for '{name}' cannot be read"));
    }
    let Some((forward, backward)) = &section.binary else {
        return Err(format!("missing binary patch data for '{name}'"));
    };
    let data = if reverse {
        backward.as_ref().ok_or_else(|| {
            format!("cannot reverse-apply a binary patch without the reverse hunk to '{name}'")
        })?
    } else {
        forward
    };
    let after = match data {
        Binary::Literal(bytes) => Some(bytes.clone()),
        Binary::Delta(delta) => apply_delta(before, delta),
    };
    let after = after.ok_or_else(|| format!("binary patch does not apply to '{name}'"))?;
    let made = BlobId::from_content(&after);
    if made != new {
        return Err(format!(
            "binary patch to '{name}' creates incorrect result (expecting {new}, got {made})"
        ));
    }
    Ok(after)
}

/// An id of all its 40 digits.
fn full_id(hex: &[u8]) -> Option<BlobId> {
    std::str::from_utf8(hex).ok()?.parse().ok()
}
