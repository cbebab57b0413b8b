use std::sync::LazyLock;

use regex::Regex;

use super::pattern::compile;

/// What a runner of several programs puts before each line; an index into its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wrapper(usize);

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
        r"^\[[@\w./:-]{1,60}\]:? ",
        // turbo
        r"^@?[\w./-]{1,60}:[\w:.-]{1,40}: ",
        // pnpm -r
        r"^@?[\w./-]{1,60} [\w:.-]{1,40}(?:: |\$ )",
        // lerna
        r"^@?[\w./-]{1,60}: ",
    ]
    .into_iter()
    .map(compile)
    .collect()
});

/// The wrapper whose prefix most of the first lines carry.
pub(super) fn wrapper(log: &str, sample: usize) -> Option<Wrapper> {
    let mut counts = [0_usize; 5];
    let mut filled = 0_usize;
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
    }
    let most = counts.iter().position(|count| count * 10 > filled * 7);
    most.filter(|_| filled > 2).map(Wrapper)
}

fn plain(raw: &str) -> String {
    static ESCAPE: LazyLock<Regex> =
        LazyLock::new(|| compile(r"\x1b(?:\[[0-9;?]*[@-~]|_[^\x07]*\x07)"));
    ESCAPE.replace_all(raw.trim_end(), "").into_owned()
}

/// Bytes of a line's text that are not the tool's.
pub(super) fn length(text: &str, wrapper: Option<Wrapper>) -> usize {
    let skip = always(text);
    let Some(pattern) = wrapper.and_then(|wrapper| WRAPPERS.get(wrapper.0)) else {
        return skip;
    };
    skip + pattern.find(&text[skip..]).map_or(0, |found| found.end())
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
