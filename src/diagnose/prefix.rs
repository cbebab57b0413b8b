//! Prefixes that services, containers and runners of several programs put before each line.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::providers::PROVIDERS;
use crate::policy::sanitize_log;
use crate::runners::{Pattern, pattern};

// Lines in which runners announce their names.
const SAMPLE: usize = 4000;
// Prefixes that may be nested.
const MAX_STAMPS: usize = 6;
// Bytes: the names of most services, jobs and steps are shorter.
const MAX_COLUMN: usize = 160;

/// Prefixes of programs that run several others: names that they announced with a command.
#[derive(Debug, Default)]
pub(super) struct Wrapper {
    announced: BTreeSet<String>,
    is_shared: bool,
    indent: usize,
}

// pnpm shows the command after a dollar, turbo says whether it found the task in its cache, lerna what npm runs.
pattern!(
    ANNOUNCED,
    r"^(?:(\S+ [\w:.-]+)\$ |(\S+): (?:\$ \w|> \S+@\d\S* \w)|(\S+:[\w:.-]+): cache (?:hit|miss|bypass))"
);

// Prefixes that no tool prints itself, such as a time stamp.
static STAMP: LazyLock<Regex> =
    LazyLock::new(|| Pattern::any(PROVIDERS.dress.iter().map(|row| &row.line)));

// Prefixes that most lines of a log have, or none.
static SHARED: LazyLock<Regex> =
    LazyLock::new(|| Pattern::any(PROVIDERS.shared.iter().map(|row| &row.line)));

impl Wrapper {
    /// Finds the names that the first lines of a log announce, and whether most of them begin alike.
    pub(super) fn find(log: &str) -> Self {
        let mut wrapper = Self::default();
        let (mut filled, mut alike, mut indent) = (0, 0, usize::MAX);
        for raw in log.split('\n').take(SAMPLE).filter(|raw| !raw.trim().is_empty()) {
            filled += 1;
            alike += usize::from(SHARED.is_match(raw));
            indent = indent.min(indent_of(raw));
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
        // Where fewer do, it is a tool that counts or names a file.
        wrapper.is_shared = alike >= 3 && alike * 4 >= filled * 3;
        // As Markdown indents a block of code.
        wrapper.indent = if filled >= 3 && indent >= 4 { indent } else { 0 };
        wrapper
    }

    /// Returns the length of what is before a tool's own text.
    pub(super) fn length(&self, text: &str) -> usize {
        let mut skip = self.indent.min(indent_of(text));
        skip += stamped_length(&text[skip..]);
        let shared = self.is_shared.then(|| SHARED.find(&text[skip..])).flatten();
        skip += shared.map_or(0, |found| found.end());
        let rest = &text[skip..];
        let mut announced = self.announced.iter();
        skip + announced.find(|name| rest.starts_with(name.as_str())).map_or(0, String::len)
    }
}

fn indent_of(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len()
}

fn stamped_length(text: &str) -> usize {
    let mut skip = 0;
    for _ in 0..MAX_STAMPS {
        let rest = &text[skip..];
        let may_be_stamped = match rest.as_bytes().first() {
            Some(b'#' | b'[' | b'S' | b'_' | b'0'..=b'9' | 0xe2) => true,
            Some(b' ') if rest.starts_with("       >") => true,
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
