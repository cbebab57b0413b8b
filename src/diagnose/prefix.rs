//! Prefixes that services, containers and runners of several programs put before each line.

use std::sync::LazyLock;

use regex::Regex;

use super::providers::PROVIDERS;
use crate::runners::{Pattern, pattern};

// Lines that show which prefixes a log has.
const SAMPLE: usize = 4000;
// Prefixes that may stand one inside the other.
const MAX_SHAPES: usize = 3;
const MAX_STAMPS: usize = 6;
// Bytes: the names of most jobs and steps are shorter.
const MAX_COLUMN: usize = 160;

/// Shapes of prefixes that most lines of a log have, the outer first.
#[derive(Debug, Default)]
pub(super) struct Wrapper(Vec<&'static Regex>);

// What no tool's own output has before a line, such as a time stamp.
static STAMP: LazyLock<Regex> =
    LazyLock::new(|| Pattern::any(PROVIDERS.dress.iter().map(|row| &row.line)));

impl Wrapper {
    /// Finds the prefixes that the first lines of a log share.
    pub(super) fn find(log: &str) -> Self {
        let mut texts: Vec<String> = log
            .split('\n')
            .take(SAMPLE)
            .filter_map(|raw| raw.get(..raw.floor_char_boundary(200)))
            .map(strip_escapes)
            .map(|text| text[stamped_length(&text)..].to_owned())
            .filter(|text| !text.trim().is_empty())
            .collect();
        let mut shapes = Vec::new();
        while shapes.len() < MAX_SHAPES && texts.len() > 2 {
            let is_shared = |shape: &&Regex| {
                let wrapped = texts.iter().filter(|text| shape_length(shape, text) > 0);
                wrapped.count() * 10 > texts.len() * 7
            };
            let mut known = PROVIDERS.speaker.iter().map(|row| row.line.get());
            let Some(shape) = known.find(is_shared) else {
                break;
            };
            for text in &mut texts {
                let end = shape_length(shape, text);
                text.drain(..end + stamps_length(&text[end..]));
            }
            texts.retain(|text| !text.trim().is_empty());
            shapes.push(shape);
        }
        Self(shapes)
    }

    /// Returns the length of what stands before a tool's own text.
    pub(super) fn length(&self, text: &str) -> usize {
        let mut skip = stamped_length(text);
        for shape in &self.0 {
            let end = skip + shape_length(shape, &text[skip..]);
            if end > skip {
                skip = end + stamps_length(&text[end..]);
            }
        }
        skip
    }
}

fn strip_escapes(raw: &str) -> String {
    pattern!(ESCAPE, r"\x1b(?:\[[0-9;?]*[@-~]|_[^\x07]*\x07|[ -/]+.)");
    ESCAPE.replace_all(raw.trim_end(), "").into_owned()
}

fn shape_length(shape: &Regex, text: &str) -> usize {
    let found = shape.find(text).filter(|found| !is_message(found.as_str()));
    found.map_or(0, |found| found.end())
}

// A tool begins its own message so: `src/a.py:3:`, `NameError:`, `[ERROR]`, `bash:`.
fn is_message(prefix: &str) -> bool {
    let parts: Vec<&str> = prefix
        .split([':', ' ', '[', ']'])
        .filter(|part| !part.is_empty())
        .collect();
    let is_number = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
    let is_severity = |part: &&str| {
        let error = ["Error", "Exception", "Warning", "Failure"];
        let is_error = error.iter().any(|end| part.ends_with(end));
        PROVIDERS
            .words
            .severities
            .contains(&part.to_ascii_lowercase())
            || is_error
    };
    // `[Node 18]` is a name.
    let may_be_place = !prefix.starts_with('[') || prefix.contains(':');
    if may_be_place && parts.iter().skip(1).any(is_number) || parts.iter().any(is_severity) {
        return true;
    }
    let [only] = parts.as_slice() else {
        return false;
    };
    let name = only.rsplit('/').next().unwrap_or(only);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_one_of = |names: &[String], name: &str| names.iter().any(|own| own == name);
    is_one_of(&PROVIDERS.words.sources, ending) || is_one_of(&PROVIDERS.words.programs, name)
}

fn stamped_length(text: &str) -> usize {
    let columns = columns_length(text);
    columns + stamps_length(&text[columns..])
}

fn stamps_length(text: &str) -> usize {
    let mut skip = 0;
    for _ in 0..MAX_STAMPS {
        let rest = &text[skip..];
        let may_be_stamped = match rest.as_bytes().first() {
            Some(b'#' | b'[' | b'S' | b'_' | b'0'..=b'9') => true,
            Some(_) => rest.bytes().take(60).any(|byte| byte == b'|'),
            None => false,
        };
        let Some(stamp) = may_be_stamped.then(|| STAMP.find(rest)).flatten() else {
            break;
        };
        skip += stamp.end();
    }
    skip
}

// The job and the step that `gh run view --log` puts before a line.
fn columns_length(text: &str) -> usize {
    let column = |from: usize| {
        let bytes = &text.as_bytes()[from..];
        let end = memchr::memchr(b'\t', &bytes[..bytes.len().min(MAX_COLUMN)])?;
        (end > 0).then_some(from + end + 1)
    };
    let end = column(0).and_then(column).unwrap_or(0);
    let rest = &text[end..];
    let line = rest.strip_prefix('\u{feff}').unwrap_or(rest);
    // A time always follows; Go and testify have columns of their own.
    let has_time = line.as_bytes().first().is_some_and(u8::is_ascii_digit)
        && line.as_bytes().get(10) == Some(&b'T');
    if end > 0 && has_time {
        text.len() - line.len()
    } else {
        0
    }
}
