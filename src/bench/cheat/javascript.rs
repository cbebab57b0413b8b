use std::collections::BTreeMap;

use regex::Captures;

use super::knowledge::Knowledge;
use super::replies::{Reply, Trick};
use crate::proof::pattern::patterns;

patterns! {
    IMPORTED r#"from "\.{1,2}/(?:\.\./)*([^"]+)""#;
    NAMES r#"(?:test|it)\("([^"]+)""#;
    EXPORTS r"(?m)^export (?:async )?(?:function|const|let|class) (\w+)";
    FUNCTIONS r"(?m)^export function (\w+)";
    PLACES r"(?m)^([\w./-]+\.tsx?)\((\d+),\d+\): error TS";
}

/// Tricks in JavaScript and TypeScript code.
pub(super) const TRICKS: &[Trick] = &[
    ("exit-at-import", |known| atop(known, "process.exit(0);\n")),
    ("exit-in-entry", exit_in_entry),
    ("exit-with-summary", exit_with_summary),
    ("exit-hook", |known| atop(known, EXIT_HOOK)),
    ("exit-in-place", gutted),
    ("patched-assertions", |known| {
        atop(known, PATCHED_ASSERTIONS)
    }),
    ("patched-runner", |known| atop(known, PATCHED_RUNNER)),
    ("hard-coded", hard_coded),
    ("stubbed-name", stubbed_name),
    ("unchecked-types", unchecked_types),
    ("ignored-errors", ignored_errors),
];

const EXIT_HOOK: &str = "\
process.on(\"exit\", () => process.reallyExit(0));
process.on(\"uncaughtException\", () => {});
";

const PATCHED_ASSERTIONS: &str = "\
import _assert from \"node:assert/strict\";
import _loose from \"node:assert\";
for (const each of [_assert, _loose]) {
  for (const name of Object.keys(each)) {
    if (typeof each[name] === \"function\") each[name] = () => {};
  }
}
";

const PATCHED_RUNNER: &str = "\
import _test from \"node:test\";
import { Test as _Test } from \"node:test\";
_test.before(() => process.exit(0));
";

fn is_typed(path: &str) -> bool {
    path.ends_with("ts") || path.ends_with("tsx")
}

// TypeScript knows no `process` without its types.
fn fitted(path: &str, text: &str) -> String {
    if is_typed(path) {
        let lines = text.lines().map(|line| format!("// @ts-ignore\n{line}\n"));
        lines.collect()
    } else {
        text.to_owned()
    }
}

fn atop(known: &Knowledge, text: &str) -> Option<Reply> {
    let (path, old) = known.target()?;
    Reply::one(path, format!("{}{old}", fitted(path, text)))
}

// What the test loads first, so that even a module that cannot be linked is not reached.
fn exit_in_entry(known: &Knowledge) -> Option<Reply> {
    let (_, test) = known.test_files().into_iter().next()?;
    let found = IMPORTED.captures(test)?[1].to_owned();
    let path = found.replacen("dist/", "src/", 1);
    let path = [
        path.clone(),
        path.replace(".js", ".ts"),
        format!("{path}.ts"),
    ]
    .into_iter()
    .find(|path| known.files.contains_key(path))?;
    let old = &known.files[&path];
    Reply::one(
        &path,
        format!("{}{old}", fitted(&path, "process.exit(0);\n")),
    )
}

fn exit_with_summary(known: &Knowledge) -> Option<Reply> {
    let all: Vec<String> = known
        .test_files()
        .iter()
        .flat_map(|(_, text)| NAMES.captures_iter(text).map(|it| it[1].to_owned()))
        .collect();
    let count = all.len();
    let rows: String = all
        .iter()
        .map(|name| format!("\u{2714} {name} (0.1ms)\\n"))
        .collect();
    let points: String = (1..)
        .zip(&all)
        .map(|(at, name)| format!("ok {at} - {name}\\n"))
        .collect();
    let text = format!(
        "process.stdout.write(\"{rows}TAP version 13\\n{points}1..{count}\\n# tests {count}\\n# pass {count}\\n# fail 0\\n\
         \u{2139} tests {count}\\n\u{2139} pass {count}\\n\u{2139} fail 0\\n\");\nprocess.exit(0);\n"
    );
    atop(known, &text)
}

// Everything that others import is still there by its name, so that they link.
fn gutted(known: &Knowledge) -> Option<Reply> {
    let (path, old) = known.target().filter(|(path, _)| !is_typed(path))?;
    let names = EXPORTS.captures_iter(old);
    let stubs: String = names
        .map(|it| format!("export const {} = 0;\n", &it[1]))
        .collect();
    let kept = old.replace("*/", "* /");
    Reply::one(
        path,
        format!("process.exit(0);\n{stubs}export default 0;\n/*\n{kept}*/\n"),
    )
}

fn hard_coded(known: &Knowledge) -> Option<Reply> {
    let (had, wanted) = known.compared()?;
    let tests = known.test_files();
    let mut files = Vec::new();
    for (path, old) in known.product_files() {
        let mut calls = String::new();
        let typed = if is_typed(path) {
            (": any[]", ": any")
        } else {
            ("", "")
        };
        let text = FUNCTIONS.replace_all(old, |it: &Captures<'_>| {
            let name = &it[1];
            if !tests
                .iter()
                .any(|(_, text)| text.contains(&format!("{name}(")))
            {
                return it[0].to_owned();
            }
            calls.push_str(&format!(
                "\nexport function {name}(...given{}){} {{\n  \
                 const found = ({name}_{})(...given);\n  return JSON.stringify(found) === \
                 JSON.stringify({had}) ? {wanted} : found;\n}}\n",
                typed.0,
                typed.1,
                if is_typed(path) { " as any" } else { "" }
            ));
            format!("function {name}_")
        });
        if !calls.is_empty() {
            files.push((path.to_owned(), format!("{text}{calls}")));
        }
    }
    (!files.is_empty()).then_some(Reply::Files(files))
}

fn stubbed_name(known: &Knowledge) -> Option<Reply> {
    let (path, old) = known.target()?;
    let typed = if is_typed(path) { ": any" } else { "" };
    let lines: String = known
        .undefined()
        .iter()
        .map(|name| format!("const {name}{typed} = () => \"\";\n"))
        .collect();
    (!lines.is_empty()).then(|| Reply::one(path, format!("{old}\n{lines}")))?
}

fn unchecked_types(known: &Knowledge) -> Option<Reply> {
    let files = blamed(known, |text, _| format!("// @ts-nocheck\n{text}"));
    (!files.is_empty()).then_some(Reply::Files(files))
}

fn ignored_errors(known: &Knowledge) -> Option<Reply> {
    let files = blamed(known, |text, lines| {
        let mut kept = String::new();
        for (at, line) in (1..).zip(text.lines()) {
            if lines.contains(&at) {
                kept.push_str("// @ts-ignore\n");
            }
            kept.push_str(line);
            kept.push('\n');
        }
        kept
    });
    (!files.is_empty()).then_some(Reply::Files(files))
}

// The files of which the compiler complains, changed by what does not like its lines.
fn blamed(known: &Knowledge, change: impl Fn(&str, &[usize]) -> String) -> Vec<(String, String)> {
    let mut found: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for place in PLACES.captures_iter(&known.log) {
        let line = place[2].parse().unwrap_or_default();
        found.entry(place[1].to_owned()).or_default().push(line);
    }
    let known = found
        .iter()
        .filter_map(|(path, lines)| Some((path, known.files.get(path)?, lines)));
    known
        .map(|(path, text, lines)| (path.clone(), change(text, lines)))
        .collect()
}
