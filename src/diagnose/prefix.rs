//! Prefixes that services, containers and runners of several programs put before each line.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use super::providers::PROVIDERS;
use crate::policy::sanitize_log;
use crate::runners::{Pattern, pattern};

// Lines in which runners announce their names.
const SAMPLE: usize = 4000;
// Prefixes that may stand one inside the other.
const MAX_STAMPS: usize = 6;
// Bytes: the names of most services, jobs and steps are shorter.
const MAX_COLUMN: usize = 160;

/// What runners of several programs put before each line: names that they announced with a command.
#[derive(Debug, Default)]
pub(super) struct Wrapper {
    announced: BTreeSet<String>,
    is_numbered: bool,
}

// pnpm shows the command after a dollar, turbo says whether it found the task in its cache, lerna what npm runs.
pattern!(
    ANNOUNCED,
    r"^(?:(\S+ [\w:.-]+)\$ |(\S+): (?:\$ \w|> \S+@\d\S* \w)|(\S+:[\w:.-]+): cache (?:hit|miss|bypass))"
);
// What nix puts before the last lines of the log of a build.
const NIX: &str = "       > ";

// What no tool's own output has before a line, such as a time stamp.
static STAMP: LazyLock<Regex> =
    LazyLock::new(|| Pattern::any(PROVIDERS.dress.iter().map(|row| &row.line)));

impl Wrapper {
    /// Finds the names that the first lines of a log announce, or that most of them begin with.
    pub(super) fn find(log: &str) -> Self {
        let mut wrapper = Self::default();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        let filled = log.split('\n').take(SAMPLE).filter(|raw| !raw.trim().is_empty());
        let lines = filled.clone().count();
        for raw in filled {
            *counts.entry(shared_word(raw)).or_default() += 1;
            if raw.contains(" log lines:") {
                wrapper.announced.insert(NIX.to_owned());
            }
            if !raw.contains('$') && !raw.contains("cache ") && !raw.contains(": > ") {
                continue;
            }
            let start = raw.get(..raw.floor_char_boundary(200)).unwrap_or(raw);
            let text = sanitize_log(start.trim_end().as_bytes());
            if let Some(found) = ANNOUNCED.captures(&text[stamped_length(&text)..]) {
                let name = found.iter().skip(1).flatten().next();
                wrapper.announced.extend(name.map(|name| format!("{}: ", name.as_str())));
            }
        }
        // Where fewer lines begin alike, it is a tool that names a file or a task.
        let shared = counts.into_iter().find(|(_, count)| *count >= 3 && count * 4 >= lines * 3);
        let shared = shared.map_or("", |(word, _)| word);
        wrapper.is_numbered = shared == NUMBER;
        wrapper.announced.extend((shared.len() > 1).then(|| format!("{shared} ")));
        wrapper
    }

    /// Returns the length of what is before a tool's own text.
    pub(super) fn length(&self, text: &str) -> usize {
        let mut skip = stamped_length(text);
        if self.is_numbered && shared_word(text) == NUMBER {
            skip = text.find(BLANKS).map_or(text.len(), |at| at + 1);
        }
        let rest = &text[skip..];
        let begins = |name: &&String| rest.starts_with(name.as_str()) || rest == name.trim_end();
        let name = self.announced.iter().find(begins);
        skip + name.map_or(0, |name| name.len().min(rest.len()))
    }
}

// The number of the line in a page, or the seconds since a test bed of Debian began.
const NUMBER: &str = "0";
const BLANKS: [char; 3] = [' ', '\t', '\r'];

// A first word that runners put before each line: the package and the task, or a number; nothing for any other.
fn shared_word(line: &str) -> &str {
    let word = line.split(BLANKS).next().unwrap_or_default();
    let number = word.strip_suffix('s').unwrap_or(word);
    let is_task =
        |name: &str| name.contains(':') && name.ends_with(|c: char| c.is_ascii_lowercase());
    if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) {
        NUMBER
    } else if word.strip_suffix(':').is_some_and(is_task) {
        word
    } else {
        ""
    }
}

fn stamped_length(text: &str) -> usize {
    let mut skip = 0;
    for _ in 0..MAX_STAMPS {
        let rest = &text[skip..];
        let may_be_stamped = match rest.as_bytes().first() {
            Some(b'#' | b'[' | b'S' | b'_' | b'0'..=b'9' | 0xe2) => true,
            Some(_) => rest.bytes().take(MAX_COLUMN).any(|byte| matches!(byte, b'|' | b'\t')),
            None => false,
        };
        let Some(stamp) = may_be_stamped.then(|| STAMP.find(rest)).flatten() else {
            break;
        };
        skip += stamp.end();
    }
    skip
}
