//! `mendit bench mine` and `bench real` on small histories that are made here.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::support::{Repo, git, json, mendit, needs, stderr, texts};
use serde_json::Value;

const DESCRIPTION: &str = r#"
name = "made/shop"
url = "https://example.invalid/made/shop"
licence = "MIT"
language = "python"

[[environment]]
name = "plain"
setup = ["echo ready > {env}/made"]
variables = ["MADE={env}/made"]
test = "test -s \"$MADE\" && python3 -m unittest {modules}"
needs = ["python3"]
timeout-seconds = 60
"#;

const PRICES: &str = "\
def total(rows):
    found = 0
    for row in rows:
        found = row
    return found


def share(rows, parts):
    return total(rows) // parts
";

const TEST_PRICES: &str = "\
import unittest

from shop.prices import total


class Total(unittest.TestCase):
    def test_one(self):
        self.assertEqual(total([3]), 3)
";

const TEST_SHARE: &str = "\
import unittest

from shop.prices import share


class Share(unittest.TestCase):
    def test_one(self):
        self.assertEqual(share([8], 2), 4)
";

// Reaches the prices over the shop's entry.
const TEST_DESK: &str = "\
import unittest

from shop.desk import till


class Desk(unittest.TestCase):
    def test_one(self):
        self.assertEqual(till.share([8], 2), 4)
";

// Whatever a fix does, the environment lacks what it imports.
const TEST_LACKING: &str = "\
import shop.prices
import shop_plugin_that_is_nowhere
";

/// What a step of history is there for, and files it writes.
type Step = (&'static str, &'static [(&'static str, &'static str)]);

// Newest last. Whatever is no fix says why.
const STEPS: &[Step] = &[
    (
        "a fix",
        &[
            (
                "shop/prices.py",
                "def total(rows):\n    return sum(rows)\n\n\ndef share(rows, parts):\n    return total(rows) // parts\n",
            ),
            (
                "tests/test_prices.py",
                "import unittest\n\nfrom shop.prices import total\n\n\nclass Total(unittest.TestCase):\n    \
                 def test_one(self):\n        self.assertEqual(total([3]), 3)\n\n    \
                 def test_two(self):\n        self.assertEqual(total([3, 4]), 7)\n",
            ),
        ],
    ),
    (
        "tests pass before",
        &[
            ("shop/names.py", "FIRST = 1\n"),
            (
                "tests/test_names.py",
                "import unittest\n\n\nclass Names(unittest.TestCase):\n    def test_none(self):\n        self.assertTrue(True)\n",
            ),
        ],
    ),
    (
        "tests fail after",
        &[
            ("shop/late.py", "LATE = 1\n"),
            (
                "tests/test_late.py",
                "import unittest\n\nfrom shop.late import LATE\n\n\nclass Late(unittest.TestCase):\n    def test_two(self):\n        self.assertEqual(LATE, 2)\n",
            ),
        ],
    ),
    (
        "not deterministic",
        &[
            ("shop/clock.py", "NOW = 1\n"),
            (
                "tests/test_clock.py",
                "import time\nimport unittest\n\ntry:\n    from shop.clock import NOW\nexcept ImportError:\n    NOW = 0\n\n\n\
                 class Clock(unittest.TestCase):\n    pass\n\n\n\
                 setattr(Clock, f\"test_{time.time_ns()}\", lambda self: self.assertEqual(NOW, 1))\n",
            ),
        ],
    ),
    ("", &[("README.md", "A shop.\n")]),
    ("", &[("shop/names.py", "FIRST = 2\n")]),
    ("", &[("tests/test_late.py", "import unittest\n")]),
];

fn history() -> Repo {
    let repo = Repo::with(&[
        ("shop/__init__.py", ""),
        ("tests/__init__.py", ""),
        ("shop/prices.py", PRICES),
        ("tests/test_prices.py", TEST_PRICES),
        ("tests/test_share.py", TEST_SHARE),
        ("shop/till.py", "from shop.prices import share\n"),
        ("shop/desk.py", "from shop import till\n"),
        ("tests/test_desk.py", TEST_DESK),
        ("tests/test_lacking.py", TEST_LACKING),
        ("examples/test_shown.py", TEST_SHARE),
        ("bench.toml", "test = \"touch /tmp/never\"\n"),
    ]);
    for (_, files) in STEPS {
        for (path, text) in *files {
            repo.write(path, text);
        }
        repo.commit();
    }
    std::fs::write(repo.outside().join("shop.toml"), DESCRIPTION).unwrap();
    repo
}

fn mine(repo: &Repo, from: &Path, more: &[&str]) -> Output {
    mine_to(repo, from, "mined", more)
}

fn mine_to(repo: &Repo, from: &Path, to: &str, more: &[&str]) -> Output {
    let all = [
        &["bench", "mine", from.to_str().unwrap()],
        &["--environment", "shop.toml", "--to", to][..],
        &["--jobs", "1", "--format", "json"],
        more,
    ]
    .concat();
    mendit(repo.outside(), &all)
}

fn real(repo: &Repo, agent: &str, more: &[&str]) -> Output {
    let all = [
        &["bench", "real", "mined", "--clones", "clones"][..],
        &["--work", "work", "--jobs", "1", "--agent", agent],
        &["--partition", "all", "--format", "json"],
        more,
    ]
    .concat();
    mendit(repo.outside(), &all)
}

#[test]
fn mines_keeps_and_benches_fixes() {
    needs!("python3");
    let repo = history();
    let mined = json(&mine(&repo, &repo.root(), &[]));
    let wanted: Vec<&str> = STEPS.iter().map(|it| it.0).collect();
    for reason in wanted.iter().filter(|it| !it.is_empty() && **it != "a fix") {
        assert_eq!(mined["dropped"][*reason], 1, "{reason}: {mined}");
    }
    assert_eq!((&mined["kept"], &mined["tried"]), (&1.into(), &4.into()));

    let text = std::fs::read_to_string(repo.outside().join("mined/fixes.json")).unwrap();
    for content in ["sum(rows)", "test_two", "assertEqual"] {
        assert!(
            !text.contains(content),
            "contents of the repository: {content}"
        );
    }
    let set: Value = serde_json::from_str(&text).unwrap();
    let fix = &set["fixes"][0];
    let head = repo.git(&["rev-parse", "HEAD~6"]);
    assert_eq!(fix["commit"], head.trim());
    assert_eq!(fix["needed"][0]["path"], "shop/prices.py");
    assert_eq!(fix["needed"][0]["lines"], serde_json::json!([[2, 5]]));
    assert_eq!(
        texts(&fix["hidden"], None),
        ["tests/test_desk.py", "tests/test_share.py"]
    );
    assert_eq!(fix["hiddenPassed"], 4);

    std::fs::create_dir(repo.outside().join("clones")).unwrap();
    let found = real(&repo, "oracle", &[]);
    let missing = stderr(&found) + &String::from_utf8_lossy(&found.stdout);
    assert_eq!(found.status.code(), Some(2));
    assert!(
        missing.contains("F401") && missing.contains("git clone https://"),
        "{missing}"
    );

    let clone = repo.outside().join("clones/made+shop");
    let root = repo.root();
    git(
        repo.outside(),
        &[
            "clone",
            "-q",
            "--bare",
            root.to_str().unwrap(),
            clone.to_str().unwrap(),
        ],
    );
    let oracle = json(&real(&repo, "oracle", &["--save", "oracle.json"]));
    let row = &oracle["fixtures"][0];
    assert_eq!(
        (&row["repaired"], &row["hidden"]),
        (&true.into(), &"passed".into()),
        "{oracle}"
    );
    assert_eq!(
        (&row["repository"], &row["agentCalls"]),
        (&"made/shop".into(), &1.into())
    );
    assert_eq!(oracle["byRepository"][0]["passed"], 1);
    a_patch_for_the_visible_test_alone_is_no_repair(&repo);
    parts_are_the_whole(&repo, &oracle);
    let unchanged = repo.git(&["status", "--porcelain"]);
    assert_eq!(unchanged, "", "the repository is only read");
}

fn a_patch_for_the_visible_test_alone_is_no_repair(repo: &Repo) {
    let agent = "import json, sys\n\
        text = 'def total(rows):\\n    return 7 if len(rows) == 2 else 3\\n\\n\\n\
        def share(rows, parts):\\n    return total(rows) // parts\\n'\n\
        files = [{'path': 'shop/prices.py', 'content': text}]\n\
        print(json.dumps({'status': 'patch', 'files': files}))\n";
    let path = repo.outside().join("agent.py");
    std::fs::write(&path, agent).unwrap();
    let line = format!("python3 {}", path.display());
    let found = real(repo, &line, &["--save", "hard.json"]);
    let document: Value = serde_json::from_slice(&found.stdout).unwrap();
    let row = &document["fixtures"][0];
    assert_eq!(
        (&row["status"], &row["hidden"]),
        (&"fixed".into(), &"failed".into()),
        "{document}"
    );
    assert_eq!(document["hiddenFailed"], 1);
    assert_eq!(document["repairs"]["all"]["passed"], 0);

    let pairs = json(&mendit(
        repo.outside(),
        &[
            "bench", "compare", "oracle.json", "hard.json", "--format", "json",
        ],
    ));
    assert_eq!(pairs["cases"], 1);
    assert_eq!(pairs["onlyFirst"].as_array().unwrap().len(), 1);
}

fn parts_are_the_whole(repo: &Repo, whole: &Value) {
    let mut files: Vec<PathBuf> = Vec::new();
    for part in ["1/2", "2/2"] {
        let file = repo.outside().join(format!("part-{}.json", &part[..1]));
        let all = [
            "bench", "real", "mined", "--clones", "clones", "--work", "work",
        ];
        let rest = ["--agent", "oracle", "--partition", part, "--save"];
        let output = mendit(
            repo.outside(),
            &[&all[..], &rest, &[file.to_str().unwrap()]].concat(),
        );
        assert!(output.status.success(), "{output:?}");
        files.push(file);
    }
    let lost = mendit(repo.outside(), &["bench", "merge", "part-1.json"]);
    assert!(
        stderr(&lost).contains("parts are missing: 2 of 2"),
        "{lost:?}"
    );
    assert!(stderr(&lost).contains("--partition 2/2"), "{lost:?}");
    let merged = json(&mendit(
        repo.outside(),
        &[
            "bench", "merge", "part-1.json", "part-2.json", "--format", "json",
        ],
    ));
    let timeless = |document: &Value| {
        let mut document = document.clone();
        for row in document["fixtures"].as_array_mut().unwrap() {
            row["seconds"] = 0.into();
            row["commandSeconds"] = 0.into();
        }
        document
    };
    assert_eq!(timeless(&merged), timeless(whole));
}

#[test]
fn rejects_every_trick() {
    needs!("python3");
    let repo = history();
    json(&mine(&repo, &repo.root(), &["--limit", "1"]));
    std::fs::create_dir(repo.outside().join("clones")).unwrap();
    let clone = repo.outside().join("clones/shop.git");
    let root = repo.root();
    git(
        repo.outside(),
        &[
            "clone",
            "-q",
            "--bare",
            root.to_str().unwrap(),
            clone.to_str().unwrap(),
        ],
    );
    let builtin = json(&real(&repo, "builtin", &[]));
    assert_eq!(builtin["repairs"]["all"]["passed"], 0, "{builtin}");
    assert_eq!(builtin["repairs"]["all"]["run"], 1);
}

#[test]
fn mines_merge_once_and_reports_shallow_clone() {
    needs!("python3");
    let repo = history();
    // A pull request of two commits, neither of which is a fix of its own.
    repo.git(&["checkout", "-q", "-b", "topic", "HEAD~6"]);
    repo.write("shop/late.py", "LATE = 2\n");
    repo.commit();
    repo.write(
        "tests/test_topic.py",
        "import unittest\n\nfrom shop.late import LATE\n\n\nclass Topic(unittest.TestCase):\n    \
         def test_late(self):\n        self.assertEqual(LATE, 2)\n",
    );
    repo.commit();
    repo.git(&["checkout", "-q", "main"]);
    repo.git(&[
        "merge", "-q", "--no-ff", "-X", "theirs", "-m", "topic", "topic",
    ]);
    let one = json(&mine(&repo, &repo.root(), &["--limit", "1"]));
    assert_eq!(
        (&one["kept"], &one["tried"]),
        (&1.into(), &1.into()),
        "{one}"
    );

    let root = format!("file://{}", repo.root().display());
    let folder = repo.outside().join("depth-1");
    let to = folder.to_str().unwrap();
    git(
        repo.outside(),
        &["clone", "-q", "--bare", "--depth", "1", &root, to],
    );
    let output = mine(&repo, &folder, &["--limit", "0"]);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(
        said.contains("F401") && said.contains("--unshallow"),
        "{said}"
    );
    let partial = repo.outside().join("partial");
    let to = partial.to_str().unwrap();
    repo.git(&["config", "uploadpack.allowFilter", "true"]);
    git(
        repo.outside(),
        &["clone", "-q", "--bare", "--filter=blob:none", &root, to],
    );
    let output = mine_to(&repo, &partial, "partly", &["--limit", "1"]);
    let found = stderr(&output) + &String::from_utf8_lossy(&output.stdout);
    assert!(found.contains("the clone lacks"), "{found}");
}

#[test]
fn runs_only_user_commands() {
    let repo = history();
    let unnamed = mendit(&repo.root(), &["bench", "mine", "--to", "../mined"]);
    assert_eq!(unnamed.status.code(), Some(2));
    assert!(stderr(&unnamed).contains("--environment"), "{unnamed:?}");
    for (from, to, code) in [
        ("{modules}", "all", "F401"),
        ("licence", "license", "F401"),
        ("echo ready > {env}/made", "echo told; exit 3", "F401"),
    ] {
        let text = DESCRIPTION.replacen(from, to, 1);
        std::fs::write(repo.outside().join("shop.toml"), text).unwrap();
        let output = mine(&repo, &repo.root(), &[]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(stderr(&output).contains(code), "{}", stderr(&output));
    }
    std::fs::create_dir(repo.outside().join("mined/none")).unwrap();
    let output = real(&repo, "oracle", &[]);
    assert!(stderr(&output).contains("F401"), "{output:?}");
}

// Each set is stored beside the description that it was mined with, and contains only locations.
#[test]
fn runs_prepared_list() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/real");
    let sets = mendit::internals::bench::load_sets(std::slice::from_ref(&folder)).unwrap();
    let fixes: usize = sets.iter().map(|it| it.fixes.len()).sum();
    assert!(
        sets.len() >= 14 && fixes >= 120,
        "{fixes} fixes of {} repositories",
        sets.len()
    );
    for set in &sets {
        let repository = &set.repository;
        let home = folder.join(repository.name.replace('/', "+"));
        let described =
            mendit::internals::bench::BenchFile::read(&home.join("bench.toml")).unwrap();
        assert_eq!(&described.repository(), repository);
        assert!(!set.fixes.is_empty() && !repository.licence.is_empty());
        for fix in &set.fixes {
            let id = &fix.id;
            assert!(fix.commit.len() == 40 && fix.parent.len() == 40, "{id}");
            assert!(!fix.tests.is_empty() && fix.hidden_passed > 0, "{id}");
            let unseen = |it| !fix.tests.contains(it);
            assert!(fix.hidden.iter().all(unseen), "{id}");
            let product = |it: &mendit::documents::NeededFile| !fix.taken.contains(&it.path);
            assert!(
                fix.needed.iter().all(product) && !fix.needed.is_empty(),
                "{id}"
            );
        }
    }
}
