use std::sync::LazyLock;

use regex::Regex;

use super::pattern::compile;

/// What runners of several programs put before each line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Wrapper {
    // The shape that most lines have; an index into the table.
    shape: Option<usize>,
    // Prefixes that a runner announced with the command behind them.
    announced: Vec<String>,
}

// Shapes that no tool's own output has: the columns of `gh run view --log`, time stamps, streams of
// GitLab, BuildKit, act and kubectl.
static ALWAYS: LazyLock<Regex> = LazyLock::new(|| {
    compile(concat!(
        r"^(?:[^\t]{1,80}\t[^\t]{1,80}\t\u{feff}?)?",
        r"(?:#\d+ \d+\.\d+ |\[[\w ./()-]+/[\w ./()-]+\] +(?:\| ?|(?:❓|💬|⚙)\s+ *)|\[pod/[^\]]+\] )?",
        r"(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]? ?|\[\d\d:\d\d:\d\d(?:\.\d+)?\] |\d\d:\d\d:\d\d  )?",
        r"(?:\d\d[OE][ +]?)?",
        r"(?:[\w.-]{1,40}-\d+ +\| )?",
    ))
});

// Shapes that count only when most lines have them.
static WRAPPERS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        // docker compose
        r"^[\w.-]{1,40} +\| ?",
        // concurrently, yarn workspaces
        r"^\[[@\w./:-]{1,60}\]:?(?: |$)",
        // turbo
        r"^@?[\w./-]{1,60}:[\w:.-]{1,40}:(?: |$)",
        // pnpm -r
        r"^@?[\w./-]{1,60} [\w:.-]{1,40}(?::(?: |$)|\$ )",
        // lerna
        r"^@?[\w./-]{1,60}:(?: |$)",
    ]
    .into_iter()
    .map(compile)
    .collect()
});

/// The wrapper that the first lines show.
pub(super) fn wrapper(log: &str, sample: usize) -> Wrapper {
    let mut counts = [0_usize; 5];
    let mut filled = 0_usize;
    let mut announced: Vec<String> = Vec::new();
    for raw in log.split('\n').take(sample) {
        let Some(raw) = raw.get(..raw.floor_char_boundary(200)) else {
            continue;
        };
        let text = plain(raw);
        let text = &text[always(&text)..];
        if text.trim().is_empty() {
            continue;
        }
        filled += 1;
        for (count, pattern) in counts.iter_mut().zip(WRAPPERS.iter()) {
            *count += usize::from(pattern.is_match(text));
        }
        if let Some(found) = ANNOUNCED.captures(text)
            && announced.len() < MOST_ANNOUNCED
        {
            let name = found.iter().skip(1).flatten().next();
            let name = name.map_or("", |name| name.as_str());
            if !announced.iter().any(|known| known == name) {
                announced.push(name.to_owned());
            }
        }
    }
    let most = counts.iter().position(|count| count * 10 > filled * 7);
    Wrapper {
        shape: most.filter(|_| filled > 2),
        announced,
    }
}

const MOST_ANNOUNCED: usize = 200;

// pnpm shows the command after a dollar, turbo says whether it found the task in its cache.
static ANNOUNCED: LazyLock<Regex> =
    LazyLock::new(|| compile(r"^(\S+ [\w:.-]+)\$ |^(\S+:[\w:.-]+): cache (?:hit|miss|bypass)"));

fn plain(raw: &str) -> String {
    static ESCAPE: LazyLock<Regex> =
        LazyLock::new(|| compile(r"\x1b(?:\[[0-9;?]*[@-~]|_[^\x07]*\x07)"));
    ESCAPE.replace_all(raw.trim_end(), "").into_owned()
}

/// Bytes of a line's text that are not the tool's.
pub(super) fn length(text: &str, wrapper: &Wrapper) -> usize {
    let skip = always(text);
    let rest = &text[skip..];
    if let Some(pattern) = wrapper.shape.and_then(|shape| WRAPPERS.get(shape)) {
        return skip + pattern.find(rest).map_or(0, |found| found.end());
    }
    if !wrapper.announced.is_empty()
        && let Some((name, _)) = rest.split_once(':').filter(|_| rest.contains(": "))
        && let Some(end) = announced(rest, name, wrapper)
    {
        return skip + end;
    }
    skip
}

fn announced(rest: &str, name: &str, wrapper: &Wrapper) -> Option<usize> {
    wrapper
        .announced
        .iter()
        .filter(|known| known.starts_with(name))
        .find(|known| rest[name.len()..].starts_with(&known[name.len()..]))
        .and_then(|known| {
            rest[known.len()..]
                .starts_with(": ")
                .then_some(known.len() + 2)
        })
}

fn always(text: &str) -> usize {
    let bytes = text.as_bytes();
    let may = match bytes.first() {
        Some(b'#' | b'[' | b'0'..=b'9') => true,
        Some(_) => bytes
            .iter()
            .take(90)
            .any(|&byte| byte == b'\t' || byte == b'|'),
        None => false,
    };
    if may {
        ALWAYS.find(text).map_or(0, |found| found.end())
    } else {
        0
    }
}
