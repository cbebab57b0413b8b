use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use mendit::documents::RepoPath;
use mendit::internals::patch::{JudgeOptions, Judged, judge};
use mendit::internals::source::Memory;
use proptest::prelude::*;
use proptest::sample::Index;

const LIST: &str = include_str!("../../../docs/patches.md");

// The codes that the written list has for what git refuses.
fn listed() -> BTreeSet<String> {
    LIST.split("### ")
        .find(|section| section.starts_with("Accepted"))
        .unwrap_or_default()
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" |").next())
        .flat_map(|codes| codes.split(", "))
        .map(str::to_owned)
        .collect()
}

fn git(directory: &Path, arguments: &[&str]) -> std::process::Output {
    let mut command = Command::new("git");
    // No repository above the directory has a say.
    command.env(
        "GIT_CEILING_DIRECTORIES",
        directory.parent().expect("a parent"),
    );
    let command = command.args(arguments).current_dir(directory);
    command.output().expect("git runs")
}

// What git takes too, and makes something else of: it reads no heading (M410), and takes the nearest of lines that
// are alike.
const OTHERWISE: &[&str] = &["M301", "M410", "M411"];

#[derive(Debug, Clone, Copy)]
enum Damage {
    DropLine,
    RepeatLine,
    SwapLines,
    StripMark,
    BlankAtEnd,
    Indent,
    Number,
    Count,
    BareHeader,
    CutEnd,
    NoLastNewline,
    NoPrefix,
    Prose,
    Fence,
    Ellipsis,
    DropBlank,
}

const DAMAGES: &[Damage] = &[
    Damage::DropLine,
    Damage::RepeatLine,
    Damage::SwapLines,
    Damage::StripMark,
    Damage::BlankAtEnd,
    Damage::Indent,
    Damage::Number,
    Damage::Count,
    Damage::BareHeader,
    Damage::CutEnd,
    Damage::NoLastNewline,
    Damage::NoPrefix,
    Damage::Prose,
    Damage::Fence,
    Damage::Ellipsis,
    Damage::DropBlank,
];

fn damage(patch: &str, kind: Damage, at: Index) -> String {
    let mut lines: Vec<String> = patch.lines().map(str::to_owned).collect();
    if lines.len() < 5 {
        return patch.to_owned();
    }
    let any = at.index(lines.len());
    // Three lines of headers precede the first hunk.
    let body = 4 + at.index(lines.len() - 4);
    let number = |line: &str, count: bool| {
        let mut seen = 0;
        let mut out = String::new();
        for part in line.split_inclusive([' ', ',', '-', '+']) {
            let digits = part.trim_end_matches([' ', ',']);
            match digits.parse::<u32>() {
                Ok(value) => {
                    seen += 1;
                    let odd = seen % 2 == 1;
                    let value = if odd == count { value } else { value + 1 };
                    out.push_str(&format!("{value}{}", &part[digits.len()..]));
                }
                Err(_) => out.push_str(part),
            }
        }
        out
    };
    match kind {
        Damage::DropLine => drop(lines.remove(any)),
        Damage::RepeatLine => lines.insert(any, lines[any].clone()),
        Damage::SwapLines => lines.swap(body, any.max(4)),
        Damage::StripMark => {
            if lines[body].starts_with(' ') {
                lines[body].remove(0);
            }
        }
        Damage::BlankAtEnd => lines[body].push(' '),
        Damage::Indent => {
            for line in lines.iter_mut().skip(4).filter(|line| !line.starts_with('@')) {
                line.insert_str(1.min(line.len()), "    ");
            }
        }
        Damage::Number | Damage::Count | Damage::BareHeader => {
            for line in lines.iter_mut().filter(|line| line.starts_with("@@ ")) {
                *line = match kind {
                    Damage::BareHeader => "@@".to_owned(),
                    other => number(line, matches!(other, Damage::Count)),
                };
            }
        }
        Damage::CutEnd => lines.truncate(body),
        Damage::NoLastNewline => return patch.trim_end().to_owned(),
        Damage::NoPrefix => {
            return patch.replace("--- a/", "--- ").replace("+++ b/", "+++ ");
        }
        Damage::Prose => lines.push("\nThis changes one line.".to_owned()),
        Damage::Fence => {
            lines.insert(0, "```diff".to_owned());
            lines.push("```".to_owned());
        }
        Damage::Ellipsis => " ...".clone_into(&mut lines[body]),
        Damage::DropBlank => lines.retain(|line| line != " "),
    }
    lines.join("\n") + "\n"
}

fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        8 => "[a-h]{1,3}\\(\\)",
        3 => "    [a-d]{1,2} = [0-9]",
        2 => Just(String::new()),
        1 => Just("}".to_owned()),
    ];
    (
        prop::collection::vec(line, 3..30),
        prop::bool::weighted(0.9),
    )
        .prop_map(|(lines, newline)| {
            let mut text = lines.join("\n");
            text.push_str(if newline { "\n" } else { "" });
            text
        })
}

fn edited(text: &str, edits: &[(Index, String)]) -> String {
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    for (at, word) in edits {
        let at = at.index(lines.len());
        match word.len() % 3 {
            0 => lines.insert(at, word.clone()),
            1 => lines[at].clone_from(word),
            _ => drop(lines.remove(at)),
        }
        if lines.is_empty() {
            lines.push(String::new());
        }
    }
    lines.join("\n")
}

fn ours(file: &str, patch: &str) -> Judged {
    let files = [(
        RepoPath::new("f").expect("a path"),
        file.as_bytes().to_vec(),
    )];
    judge(
        patch.as_bytes(),
        &Memory::new(files),
        &JudgeOptions::default(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn accepts_only_listed_git_refusals(
        old in text(),
        edits in prop::collection::vec((any::<Index>(), "[a-z]{1,6}"), 1..4),
        later in prop::collection::vec((any::<Index>(), "[a-z]{1,6}"), 0..2),
        damages in prop::collection::vec((prop::sample::select(DAMAGES), any::<Index>()), 0..3),
        context in 0..4,
    ) {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path();
        let new = edited(&old, &edits);
        for side in ["a", "b"] {
            fs::create_dir(root.join(side)).expect("a directory");
        }
        fs::write(root.join("a/f"), &old).expect("a file");
        fs::write(root.join("b/f"), &new).expect("a file");
        let context = format!("-U{context}");
        let diff = git(root, &["diff", "--no-index", "--no-color", &context, "a/f", "b/f"]).stdout;
        let diff = String::from_utf8(diff).expect("text");
        prop_assume!(!diff.is_empty());
        // Without ids, which would prove what else is in doubt.
        let mut patch: String = diff
            .split_inclusive('\n')
            .filter(|line| !line.starts_with("index "))
            .collect();
        patch = patch.replace("a/a/f", "a/f").replace("b/b/f", "b/f");
        let mut renumbered = false;
        for (kind, at) in damages {
            renumbered |= matches!(kind, Damage::Number | Damage::Count);
            patch = damage(&patch, kind, at);
        }
        let file = edited(&old, &later);
        fs::write(root.join("f"), &file).expect("a file");
        // The newline that ends a patch may be missing.
        let end = if patch.ends_with('\n') { "" } else { "\n" };
        fs::write(root.join("p"), format!("{patch}{end}")).expect("a file");
        // git needs a flag for hunks without context.
        let flag: &[&str] = if context == "-U0" { &["--unidiff-zero"] } else { &[] };
        let theirs = git(root, &[&["apply", "p"], flag].concat());
        let judged = ours(&file, &patch);
        if !judged.verdict.verdict.applies() {
            return Ok(());
        }
        let after = judged.changes.first().and_then(|change| change.after.as_ref());
        let after = after.map(|state| String::from_utf8_lossy(&state.bytes).into_owned());
        let codes: BTreeSet<String> = judged.verdict.mends.iter().map(|mend| mend.code.to_string())
            .chain(judged.verdict.problems.iter().map(|problem| problem.code.to_string()))
            .collect();
        // To git, a last line with a newline is another line than one without.
        let no_newline = !file.ends_with('\n');
        if theirs.status.success() {
            let theirs = fs::read_to_string(root.join("f")).ok();
            prop_assert!(
                after == theirs || OTHERWISE.iter().any(|code| codes.contains(*code)) || no_newline || renumbered,
                "both take it and differ: {after:?} {theirs:?}\n{patch}\n{file:?}"
            );
        } else {
            // Only hunks at the start or end of the file may need no mend.
            let anchored = || {
                git(root, &["apply", "--unidiff-zero", "p"]).status.success()
                    && after == fs::read_to_string(root.join("f")).ok()
            };
            let list = listed();
            prop_assert!(
                codes.iter().all(|code| list.contains(code)) && (!codes.is_empty() || no_newline || anchored()),
                "not listed: {codes:?} {}\n{patch}\n{file:?}",
                String::from_utf8_lossy(&theirs.stderr)
            );
        }
    }
}
