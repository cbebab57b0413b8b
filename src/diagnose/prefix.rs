use std::sync::LazyLock;

use regex::Regex;

use super::providers::PROVIDERS;
use crate::runners::{Pattern, pattern};

/// What runners of several programs put before each line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Wrapper {
    // The shapes that most lines have, the outer first; indices into the table.
    shapes: Vec<usize>,
    // Prefixes that a runner announced with the command behind them.
    announced: Vec<String>,
}

// What no tool's own output has before a line; a group is the name of the program that wrote it.
static DRESS: LazyLock<Regex> =
    LazyLock::new(|| Pattern::any(PROVIDERS.dress.iter().map(|row| &row.line)));

/// The wrapper that the first lines show: one runner, or one inside the other.
pub(super) fn wrapper(log: &str, sample: usize) -> Wrapper {
    let mut texts: Vec<String> = log
        .split('\n')
        .take(sample)
        .filter_map(|raw| raw.get(..raw.floor_char_boundary(200)))
        .map(plain)
        .map(|text| text[always(&text)..].to_owned())
        .filter(|text| !text.trim().is_empty())
        .collect();
    let mut wrapper = Wrapper::default();
    while wrapper.shapes.len() < DEEPEST {
        announcements(&texts, &mut wrapper.announced);
        let shape = PROVIDERS.speaker.iter().position(|row| {
            let count = texts
                .iter()
                .filter(|text| wrapped(row.line.get(), text) > 0);
            texts.len() > 2 && count.count() * 10 > texts.len() * 7
        });
        let Some(shape) = shape else { break };
        for text in &mut texts {
            let end = wrapped(PROVIDERS.speaker[shape].line.get(), text);
            let end = end + dressed(&text[end..]);
            text.drain(..end);
        }
        texts.retain(|text| !text.trim().is_empty());
        wrapper.shapes.push(shape);
    }
    wrapper
}

// Bytes of the prefix, none where it is the place or the word with which a tool begins its message.
fn wrapped(pattern: &Regex, text: &str) -> usize {
    pattern.find(text).map_or(0, |found| {
        if is_own(found.as_str()) {
            0
        } else {
            found.end()
        }
    })
}

// `src/a.py:3:`, `NameError:`, `[ERROR]`, `bash:`.
fn is_own(prefix: &str) -> bool {
    let parts: Vec<&str> = prefix
        .split([':', ' ', '[', ']'])
        .filter(|it| !it.is_empty())
        .collect();
    let digits = |it: &&str| it.bytes().all(|byte| byte.is_ascii_digit());
    let is_message = |text: &&str| {
        let lower = text.to_ascii_lowercase();
        let error = ["Error", "Exception", "Warning", "Failure"];
        PROVIDERS.words.severities.contains(&lower) || error.iter().any(|end| text.ends_with(end))
    };
    // `[Node 18]` is a name.
    let is_place = !prefix.starts_with('[') || prefix.contains(':');
    if is_place && parts.iter().skip(1).any(digits) || parts.iter().any(is_message) {
        return true;
    }
    let [only] = parts.as_slice() else {
        return false;
    };
    let name = only.rsplit('/').next().unwrap_or(only);
    let is_file = name
        .rsplit_once('.')
        .is_some_and(|(_, end)| PROVIDERS.words.sources.iter().any(|it| it == end));
    is_file || PROVIDERS.words.programs.iter().any(|it| it == name)
}

fn announcements(texts: &[String], announced: &mut Vec<String>) {
    for text in texts {
        if let Some(found) = ANNOUNCED.captures(text)
            && announced.len() < MOST_ANNOUNCED
        {
            let name = found.iter().skip(1).flatten().next();
            let name = name.map_or("", |name| name.as_str());
            if !announced.iter().any(|earlier| earlier == name) {
                announced.push(name.to_owned());
            }
        }
    }
}

const DEEPEST: usize = 3;
const MOST_DRESS: usize = 6;
const MOST_ANNOUNCED: usize = 200;

// pnpm shows the command after a dollar, turbo says whether it found the task in its cache.
pattern!(
    ANNOUNCED,
    r"^(\S+ [\w:.-]+)\$ |^(\S+:[\w:.-]+): cache (?:hit|miss|bypass)"
);

fn plain(raw: &str) -> String {
    pattern!(ESCAPE, r"\x1b(?:\[[0-9;?]*[@-~]|_[^\x07]*\x07|[ -/]+.)");
    ESCAPE.replace_all(raw.trim_end(), "").into_owned()
}

/// What a runner put before a raw line to say whose it is.
pub(super) fn origin(raw: &str, wrapper: &Wrapper) -> Option<String> {
    if wrapper.shapes.is_empty() && wrapper.announced.is_empty() {
        return None;
    }
    let head = raw.get(..raw.floor_char_boundary(300))?;
    let text = plain(head);
    let mut origin = String::new();
    behind(&text, wrapper, |name| origin.push_str(name));
    let origin = origin.trim();
    (!origin.is_empty()).then(|| origin.to_owned())
}

/// Which of several programs that write at the same time a raw line is of: a job of `gh run view
/// --log`, a stage of `BuildKit`, a service, a pod, a package.
pub(super) fn speaker(raw: &str, wrapper: &Wrapper) -> Option<String> {
    let head = raw.get(..raw.floor_char_boundary(300))?;
    let text = plain(head);
    let from = columns(&text);
    if from > 0 {
        return text.split('\t').next().map(str::to_owned);
    }
    let mut rest = text.as_str();
    for _ in 0..MOST_DRESS {
        let dress = may_be_dressed(rest).then(|| DRESS.captures(rest)).flatten();
        let Some(dress) = dress else { break };
        if let Some(name) = dress.iter().skip(1).flatten().next() {
            return Some(name.as_str().to_owned());
        }
        rest = &rest[dress[0].len()..];
    }
    origin(raw, wrapper)
}

/// Bytes of a line's text that are not the tool's.
pub(super) fn length(text: &str, wrapper: &Wrapper) -> usize {
    behind(text, wrapper, |_| ())
}

// The same, with each part that names whose line it is.
fn behind(text: &str, wrapper: &Wrapper, mut name: impl FnMut(&str)) -> usize {
    let mut skip = always(text);
    for shape in &wrapper.shapes {
        let end = skip + wrapped(PROVIDERS.speaker[*shape].line.get(), &text[skip..]);
        if end > skip {
            name(&text[skip..end]);
            skip = end + dressed(&text[end..]);
        }
    }
    let rest = &text[skip..];
    if !wrapper.announced.is_empty()
        && let Some((first, _)) = rest.split_once(':').filter(|_| rest.contains(": "))
        && let Some(end) = announced(rest, first, wrapper)
    {
        name(&rest[..end]);
        return skip + end;
    }
    skip
}

fn announced(rest: &str, name: &str, wrapper: &Wrapper) -> Option<usize> {
    let is_here = |prefix: &&String| prefix.starts_with(name) && rest.starts_with(prefix.as_str());
    let length = wrapper.announced.iter().find(is_here)?.len();
    rest[length..].starts_with(": ").then_some(length + 2)
}

fn always(text: &str) -> usize {
    let columns = columns(text);
    columns + dressed(&text[columns..])
}

// Bytes of the shapes that always count, one behind the other.
fn dressed(text: &str) -> usize {
    let mut skip = 0;
    for _ in 0..MOST_DRESS {
        let rest = &text[skip..];
        let Some(dress) = may_be_dressed(rest).then(|| DRESS.find(rest)).flatten() else {
            break;
        };
        skip += dress.end();
    }
    skip
}

fn may_be_dressed(text: &str) -> bool {
    match text.as_bytes().first() {
        Some(b'#' | b'[' | b'S' | b'0'..=b'9') => true,
        Some(_) => text.bytes().take(60).any(|byte| byte == b'|'),
        None => false,
    }
}

// The job and the step that `gh run view --log` puts before a line.
fn columns(text: &str) -> usize {
    let column = |from: usize| {
        let bytes = &text.as_bytes()[from..];
        let end = memchr::memchr(b'\t', &bytes[..bytes.len().min(LONGEST_COLUMN)])?;
        (end > 0).then_some(from + end + 1)
    };
    let end = column(0).and_then(column).unwrap_or(0);
    let rest = &text[end..];
    let line = rest.strip_prefix('\u{feff}').unwrap_or(rest);
    // It always prints a time; Go and testify have columns of their own.
    let stamped = line.as_bytes().first().is_some_and(u8::is_ascii_digit)
        && line.as_bytes().get(10) == Some(&b'T');
    if end > 0 && stamped {
        text.len() - line.len()
    } else {
        0
    }
}

// Bytes: the names of most jobs and steps are shorter.
const LONGEST_COLUMN: usize = 160;
