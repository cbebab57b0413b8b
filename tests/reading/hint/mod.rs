//! Import hints: what is proposed for a name, and how the patch that adds it looks.

mod certain;

use crate::support;
use std::collections::BTreeMap;

use crate::support::{Repo, json};
use mendit::documents::{HintSource, RepoPath, Suggestion};
use mendit::internals::Installed;
use mendit::internals::graph::Graph;
use mendit::internals::hint::{Query, fix, renamed_exports, suggest};
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
    let found = hints_after(files, file, name, &[]);
    let source = memory(files);
    let (graph, path) = (Graph::new(&source), RepoPath::new(file).unwrap());
    for one in found.iter().filter(|one| one.certain) {
        let fix = fix(&graph, &path, &[], std::slice::from_ref(one));
        assert!(fix.is_some(), "certain and no patch: {one:?}");
    }
    found
}

// The same for a file that had other contents before, newest first.
fn hints_after(files: &[(&str, &str)], file: &str, name: &str, before: &[&str]) -> Vec<Suggestion> {
    let source = memory(files);
    let graph = Graph::new(&source);
    let query = Query {
        file: &RepoPath::new(file).unwrap(),
        known: &[],
        installed: &Installed::default(),
        names: &[name.to_owned()],
        may_read: &|path| !path.as_str().starts_with("secrets/"),
        earlier: &|_| before.iter().map(|it| it.as_bytes().to_vec()).collect(),
    };
    suggest(&graph, &query)
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
        known: &[],
        installed: &Installed::default(),
        names: &names,
        may_read: &|_| true,
        earlier: &|_| Vec::new(),
    };
    let mut found = suggest(&graph, &query);
    found.retain(|one| one.certain);
    let fix = fix(&graph, &path, &[], &found)?;
    assert!(fix.patch.starts_with("diff --git "), "{}", fix.patch);
    let after = fix.changes.first()?.after.clone()?;
    Some(String::from_utf8(after.bytes.to_vec()).unwrap())
}

// What stands for an export that is gone, when one file had another text before.
fn renamed(
    files: &[(&str, &str)],
    (file, export): (&str, &str),
    (had, before): (&str, &str),
) -> Vec<Suggestion> {
    let source = memory(files);
    let graph = Graph::new(&source);
    let earlier = |path: &RepoPath| {
        let had = Some(before.as_bytes().to_vec()).filter(|_| path.as_str() == had);
        had.into_iter().collect()
    };
    let query = Query {
        file: &RepoPath::new(file).unwrap(),
        names: &[],
        known: &[],
        installed: &Installed::default(),
        may_read: &|_| true,
        earlier: &earlier,
    };
    renamed_exports(&graph, &query, &[export.to_owned()])
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

    fn check(mut self) {
        for row in std::mem::take(&mut self.row) {
            row.below(&self).check();
        }
        let (files, says) = (self.tree(), &self.says);
        for (asked, expected) in &self.best {
            let (file, name) = asked.split_once(' ').unwrap();
            let found = written(&hints(&files, file, name));
            assert!(agrees(&found, expected), "{says}: {asked}: {found:?}");
        }
        for (asked, expected) in &self.adds {
            let (file, names) = asked.split_once(' ').unwrap();
            let after = fixed(&files, file, &names.split(',').collect::<Vec<_>>());
            assert_eq!(after.as_ref(), Some(expected), "{says}: {asked}");
        }
        if let (Some(log), Some(expected)) = (&self.log, &self.told) {
            let repo = Repo::with(&[&files[..], &[("log", log)]].concat());
            let found = told(&repo, &["--log", "log"]);
            assert!(agrees(&found, expected), "{says}: {log}: {found:?}");
        }
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
fn what_is_meant_is_proposed() {
    for case in cases("case") {
        case.check();
    }
}

#[test]
fn what_the_file_last_had_for_a_name_outweighs_all_else() {
    let rivals = [
        ("u/num.py", "def clamp(x):\n    return x\n"),
        ("v/num.py", "def clamp(x):\n    return -x\n"),
    ];
    let told = |now: &str, name: &str, before: &[&str]| {
        let files = [rivals[0], rivals[1], ("use.py", now)];
        let found = hints_after(&files, "use.py", name, before);
        let best = found
            .first()
            .map(|it| (it.import_statement.clone(), it.certain));
        best.unwrap_or_default()
    };
    let now = "def f(x):\n    return clamp(x)\n";
    assert!(!told(now, "clamp", &[]).1);
    for module in ["u.num", "v.num"] {
        let import = format!("from {module} import clamp");
        let before = [now.to_owned(), format!("{import}\n\n{now}")];
        let before: Vec<&str> = before.iter().map(String::as_str).collect();
        assert_eq!(told(now, "clamp", &before), (import, true));
    }
    // A method is reached by its object: another module's word is not meant, what HEAD took is.
    let method = "class A:\n    def clamp(self): pass\n\n    def g(self, x): return clamp(x)\n";
    let before = format!("from u.num import clamp\n\n{method}");
    assert_eq!(told(method, "clamp", &[]), (String::new(), false));
    let import = "from u.num import clamp".to_owned();
    assert_eq!(told(method, "clamp", &[&before]), (import, false));
    // A module that is gone, or lost the name, is no answer.
    let gone = ["from w.num import clamp\n"];
    assert!(!told(now, "clamp", &gone).1);

    let now = "def truncate(s, n):\n    return s\n\ndef f(s):\n    return shorten(s, 3)\n";
    assert_eq!(told(now, "shorten", &[]).0, "from textwrap import shorten");
    let own = now.replace("truncate", "shorten");
    assert_eq!(told(now, "shorten", &[&own]), (String::new(), false));

    for (now, certain) in [
        ("x = 4 / count\n", false),
        ("for one in count(3):\n    print(one)\n", true),
    ] {
        assert_eq!(
            told(now, "count", &[]),
            ("from itertools import count".to_owned(), certain)
        );
    }

    let now = "def f(items):\n    return list(items) if copy else items\n";
    assert_eq!(told(now, "copy", &[]).0, "from copy import copy");
    let parameter = now.replace("(items):", "(items, copy=False):");
    assert_eq!(told(now, "copy", &[&parameter]), (String::new(), false));
}

#[test]
fn a_module_that_is_gone_from_a_folder_of_ours_is_no_package() {
    let files = [
        ("u/zed.py", "def z():\n    pass\n"),
        ("other.py", "from u.num import clamp\n"),
        ("use.py", "def f(x):\n    return clamp(x)\n"),
    ];
    let before = ["from u.num import clamp\n"];
    let found = hints_after(&files, "use.py", "clamp", &before);
    assert!(found.iter().all(|it| !it.certain), "{found:?}");
}

#[test]
fn a_file_that_was_renamed_is_where_its_importers_are_led() {
    let money = "def fmt(x):\n    return x\n";
    let other = "def fmt(x):\n    return -x\n";
    let repo = Repo::with(&[
        ("shop/__init__.py", "from .money import fmt\n"),
        ("shop/money.py", money),
        ("legacy/money.py", other),
    ]);
    repo.git(&["mv", "shop/money.py", "shop/cash.py"]);
    let log = "  File \"shop/__init__.py\", line 1, in <module>\n    from .money import fmt\n\
               ModuleNotFoundError: No module named 'shop.money'\n";
    let place = repo.outside().join("log");
    std::fs::write(&place, log).unwrap();
    let place = place.to_str().unwrap();
    let found = repo.mendit(&["hint", "--format", "json", "--log", place]);
    let best = &json(&found)["suggestions"][0];
    assert_eq!(best["importStatement"], "from .cash import fmt", "{best}");
    assert_eq!(best["certain"], true, "{best}");
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
    assert!(
        found
            .iter()
            .all(|one| !one.certain && one.source == HintSource::Definition)
    );
}

#[test]
fn names_like_it_are_proposed_and_never_certain() {
    let files = [
        ("a.py", "def load_config(): pass\n"),
        ("b.py", "load_confg()\n"),
    ];
    let found = hints(&files, "b.py", "load_confg");
    assert_eq!(found[0].import_statement, "from a import load_config");
    assert!(!found[0].certain && found[0].source == HintSource::Similar);
}

#[test]
fn the_command_prints_and_applies_patches() {
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
        "import os\n\nfrom pkg.core import Engine\n\nEngine(os)\n"
    );

    let none = repo.mendit(&["hint", "Nowhere", "--file", "pkg/two.py"]);
    assert_eq!(none.status.code(), Some(1));
    assert_eq!(
        repo.mendit(&["hint", "X", "--file", "absent.py"])
            .status
            .code(),
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
fn a_module_that_lost_a_name_is_told_to_pass_it_on_again() {
    let repo = Repo::with(&[
        ("shop/__init__.py", "from .money import join, fmt, cut\n"),
        (
            "shop/money.py",
            "def join(a):\n    return a\n\n\ndef fmt(a):\n    return a\n\n\ndef cut(a):\n    return a\n",
        ),
        ("tests/cli/shop.py", ""),
        ("legacy/__init__.py", ""),
        ("legacy/money.py", "def join(a):\n    return a\n"),
        (
            "app.py",
            "from shop import join, cut\n\nprint(join('a'), cut('b'))\n",
        ),
        (
            "log",
            "app.py:1: in <module>\n    from shop import join, cut\nE   ImportError: cannot import name 'join' \
             from 'shop' (/w/shop/__init__.py)\n",
        ),
    ]);
    repo.commit();
    repo.write("shop/__init__.py", "from .money import fmt\n");
    let told = repo.mendit(&["hint", "--log", "log"]);
    let told = String::from_utf8(told.stdout).unwrap();
    let said =
        "- pass join on in shop/__init__.py as its last version did: `mendit fix` tries it\n";
    // What the same import takes beside it is lost as well.
    assert_eq!(told, said.replace("join", "join, cut"));
    let document = json(&repo.mendit(&["hint", "--log", "log", "--fix", "--format", "json"]));
    let patch = document["patch"].as_str().unwrap();
    assert!(
        patch.contains("+from .money import join, fmt, cut"),
        "{patch}"
    );
    assert_eq!(patch.matches("diff --git").count(), 1, "{patch}");
    // Asked for as a member, and by a list that a star takes.
    repo.write("app.py", "import shop\n\nprint(shop.join('a'))\n");
    repo.write(
        "log",
        "app.py:3: in <module>\n    print(shop.join('a'))\nE   AttributeError: module 'shop' has no attribute 'join'\n",
    );
    let told = repo.mendit(&["hint", "--log", "log"]);
    assert_eq!(String::from_utf8(told.stdout).unwrap(), said);
    let list = "__all__ = ['join', 'fmt']\n\n\ndef join(a):\n    return a\n\n\ndef fmt(a):\n    return a\n";
    repo.write("shop/money.py", list);
    repo.write("shop/__init__.py", "from .money import *\n");
    repo.commit();
    repo.write("shop/money.py", list.replace("'join', ", ""));
    repo.write("app.py", "from shop import join\n\nprint(join('a'))\n");
    repo.write(
        "log",
        "app.py:1: in <module>\n    from shop import join\nE   ImportError: cannot import name 'join' from 'shop' \
         (/w/shop/__init__.py)\n",
    );
    let told = repo.mendit(&["hint", "--log", "log"]);
    let told = String::from_utf8(told.stdout).unwrap();
    assert_eq!(told, said.replace("__init__", "money"));
}

#[test]
fn a_file_that_is_gone_is_told_with_the_line_that_brings_it_back() {
    let log = "app.py:1: in <module>\n    from shop.money import join\nE   ModuleNotFoundError: No module named \
               'shop.money'\n";
    let repo = Repo::with(&[
        ("shop/__init__.py", ""),
        ("shop/money.py", "def join(a):\n    return a\n"),
        ("app.py", "from shop.money import join\n\njoin('a')\n"),
        ("log", log),
    ]);
    repo.commit();
    let told = || {
        let told = repo.mendit(&["hint", "--log", "log"]);
        String::from_utf8(told.stdout).unwrap()
    };
    std::fs::remove_file(repo.root().join("shop/money.py")).unwrap();
    let gone = "- shop/money.py is deleted, and the last commit has it: `git checkout HEAD -- shop/money.py`\n";
    assert_eq!(told(), gone);
    repo.write("shop/cash.py", "def join(a):\n    return a\n");
    assert_eq!(told(), "- shop.money: from shop.cash import join\n");
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
    assert!(
        recovery["recoveryHint"]
            .as_str()
            .unwrap()
            .contains("Recovery Context")
    );
}

#[test]
fn a_package_that_no_manifest_names_is_believed_where_the_file_had_it_and_it_is_installed() {
    let repo = Repo::with(&[
        (".gitignore", ".venv\n"),
        ("shop.py", "from acme.db import Sum\n\nprint(Sum(1))\n"),
        (".venv/pyvenv.cfg", "home = /usr\n"),
        (".venv/lib/python3.11/site-packages/acme/__init__.py", ""),
        (
            ".venv/lib/python3.11/site-packages/acme/db.py",
            "class Sum:\n    pass\n",
        ),
    ]);
    repo.git(&["rm", "-rq", "--cached", ".venv"]);
    repo.write("shop.py", "print(Sum(1))\n");
    let told = || {
        let asked = ["hint", "Sum", "--file", "shop.py", "--format", "json"];
        json(&repo.mendit(&asked))["suggestions"][0].clone()
    };
    let found = told();
    assert_eq!(found["importStatement"], "from acme.db import Sum");
    assert_eq!(found["certain"], true);
    std::fs::remove_dir_all(repo.root().join(".venv/lib")).unwrap();
    assert_ne!(told()["certain"], true);
}

#[test]
fn a_rename_for_type_checkers_alone_is_not_certain() {
    let files = |name: &str| {
        [
            (
                "api/__init__.py".to_owned(),
                "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .client import Client\n"
                    .to_owned(),
            ),
            (
                "api/client.py".to_owned(),
                format!("class {name}:\n    def get(self):\n        return 1\n"),
            ),
        ]
    };
    let now = files("ApiClient");
    let now = now.each_ref().map(|(path, text)| (&**path, &**text));
    let [_, (_, before)] = files("Client");
    let lacks = ("api/__init__.py", "Client");
    let found = renamed(&now, lacks, ("api/client.py", &before));
    let first = found.first().map(|it| (it.imported.as_str(), it.certain));
    assert_eq!(first, Some(("ApiClient", false)), "{found:?}");
}

// A constant that its module has lost is not its namesake of another value elsewhere.
#[test]
fn only_the_same_definition_stands_for_one_that_a_module_has_lost() {
    for (moved, expected) in [
        (None, &[("app.printing", false)][..]),
        (
            Some("PAGE_SIZE = 30\n"),
            &[("app.new", false), ("app.printing", false)],
        ),
    ] {
        let mut files = vec![
            ("app/__init__.py", ""),
            (
                "app/api.py",
                "from app.consts import PAGE_SIZE\nprint(PAGE_SIZE)\n",
            ),
            ("app/consts.py", "TIMEOUT = 3\n"),
            ("app/printing.py", "PAGE_SIZE = 66\n"),
        ];
        files.extend(moved.map(|text| ("app/new.py", text)));
        let before = ("app/consts.py", "PAGE_SIZE = 30\nTIMEOUT = 3\n");
        let found = renamed(&files, ("app/api.py", "PAGE_SIZE"), before);
        let mut rows: Vec<(&str, bool)> = found
            .iter()
            .map(|it| (it.module.as_str(), it.certain))
            .collect();
        rows.sort_unstable();
        assert_eq!(rows, expected, "{found:?}");
        let tried = |it: &&mendit::documents::Suggestion| {
            it.confidence > mendit::internals::hint::MOST_IN_DOUBT
        };
        let tried: Vec<&str> = found
            .iter()
            .filter(tried)
            .map(|it| it.module.as_str())
            .collect();
        assert_eq!(
            tried,
            moved.map_or(vec![], |_| vec!["app.new"]),
            "{found:?}"
        );
    }
}

#[test]
fn nothing_is_certain_of_what_a_file_had_late_or_in_a_branch() {
    let files = |now: &'static str| {
        [
            (
                "pyproject.toml",
                "[project]\nname = 'shop'\ndependencies = ['httpx']\n",
            ),
            ("other.py", "import httpx\n\nhttpx.get('x')\n"),
            ("use.py", now),
        ]
    };
    let path = RepoPath::new("use.py").unwrap();
    // What can go back to where it stood goes back there.
    for (now, before, name) in [
        (
            "def f(url):\n    return httpx.get(url)\n",
            "def f(url):\n    import httpx\n    return httpx.get(url)\n",
            "httpx",
        ),
        (
            "try:\n    pass\nexcept ImportError:\n    pass\n\njson.loads('1')\n",
            "try:\n    import ujson as json\nexcept ImportError:\n    import json\n\njson.loads('1')\n",
            "json",
        ),
    ] {
        let mut found = hints_after(&files(now), "use.py", name, &[before]);
        found.retain(|it| it.certain);
        let source = memory(&files(now));
        let past = [before.as_bytes().to_vec()];
        let fix = fix(&Graph::new(&source), &path, &past, &found).unwrap();
        let after = fix.changes[0].after.as_ref().unwrap();
        assert_eq!(std::str::from_utf8(&after.bytes), Ok(before));
        assert!(fix.restores);
    }
    let (now, before, name) = (
        "def f(url):\n    return httpx.get(url)\n\n\ndef g():\n    return httpx.post('x')\n",
        "def f(url):\n    import httpx\n    return httpx.get(url)\n",
        "httpx",
    );
    let told = |before: &[&str]| hints_after(&files(now), "use.py", name, before);
    assert!(told(&[]).iter().any(|it| it.certain), "{name}");
    let doubted = told(&[before]);
    assert!(
        doubted.iter().all(|it| !it.certain && it.confidence < 10),
        "{doubted:?}"
    );
}

#[test]
fn a_definition_that_has_another_name_in_its_own_file_is_what_was_meant() {
    let text = |name: &str, body: &str| {
        format!(
            "def {name}(rows):\n    {body}\n    return rows\n\n\ndef run(rows):\n    return prepare(rows)\n"
        )
    };
    let before = text("prepare", "rows.sort()");
    let told = |now: &str| {
        let found = hints_after(&[("use.py", now)], "use.py", "prepare", &[before.as_str()]);
        let told = found.iter().map(|it| (it.imported.clone(), it.certain));
        told.collect::<Vec<_>>()
    };
    let renamed = told(&text("arrange", "rows.sort()"));
    assert_eq!(renamed, [("arrange".to_owned(), false)]);
    let other = told(&text("arrange", "rows.clear()"));
    assert!(other.is_empty(), "{other:?}");
}

#[test]
fn a_sibling_with_the_same_names_and_an_opposite_are_not_meant() {
    let loader = |mark: &str| {
        format!(
            "def load(text):\n    rows = text.splitlines()\n    return [row.split('{mark}') for row in rows]\n"
        )
    };
    let users = |word: &str, test: &str| {
        format!(
            "def {word}_users(rows):\n    found = []\n    for row in rows:\n        if {test}row['active']:\n            \
             found.append(row)\n    return found\n"
        )
    };
    let repo = Repo::with(&[
        ("app/__init__.py", ""),
        ("app/csv_loader.py", &loader(",")),
        ("app/tsv_loader.py", &loader("\t")),
        ("app/users.py", &users("active", "")),
        (
            "app/main.py",
            "from app.csv_loader import load\n\nload('a')\n",
        ),
        (
            "app/list.py",
            "from app.users import active_users\n\nactive_users([])\n",
        ),
        (
            "log1",
            "  File \"app/main.py\", line 1, in <module>\nModuleNotFoundError: No module named 'app.csv_loader'\n",
        ),
        (
            "log2",
            "  File \"app/list.py\", line 1, in <module>\nImportError: cannot import name 'active_users' from 'app.users'\n",
        ),
    ]);
    let first = |log: &str| {
        let told = repo.mendit(&["hint", "--log", log, "--format", "json"]);
        let document: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap();
        let one = document["suggestions"][0].clone();
        (one["importStatement"].clone(), one["certain"].clone())
    };
    let gone = |path: &str| std::fs::remove_file(repo.root().join(path)).unwrap();
    gone("app/csv_loader.py");
    assert_eq!(
        first("log1"),
        (serde_json::Value::Null, serde_json::Value::Null)
    );
    repo.commit();
    assert_eq!(first("log1").1, serde_json::Value::Null);
    repo.write("app/rows.py", loader(","));
    let moved = "from app.rows import load".into();
    assert_eq!(first("log1"), (moved, true.into()));

    repo.write("app/users.py", users("inactive", "not "));
    assert_ne!(first("log2").0, "from app.users import inactive_users");
    repo.write("app/users.py", "def actve_users(rows):\n    return 1\n");
    assert_eq!(first("log2").0, serde_json::Value::Null);
    repo.write("app/users.py", users("enabled", "not "));
    assert_ne!(first("log2").1, true);
    repo.write("app/users.py", users("enabled", ""));
    let renamed = "from app.users import enabled_users".into();
    assert_eq!(first("log2"), (renamed, true.into()));
}

#[test]
fn packets_know_what_a_file_last_had_as_hints_do() {
    let repo = Repo::with(&[
        ("u/num.py", "def clamp(x):\n    return x\n"),
        ("v/num.py", "def clamp(x):\n    return -x\n"),
        ("one.py", "from v.num import clamp\n\nclamp(1)\n"),
        ("two.py", "def shorten(s):\n    return s\n\nshorten('a')\n"),
        ("log1", "one.py:1:1: F821 Undefined name `clamp`\n"),
        ("log2", "two.py:4:1: F821 Undefined name `shorten`\n"),
    ]);
    repo.write("one.py", "clamp(1)\n");
    repo.write("two.py", "def truncate(s):\n    return s\n\nshorten('a')\n");
    let context = repo.context(&["--log", "log1"]);
    assert_eq!(context["hints"][0], "from v.num import clamp", "{context}");
    let context = repo.context(&["--log", "log2"]);
    assert_ne!(
        context["hints"][0], "from textwrap import shorten",
        "{context}"
    );
}

#[test]
fn hostile_files_are_survived() {
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
            let _ = fix(&graph, &path, &[], &found);
            assert_eq!(source.listing().files().count(), 3);
        }
    }
}

#[test]
fn a_row_of_the_configuration_tells_where_a_name_comes_from() {
    let repo = Repo::with(&[("app.py", "def main():\n    return Frobnicator()\n")]);
    let suggested = || told(&repo, &["Frobnicator", "--file", "app.py"]);
    assert!(suggested().is_empty());
    let known = "[context]\nknown = [\"Frobnicator frob.core py\"]\n";
    repo.write("mendit.toml", known);
    assert_eq!(suggested()[0], "from frob.core import Frobnicator");
}

#[test]
fn every_importer_of_a_renamed_export_is_mended() {
    let repo = Repo::with(&[
        ("package.json", "{\"name\": \"p\"}"),
        (
            "src/core.ts",
            "export function fetchUser(id: string) {\n  return db.get(id)\n}\nexport function fetchUsers() {}\n",
        ),
        ("src/index.ts", "export { fetchUser } from './core'\n"),
        ("src/all.ts", "export * from './core'\n"),
        (
            "src/a.ts",
            "import { fetchUser } from './core'\n\nfetchUser('1')\n",
        ),
        (
            "src/b.ts",
            "import { type Other, fetchUser } from './all'\n\nexport const b = { fetchUser }\n",
        ),
        (
            "src/c.ts",
            "import { fetchUser } from './index'\n\nfetchUser('2')\n",
        ),
        ("src/d.ts", "const { fetchUser } = other\nfetchUser('2')\n"),
        (
            "log",
            "src/a.ts(1,10): error TS2305: Module '\"./core\"' has no exported member 'fetchUser'.\n",
        ),
    ]);
    repo.commit();
    let hint = ["hint", "--log", "log", "--fix", "--format", "json"];
    repo.write(
        "src/core.ts",
        "export function loadAccount(id: string) {\n  return db.get(id)\n}\nexport function fetchUsers() {}\n",
    );
    for step in ["in the worktree", "committed"] {
        let document = json(&repo.mendit(&hint));
        let first = &document["suggestions"][0];
        assert_eq!(first["imported"], "loadAccount", "{step}: {document}");
        let others = serde_json::json!(["src/b.ts", "src/index.ts"]);
        assert_eq!(first["alsoIn"], others, "{step}: {document}");
        let patch = document["patch"].as_str().unwrap();
        let added: Vec<&str> = patch
            .lines()
            .filter(|line| line.starts_with('+') && !line.starts_with("+++"))
            .collect();
        assert_eq!(
            added,
            [
                "+import { loadAccount } from './core'",
                "+loadAccount('1')",
                "+import { type Other, loadAccount as fetchUser } from './all'",
                "+export { loadAccount as fetchUser } from './core'",
            ],
            "{step}"
        );
        repo.commit();
    }
    // Another function in its place is no new name for it.
    repo.write(
        "src/core.ts",
        "export function removeAll() {\n  return db.clear()\n}\nexport function fetchUsers() {}\n",
    );
    repo.commit();
    repo.write("src/core.ts", "export function fetchUsers() {}\n");
    let output = repo.mendit(&hint);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(document["patch"], serde_json::Value::Null, "{document}");
}

#[test]
fn every_importer_of_a_moved_module_is_mended() {
    let repo = Repo::with(&[
        ("pkg/__init__.py", ""),
        ("pkg/store/__init__.py", ""),
        (
            "pkg/store/money.py",
            "def cents(x):\n    return x\n\ndef euros(x):\n    return x\n",
        ),
        ("pkg/a.py", "from pkg.money import cents\n\ncents(1)\n"),
        ("pkg/b.py", "from .money import euros\n\neuros(1)\n"),
        ("pkg/c.py", "from .money import gone\n\ngone(1)\n"),
        (
            "log",
            "pkg/a.py:1: in <module>\n    from pkg.money import cents\nE   ModuleNotFoundError: No module named 'pkg.money'\n",
        ),
    ]);
    repo.commit();
    let document = json(&repo.mendit(&["hint", "--log", "log", "--fix", "--format", "json"]));
    let first = &document["suggestions"][0];
    assert_eq!(first["certain"], true, "{document}");
    assert_eq!(
        first["alsoIn"],
        serde_json::json!(["pkg/b.py"]),
        "{document}"
    );
    let patch = document["patch"].as_str().unwrap();
    assert!(
        patch.contains("+from pkg.store.money import cents\n"),
        "{patch}"
    );
    assert!(
        patch.contains("+from .store.money import euros\n"),
        "{patch}"
    );
}

// The words with which such a failure came first; its files are another repository's.
#[test]
fn names_of_files_that_are_not_here_are_looked_for_as_modules() {
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
    let statements: Vec<&str> = found
        .map(|it| it["importStatement"].as_str().unwrap())
        .collect();
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
fn a_package_keeps_what_its_list_of_exports_promises() {
    let barrel = "from ._make import (\n    attrib,\n)\n\n__all__ = [\"attrib\", \"fields\"]\n";
    let log = "tests/test_f.py:1: in <module>\n    from attr import attrib, fields\nE   ImportError: \
               cannot import name 'fields' from 'attr' (/w/attr/__init__.py)\n";
    let repo = Repo::with(&[
        ("attr/__init__.py", barrel),
        (
            "attr/_make.py",
            "def attrib():\n    pass\n\n\ndef fields(cls):\n    pass\n",
        ),
        ("tests/test_f.py", "from attr import attrib, fields\n"),
        ("log", log),
    ]);
    let hint = |more: &[&str]| {
        let arguments = [&["hint", "--log", "log", "--format", "json"], more].concat();
        json(&repo.mendit(&arguments))
    };
    let document = hint(&["--fix"]);
    let patch = document["patch"].as_str().unwrap();
    assert!(
        patch.contains("+++ b/attr/__init__.py") && patch.contains("+    fields,"),
        "{patch}"
    );
    assert!(!patch.contains("tests/"), "{patch}");
    let said = |why: &str| format!("pass fields on in attr/__init__.py {why}");
    let tried = |document: &serde_json::Value| support::texts(&document["tried"], None);
    assert_eq!(tried(&document), [said("as its list of exports says")]);
    // Without the list it is likely, and goes before what goes round it.
    repo.write("attr/__init__.py", barrel.replace(", \"fields\"", ""));
    let document = hint(&[]);
    assert_eq!(
        tried(&document),
        [said("as it does with what stands beside it")]
    );
    assert_eq!(document["suggestions"][0]["certain"], false);
}

#[test]
fn a_name_that_the_file_has_is_not_imported_again() {
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
fn a_module_of_node_is_found_by_its_path_below_the_root() {
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
