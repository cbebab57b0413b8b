//! Finds the files that a log names.

use std::collections::HashMap;

use super::line::Line;
use super::locate::Locator;
use super::runners::is_installed;
use crate::model::MentionedFile;
use crate::runners::pattern;

/// One place of a file in the log.
#[derive(Default)]
struct Mention {
    at: usize,
    path: String,
    line: Option<u32>,
    column: Option<u32>,
    // Whether it is no more than a part of an address, or of what a test works with.
    doubtful: bool,
}

// Lines, as many as a row of a runner looks through for its message.
const NEAR: usize = 30;

pattern!(
    PLACE,
    concat!(
        r#"(?:File "(?<py>[^"<>]+)", line (?<pyline>\d+))"#,
        r"|(?:webpack:/+(?:[\w@.-]+/)*\./)?(?<path>(?:file:///?)?(?:[A-Za-z]:[\\/]|\.{0,2}[\\/])?(?:[A-Za-z0-9\x{c0}-\x{1fff}\x{3040}-\x{d7ff}\x{2026}_@.+~$-]|\[[A-Za-z0-9\x{c0}-\x{1fff}\x{3040}-\x{d7ff}_.-]+\]|\([A-Za-z0-9\x{c0}-\x{1fff}\x{3040}-\x{d7ff}_-]+\)[\\/]|[\\/])*(?:[A-Za-z0-9\x{c0}-\x{1fff}\x{3040}-\x{d7ff}_)]|\[[\w.-]+\])\.(?:d\.ts|[cm]?[jt]sx?|pyi?|pyx|json5?|jsonc|ya?ml|toml|ini|cfg|vue|svelte|astro|css|scss|sql|prisma|sh|bash|txt|md|mdx|rst|adoc|bats|mm?|html|sass|less|styl|coffee|phpt|ps1|psm1|pm|pl|fs|vb|snap|graphql|gql|env|lock|rs|go|java|rb|php|c|cc|cpp|h|hpp|cs|kt|swift|scala|dart|exs?|hs|lua|mli?|clj[cs]?|jl|erl|nim|zig|cr|groovy|tf|feature|gradle|cmake|bazel|[Rr]))\b",
        r"(?:(?::|\()(?<line>\d{1,7})(?:[:,](?<col>\d{1,6}))?|, line (?<saidline>\d+)|: [^():]+ \((?<lastline>\d{1,7}):\d{1,6}\)$)?",
        r"|(?<plain>\b(?:[\w@+-][\w./@+-]*[./])?(?:Dockerfile|Makefile|Procfile)\b(?:\.[A-Za-z][\w-]*)?|[\w./@+-]+/BUILD\b)(?::(?<plainline>\d+))?",
    )
);

pattern!(
    PLACED_BELOW,
    r#"^\s+(\d+):(\d+)\s+(?:error|warning|✖|×)\s|^\s*"?(line)"?: +(\d+)"#
);

// A frame of a library of Java.
pattern!(
    LIBRARY,
    r"^\s*at (?:org\.(?:junit|testng|assertj|hamcrest|mockito|gradle|apache\.maven|scalatest)|junit|javax?|jdk|sun|kotlin|scala)\."
);

/// Returns the files that a log names, those near the evidence first.
pub(super) fn mentioned_files(
    lines: &[Line<'_>],
    evidence: &[usize],
    named: &[(usize, String)],
    locator: &Locator<'_>,
) -> Vec<MentionedFile> {
    let mut mentions: Vec<Mention> = named
        .iter()
        .map(|(at, path)| Mention {
            at: *at,
            path: path.clone(),
            ..Mention::default()
        })
        .collect();
    collect_mentions(lines, &mut mentions);
    // Frames above a line of evidence weigh as those below.
    mentions.retain(|mention| !is_foreign(&mention.path));
    mentions.sort_by_cached_key(|mention| {
        let distances = evidence.iter().map(|line| line.abs_diff(mention.at));
        distances.min().unwrap_or(mention.at)
    });
    // A place with a line, for where the same file is named without one near.
    let mut placed: HashMap<String, (usize, Option<u32>, Option<u32>)> = HashMap::new();
    for own in mentions.iter().filter(|own| own.line.is_some()) {
        placed
            .entry(own.path.replace('\\', "/"))
            .or_insert((own.at, own.line, own.column));
    }
    let mut files: Vec<MentionedFile> = Vec::new();
    for mut mention in mentions {
        let near = placed
            .get(&mention.path.replace('\\', "/"))
            .filter(|own| own.0.abs_diff(mention.at) <= NEAR);
        if let (None, Some(&(_, line, column))) = (mention.line, near) {
            (mention.line, mention.column) = (line, column);
        }
        let in_repository = locator.find(&mention.path, mention.at).is_some();
        let doubtful = mention.doubtful && locator.knows_repository();
        if !in_repository && (doubtful || is_installed(&mention.path)) {
            continue;
        }
        // Without a listing the part below a known checkout reads best.
        let is_lost = !in_repository && locator.knows_repository();
        let path = match is_lost {
            true => mention.path,
            false => locator.shown(&mention.path, mention.at),
        };
        let mut same = files.iter().filter(|file| file.path == path);
        if same.clone().count() >= 6 || same.any(|own| own.line == mention.line) {
            continue;
        }
        files.push(MentionedFile {
            path,
            line: mention.line,
            column: mention.column,
            in_repository,
        });
        if files.len() >= 50 {
            break;
        }
    }
    // Dropped when a file of the repository is named, because the fix is there.
    if files.iter().any(|file| file.in_repository) {
        files.retain(|file| {
            file.in_repository || file.line.is_some() || file.path.contains(['/', '\\'])
        });
        files.sort_by_key(|file| !file.in_repository);
    }
    files
}

fn collect_mentions(lines: &[Line<'_>], mentions: &mut Vec<Mention>) {
    let number = |text: Option<regex::Match<'_>>| text.and_then(|text| text.as_str().parse().ok());
    let mut heading: Option<String> = None;
    for (at, line) in lines.iter().enumerate() {
        if mentions.len() >= 20_000 {
            return;
        }
        let text = line.text.as_ref();
        if let Some(path) = &heading
            && text.starts_with([' ', '\t', '"'])
            && let Some(found) = PLACED_BELOW.captures(text)
        {
            mentions.push(Mention {
                at,
                path: path.clone(),
                line: number(found.get(1).or_else(|| found.get(4))),
                column: number(found.get(2)),
                doubtful: false,
            });
        }
        if !may_name_a_file(text) {
            continue;
        }
        for found in PLACE.captures_iter(text) {
            let first = |names: &[&str]| names.iter().find_map(|name| found.name(name));
            let Some(path) = first(&["py", "path", "plain"]) else {
                continue;
            };
            // The host of an address is no file, nor is what has one inside.
            let before = &text[..path.start()];
            let word = before.rfind([' ', '\t', '"', '\'', '(', '<']);
            let word = before.get(word.map_or(0, |at| at + 1)..);
            let word = word.unwrap_or_default();
            let path = path.as_str();
            let is_web = |text: &str| text.contains("://") && !text.starts_with("file:");
            if is_web(path) || LIBRARY.is_match(before) {
                continue;
            }
            let of_address = is_web(&format!("{word}{path}"));
            // So mocha names what it loaded: `SyntaxError[ @/w/a.js ]`.
            let path = path.strip_prefix('@').filter(|_| before.ends_with("[ ")).unwrap_or(path);
            // The port of an address is no folder.
            let port = path.find('/').filter(|_| of_address && before.ends_with(':'));
            let path = bare_path(&path[port.unwrap_or(0)..]);
            let said = text.trim();
            let said = said.strip_prefix("file:").map_or(said, str::trim_start);
            if said == path || text.contains("\"filePath\"") {
                heading = Some(path.clone());
            }
            let line = number(first(&[
                "pyline", "line", "saidline", "lastline", "plainline",
            ]));
            mentions.push(Mention {
                at,
                doubtful: of_address || line.is_none() && is_of_test(&path),
                path,
                line,
                column: number(found.name("col")),
            });
        }
    }
}

// An ending, or a name that has none.
fn may_name_a_file(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'.', bytes)
        .any(|dot| bytes.get(dot + 1).is_some_and(u8::is_ascii_alphabetic))
        || ["File \"", "Dockerfile", "Makefile", "Procfile", "/BUILD"]
            .iter()
            .any(|name| text.contains(name))
}

fn bare_path(path: &str) -> String {
    let path = path.strip_prefix("file://").unwrap_or(path);
    // file:///C:/x is the drive C.
    let drive = path.as_bytes().get(2) == Some(&b':') && path.starts_with('/');
    let path = if drive { &path[1..] } else { path };
    path.strip_prefix("./").unwrap_or(path).to_owned()
}

// Paths that are data of a test: a route, or a file that it made in a folder of its own.
fn is_of_test(path: &str) -> bool {
    let made = ["/tmp/pytest-", "/var/folders/"];
    path.rfind('/') == Some(0) || made.iter().any(|prefix| path.starts_with(prefix))
}

// Names that only look like files.
fn is_foreign(path: &str) -> bool {
    const NAMES: &[&str] = &["Node.js", "node.js", "Next.js", "Vue.js", "e.g", "i.e"];
    let slashed = path.replace('\\', "/");
    NAMES.contains(&slashed.as_str())
        || slashed.starts_with("//")
        || slashed.contains("/__cypress/")
}
