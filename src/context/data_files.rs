use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::build::PacketInputs;
use super::candidates::{Candidate, Place, RequestedParts};
use super::failure::Failure;
use crate::languages::Language;
use crate::model::{Diagnosis, RepoPath, Role};
use crate::source::{Entry, Source};

/// Data files that a packet takes for being named.
const MAX_FILES: usize = 3;
/// A data file is shown whole up to so many bytes, and up to four times as many when it was changed.
const WHOLE_BYTES: u64 = 2_048;
/// Lines shown on either side of one that a parser complains of.
const AROUND: u32 = 6;
/// Names and frames beyond these are not looked at.
const MAX_NAMES: usize = 64;
const MAX_FRAMES: usize = 32;
const MAX_NAME_BYTES: usize = 200;

/// Data files that stand in quotes where it failed: on a line of the log, or on the line of source
/// that a frame of it points at. Where several files bear a name, the nearest to the files of the
/// failure is meant. Those that differ from the last commit come first.
///
/// A small one is wanted whole, of a larger one the lines that a parser complains of; `max_bytes` is
/// what all files share.
pub(super) fn data_files(
    inputs: &PacketInputs<'_>,
    failure: &Failure,
    diagnosis: &Diagnosis,
    max_bytes: u64,
) -> Vec<Candidate> {
    let source = inputs.source;
    let mut near: BTreeSet<RepoPath> = failure.targets.iter().cloned().collect();
    let mut names: Vec<String> = Vec::new();
    for line in failure.evidence.text.lines() {
        add_names(&mut names, line);
    }
    let pointed = diagnosis.files.iter().filter(|it| it.line.is_some());
    for file in pointed.take(MAX_FRAMES) {
        let Some(path) = file.repo_path().filter(|path| inputs.may_read(path)) else {
            continue;
        };
        let line = file
            .line
            .and_then(|it| usize::try_from(it).ok()?.checked_sub(1));
        if let (Some(line), Ok(bytes)) = (line, source.read(&path)) {
            let line = bytes.split(|it| *it == b'\n').nth(line).unwrap_or_default();
            add_names(&mut names, &String::from_utf8_lossy(line));
        }
        near.insert(path);
    }
    let found = borne(source, &names, &near);
    let mut found: Vec<(bool, &Entry)> = found
        .into_iter()
        .filter(|entry| inputs.may_read(&entry.path))
        .take(MAX_FILES)
        .map(|entry| {
            let before = inputs
                .committed
                .and_then(|tree| tree.read(&entry.path).ok());
            let now = source.read(&entry.path).ok();
            let is_changed = before.is_some() && before != now;
            (is_changed, entry)
        })
        .collect();
    found.sort_by_key(|it| Reverse(it.0));
    let complaint = complaints(diagnosis);
    let of = |(is_changed, entry): (bool, &Entry)| {
        let changed = if is_changed {
            "; it differs from the last commit"
        } else {
            ""
        };
        let whole = WHOLE_BYTES.min(max_bytes / 16) * if is_changed { 4 } else { 1 };
        let parts = RequestedParts {
            all: entry.bytes <= whole,
            lines: complaint.clone(),
            seen: Vec::new(),
        };
        // A path as it was written may hold a secret.
        let name = entry.path.file_name();
        let why = format!("named as `{name}` where it failed{changed}");
        Candidate {
            asked: Some(parts).filter(|parts| parts.all || !parts.lines.is_empty()),
            ..Candidate::new(&entry.path, Role::Mentioned, Place::Given, &why)
        }
    };
    found.into_iter().map(of).collect()
}

// What stands in quotes on a line and may be the name of a file that is no code.
fn add_names(names: &mut Vec<String>, line: &str) {
    for (at, quote) in line.match_indices(['"', '\'', '`']) {
        let rest = &line[at + quote.len()..];
        let Some(name) = rest.find(quote).map(|end| &rest[..end]) else {
            continue;
        };
        let is_new = names.len() < MAX_NAMES && !names.iter().any(|it| it == name);
        if is_new && is_data(name) {
            names.push(name.to_owned());
        }
    }
}

fn is_data(name: &str) -> bool {
    let odd = |it: char| it.is_whitespace() || it.is_control() || "*?<>|".contains(it);
    let last = name.rsplit('/').next().unwrap_or(name);
    name.len() <= MAX_NAME_BYTES
        && !name.contains(odd)
        && Language::of_path(last).is_none()
        && last.rsplit_once('.').is_some_and(|(stem, extension)| {
            let short = (1..=8).contains(&extension.len());
            !stem.is_empty() && short && extension.bytes().all(|it| it.is_ascii_alphanumeric())
        })
}

// For each name, in order, the one file that bears it.
fn borne<'s>(
    source: &'s dyn Source,
    names: &[String],
    near: &BTreeSet<RepoPath>,
) -> Vec<&'s Entry> {
    fn last(name: &str) -> &str {
        name.rsplit('/').next().unwrap_or(name)
    }
    let mut bearers: BTreeMap<&str, Vec<&'s Entry>> = BTreeMap::new();
    for name in names {
        bearers.entry(last(name)).or_default();
    }
    for entry in source.listing().files() {
        if let Some(list) = bearers.get_mut(entry.path.file_name()) {
            list.push(entry);
        }
    }
    let ends = |long: &str, short: &str| {
        let before = long.strip_suffix(short);
        before.is_some_and(|it| it.is_empty() || it.ends_with('/'))
    };
    let mut found: Vec<&Entry> = Vec::new();
    for name in names {
        let plain = name.trim_start_matches(['.', '/']);
        let all = bearers.get(last(name)).map_or(&[][..], Vec::as_slice);
        // Of a path from another place only one that goes on below a folder says which is meant.
        let fits = |entry: &&&Entry| {
            let path = entry.path.as_str();
            ends(path, plain) || path.contains('/') && ends(name, path)
        };
        let of = |entry: &'s Entry| {
            (
                near.iter().map(|it| entry.path.shared_with(it)).max(),
                entry,
            )
        };
        let mut fitting: Vec<_> = all.iter().filter(fits).map(|it| of(it)).collect();
        fitting.sort_by_key(|it| Reverse(it.0));
        let entry = match &fitting[..] {
            [only] => only.1,
            [first, second, ..] if first.0 > second.0 => first.1,
            _ => continue,
        };
        if found.iter().all(|it| it.path != entry.path) {
            found.push(entry);
        }
    }
    found
}

// Lines around those that a parser of data complains of: `line 2 column 59`, `line 2, column 1`.
fn complaints(diagnosis: &Diagnosis) -> Vec<[u32; 2]> {
    let number = |text: &str| {
        let end = text
            .find(|it: char| !it.is_ascii_digit())
            .unwrap_or(text.len());
        let (number, rest) = text.split_at(end);
        let rest = rest.trim_start_matches(',').trim_start();
        let line: u32 = number.parse().ok()?;
        rest.starts_with("col").then_some(line)
    };
    let texts = diagnosis.evidence.iter().map(|it| it.text.as_str());
    let messages = diagnosis
        .tests
        .iter()
        .filter_map(|it| it.message.as_deref());
    let mut found: Vec<[u32; 2]> = texts
        .chain(messages)
        .flat_map(|text| text.split("line ").skip(1).filter_map(number))
        .map(|line| {
            [
                line.saturating_sub(AROUND).max(1),
                line.saturating_add(AROUND),
            ]
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found.truncate(MAX_FILES);
    found
}

#[cfg(test)]
mod tests {
    use super::{add_names, borne};
    use crate::model::RepoPath;
    use crate::source::Memory;

    #[test]
    fn names_in_quotes_that_one_file_bears() {
        let mut names = Vec::new();
        for line in [
            r#"s = BillStore(DATA / "bills.json")  # "a b.json", 'x.py', "*.csv", "1.5.""#,
            "new URL('./sizes.json', import.meta.url)",
            r#"open("/ci/build/conf/app.toml") or `rates.yaml`"#,
        ] {
            add_names(&mut names, line);
        }
        let expected = [
            "bills.json",
            "./sizes.json",
            "/ci/build/conf/app.toml",
            "rates.yaml",
        ];
        assert_eq!(names, expected);
        let files = [
            "conf/app.toml",
            "docs/rates.yaml",
            "examples/bills.json",
            "examples/sizes.json",
            "tests/data/bills.json",
            "tests/unit/rates.yaml",
            "web/sizes.json.bak",
        ];
        let source = Memory::named(files.map(|path| (path, "")));
        let near = ["tests/unit/test_a.py"].map(|it| RepoPath::new(it).unwrap());
        let near = near.into_iter().collect();
        let found = borne(&source, &names, &near);
        let found: Vec<&str> = found.iter().map(|it| it.path.as_str()).collect();
        let meant = [
            "tests/data/bills.json",
            "examples/sizes.json",
            "conf/app.toml",
            "tests/unit/rates.yaml",
        ];
        assert_eq!(found, meant);
        // Two that are as near as one another: neither.
        let far = [RepoPath::new("web/a.ts").unwrap()].into_iter().collect();
        assert!(borne(&source, &["bills.json".to_owned()], &far).is_empty());
    }
}
