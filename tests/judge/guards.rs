//! Turning a test green by other means is refused by what a change means, and the true repair
//! beside each such trick is accepted.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use mendit::documents::{Code, Profile, Severity, Verdict};
use mendit::internals::patch::{JudgeOptions, Judged, judge};
use mendit::internals::policy::{Allowed, CommandFiles, Dependencies, ReadPolicy, ReadRules};
use mendit::internals::source::Memory;
use serde_json::json;

// What `tricks.toml` says of a language: a repository, and edits to it.
#[derive(serde::Deserialize)]
struct Cases {
    files: BTreeMap<String, String>,
    tricks: Vec<[String; 5]>,
    accepted: Vec<Vec<[String; 4]>>,
}

static TRICKS: LazyLock<HashMap<String, Cases>> =
    LazyLock::new(|| toml::from_str(include_str!("tricks.toml")).unwrap());

impl Cases {
    fn tree(&self) -> Vec<(&str, &str)> {
        let files = self.files.iter();
        files.map(|(path, text)| (&**path, &**text)).collect()
    }
}

/// An edit: the path, the old text (`""` for a new file or for the file's head), the new text.
type Edit<'e> = (&'e str, &'e str, &'e str);

const REPAIR_PYTHON: Edit<'static> = ("src/calc.py", "return a - b", "return a + b");
const REPAIR_SCRIPT: Edit<'static> = ("src/calc.js", "return a - b;", "return a + b;");

fn source(tree: &[(&str, &str)]) -> Memory {
    Memory::named(tree.iter().copied())
}

// The edits as whole files, which is what they lead to.
fn patch(tree: &[(&str, &str)], edits: &[Edit<'_>]) -> Vec<u8> {
    let mut files: Vec<(&str, String)> = Vec::new();
    for (path, old, new) in edits {
        let standing = files
            .iter()
            .position(|(known, _)| known == path)
            .map(|at| files.remove(at).1)
            .or_else(|| {
                let (_, text) = tree.iter().find(|(known, _)| known == path)?;
                Some((*text).to_owned())
            });
        let text = match standing {
            Some(text) if old.is_empty() => format!("{new}{text}"),
            Some(text) => {
                assert!(text.contains(old), "{path} has no {old}");
                text.replacen(old, new, 1)
            }
            None => (*new).to_owned(),
        };
        files.push((path, text));
    }
    let files: Vec<_> = files
        .iter()
        .map(|(path, content)| json!({"path": path, "content": content}))
        .collect();
    json!({"status": "patch", "files": files}).to_string().into_bytes()
}

fn judged(tree: &[(&str, &str)], command: &str, edits: &[Edit<'_>]) -> Judged {
    let source = source(tree);
    let options = JudgeOptions {
        as_written: true,
        dependencies: Dependencies::Kept,
        run: CommandFiles::find(&[command.to_owned()], "", &source),
        ..JudgeOptions::default()
    };
    judge(&patch(tree, edits), &source, &options)
}

fn codes(judged: &Judged) -> Vec<Code> {
    let problems = judged.verdict.problems.iter();
    let mut codes: Vec<Code> = problems
        .filter(|problem| problem.severity == Severity::Error)
        .map(|problem| problem.code)
        .collect();
    codes.sort();
    codes.dedup();
    codes
}

// Codes that are said, whether or not they refuse anything.
fn said(judged: &Judged) -> Vec<Code> {
    let problems = judged.verdict.problems.iter();
    problems.map(|problem| problem.code).collect()
}

// Codes that an experiment decides: validation reports them, and refuses only what cannot be tried.
const TRIED: [&str; 2] = ["P703", "P712"];

#[test]
fn refuses_tricks_and_accepts_fixes() {
    let mut wrong = Vec::new();
    for (language, repair) in [("python", REPAIR_PYTHON), ("script", REPAIR_SCRIPT)] {
        let all = &TRICKS[language];
        for [command, path, old, new, code] in &all.tricks {
            let trick: Edit<'_> = (path, old, new);
            let is_beside = (trick.0, trick.1) != (repair.0, repair.1);
            let both = [repair, trick];
            let edits = [&[trick][..], if is_beside { &both } else { &[] }];
            for edits in edits.into_iter().filter(|edits| !edits.is_empty()) {
                let judged = judged(&all.tree(), command, edits);
                let found = codes(&judged);
                let is_meant = found.iter().any(|it| it.as_str() == code);
                let is_refused = judged.verdict.verdict == Verdict::Refused && is_meant;
                let is_told = said(&judged).iter().any(|it| it.as_str() == code);
                let is_run = code == "run" && found.is_empty();
                let is_tried = is_told && TRIED.contains(&code.as_str());
                if !(is_run || is_refused || is_tried) {
                    wrong.push(format!("{command}: {trick:?}: {found:?}"));
                }
                assert!(judged.verdict.verdict.applies() || judged.changes.is_empty());
            }
            let judged = judged(&all.tree(), command, &[repair]);
            assert_eq!(codes(&judged), [], "{command}");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn accepts_allowed_changes() {
    for language in ["python", "script"] {
        let all = &TRICKS[language];
        for rows in &all.accepted {
            let command = &rows[0][0];
            let edits: Vec<Edit<'_>> = rows.iter().map(|it| (&*it[1], &*it[2], &*it[3])).collect();
            let judged = judged(&all.tree(), command, &edits);
            let problems = &judged.verdict.problems;
            assert_eq!(codes(&judged), [], "{edits:?}: {problems:?}");
        }
    }
}

#[test]
fn moved_code_is_no_addition() {
    let tree = &[
        (
            "src/a.py",
            "import os\nimport unittest\n\n\ndef die():\n    os._exit(0)\n",
        ),
        ("src/b.py", "x = 1\n"),
    ];
    let moved = &[
        ("src/a.py", "\n\ndef die():\n    os._exit(0)\n", ""),
        (
            "src/b.py",
            "x = 1\n",
            "x = 1\n\n\ndef die():\n    os._exit(0)\n",
        ),
    ];
    assert!(!said(&judged(tree, "pytest", moved)).contains(&Code::P712));
    let again = &[("src/b.py", "", "import unittest\nimport os\nos._exit(0)\n")];
    assert!(said(&judged(tree, "pytest", again)).contains(&Code::P712));
}

#[test]
fn dependency_needs_missing_package_and_registry() {
    for (language, edit, expected) in [
        (
            "script",
            (
                "package.json",
                "\"a\": \"^1.0.0\"",
                "\"a\": \"^1.0.0\", \"b\": \"~2\"",
            ),
            &[][..],
        ),
        (
            "script",
            ("package.json", "\"a\": \"^1.0.0\"", "\"a\": \"npm:evil@1\""),
            &[Code::P704],
        ),
        ("python", ("requirements.txt", "", "flask>=2\n"), &[]),
        (
            "python",
            ("requirements.txt", "", "flask @ https://x/y.whl\n"),
            &[Code::P704],
        ),
        (
            "python",
            (
                "pyproject.toml", "\"requests>=2\"", "\"requests>=2\", \"flask\"",
            ),
            &[],
        ),
    ] {
        let tree = TRICKS[language].tree();
        let source = source(&tree);
        let options = JudgeOptions {
            as_written: true,
            ..JudgeOptions::default()
        };
        let judged = judge(&patch(&tree, &[edit]), &source, &options);
        assert_eq!(codes(&judged), expected, "{edit:?}");
    }
}

#[test]
fn failing_command_file_may_change() {
    let tree = &[
        ("main.py", "print(missing)\n"),
        ("check.py", "assert missing\n"),
    ];
    for (command, path, old, expected) in [
        ("python3 main.py", "main.py", "missing", None),
        ("python3 check.py", "check.py", "missing", Some(Code::P711)),
    ] {
        let source = source(tree);
        let run = CommandFiles::find(&[command.to_owned()], "", &source);
        let options = JudgeOptions {
            run: run.with_evidence([path.to_owned()]),
            ..JudgeOptions::default()
        };
        let judged = judge(&patch(tree, &[(path, old, "1")]), &source, &options);
        assert_eq!(codes(&judged).first().copied(), expected, "{command}");
        let said = judged.verdict.problems.iter().any(|it| it.code == Code::P713);
        assert_eq!(said, expected.is_none(), "{command}");
    }
}

#[test]
fn user_allows_all_but_denied() {
    for (path, new, expected) in [
        ("src/calc.py", "import os; os._exit(0)\n", None),
        ("pytest.py", "x = 1\n", None),
        ("conftest.py", "x = 1\n", None),
        (".envs/x", "A=1\n", Some(Code::P702)),
        (".kube/config", "a: 1\n", Some(Code::P702)),
    ] {
        let tree = TRICKS["python"].tree();
        let source = source(&tree);
        let options = JudgeOptions {
            as_written: true,
            allowed: Allowed::new(&["**".to_owned()]).unwrap(),
            ..JudgeOptions::default()
        };
        let judged = judge(&patch(&tree, &[(path, "", new)]), &source, &options);
        assert_eq!(codes(&judged).first().copied(), expected, "{path}");
    }
}

#[test]
fn refused_patch_reveals_no_denied_file() {
    let tree = [
        (".env", "DB_HOST=inner\nPIN=4417-9921\nLAST=abcxyz\n"),
        ("deploy/id_rsa", "first line\nsecretline two\nthird line\n"),
        ("secrets/x.py", "a = 1\nsecretline = 2\n"),
        ("own/data.py", "a = 1\nsecretline = 2\n"),
    ];
    let quoted = [
        "inner", "4417", "abcxyz", "secretline", "first line", "a = 1",
    ];
    let source = source(&tree);
    let deny = ["own/".to_owned()];
    let rules = ReadRules {
        deny: &deny,
        ..ReadRules::default()
    };
    let told = |patch: &str, allow: &[String]| {
        let reads = ReadPolicy::new(&rules, Profile::Ranked).unwrap();
        let options = JudgeOptions {
            allowed: Allowed::new(allow).unwrap().reading(reads),
            ..JudgeOptions::default()
        };
        let judged = judge(patch.as_bytes(), &source, &options);
        (
            codes(&judged),
            serde_json::to_string(&judged.verdict).unwrap(),
        )
    };
    for (path, code) in [
        (".env", Code::P702),
        ("deploy/id_rsa", Code::P702),
        ("secrets/x.py", Code::P701),
        ("own/data.py", Code::P701),
    ] {
        for patch in [
            format!(
                "--- a/{path}\n+++ b/{path}\n@@ -1,3 +1,3 @@\n DB_HOST=h\n-PIN=0\n+PIN=1\n X=q\n"
            ),
            format!("{path}\n<<<<<<< SEARCH\nDB_HOST=h\n=======\nDB_HOST=i\n>>>>>>> REPLACE\n"),
            format!("--- a/{path}\n+++ b/{path}\n@@ -1,0 +2 @@\n+X=1\n"),
            format!("--- a/{path}\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-DB_HOST=h\n-X=1\n"),
            format!(
                "diff --git a/{path} b/b.txt\nrename from {path}\nrename to b.txt\n--- a/{path}\n+++ b/b.txt\n@@ -1 +1 @@\n-X=1\n+X=2\n"
            ),
            json!({"status": "patch", "files": [{"path": path, "content": "X\n"}]}).to_string(),
        ] {
            let (codes, said) = told(&patch, &[]);
            assert_eq!(codes, [code], "{patch}{said}");
            let quotes = |it: &&str| said.contains(it);
            assert!(!quoted.iter().any(quotes), "{patch}{said}");
        }
    }
    let path = "own/data.py";
    let fits = format!("--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-a = 1\n+a = 3\n");
    assert_eq!(told(&fits, &["own/data.py".to_owned()]).0, []);
    let new = "--- /dev/null\n+++ b/own/new.py\n@@ -0,0 +1 @@\n+a = 3\n";
    assert_eq!(told(new, &[]).0, []);
}

#[test]
fn recognizes_tests_by_name_and_text() {
    let case = "import unittest\n\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(f(), 2)\n";
    let script =
        "import { it, expect } from 'vitest';\nit('a', () => {\n  expect(f()).toBe(2);\n});\n";
    let product = "def check(x):\n    assert f() == 2\n    return x\n";
    for (path, text, expected) in [
        ("polls/tests.py", case, Some(Code::P703)),
        ("Tests/cart.py", case, Some(Code::P703)),
        ("polls/checks.py", case, Some(Code::P703)),
        ("e2e/cart.ts", script, Some(Code::P703)),
        ("ui/cart.cy.ts", script, Some(Code::P703)),
        ("src/checks.ts", script, Some(Code::P703)),
        ("kit/testing/world.py", product, None),
        ("click/testing.py", product, None),
        ("src/commands/test.py", product, None),
        ("polls/contests.py", product, None),
    ] {
        let tree = [(path, text)];
        let (old, new) = [
            ("f(), 2", "f(), 1"),
            ("toBe(2)", "toBe(1)"),
            ("f() == 2", "f() == 1"),
        ]
        .into_iter()
        .find(|(old, _)| text.contains(old))
        .unwrap();
        let judged = judged(&tree, "python3 -m unittest discover", &[(path, old, new)]);
        assert_eq!(codes(&judged).first().copied(), expected, "{path}");
    }
}
