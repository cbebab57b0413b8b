//! Import hints: what is proposed for a name, and how the patch that adds it looks.

mod certain;

use crate::support;
use std::collections::BTreeMap;

use crate::support::{Repo, json};
use mendit::documents::{HintSource, RepoPath, Suggestion};
use mendit::internals::Installed;
use mendit::internals::graph::Graph;
use mendit::internals::hint::{Ask, Query, fix, suggest};
use mendit::internals::source::{Memory, Source};

// A name that one file imports and another lacks.
const ENGINE: [(&str, &str); 5] = [
    ("pkg/__init__.py", ""),
    ("pkg/core.py", "class Engine:\n    pass\n"),
    ("pkg/one.py", "from pkg.core import Engine\n\nEngine()\n"),
    ("pkg/two.py", "import os\n\nEngine(os)\n"),
    ("log", "pkg/two.py:3:1: F821 Undefined name `Engine`\n"),
];

fn memory(files: &[(&str, &str)]) -> Memory {
    Memory::named(files.iter().copied())
}

fn hints(files: &[(&str, &str)], file: &str, name: &str) -> Vec<Suggestion> {
    let source = memory(files);
    let (graph, path) = (Graph::new(&source), RepoPath::new(file).unwrap());
    let query = Query {
        file: &path,
        names: &[name.to_owned()],
        ask: &Ask {
            installed: &Installed::default(),
            may_read: &|path| !path.as_str().starts_with("secrets/"),
        },
    };
    let found = suggest(&graph, &query);
    for one in found.iter().filter(|one| one.certain) {
        let fix = fix(&graph, &path, std::slice::from_ref(one));
        assert!(fix.is_some(), "certain and no patch: {one:?}");
    }
    found
}

// A statement, with `!` when it is certain.
fn marked(statement: &str, certain: bool) -> String {
    format!("{statement}{}", if certain { " !" } else { "" })
}

fn written(found: &[Suggestion]) -> Vec<String> {
    let one = |it: &Suggestion| marked(&it.import_statement, it.certain);
    found.iter().map(one).collect()
}

// The best statement, with `!` when it is certain.
fn best(files: &[(&str, &str)], file: &str, name: &str) -> String {
    let found = hints(files, file, name).into_iter().take(1);
    written(&found.collect::<Vec<_>>()).concat()
}

// What the program proposes when it is asked so, as `written`.
fn told(repo: &Repo, asked: &[&str]) -> Vec<String> {
    let output = repo.mendit(&[&["hint", "--format", "json"], asked].concat());
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = document["suggestions"].as_array().unwrap().iter();
    let statement = |it: &serde_json::Value| it["importStatement"].as_str().map(str::to_owned);
    found
        .map(|it| marked(&statement(it).unwrap_or_default(), it["certain"] == true))
        .collect()
}

// The file after every certain import was added.
fn fixed(files: &[(&str, &str)], file: &str, names: &[&str]) -> Option<String> {
    let source = memory(files);
    let path = RepoPath::new(file).unwrap();
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let graph = Graph::new(&source);
    let query = Query {
        file: &path,
        names: &names,
        ask: &Ask {
            installed: &Installed::default(),
            may_read: &|_| true,
        },
    };
    let mut found = suggest(&graph, &query);
    found.retain(|one| one.certain);
    let fix = fix(&graph, &path, &found)?;
    let after = fix.changes.first()?.after.clone()?;
    Some(String::from_utf8(after.bytes.to_vec()).unwrap())
}

// A row of `cases.toml`.
#[derive(serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
struct Case {
    says: String,
    files: BTreeMap<String, String>,
    log: Option<String>,
    best: BTreeMap<String, String>,
    told: Option<String>,
    adds: BTreeMap<String, String>,
    row: Vec<Case>,
}

// The rows of one of its tables.
fn cases(table: &str) -> Vec<Case> {
    let mut all: BTreeMap<String, Vec<Case>> = toml::from_str(include_str!("cases.toml")).unwrap();
    all.remove(table).unwrap()
}

impl Case {
    // As a row of a case.
    fn below(mut self, case: &Self) -> Self {
        self.says.clone_from(&case.says);
        self.log = self.log.or_else(|| case.log.clone());
        for (path, text) in &case.files {
            self.files.entry(path.clone()).or_insert(text.clone());
        }
        self
    }

    fn tree(&self) -> Vec<(&str, &str)> {
        let files = self.files.iter();
        files.map(|(path, text)| (&**path, &**text)).collect()
    }

    // Returns what differs from the row and the rows below it.
    fn differences(mut self) -> Vec<String> {
        let rows = std::mem::take(&mut self.row).into_iter();
        let mut wrong: Vec<String> = rows.flat_map(|row| row.below(&self).differences()).collect();
        let (files, says) = (self.tree(), &self.says);
        for (asked, expected) in &self.best {
            let (file, name) = asked.split_once(' ').unwrap();
            let found = written(&hints(&files, file, name));
            if !agrees(&found, expected) {
                wrong.push(format!("{says}: {asked}: {expected:?}, not {found:?}"));
            }
        }
        for (asked, expected) in &self.adds {
            let (file, names) = asked.split_once(' ').unwrap();
            let after = fixed(&files, file, &names.split(',').collect::<Vec<_>>());
            if after.as_ref() != Some(expected) {
                wrong.push(format!("{says}: {asked}: {expected:?}, not {after:?}"));
            }
        }
        if let (Some(log), Some(expected)) = (&self.log, &self.told) {
            let repo = Repo::with(&[&files[..], &[("log", log)]].concat());
            let found = told(&repo, &["--log", "log"]);
            if !agrees(&found, expected) {
                wrong.push(format!("{says}: {log}: {expected:?}, not {found:?}"));
            }
        }
        wrong
    }
}

fn agrees(found: &[String], expected: &str) -> bool {
    let first = found.first().map_or("", String::as_str);
    match expected {
        "?" => found.iter().all(|it| !it.ends_with('!')),
        "!" => first.ends_with('!'),
        _ => first == expected,
    }
}

#[test]
fn proposes_intended_name() {
    let cases = cases("case").into_iter();
    let wrong: Vec<String> = cases.flat_map(Case::differences).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn find_correct_import_paths_external() {
    let file = ("tests/test_cli.py", "def test(): CliRunner()\n");
    let with = [file, ("pyproject.toml", "dependencies = ['typer>=0.9']\n")];
    assert_eq!(
        best(&with, file.0, "CliRunner"),
        "from typer.testing import CliRunner"
    );
    assert_eq!(
        best(&[file], file.0, "CliRunner"),
        "",
        "no manifest names a package"
    );
    for (name, statement) in [
        ("Path", "from pathlib import Path !"),
        ("MagicMock", "from unittest.mock import MagicMock !"),
        ("os", "import os !"),
        ("datetime", "import datetime !"),
    ] {
        let text = "Path(MagicMock(), os.sep, datetime.timedelta(1))\n";
        assert_eq!(best(&[("a.py", text)], "a.py", name), statement);
    }
}

#[test]
fn two_definitions_are_not_certain() {
    let files = [
        ("a/one.py", "class Loader: pass\n"),
        ("b/two.py", "class Loader: pass\n"),
        ("c/use.py", "Loader()\n"),
    ];
    let found = hints(&files, "c/use.py", "Loader");
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|one| !one.certain && one.source == HintSource::Definition));
}

#[test]
fn hint_prints_and_applies_patches() {
    let repo = Repo::with(&ENGINE);
    let document = json(&repo.mendit(&["hint", "--log", "log", "--format", "json"]));
    assert_eq!(document["document"], "hint");
    assert_eq!(
        document["suggestions"][0]["importStatement"],
        "from pkg.core import Engine"
    );
    assert_eq!(document["suggestions"][0]["certain"], true);
    assert_eq!(document["suggestions"][0]["source"], "repo");
    let hint = document["recoveryHint"].as_str().unwrap();
    assert!(hint.contains("Previous Attempt Failed"), "{hint}");
    assert!(document["patch"].is_null());

    let printed = repo.mendit(&["hint", "Engine", "--file", "pkg/two.py", "--fix"]);
    assert_eq!(printed.status.code(), Some(0));
    std::fs::write(repo.outside().join("p.diff"), &printed.stdout).unwrap();
    repo.git(&["apply", "--check", "../p.diff"]);
    let applied = repo.mendit(&["hint", "Engine", "--file", "pkg/two.py", "--apply"]);
    assert_eq!(applied.status.code(), Some(0));
    let text = std::fs::read_to_string(repo.root().join("pkg/two.py")).unwrap();
    assert_eq!(
        text,
        "import os\nfrom pkg.core import Engine\n\nEngine(os)\n"
    );

    let none = repo.mendit(&["hint", "Nowhere", "--file", "pkg/two.py"]);
    assert_eq!(none.status.code(), Some(1));
    assert_eq!(
        repo.mendit(&["hint", "X", "--file", "absent.py"]).status.code(),
        Some(2)
    );
}

#[test]
fn moved_modules_and_renamed_exports_are_found() {
    let repo = Repo::with(&[
        ("package.json", "{\"name\": \"p\"}"),
        ("src/lib/format.ts", "export function money() {}\n"),
        (
            "src/use.ts",
            "import { money } from './utils/format'\n\nmoney()\n",
        ),
        (
            "log",
            "src/use.ts(1,23): error TS2307: Cannot find module './utils/format' or its corresponding type declarations.\n",
        ),
        (
            "src/near.ts",
            "import { mony } from './lib/format'\n\nmony()\n",
        ),
        (
            "log2",
            "src/near.ts(1,10): error TS2305: Module '\"./lib/format\"' has no exported member 'mony'.\n",
        ),
    ]);
    let document = json(&repo.mendit(&["hint", "--log", "log", "--fix", "--format", "json"]));
    let first = &document["suggestions"][0];
    assert_eq!(
        first["importStatement"], "import { money } from './lib/format'",
        "{document}"
    );
    assert_eq!(first["certain"], true);
    let patch = document["patch"].as_str().unwrap();
    assert!(
        patch.contains("+import { money } from './lib/format'"),
        "{patch}"
    );
    let document = json(&repo.mendit(&["hint", "--log", "log2", "--format", "json"]));
    assert_eq!(
        document["suggestions"][0]["imported"], "money",
        "{document}"
    );
    assert_eq!(document["suggestions"][0]["source"], "similar");
}

#[test]
fn packets_carry_the_hints() {
    let repo = Repo::with(&ENGINE);
    let context = repo.context(&["--log", "log", "--out", "out"]);
    assert_eq!(context["hints"][0], "from pkg.core import Engine");
    let packet = std::fs::read_to_string(repo.root().join("out/failure-packet.json")).unwrap();
    let packet: serde_json::Value = serde_json::from_str(&packet).unwrap();
    let recovery = &packet["recoveryContext"];
    assert_eq!(recovery["undefinedNames"][0], "Engine");
    assert_eq!(
        recovery["suggestedImports"]["Engine"],
        "from pkg.core import Engine"
    );
    assert!(recovery["recoveryHint"].as_str().unwrap().contains("Recovery Context"));
}

#[test]
fn survives_hostile_files() {
    let deep = "(".repeat(20_000);
    for text in [
        "",
        "import (",
        "from x import (",
        "import {",
        deep.as_str(),
        "\u{feff}x",
        "'''",
    ] {
        for file in ["u.py", "u.ts", "u.vue"] {
            let files = [
                ("a.py", "class Known: pass\n"),
                ("b.ts", "export class Known {}\n"),
                (file, text),
            ];
            let source = memory(&files);
            let path = RepoPath::new(file).unwrap();
            let found = hints(&files, file, "Known");
            let graph = Graph::new(&source);
            let _ = fix(&graph, &path, &found);
            assert_eq!(source.listing().files().count(), 3);
        }
    }
}

// R3, R8: the words with which such a failure came first; its files are another repository's.
#[test]
fn looks_up_missing_files_as_modules() {
    let repo = Repo::with(&[
        ("requirements.txt", "typer\n"),
        ("app/__init__.py", ""),
        ("app/ops.py", "def chief_of_staff():\n    pass\n"),
        (
            "log",
            "Incomplete implementation: test file(s) import 2 undefined name(s): \
             typer/testing.py:CliRunner, swarm_attack/cli.py:chief_of_staff\n",
        ),
    ]);
    let document = json(&repo.mendit(&["hint", "--log", "log", "--format", "json"]));
    let found = document["suggestions"].as_array().unwrap().iter();
    let statements: Vec<&str> = found.map(|it| it["importStatement"].as_str().unwrap()).collect();
    assert_eq!(
        statements,
        [
            "from typer.testing import CliRunner",
            "from app.ops import chief_of_staff"
        ]
    );
    let packet = repo.context(&["--log", "log"]);
    let hints = support::texts(&packet["hints"], None);
    assert!(
        hints.contains(&"from app.ops import chief_of_staff".to_owned()),
        "{hints:?}"
    );
}

#[test]
fn never_imports_existing_name() {
    let log = "E   NameError: name 'helpr' is not defined\n\npkg/use.py:5: NameError\n";
    let repo = Repo::with(&[
        ("pkg/__init__.py", ""),
        ("pkg/core.py", "def helper(x):\n    return x\n"),
        (
            "pkg/use.py",
            "from .core import helper\n\n\ndef run(y):\n    return helpr(y)\n",
        ),
        ("log", log),
    ]);
    let output = repo.mendit(&["hint", "--log", "log"]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said, "- helpr: did you mean helper?\n");
}

#[test]
fn finds_node_module_by_path() {
    let log = "Error [ERR_MODULE_NOT_FOUND]: Cannot find module 'lib/maths.js' imported from lib/total.js\n";
    let repo = Repo::with(&[
        ("package.json", "{\"type\": \"module\"}"),
        (
            "lib/math.js",
            "export function addUp(a, b) {\n  return a + b;\n}\n",
        ),
        (
            "lib/total.js",
            "import { addUp } from './maths.js';\naddUp(1, 2);\n",
        ),
        ("log", log),
    ]);
    let diagnosis = json(&repo.mendit(&["diagnose", "log", "--format", "json"]));
    assert_eq!(diagnosis["subkind"], "missing_module", "{diagnosis}");
    let document = json(&repo.mendit(&["hint", "--log", "log", "--format", "json"]));
    let found = &document["suggestions"][0]["importStatement"];
    assert_eq!(found, "import { addUp } from './math.js'", "{document}");
}
