//! Formats the change under test as a diff. Both sides are masked first, so that the diff shows no
//! secret.

use std::collections::BTreeSet;

use super::inputs::decode;
use crate::git::unified_hunks;
use crate::model::{ChangeUnderTest, RepoPath};
use crate::policy::{ReadPolicy, Redactor};
use crate::source::Source;

/// What differs between two states of a repository: `base_name` as the caller named the first.
///
/// Both sides of a file are masked before they are compared, so that a removed secret stays out
/// too; a file that policy denies is named and never read. Files whose diff does not fit into
/// 64 KiB are said to be left out.
pub fn change_under_test(
    base_name: &str,
    base: &dyn Source,
    head: &dyn Source,
    policy: &ReadPolicy,
    redactor: &Redactor,
) -> ChangeUnderTest {
    let mut paths = BTreeSet::new();
    for source in [base, head] {
        paths.extend(source.listing().files().map(|entry| &entry.path));
    }
    let mut files = Vec::new();
    let mut diff = String::new();
    // Bytes of diff that go into a packet.
    let max_diff_bytes = 65_536;
    for path in paths {
        if base.blob_id(path) == head.blob_id(path) {
            continue;
        }
        let name = redactor.redact(path.as_str());
        let shown = match RepoPath::new(&name.text) {
            Ok(masked) if !name.findings.is_empty() => masked,
            _ => path.clone(),
        };
        let part = if policy.refuse(path).is_some() || !name.findings.is_empty() {
            format!("The content of {shown} is not shown.\n")
        } else {
            match file_diff(path, base, head, redactor) {
                Some(part) => part,
                // Only line ends differ, as a checkout may change them.
                None => continue,
            }
        };
        files.push(shown.clone());
        if diff.len() + part.len() <= max_diff_bytes {
            diff.push_str(&part);
        } else {
            let mark = format!("The diff of {shown} is left out: {} bytes.\n", part.len());
            if diff.len() + mark.len() <= max_diff_bytes {
                diff.push_str(&mark);
            }
        }
    }
    ChangeUnderTest {
        base: redactor.mask(base_name),
        files,
        diff: redactor.mask(&diff),
    }
}

fn file_diff(
    path: &RepoPath,
    base: &dyn Source,
    head: &dyn Source,
    redactor: &Redactor,
) -> Option<String> {
    let (Ok(before), Ok(after)) = (
        read_side(base, path, redactor),
        read_side(head, path, redactor),
    ) else {
        return Some(format!(
            "The content of {path} is not compared: it is large or not text.\n"
        ));
    };
    let old_name = side_name("a", before.as_ref(), path);
    let new_name = side_name("b", after.as_ref(), path);
    let both = before.is_some() && after.is_some();
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    if both && before != after && before.lines().eq(after.lines()) {
        return None;
    }
    let hunks = unified_hunks(&before, &after);
    let header = format!("diff --git a/{path} b/{path}\n");
    Some(if hunks.is_empty() {
        header
    } else {
        format!("{header}--- {old_name}\n+++ {new_name}\n{hunks}")
    })
}

fn side_name(prefix: &str, side: Option<&String>, path: &RepoPath) -> String {
    match side {
        Some(_) => format!("{prefix}/{path}"),
        None => "/dev/null".to_owned(),
    }
}

fn read_side(
    source: &dyn Source,
    path: &RepoPath,
    redactor: &Redactor,
) -> Result<Option<String>, ()> {
    let entry = source.listing().get(path.as_str());
    let is_file = source.listing().has_file(path.as_str());
    let Some(entry) = entry.filter(|_| is_file) else {
        return Ok(None);
    };
    // A file above this size is data; its lines are not compared.
    if entry.bytes > 1_000_000 {
        return Err(());
    }
    let bytes = source.read(path).map_err(|_| ())?;
    let (text, _) = decode(&bytes).map_err(|_| ())?;
    Ok(Some(redactor.mask(&text)))
}
